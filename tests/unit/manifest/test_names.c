/* SPDX-License-Identifier: MIT */
#include "manifest/names.h"

#include "base/url.h"

#include "suite.h"

static char name[XD_NAME_MAX + 1];

static void expect_name(struct xd_span given, const char *wanted)
{
    bool is_safe = xd_name_safe(given, name);
    ck_assert_msg(is_safe == (wanted != NULL), "\"%.*s\"", (int)given.len,
                  given.s);
    if (wanted)
        ck_assert_str_eq(name, wanted);
}

START_TEST(of_a_name_one_safe_component_remains)
{
    static const struct {
        const char *given, *wanted;
    } names[] = {
        {"x", "x"},
        {"film.mkv", "film.mkv"},
        {"", NULL},
        {" ", NULL},
        {".", NULL},
        {"..", NULL},
        {"...", NULL},
        {". .", NULL},
        {"/", NULL},
        {"x/", NULL},
        {"x/..", NULL},
        {"x/.", NULL},
        {"..\\", NULL},
        {"/x", "x"},
        {"//x", "x"},
        {"./x", "x"},
        {"../x", "x"},
        {"../../../etc/passwd", "passwd"},
        {"x/../y", "y"},
        {"x/./y", "y"},
        {"a/b/c.iso", "c.iso"},
        {"..\\x", "x"},
        {"x\\y", "y"},
        {"C:x", "C:x"},
        {"C:/x", "x"},
        {"C:\\x", "x"},
        {"\\\\host\\share\\x", "x"},
        {"..%2fx", "_.%2fx"},
        {"-", "_"},
        {"-rf", "_rf"},
        {"~", "_"},
        {"~root", "_root"},
        {".bashrc", "_bashrc"},
        {"x.", "x"},
        {"x. . ", "x"},
        {" x y ", "x y"},
        {"x > y", "x > y"},
        {"a\nb", "a_b"},
        {"a\x1b[31mb", "a_[31mb"},
        {"a\x7f", "a_"},
        {"a\xc2\x9b"
         "b",
         "a_b"},                               /* CSI of C1 */
        {"a\xe2\x80\xaegnp.exe", "a_gnp.exe"}, /* turns the direction */
        {"a\xe2\x80\x8b", "a_"},               /* zero width */
        {"\xef\xbb\xbfx", "_x"},               /* byte order mark */
        {"\xc0\xae\xc0\xae/x", "x"},           /* overlong dots */
        {"a\xc0\xaf"
         "b",
         "a__b"}, /* overlong slash */
        {"a\xe0\x80\xaf", "a___"},
        {"a\xe0\x9f\xbf", "a___"},      /* the last that two bytes can say */
        {"a\xc2\xad", "a_"},            /* a hyphen that is not seen */
        {"a\xe2\x80\x8f", "a_"},        /* the last of the zero widths */
        {"a\xe2\x80\xa8", "a_"},        /* ends the line */
        {"a\xe2\x81\xaf", "a_"},        /* the last of those without shape */
        {"a\xef\xbf\xbe", "a_"},        /* no character */
        {"a\xed\xa0\x80", "a___"},      /* a surrogate */
        {"a\xed\xbf\xbf", "a___"},      /* the last of them */
        {"a\xf4\x90\x80\x80", "a____"}, /* past the last character */
        {"a\xff\xfe", "a__"},
        {"a\xe2\x80", "a__"},        /* ends in the middle */
        {"caf\xe9.txt", "caf_.txt"}, /* Latin-1 */
        {"caf\xc3\xa9.txt", "caf\xc3\xa9.txt"},
        {"\xe6\x98\xa0\xe7\x94\xbb.mkv", "\xe6\x98\xa0\xe7\x94\xbb.mkv"},
        {"\xf0\x9f\x8e\xac.mkv", "\xf0\x9f\x8e\xac.mkv"},
        {"x.part", "x.part_"},
        {"x.PART", "x.PART_"},
        {"x.part.journal", "x.part.journal_"},
        {"x.part.", "x.part_"},
        {".part", "_part"},
        {"part", "part"},
        {"x.journal", "x.journal"},
    };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        expect_name(xd_span_of(names[i].given), names[i].wanted);
}
END_TEST

START_TEST(a_path_stays_within_its_folder)
{
    static const struct {
        const char *given, *wanted;
    } paths[] = {
        {"x", "x"},
        {"a/b/c.iso", "a/b/c.iso"},
        {"a\\b/c", "a/b/c"},
        {"./a/./b//x", "a/b/x"},
        {" a / b ", "a/b"},
        {".git/hooks/x", "_git/hooks/x"},
        {"~root/-rf", "_root/_rf"},
        {"x.part/y", "x.part_/y"},
        {"a\x1b/b", "a_/b"},
        {"C:x/y", "C:x/y"},
        {"/etc/passwd", "passwd"},
        {"//host/share/x", "x"},
        {"\\\\host\\share\\x", "x"},
        {"C:\\dir\\x", "x"},
        {"C:/dir/x", "x"},
        {"../x", "x"},
        {"a/../../x", "x"},
        {"a/.../x", "x"},
        {"a/ .. /x", "x"},
        {"a\\..\\x", "x"},
        {"", NULL},
        {"/", NULL},
        {"a/", NULL},
        {"a/..", NULL},
        {"a/.", NULL},
        {"..", NULL},
    };
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
        char path[XD_PATH_MAX + 1], again[XD_PATH_MAX + 1];
        bool is_safe = xd_path_safe(xd_span_of(paths[i].given), path);
        ck_assert_msg(is_safe == (paths[i].wanted != NULL), "%s",
                      paths[i].given);
        if (!is_safe)
            continue;
        ck_assert_str_eq(path, paths[i].wanted);
        ck_assert(xd_path_safe(xd_span_of(path), again));
        ck_assert_str_eq(again, path);
    }
}
END_TEST

START_TEST(a_path_that_is_too_long_keeps_its_last_component)
{
    char given[2 * XD_PATH_MAX], path[XD_PATH_MAX + 1];
    for (size_t i = 0; i < sizeof given; i += 2)
        memcpy(given + i, "d/", 2);
    given[XD_PATH_MAX - 1] = '-';
    ck_assert(xd_path_safe(xd_span(given, XD_PATH_MAX), path));
    ck_assert_uint_eq(strlen(path), XD_PATH_MAX);
    given[XD_PATH_MAX - 1] = '/';
    memcpy(given + XD_PATH_MAX, "xy", 2);
    ck_assert(xd_path_safe(xd_span(given, XD_PATH_MAX + 2), path));
    ck_assert_str_eq(path, "xy");
}
END_TEST

START_TEST(a_zero_byte_ends_no_name)
{
    expect_name(xd_span("a\0b", 3), "a_b");
}
END_TEST

START_TEST(long_names_are_cut_and_keep_their_extension)
{
    char given[5000];
    memset(given, 'n', sizeof given);
    ck_assert(xd_name_safe(xd_span(given, sizeof given), name));
    ck_assert_uint_eq(strlen(name), XD_NAME_MAX);
    memcpy(given + 300 - 4, ".mkv", 4);
    ck_assert(xd_name_safe(xd_span(given, 300), name));
    ck_assert_uint_eq(strlen(name), XD_NAME_MAX);
    ck_assert_str_eq(name + strlen(name) - 5, "n.mkv");
    memcpy(given + 300 - 16, ".extension-of-16", 16);
    ck_assert(xd_name_safe(xd_span(given, 300), name));
    ck_assert_str_eq(name + strlen(name) - 16, ".extension-of-16");
    memcpy(given + 300 - 5, ".part", 5);
    ck_assert(xd_name_safe(xd_span(given, 300), name));
    ck_assert_uint_eq(strlen(name), XD_NAME_MAX);
    ck_assert_str_eq(name + strlen(name) - 5, ".par_");
}
END_TEST

START_TEST(long_names_are_cut_between_characters)
{
    char given[900];
    for (size_t i = 0; i < sizeof given; i += 3)
        memcpy(given + i, "\xe6\x98\xa0", 3);
    for (size_t shift = 0; shift < 3; shift++) {
        char shifted[900] = "ab";
        memcpy(shifted + shift, given, sizeof given - 3);
        ck_assert(xd_name_safe(xd_span(shifted, shift + 897), name));
        size_t n = strlen(name);
        ck_assert_uint_gt(n, XD_NAME_MAX - 3);
        ck_assert_str_eq(name + n - 3, "\xe6\x98\xa0");
    }
}
END_TEST

START_TEST(a_name_made_safe_is_left_alone_the_second_time)
{
    static const char *const given[] = {"-x", "x.part", "a\nb", ".x", "x. "};
    for (size_t i = 0; i < sizeof given / sizeof *given; i++) {
        char first[XD_NAME_MAX + 1];
        ck_assert(xd_name_safe(xd_span_of(given[i]), first));
        expect_name(xd_span_of(first), first);
    }
}
END_TEST

START_TEST(the_name_of_a_url_is_its_last_component_decoded)
{
    static const struct {
        const char *url, *wanted;
    } urls[] = {
        {"http://a/x.iso", "x.iso"},
        {"http://a/d/x%20y.iso?q=/z#/f", "x y.iso"},
        {"http://a/caf%C3%A9", "caf\xc3\xa9"},
        {"http://a/caf%E9", "caf_"},
        {"http://a/d%2F..%2Fx", "x"},
        {"http://a/..%5Cx", "x"},
        {"http://a/%2e%2e", NULL},
        {"http://a/%2e", NULL},
        {"http://a/%2Fetc%2F", NULL},
        {"http://a/x%00y", "x_y"},
        {"http://a/x%0Ay", "x_y"},
        {"http://a/%", "%"},
        {"http://a/%4", "%4"},
        {"http://a/%zz", "%zz"},
        {"http://a/100%25", "100%"},
        {"http://a/", NULL},
        {"http://a", NULL},
        {"http://a/d/", NULL},
        {"http://a/d/?x.iso", NULL},
        {"ibp://a:6714/0#k/1/READ", NULL},
        {"not a URL", NULL},
    };
    for (size_t i = 0; i < sizeof urls / sizeof *urls; i++) {
        struct xd_url url;
        xd_url_parse(&url, urls[i].url);
        bool has_name = xd_name_from_url(&url, name);
        ck_assert_msg(has_name == (urls[i].wanted != NULL), "%s", urls[i].url);
        if (has_name)
            ck_assert_str_eq(name, urls[i].wanted);
    }
}
END_TEST

START_TEST(quoted_text_is_short_and_harmless)
{
    struct xd_quoted q;
    ck_assert_str_eq(xd_quote(&q, xd_span_of("x y")), "\"x y\"");
    ck_assert_str_eq(xd_quote(&q, xd_span_of("")), "\"\"");
    ck_assert_str_eq(xd_quote(&q, xd_span("a\x1b\0\n", 4)), "\"a___\"");
    char given[1000];
    memset(given, 'x', sizeof given);
    const char *s = xd_quote(&q, xd_span(given, sizeof given));
    ck_assert_uint_lt(strlen(s), sizeof q.s);
    ck_assert_str_eq(s + strlen(s) - 5, "x\"...");
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("names");
    tcase_add_test(t, of_a_name_one_safe_component_remains);
    tcase_add_test(t, a_path_stays_within_its_folder);
    tcase_add_test(t, a_path_that_is_too_long_keeps_its_last_component);
    tcase_add_test(t, a_zero_byte_ends_no_name);
    tcase_add_test(t, long_names_are_cut_and_keep_their_extension);
    tcase_add_test(t, long_names_are_cut_between_characters);
    tcase_add_test(t, a_name_made_safe_is_left_alone_the_second_time);
    tcase_add_test(t, the_name_of_a_url_is_its_last_component_decoded);
    tcase_add_test(t, quoted_text_is_short_and_harmless);
    return run_suite("names", t);
}
