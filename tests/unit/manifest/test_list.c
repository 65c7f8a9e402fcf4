/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <string.h>
#include <xdownload/manifest.h>

#include "command/lists.h"
#include "command/manifests.h"
#include "suite.h"

#define SHA256 \
    "sha-256=" \
    "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"

static struct xd_list *list;
static struct xd_error error;

static void forget(void)
{
    xd_list_free(list);
    list = NULL;
}

static int parse_bytes(const char *text, size_t len)
{
    forget();
    error = (struct xd_error){.code = XD_OK};
    return xd_list_parse(&list, text, len, "l.txt", false, &error);
}

static void parse(const char *text)
{
    ck_assert_msg(parse_bytes(text, strlen(text)) == 0, "%s", error.msg);
}

static struct xd_listed file_at(size_t i)
{
    struct xd_listed f = {.struct_size = sizeof f};

    ck_assert_int_eq(xd_list_file(list, i, &f), 0);
    return f;
}

START_TEST(a_line_is_a_file_and_its_urls_are_copies)
{
    struct xd_listed f = {.struct_size = sizeof f};

    parse("http://a/x.iso\thttps://b/y.iso\t ftp://c/z.iso\t\n"
          "http://a/d/f%20g.txt?q=1");
    ck_assert_uint_eq(xd_list_n_files(list), 2);
    f = file_at(0);
    ck_assert_uint_eq(f.n_urls, 3);
    ck_assert_str_eq(f.urls[0], "http://a/x.iso");
    ck_assert_str_eq(f.urls[1], "https://b/y.iso");
    ck_assert_str_eq(f.urls[2], "ftp://c/z.iso");
    ck_assert_str_eq(f.path, "x.iso");
    ck_assert_str_eq(f.directory, "");
    ck_assert_ptr_null(f.name);
    ck_assert_ptr_null(f.checksum);
    f = file_at(1);
    ck_assert_uint_eq(f.line, 2);
    ck_assert_uint_eq(f.n_urls, 1);
    ck_assert_str_eq(f.urls[0], "http://a/d/f%20g.txt?q=1");
    ck_assert_str_eq(f.path, "f g.txt");
    ck_assert_int_eq(xd_list_file(list, 2, &f), XD_E_INVAL);
    ck_assert_ptr_null(xd_list_warning(list, 0));
}
END_TEST

START_TEST(parse_without_origin_is_refused)
{
    ck_assert_int_eq(
        xd_list_parse(&list, "http://a/x", 10, NULL, false, &error),
        XD_E_INVAL);
    ck_assert_ptr_null(list);
}
END_TEST

START_TEST(comments_empty_lines_and_windows_line_ends_pass)
{
    parse("\xef\xbb\xbf# mine\r\n\r\n \t\r\nhttp://a/x\r\n  # not this\r\n"
          "  out = y \r\n#http://a/z\r\n  http://a/indented\r\n\r\n");
    ck_assert_uint_eq(xd_list_n_files(list), 2);
    ck_assert_uint_eq(file_at(0).line, 4);
    ck_assert_str_eq(file_at(0).path, "y");
    ck_assert_str_eq(file_at(1).urls[0], "http://a/indented");
}
END_TEST

START_TEST(options_belong_to_the_file_above_them)
{
    parse("http://a/x\n out=o\n\tdir=p/q/\n checksum=" SHA256 "\n"
          "http://a/x\n dir=./r\nhttp://a/x\n dir=.\n");
    ck_assert_str_eq(file_at(0).path, "p/q/o");
    ck_assert_str_eq(file_at(0).directory, "p/q");
    ck_assert_str_eq(file_at(0).name, "o");
    ck_assert_str_eq(file_at(0).checksum, SHA256);
    ck_assert_str_eq(file_at(1).path, "r/x");
    ck_assert_ptr_null(file_at(1).checksum);
    ck_assert_str_eq(file_at(2).path, "x");
}
END_TEST

START_TEST(other_options_are_told_and_passed_over)
{
    parse("http://a/x\n split=5\n header=Cookie: secret\nhttp://a/y\n"
          " out=.y\n dir=-d\n");
    ck_assert_str_eq(xd_list_warning(list, 0),
                     "line 2: the option \"split\" is not known, and is passed "
                     "over");
    ck_assert_ptr_null(strstr(xd_list_warning(list, 1), "secret"));
    ck_assert_str_eq(xd_list_warning(list, 2),
                     "line 5: out=\".y\" is read as \"_y\"");
    ck_assert_str_eq(file_at(1).path, "_d/_y");
    ck_assert_ptr_null(xd_list_warning(list, 4));
}
END_TEST

START_TEST(more_warnings_than_a_hundred_are_not_kept)
{
    static char text[4000] = "http://a/x\n";
    size_t n = 0;

    for (size_t i = 0; i < 150; i++)
        strcat(text, " split=5\n");
    parse(text);
    while (xd_list_warning(list, n))
        n++;
    ck_assert_uint_eq(n, 100);
}
END_TEST

static const struct refused {
    const char *text, *words;
} refused[] = {
    {"", "l.txt: there is no URL in it"},
    {"# only this\n", "there is no URL in it"},
    {"http://a/x\nd.iso\n",
     "line 2: \"d.iso\" is not a URL: a URL begins with"},
    {"www.example.com/x\n", "line 1: \"www.example.com/x\" is not a URL"},
    {"/home/me/x.meta4\n", "is not a URL"},
    {"<?xml version='1.0'?>\n", "line 1: this is XML or HTML, and no list"},
    {"http://a/x http://b/x\n", "tabs separate the URLs on one line"},
    {"http://a/x\thttp://u:secret@b b/x\n", "is not a URL"},
    {"http://a/x\td.iso\n", "line 1: \"d.iso\" is not a URL"},
    {"file:///etc/passwd\n", "only URLs with http, https, ftp and ftps"},
    {"ibp://a:6714/0#k/1/READ\n", "\"ibp://a:6714/...\": only URLs with"},
    {"http://a:99999/x\n", "is not a URL that can be used"},
    {"http://a/x\n out=../y\n", "line 2: out=\"../y\" is a path"},
    {"http://a/x\n out=d/y\n", "line 2: out=\"d/y\" is a path"},
    {"http://a/x\n out=d\\y\n", "is a path"},
    {"http://a/x\n out=\n", "line 2: out=\"\" is no name"},
    {"http://a/x\n out=..\n", "line 2: out=\"..\" is no name"},
    {"http://a/x\n dir=/tmp\n", "line 2: dir=\"/tmp\" is no folder within"},
    {"http://a/x\n dir=..\n", "line 2: dir=\"..\" is no folder within"},
    {"http://a/x\n dir=a/../../b\n", "is no folder within"},
    {"http://a/x\n dir=C:\\x\n", "is no folder within"},
    {"http://a/x\n checksum=sha-256=00\n", "line 2: '00' is no sha-256"},
    {"http://a/x\n checksum=SHA256SUMS\n",
     "line 2: invalid checksum 'SHA256SUMS': use TYPE=HEX"},
    {"http://a/x\n out=a\n out=b\n", "line 3: out= is given twice"},
    {"http://a/x\n dir=a\n dir=b\n", "line 3: dir= is given twice"},
    {"http://a/x\n checksum=" SHA256 "\n checksum=" SHA256 "\n",
     "line 3: checksum= is given twice"},
    {" out=x\nhttp://a/x\n", "line 1: the option \"out\" stands before"},
    {"http://a/x\n y.iso\n", "line 2: \"y.iso\" is neither a URL nor"},
    {"http://a/\n", "line 1: the URL does not name the file: write out=NAME"},
    {"http://a/x\n\nhttp://b/x\n", "line 3: x is the file of line 1 already"},
    {"http://a/get?id=1\nhttp://a/get?id=2\n", "line 2: get is the file of"},
    {"http://a/d%2Fx\nhttp://a/y\nhttp://a/z\n out=x\n",
     "line 3: x is the file of line 1"},
    {"http://a/x\n dir=p/q\nhttp://a/y\n dir=p//q\n out=x\n",
     "line 3: p/q/x is the file of line 1"},
};

START_TEST(what_cannot_be_meant_is_refused_with_its_line)
{
    const struct refused *r = &refused[_i];

    ck_assert_int_eq(parse_bytes(r->text, strlen(r->text)), XD_E_INVAL);
    ck_assert_ptr_null(list);
    ck_assert_int_eq(error.code, XD_E_INVAL);
    ck_assert_msg(strstr(error.msg, r->words) != NULL, "\"%s\" lacks \"%s\"",
                  error.msg, r->words);
    ck_assert_ptr_null(strstr(error.msg, "secret"));
}
END_TEST

START_TEST(what_is_no_text_is_refused)
{
    static const char utf16[] = "\xff\xfeh\0t\0t\0p\0";

    ck_assert_int_eq(parse_bytes(utf16, sizeof utf16 - 1), XD_E_INVAL);
    ck_assert_ptr_nonnull(strstr(error.msg, "this is not UTF-8 text"));
}
END_TEST

START_TEST(a_path_is_not_longer_than_a_manifest_may_have_it)
{
    static char text[2000] = "http://a/x\n dir=";

    for (size_t i = 0; i < 500; i++)
        strcat(text, "d/");
    strcat(text, "\n out=");
    for (size_t i = 0; i < 100; i++)
        strcat(text, "n");
    ck_assert_int_eq(parse_bytes(text, strlen(text)), XD_E_INVAL);
    ck_assert_ptr_nonnull(strstr(error.msg, "line 1: the path of the file is "
                                            "longer than 1024 bytes"));
}
END_TEST

START_TEST(blanks_of_a_url_are_escaped)
{
    parse("http://a/my own file \thttp://b/c d?e f\n");
    ck_assert_str_eq(file_at(0).urls[0], "http://a/my%20own%20file");
    ck_assert_str_eq(file_at(0).urls[1], "http://b/c%20d?e%20f");
    ck_assert_str_eq(file_at(0).path, "my own file");
}
END_TEST

START_TEST(files_that_servers_name_need_no_names_and_may_end_alike)
{
    static const char text[] = "http://a/get?1\nhttp://a/get?2\nhttp://a/\n"
                               "http://a/z\n out=o\n";
    static const char alike[] = "http://a/z\n out=o\nhttp://a/\n out=o\n";

    ck_assert_int_eq(
        xd_list_parse(&list, text, strlen(text), "l", true, &error), 0);
    for (size_t i = 0; i < 3; i++)
        ck_assert_ptr_null(file_at(i).path);
    ck_assert_str_eq(file_at(3).path, "o");
    forget();
    ck_assert_int_eq(
        xd_list_parse(&list, alike, strlen(alike), "l", true, &error),
        XD_E_INVAL);
}
END_TEST

/* Its strings live as long as the manifest does. */
START_TEST(its_files_are_those_of_a_manifest)
{
    struct xd_manifest *m;
    struct xd_file file = {.struct_size = sizeof file};
    struct xd_extent extent = {.struct_size = sizeof extent};
    struct xd_replica replica = {.struct_size = sizeof replica};

    parse("http://a/x\nhttp://a/y\thttp://b/y\n dir=d\n out=o\n");
    ck_assert_int_eq(xd_list_manifest(&m, list, &error), 0);
    forget();
    ck_assert_uint_eq(xd_manifest_n_files(m), 2);
    ck_assert_str_eq(xd_manifest_format(m), "urls");
    for (size_t i = 0; i < 2; i++) {
        ck_assert_int_eq(xd_manifest_file(m, i, &file), 0);
        ck_assert_str_eq(file.path, i == 0 ? "x" : "d/o");
        ck_assert_uint_eq(file.size, XD_SIZE_UNKNOWN);
        ck_assert_uint_eq(file.n_extents, 1);
        ck_assert_int_eq(xd_manifest_extent(m, i, 0, &extent), 0);
        ck_assert_uint_eq(extent.offset, 0);
        ck_assert_uint_eq(extent.length, XD_SIZE_UNKNOWN);
        ck_assert_uint_eq(extent.n_replicas, i + 1);
        ck_assert_int_eq(xd_manifest_replica(m, i, 0, i, &replica), 0);
        ck_assert_str_eq(replica.url, i == 0 ? "http://a/x" : "http://b/y");
        ck_assert_uint_eq(replica.offset, 0);
        ck_assert_uint_eq(replica.object_size, XD_SIZE_UNKNOWN);
        ck_assert_uint_eq(replica.priority, XD_PRIORITY_NONE);
        ck_assert_uint_eq(replica.rights, XD_MAY_READ);
    }
    ck_assert(xd_manifest_can_join(m, 0));
    ck_assert(!xd_manifest_can_join(m, 1));
    xd_manifest_unref(m);
}
END_TEST

START_TEST(the_servers_name_is_no_path_in_its_manifest)
{
    struct xd_manifest *m;
    struct xd_file file = {.struct_size = sizeof file};

    ck_assert_int_eq(xd_list_parse(&list, "http://a/?1", 11, "l", true, &error),
                     0);
    ck_assert_int_eq(xd_list_manifest(&m, list, &error), 0);
    ck_assert_int_eq(xd_manifest_file(m, 0, &file), 0);
    ck_assert_ptr_null(file.path);
    xd_manifest_unref(m);
}
END_TEST

/* A name that only ends like the URL is its own. */
START_TEST(a_path_need_not_be_the_end_of_its_url)
{
    parse("http://a/b/cd\nhttp://a/b/c%64\n dir=e\nhttp://a/b/f?g\n");
    ck_assert_str_eq(file_at(0).path, "cd");
    ck_assert_str_eq(file_at(1).path, "e/cd");
    ck_assert_str_eq(file_at(2).path, "f");
    ck_assert_str_eq(file_at(2).urls[0], "http://a/b/f?g");
}
END_TEST

START_TEST(a_file_and_standard_input_are_read)
{
    FILE *f = fopen("list.tmp", "w");

    ck_assert_ptr_nonnull(f);
    fputs("http://a/x\nno\n", f);
    fclose(f);
    ck_assert_int_eq(xd_list_read(&list, "list.tmp", false, &error),
                     XD_E_INVAL);
    ck_assert_ptr_nonnull(strstr(error.msg, "list.tmp: line 2: "));
    ck_assert_ptr_nonnull(freopen("list.tmp", "r", stdin));
    ck_assert_int_eq(xd_list_read(&list, "-", false, &error), XD_E_INVAL);
    ck_assert_ptr_nonnull(strstr(error.msg, "standard input: line 2: "));
    ck_assert_int_eq(remove("list.tmp"), 0);
    ck_assert_int_eq(xd_list_read(&list, "list.tmp", false, &error), XD_E_IO);
    ck_assert_ptr_null(list);
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("list");
    const int n = sizeof refused / sizeof *refused;

    tcase_add_checked_fixture(t, NULL, forget);
    tcase_add_test(t, a_line_is_a_file_and_its_urls_are_copies);
    tcase_add_test(t, parse_without_origin_is_refused);
    tcase_add_test(t, comments_empty_lines_and_windows_line_ends_pass);
    tcase_add_test(t, options_belong_to_the_file_above_them);
    tcase_add_test(t, other_options_are_told_and_passed_over);
    tcase_add_test(t, more_warnings_than_a_hundred_are_not_kept);
    tcase_add_test(t, blanks_of_a_url_are_escaped);
    tcase_add_test(t, files_that_servers_name_need_no_names_and_may_end_alike);
    tcase_add_loop_test(t, what_cannot_be_meant_is_refused_with_its_line, 0, n);
    tcase_add_test(t, what_is_no_text_is_refused);
    tcase_add_test(t, a_path_is_not_longer_than_a_manifest_may_have_it);
    tcase_add_test(t, its_files_are_those_of_a_manifest);
    tcase_add_test(t, the_servers_name_is_no_path_in_its_manifest);
    tcase_add_test(t, a_path_need_not_be_the_end_of_its_url);
    tcase_add_test(t, a_file_and_standard_input_are_read);
    return run_suite("list", t);
}
