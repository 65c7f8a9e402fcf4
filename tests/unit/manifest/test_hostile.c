/* SPDX-License-Identifier: MIT */
/* Texts written by enemies: one clear sentence, never a crash, nothing opened,
 * nothing printed.  The sanitizers watch. */
#include <unistd.h>

#include "command/manifests.h"
#include "manifest/parse.h"
#include "reading.h"

#define URL "<url>http://a/x</url>"

static char *load(const char *name, size_t *out_len)
{
    char path[500];
    snprintf(path, sizeof path, XD_TEST_DATA "/%s", name);
    FILE *f = fopen(path, "rb");
    ck_assert_msg(f != NULL, "%s", path);
    char *text = malloc(1 << 16);
    *out_len = fread(text, 1, 1 << 16, f);
    fclose(f);
    return text;
}

static const char *const samples[] = {
    "tiny.xnd",         "copies.xnd",    "fragments.xnd", "functions.xnd",
    "hole.xnd",         "stripes.xnd",   "film.meta4",    "odd.meta4",
    "several.meta4",    "mirrors.urls",  "film.metalink", "odd.metalink",
    "mirrors.metalink", "odd_parity.xnd"};

#define N_SAMPLES (sizeof samples / sizeof *samples)

/* Whatever the text, the answer is a manifest or a sentence. */
static void parse_any(const char *text, size_t len)
{
    struct xd_manifest *m;
    /* A copy of exactly this length, so that a byte too many is seen. */
    char *copy = malloc(len > 0 ? len : 1);
    memcpy(copy, text, len);
    int rc = xd_manifest_parse(&m, copy, len, "sample", &error);
    free(copy);
    if (rc == 0) {
        ck_assert_uint_ge(xd_manifest_n_files(m), 1);
    } else {
        ck_assert_int_eq(rc, XD_E_MANIFEST);
        ck_assert_ptr_null(m);
        ck_assert_int_eq(strncmp(error.msg, "sample: ", 8), 0);
        ck_assert_ptr_null(strpbrk(error.msg, "\n\r\x1b"));
    }
    xd_manifest_unref(m);
}

/* 5 and the 13 changes have no common divisor: each change is made. */
#define STEP ((size_t)suite_cases(5, 1))

START_TEST(a_sample_cut_off_at_any_byte_is_no_crash)
{
    size_t len;
    char *text = load(samples[_i], &len);
    for (size_t n = 0; n <= len; n += STEP)
        parse_any(text, n);
    free(text);
}
END_TEST

START_TEST(cut_off_xml_is_refused_wherever_it_is_cut)
{
    size_t len;
    char *text = load("film.meta4", &len);
    while (text[len - 1] != '>')
        len--;
    for (size_t n = 0; n < len; n += 7) {
        ck_assert_int_eq(xd_manifest_parse(&manifest, text, n, NULL, &error),
                         XD_E_MANIFEST);
    }
    ck_assert_int_eq(xd_manifest_parse(&manifest, text, len, NULL, &error), 0);
    free(text);
}
END_TEST

START_TEST(a_sample_with_a_changed_byte_is_no_crash)
{
    static const char changes[] = {'\0', '<', '>', '&',  '"',    '\'',  '-',
                                   '9',  '/', ' ', '\n', '\x80', '\xff'};
    size_t len;
    char *text = load(samples[_i], &len);
    for (size_t n = 0; n < len; n += STEP) {
        char kept = text[n];
        text[n] = changes[n % sizeof changes];
        parse_any(text, len);
        text[n] = kept;
    }
    free(text);
}
END_TEST

START_TEST(entities_cannot_be_declared)
{
    expect_refused(
        "<?xml version='1.0'?>\n<!DOCTYPE metalink [\n"
        "<!ENTITY a 'aaaaaaaaaa'>\n<!ENTITY b '&a;&a;&a;&a;&a;&a;&a;&a;'>\n"
        "<!ENTITY c '&b;&b;&b;&b;&b;&b;&b;&b;'>\n"
        "<!ENTITY d '&c;&c;&c;&c;&c;&c;&c;&c;'>\n]>\n" METALINK
        "<file name='&d;'>" URL "</file></metalink>",
        "line 2: a document type declaration (\"metalink\") is not allowed");
}
END_TEST

START_TEST(external_entities_are_not_opened)
{
    expect_refused("<!DOCTYPE metalink [<!ENTITY x SYSTEM "
                   "'file:///etc/passwd'>]>" METALINK "<file name='f'>" URL
                   "<size>&x;</size></file></metalink>",
                   "document type declaration");
    expect_refused(
        "<!DOCTYPE metalink SYSTEM 'http://127.0.0.1:1/x.dtd'>" METALINK
        "<file name='f'>" URL "</file></metalink>",
        "document type declaration");
    expect_refused("<!DOCTYPE exnode PUBLIC '-//x' 'file:///dev/zero'>" EXNODE
                   "</exnode>",
                   "document type declaration");
    expect_refused("<!DOCTYPE svg><svg></svg>",
                   "document type declaration (\"svg\")");
}
END_TEST

START_TEST(undeclared_entities_are_broken_xml)
{
    expect_refused(METALINK "\n<file name='f'>\n<url>http://a/&nbsp;</url>"
                            "</file></metalink>",
                   "line 3: the XML is broken: Entity 'nbsp' not defined");
}
END_TEST

START_TEST(inclusions_are_passed_over)
{
    parse("<metalink xmlns='urn:ietf:params:xml:ns:metalink' "
          "xmlns:xi='http://www.w3.org/2001/XInclude'>"
          "<xi:include href='file:///etc/passwd' parse='text'/>"
          "<?xml-stylesheet href='file:///etc/passwd'?>"
          "<file name='f'><xi:include href='/etc/passwd'/>" URL
          "</file></metalink>");
    expect_url(0, 0, 0, "http://a/x");
}
END_TEST

static char *repeat(const char *head, const char *piece, size_t n,
                    const char *tail)
{
    size_t len = strlen(piece);
    char *text = malloc(strlen(head) + n * len + strlen(tail) + 1), *end = text;
    end += strlen(strcpy(end, head));
    for (size_t i = 0; i < n; i++)
        end = (char *)memcpy(end, piece, len) + len;
    strcpy(end, tail);
    return text;
}

START_TEST(depth_is_bounded)
{
    static const char *const heads[] = {
        "", METALINK, METALINK "<file name='f'>", EXNODE "<e:mapping>"};
    static const char *const pieces[] = {"<x>", "<x>", "<file>",
                                         "<e:function name='checksum'>"};
    static const char *const words[] = {"is that of no manifest", "32 deep",
                                        "32 deep", "32 deep"};
    for (size_t i = 0; i < 4; i++) {
        char *text = repeat(heads[i], pieces[i], 100000, "");
        expect_refused(text, words[i]);
        free(text);
    }
}
END_TEST

START_TEST(attributes_are_bounded)
{
    char *text = repeat("<metalink>\n<file", " xmlns:a = 'urn:a'", 33,
                        ">" URL "</file></metalink>");
    expect_refused(text, "line 2: a tag has more than 32 attributes");
    free(text);
    parse("<metalink><!--\n" METALINK " a='1' b='2' c='3' d='4' -->"
          "<file name='f' a='1' b=\"2\" c='='>" URL "</file></metalink>");
    char most[1000] = "<metalink><file name='f'";
    for (int i = 1; i < 32; i++)
        sprintf(most + strlen(most), " a%d='1'", i);
    strcat(most, ">" URL "</file></metalink>");
    parse(most);
}
END_TEST

START_TEST(a_mapping_of_very_many_functions_is_one_sentence)
{
    char *text = repeat(
        EXNODE "<e:mapping><e:metadata name='exnode_offset'>0</e:metadata>"
               "<e:metadata name='logical_length'>5</e:metadata>"
               "<e:read>http://a/x</e:read>",
        "<e:function name='nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn"
        "nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn'/>",
        5000, "</e:mapping></exnode>");
    expect_refused(text, "no replica holds bytes 0-4 (a mapping of them is "
                         "not used: it is stored through nnnn");
    free(text);
}
END_TEST

START_TEST(texts_that_are_too_long_are_refused)
{
    char *url = repeat(METALINK "<file name='f'>\n" URL "<url>http://a/", "y",
                       1000000, "</url></file></metalink>");
    expect_refused(url, "line 2: the text of <url> is longer than 65536 bytes");
    free(url);
    char *size = repeat(METALINK "<file name='f'>" URL "<size>", "0", 1000000,
                        "5</size></file></metalink>");
    expect_refused(size, "the text of <size> is longer");
    free(size);
    char *longest = repeat(METALINK "<file name='f'>" URL "<url>", "y", 65536,
                           "</url></file></metalink>");
    parse(longest);
    free(longest);
    char *attribute = repeat(METALINK "<file name='", "n", 1000000,
                             "'>" URL "</file></metalink>");
    parse(attribute);
    ck_assert_uint_le(strlen(file_at(0).name), 255);
    free(attribute);
}
END_TEST

/* It may be as long as one from elsewhere: 64 KiB. */
START_TEST(a_signature_that_is_too_long_is_none_and_costs_nothing_else)
{
    static const char begin[] =
        METALINK "<file name='f'>\n<signature "
                 "mediatype='application/pgp-signature'>";
    static const char *const ends[] = {"</signature>" URL "</file></metalink>",
                                       "y</signature>" URL
                                       "</file></metalink>"};
    for (size_t i = 0; i < 2; i++) {
        char *text = repeat(begin, "y", 64 << 10, ends[i]);
        parse(text);
        ck_assert_uint_eq(file_at(0).signature_bytes, i == 0 ? 64 << 10 : 0);
        ck_assert_uint_eq(n_warnings(), i);
        free(text);
    }
    expect_warning("line 2: the text of <signature> is longer than 65536 "
                   "bytes: it is not used");
    char *endless = repeat(begin, "y<x>y</x>", 1000000, ends[0]);
    parse(endless);
    expect_url(0, 0, 0, "http://a/x");
    ck_assert_ptr_null(file_at(0).signature);
    free(endless);
}
END_TEST

START_TEST(text_between_elements_does_not_add_up)
{
    char *text = repeat(METALINK "<file name='f'>", "<x/> padding ", 100000,
                        URL "</file></metalink>");
    parse(text);
    expect_url(0, 0, 0, "http://a/x");
    free(text);
}
END_TEST

START_TEST(a_name_of_300_bytes_is_cut)
{
    char *text = repeat(METALINK "<file name='", "n", 300,
                        ".iso'>" URL "</file></metalink>");
    parse(text);
    ck_assert_uint_eq(strlen(file_at(0).name), 255);
    expect_warning("is not safe");
    free(text);
}
END_TEST

START_TEST(warnings_are_counted_beyond_the_hundredth_place)
{
    char *text = repeat(METALINK "<file name='f'>" URL, "<size>x</size>", 5000,
                        "</file></metalink>");
    parse(text);
    ck_assert_uint_eq(n_warnings(), 100);
    ck_assert_str_eq(xd_manifest_warning(manifest, 99),
                     "4901 more warnings are not listed");
    free(text);
}
END_TEST

START_TEST(a_hundred_warnings_are_all_listed)
{
    char *text = repeat(METALINK "<file name='f'>" URL, "<size>x</size>", 100,
                        "</file></metalink>");
    parse(text);
    ck_assert_uint_eq(n_warnings(), 100);
    ck_assert_str_eq(xd_manifest_warning(manifest, 99),
                     "line 1: \"x\" is no size");
    free(text);
}
END_TEST

START_TEST(very_many_files_of_one_path_are_refused)
{
    char *text = repeat(METALINK, "<file name='f'>" URL "</file>", 100000,
                        "</metalink>");
    expect_refused(text, "two files have the path \"f\"");
    free(text);
}
END_TEST

START_TEST(utf16_is_refused)
{
    static const char le[] = "\xff\xfe<\0m\0/\0>\0";
    static const char be[] = "\xfe\xff\0<\0m\0/\0>";
    static const char bare[] = "<\0m\0/\0>\0";
    const char *const texts[] = {le, be, bare};
    const size_t lengths[] = {sizeof le - 1, sizeof be - 1, sizeof bare - 1};
    for (size_t i = 0; i < 3; i++) {
        ck_assert_int_eq(
            xd_manifest_parse(&manifest, texts[i], lengths[i], "u", &error),
            XD_E_MANIFEST);
        ck_assert_ptr_nonnull(strstr(error.msg, "this is not UTF-8 text"));
    }
}
END_TEST

START_TEST(the_declared_encoding_is_never_looked_up)
{
    parse("<?xml version='1.0' encoding='SHIFT_JIS'?>" METALINK
          "<file name='f'>" URL "</file></metalink>");
    expect_refused("<?xml version='1.0' encoding='ISO-8859-1'?>" METALINK
                   "<file name='caf\xe9'>" URL "</file></metalink>",
                   "line 1: the XML is broken: Input is not proper UTF-8");
}
END_TEST

START_TEST(zero_bytes_are_refused)
{
    ck_assert_int_eq(
        xd_manifest_parse(&manifest, "http://a/x\0y", 12, "z", &error),
        XD_E_MANIFEST);
    ck_assert_str_eq(error.msg,
                     "z: byte 10 is zero: this is not UTF-8 text, as "
                     "every manifest is");
    expect_refused(METALINK "<file name='a&#0;b'>" URL "</file></metalink>",
                   "the XML is broken");
}
END_TEST

START_TEST(what_is_before_and_behind_the_root_is_looked_at)
{
    parse("\xef\xbb\xbf \n\t<?xml version='1.0'?>\n<!-- c -->" METALINK
          "<file name='f'>" URL "</file></metalink>\n<!-- c -->\n");
    expect_refused(METALINK "<file name='f'>" URL "</file></metalink>junk",
                   "the XML is broken");
    expect_refused("\n\n\n" METALINK "\n<file></metalink>",
                   "line 5: the XML is broken: Opening and ending tag "
                   "mismatch");
}
END_TEST

START_TEST(other_xml_is_no_manifest)
{
    expect_refused("<rss><channel/></rss>",
                   "line 1: the root element \"rss\" of namespace \"\" is "
                   "that of no manifest");
    expect_refused("\n<!DOCTYPE html><html></html>",
                   "manifest: this is an HTML page, not a manifest: fetch that "
                   "which it links to");
    expect_refused("<", "the XML is broken");
    expect_refused("<>", "the XML is broken");
    expect_refused("<!-- nothing -->", "the XML is broken");
    expect_refused("<?xml version='1.0'?>", "the XML is broken");
}
END_TEST

START_TEST(terminal_commands_do_not_reach_a_sentence)
{
    parse(METALINK "<file name='f'>" URL "<size>&#x9b;31m&#x202e;</size>"
                   "</file></metalink>");
    expect_warning("\"_31m_\" is no size");
}
END_TEST

START_TEST(nothing_is_printed)
{
    char path[] = "hostile-XXXXXX";
    int fd = mkstemp(path);
    ck_assert_int_ge(fd, 0);
    unlink(path);
    int out = dup(STDOUT_FILENO), err = dup(STDERR_FILENO);
    dup2(fd, STDOUT_FILENO);
    dup2(fd, STDERR_FILENO);
    static const char *const texts[] = {
        "<a><b></a>",
        "<!DOCTYPE a [<!ENTITY b SYSTEM 'x'>]><a>&b;</a>",
        "<a xmlns:b=':::'><b:c d:e=''/></a>",
        "<a>\xff</a>",
        "<?xml version='9.9' encoding='none'?><metalink>&#xffff;</metalink>",
        METALINK "<file><url>%zz[[</url></file></metalink>"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        ck_assert_int_eq(parse_from(texts[i], "http://a/m"), XD_E_MANIFEST);
    static const char broken_ucs4[] = "<\0\0\0\0\xe1\x65\x21<\0\0\0";
    ck_assert_int_eq(xd_manifest_recognise(broken_ucs4, sizeof broken_ucs4), 0);
    fflush(NULL);
    dup2(out, STDOUT_FILENO);
    dup2(err, STDERR_FILENO);
    close(out);
    close(err);
    ck_assert_int_eq(lseek(fd, 0, SEEK_END), 0);
    close(fd);
}
END_TEST

START_TEST(a_hundred_thousand_mappings_become_extents_in_order)
{
    enum { N = 100000, LINE = 250 };
    char *text = malloc((size_t)N * LINE + 200), *end = text;
    end += sprintf(end, EXNODE "<e:metadata name='filename'>f</e:metadata>");
    for (unsigned i = N; i-- > 0;)
        end += sprintf(end,
                       "<e:mapping><e:metadata name='exnode_offset'>%u"
                       "</e:metadata><e:metadata name='logical_length'>1000"
                       "</e:metadata><e:read>http://d%u.example/%u</e:read>"
                       "</e:mapping>\n",
                       i * 1000, i % 16, i);
    strcpy(end, "</exnode>");
    parse(text);
    ck_assert_uint_eq(file_at(0).n_extents, N);
    expect_bytes(0, 0, 1000, 1);
    expect_bytes(N - 1, (N - 1) * (uint64_t)1000, 1000, 1);
    expect_url(0, N - 1, 0, "http://d15.example/99999");
    free(text);
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("hostile");
    tcase_set_timeout(t, 0); /* slow under sanitizers, and ctest has a limit */
    tcase_add_checked_fixture(t, NULL, forget_manifest);
    tcase_add_loop_test(t, a_sample_cut_off_at_any_byte_is_no_crash, 0,
                        N_SAMPLES);
    tcase_add_test(t, cut_off_xml_is_refused_wherever_it_is_cut);
    tcase_add_loop_test(t, a_sample_with_a_changed_byte_is_no_crash, 0,
                        N_SAMPLES);
    tcase_add_test(t, entities_cannot_be_declared);
    tcase_add_test(t, external_entities_are_not_opened);
    tcase_add_test(t, undeclared_entities_are_broken_xml);
    tcase_add_test(t, inclusions_are_passed_over);
    tcase_add_test(t, depth_is_bounded);
    tcase_add_test(t, attributes_are_bounded);
    tcase_add_test(t, a_mapping_of_very_many_functions_is_one_sentence);
    tcase_add_test(t, texts_that_are_too_long_are_refused);
    tcase_add_test(t,
                   a_signature_that_is_too_long_is_none_and_costs_nothing_else);
    tcase_add_test(t, text_between_elements_does_not_add_up);
    tcase_add_test(t, a_name_of_300_bytes_is_cut);
    tcase_add_test(t, warnings_are_counted_beyond_the_hundredth_place);
    tcase_add_test(t, a_hundred_warnings_are_all_listed);
    tcase_add_test(t, very_many_files_of_one_path_are_refused);
    tcase_add_test(t, utf16_is_refused);
    tcase_add_test(t, the_declared_encoding_is_never_looked_up);
    tcase_add_test(t, zero_bytes_are_refused);
    tcase_add_test(t, what_is_before_and_behind_the_root_is_looked_at);
    tcase_add_test(t, other_xml_is_no_manifest);
    tcase_add_test(t, terminal_commands_do_not_reach_a_sentence);
    tcase_add_test(t, nothing_is_printed);
    tcase_add_test(t, a_hundred_thousand_mappings_become_extents_in_order);
    return run_suite("hostile", t);
}
