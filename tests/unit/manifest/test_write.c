/* SPDX-License-Identifier: MIT */
/* What was written, read again, says the same. */
#include "command/manifests.h"
#include "manifest/model.h"
#include "reading.h"
#include "same.h"

/* As if it came from a file: file: URLs are then allowed. */
#define ORIGIN "written.xml"

static char *text;

static void forget_all(void)
{
    forget_manifest();
    xd_manifest_text_free(text);
    text = NULL;
}

static int write_file(size_t file, const char *format)
{
    size_t len = 0;
    xd_manifest_text_free(text);
    int rc = xd_manifest_write(&text, manifest, file, format, &len, &error);
    if (rc == 0)
        ck_assert_uint_eq(len, strlen(text));
    else
        ck_assert_ptr_null(text);
    return rc;
}

/* Returns what is to be compared, to be released. */
static struct xd_manifest *write_and_read(size_t file, const char *format)
{
    ck_assert_msg(write_file(file, format) == 0, "%s", error.msg);
    struct xd_manifest *before = xd_manifest_ref(manifest);
    int rc = parse_from(text, ORIGIN);
    ck_assert_msg(rc == 0, "%s", error.msg);
    return before;
}

static void expect_round_trip(const char *format)
{
    struct xd_manifest *before = write_and_read(XD_ALL_FILES, format);
    expect_same(before, manifest);
    xd_manifest_unref(before);
}

static void expect_not_sayable(const char *format, const char *words)
{
    ck_assert_int_eq(write_file(XD_ALL_FILES, format), XD_E_INVAL);
    ck_assert_msg(strstr(error.msg, words) != NULL, "\"%s\" lacks \"%s\"",
                  error.msg, words);
}

struct sample {
    const char *name, *format;
};

static const struct sample sayable[] = {
    {"tiny.xnd", "exnode"},       {"copies.xnd", "exnode"},
    {"fragments.xnd", "exnode"},  {"readonly.xnd", "exnode"},
    {"stripes.xnd", "exnode"},    {"parity.xnd", "exnode"},
    {"odd_parity.xnd", "exnode"}, {"film.meta4", "metalink"},
    {"odd.meta4", "metalink"},    {"several.meta4", "metalink"},
    {"grid.meta4", "metalink"},   {"film.metalink", "metalink"},
    {"odd.metalink", "metalink"}, {"mirrors.metalink", "metalink"},
    {"mirrors.urls", "metalink"}, {"film.meta4", "exnode"},
    {"film.metalink", "exnode"},  {"mirrors.metalink", "exnode"},
    {"grid.meta4", "exnode"},
};

START_TEST(a_sample_read_and_written_says_the_same)
{
    read_data(sayable[_i].name);
    expect_round_trip(sayable[_i].format);
}
END_TEST

START_TEST(what_is_written_twice_is_the_same_text)
{
    read_data(sayable[_i].name);
    struct xd_manifest *before =
        write_and_read(XD_ALL_FILES, sayable[_i].format);
    char *first = text;
    text = NULL;
    ck_assert_int_eq(write_file(XD_ALL_FILES, sayable[_i].format), 0);
    ck_assert_str_eq(text, first);
    xd_manifest_text_free(first);
    xd_manifest_unref(before);
}
END_TEST

START_TEST(what_was_written_needs_no_warning)
{
    read_data("mirrors.metalink");
    expect_round_trip("metalink");
    ck_assert_uint_eq(n_warnings(), 0);
    ck_assert_str_eq(xd_manifest_format(manifest), "metalink4");
    expect_round_trip("exnode");
    ck_assert_uint_eq(n_warnings(), 0);
    ck_assert_str_eq(xd_manifest_format(manifest), "exnode");
}
END_TEST

START_TEST(a_copy_of_a_whole_file_becomes_a_metalink)
{
    read_data("tiny.xnd");
    struct xd_manifest *before = write_and_read(XD_ALL_FILES, "metalink");
    struct xd_replica was = {.struct_size = sizeof was};
    ck_assert_int_eq(xd_manifest_replica(before, 0, 0, 0, &was), 0);
    ck_assert_str_eq(file_at(0).name, "tiny");
    expect_bytes(0, 0, 20, 1);
    expect_url(0, 0, 0, was.url);
    xd_manifest_unref(before);
}
END_TEST

START_TEST(a_metalink_cannot_say_copies_of_a_part)
{
    read_data("stripes.xnd");
    expect_not_sayable("metalink",
                       "film & sound.mkv: bytes 0-1499 have copies of their "
                       "own, but a Metalink has only copies of the whole file");
    read_data("copies.xnd");
    expect_not_sayable("metalink", "bytes 0-524287 have copies of their own");
}
END_TEST

#define MAPPING(there, alloc, more)                                      \
    EXNODE "<e:metadata name='filename'>f</e:metadata><e:mapping>"       \
           "<e:metadata name='exnode_offset'>0</e:metadata>"             \
           "<e:metadata name='logical_length'>10</e:metadata>"           \
           "<e:metadata name='alloc_offset'>" there "</e:metadata>"      \
           "<e:metadata name='alloc_length'>" alloc "</e:metadata>" more \
           "<e:read>http://a/x</e:read></e:mapping></exnode>"

START_TEST(a_metalink_cannot_say_where_in_an_object_a_copy_lies)
{
    parse(MAPPING("5", "15", ""));
    expect_not_sayable("metalink", "f: a copy begins at byte 5 of what lies");
    expect_round_trip("exnode");
    parse(MAPPING("0", "15", ""));
    expect_not_sayable("metalink", "f: a copy is 10 of the 15 bytes that lie");
    expect_round_trip("exnode");
}
END_TEST

#define SHA(digit)                          \
    digit "123456789abcdef0123456789abcdef" \
          "0123456789abcdef0123456789abcdef"

START_TEST(the_hash_of_the_only_extent_is_that_of_the_file)
{
    parse(MAPPING("0", "10",
                  "<e:metadata name='sha256'>" SHA("a") "</e:metadata>"));
    xd_manifest_unref(write_and_read(XD_ALL_FILES, "metalink"));
    ck_assert_uint_eq(file_at(0).n_hashes, 1);
    ck_assert_str_eq(hash_at(0, 0).algorithm, "sha-256");
    ck_assert_str_eq(hash_at(0, 0).hex, SHA("a"));
}
END_TEST

START_TEST(an_exnode_cannot_say_an_unknown_size)
{
    read_data("odd.meta4");
    expect_not_sayable("exnode", "odd.bin: its size is not known, but an "
                                 "exNode has to say it");
    parse("http://a/x\n");
    expect_not_sayable("exnode", "x: its size is not known");
    parse("http://a/\n");
    expect_not_sayable("exnode", "(a file without a name): its size");
}
END_TEST

START_TEST(an_exnode_holds_one_file_which_may_be_chosen)
{
    read_data("several.meta4");
    expect_not_sayable("exnode",
                       "the manifest has 4 files, but an exNode holds one");
    struct xd_manifest *before = write_and_read(1, "exnode");
    ck_assert_uint_eq(xd_manifest_n_files(manifest), 1);
    expect_same_file(before, 1, manifest, 0);
    ck_assert_str_eq(file_at(0).name, "two.iso");
    xd_manifest_unref(before);
}
END_TEST

START_TEST(a_path_is_written_as_a_whole)
{
    static const char *const formats[] = {"metalink", "exnode"};
    for (size_t i = 0; i < 2; i++) {
        parse(METALINK "<file name='pa/x.txt'><size>5</size>"
                       "<url>http://a/x</url></file></metalink>");
        struct xd_manifest *before = write_and_read(0, formats[i]);
        ck_assert_str_eq(file_at(0).path, "pa/x.txt");
        ck_assert_str_eq(file_at(0).name, "x.txt");
        xd_manifest_unref(before);
    }
}
END_TEST

START_TEST(one_file_of_several_makes_a_metalink)
{
    read_data("odd.metalink");
    struct xd_manifest *before = write_and_read(3, "metalink");
    ck_assert_uint_eq(xd_manifest_n_files(manifest), 1);
    expect_same_file(before, 3, manifest, 0);
    xd_manifest_unref(before);
}
END_TEST

START_TEST(what_a_metalink_names_for_more_copies_is_written_again)
{
    static const char hash[] = "<hash type='sha-256'>%064d</hash>"
                               "<metaurl mediatype='application/metalink+xml' "
                               "name='a&amp;b'>http://m/x?a&amp;b</metaurl>";
    char inner[400], whole[600];

    snprintf(inner, sizeof inner, hash, 7);
    snprintf(whole, sizeof whole,
             METALINK "<file name='f'><size>5</size>%s</file></metalink>",
             inner);
    parse(whole);
    expect_not_sayable("exnode", "only another Metalink names copies of it");
    expect_round_trip("metalink");
    const struct xd_metaurl *m = manifest->files[0].rare->metaurls;
    ck_assert_ptr_nonnull(m);
    ck_assert_str_eq(m->name, "a&b");
    ck_assert_str_eq(xd_url_secret_text(&m->url), "http://m/x?a&b");
}
END_TEST

START_TEST(a_file_number_or_format_that_is_none_is_refused)
{
    read_data("several.meta4");
    ck_assert_int_eq(write_file(4, "metalink"), XD_E_INVAL);
    ck_assert_str_eq(error.msg, "the manifest has no file number 4");
    ck_assert_int_eq(write_file(0, "metalink3"), XD_E_INVAL);
    ck_assert_str_eq(error.msg, "no manifest can be written as \"metalink3\": "
                                "give metalink, exnode or private-exnode");
    ck_assert_int_eq(write_file(0, ""), XD_E_INVAL);
}
END_TEST

START_TEST(characters_of_xml_stand_for_themselves_again)
{
    static const char *const formats[] = {"metalink", "exnode"};
    for (size_t i = 0; i < 2; i++) {
        parse(
            METALINK
            "<file name='a&lt;b&gt;&amp;&quot;c&apos; &#xe9; ]]&gt;&amp;amp;'>"
            "<size>5</size><url>http://a/x?p=1&amp;q=&lt;'&quot;&gt;</url>"
            "<url>http://b/%26amp;&amp;lt;</url></file></metalink>");
        ck_assert_str_eq(file_at(0).name, "a<b>&\"c' \xc3\xa9 ]]>&amp;");
        expect_round_trip(formats[i]);
        expect_url(0, 0, 0, "http://a/x?p=1&q=<'\">");
    }
}
END_TEST

START_TEST(a_url_that_xml_cannot_hold_is_named)
{
    static const char *const bad[] = {"http://b/\xff",
                                      "http://b/\xc3",
                                      "http://b/\xed\xa0\x80",
                                      "http://b/\xef\xbf\xbe",
                                      "http://b/\xf4\x90\x80\x80",
                                      "http://b/\x92\x9d",
                                      "http://b/\xc1\x81"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        const char *urls[] = {"http://a/\xc3\xa9", bad[i]};
        forget_manifest();
        ck_assert_int_eq(xd_manifest_from_urls(&manifest, urls, 2, 5, &error),
                         0);
        expect_not_sayable("metalink", "URL number 2 is not UTF-8");
        expect_not_sayable("exnode", "URL number 2 is not UTF-8");
        forget_manifest();
        ck_assert_int_eq(xd_manifest_from_urls(&manifest, urls, 1, 5, &error),
                         0);
        expect_round_trip("metalink");
    }
}
END_TEST

START_TEST(a_url_of_this_machine_is_kept)
{
    ck_assert_int_eq(parse_from(METALINK "<file name='f'><size>5</size><url>"
                                         "file:///srv/x</url></file>"
                                         "</metalink>",
                                ORIGIN),
                     0);
    expect_round_trip("metalink");
    expect_round_trip("exnode");
    expect_url(0, 0, 0, "file:///srv/x");
}
END_TEST

/* On metadata without text the tools of LoCI crash, and on an IBP allocation
 * without a length they read nothing. */
START_TEST(an_exnode_has_what_older_tools_need)
{
    read_data("tiny.xnd");
    ck_assert_int_eq(write_file(0, "exnode"), 0);
    ck_assert_ptr_null(strstr(text, "></exnode:metadata>"));
    ck_assert_ptr_nonnull(strstr(text, "name=\"alloc_length\" type=\"integer\""
                                       ">20<"));
    ck_assert_ptr_nonnull(strstr(text, "name=\"Version\" type=\"string\">3.0"));
    ck_assert_ptr_nonnull(strstr(text, "<exnode:write></exnode:write>"));
    ck_assert_ptr_nonnull(strstr(text, "<exnode xmlns:exnode="));
}
END_TEST

START_TEST(a_size_that_an_exnode_did_not_tell_is_not_made_up)
{
    parse(MAPPING("0", "many", ""));
    ck_assert_uint_eq(replica_at(0, 0, 0).object_size, XD_SIZE_UNKNOWN);
    expect_round_trip("exnode");
}
END_TEST

START_TEST(an_exnode_may_hold_what_a_metalink_says)
{
    parse(EXNODE "<e:metadata name='max_connections'>many</e:metadata>"
                 "<e:metadata name='piece.0'>00</e:metadata>"
                 "<e:metadata name='hash.md5'>xyz</e:metadata>"
                 "<e:metadata name='hash.'>00</e:metadata>"
                 "<e:metadata name='pieces'>md5</e:metadata>"
                 "<e:metadata name='pieces'>sha-1 10</e:metadata>"
                 "<e:metadata name='piece.1'>01234567890123456789"
                 "01234567890123456789</e:metadata><e:mapping>"
                 "<e:metadata name='priority'>0</e:metadata>"
                 "<e:metadata name='location'>Germany</e:metadata>"
                 "<e:metadata name='max_connections'>-1</e:metadata>"
                 "<e:metadata name='exnode_offset'>0</e:metadata>"
                 "<e:metadata name='logical_length'>10</e:metadata>"
                 "<e:read>http://a/x</e:read></e:mapping></exnode>");
    ck_assert_uint_eq(file_at(0).n_hashes, 0);
    ck_assert_uint_eq(file_at(0).n_pieces, 0);
    ck_assert_uint_eq(replica_at(0, 0, 0).priority, XD_PRIORITY_NONE);
    ck_assert_ptr_null(replica_at(0, 0, 0).location);
    expect_warning("\"many\" is no number of connections");
    expect_warning("\"xyz\" is no value of the hash md5");
    expect_warning("a hash without the name of its algorithm");
    expect_warning("pieces without a length are not used");
    expect_warning("piece \"1\" stands where piece 0 belongs");
    expect_warning("a priority is not between 1 and 999999");
    expect_warning("\"-1\" is no number of connections");
}
END_TEST

START_TEST(the_text_needs_no_length_and_null_is_released)
{
    read_data("tiny.xnd");
    ck_assert_int_eq(
        xd_manifest_write(&text, manifest, 0, "exnode", NULL, NULL), 0);
    ck_assert_uint_gt(strlen(text), 100);
    xd_manifest_text_free(NULL);
}
END_TEST

#define META                                                       \
    "<e:metadata name='Tool' type='meta'><e:metadata name='Name' " \
    "type='string'>a &amp; b</e:metadata></e:metadata>"
#define LOST                                                           \
    "<e:mapping><e:metadata name='exnode_offset'>0</e:metadata>"       \
    "<e:metadata name='logical_length'>10</e:metadata>"                \
    "<e:function name='rot13'/><e:read>ibp://d:6714/k/1/READ</e:read>" \
    "<e:write>ibp://d:6714/k/2/WRITE</e:write><e:manage> </e:manage>"  \
    "</e:mapping>"

START_TEST(what_the_model_does_not_hold_is_written_again)
{
    parse(EXNODE META LOST "<e:mapping>"
                           "<e:metadata name='exnode_offset'>0</e:metadata>"
                           "<e:metadata name='logical_length'>10</e:metadata>"
                           "<e:read>http://a/x</e:read></e:mapping></exnode>");
    ck_assert(xd_manifest_has_secrets(manifest, 0));
    ck_assert_int_eq(write_file(0, "exnode"), 0);
    ck_assert_ptr_nonnull(strstr(text, "type=\"meta\"><exnode:metadata name="));
    ck_assert_ptr_nonnull(strstr(text, ">a &#38; b</exnode:metadata>"));
    ck_assert_ptr_nonnull(strstr(text, "<exnode:function name=\"rot13\">"));
    ck_assert_ptr_nonnull(strstr(text, "<exnode:write></exnode:write>"));
    ck_assert_ptr_null(strstr(text, "/WRITE"));
    xd_manifest_text_free(text);
    text = NULL;
    ck_assert_int_eq(
        xd_manifest_write(&text, manifest, 0, "private-exnode", NULL, &error),
        0);
    ck_assert_ptr_nonnull(strstr(text, "ibp://d:6714/k/2/WRITE</exnode:wri"));
}
END_TEST

/* It lies behind the end of what the URL becomes; another stands before it, and one
 * behind it. */
START_TEST(a_secret_within_a_relative_url_is_not_written)
{
    const char *xml =
        EXNODE "<e:metadata name='filename'>f</e:metadata><e:mapping>"
               "<e:metadata name='exnode_offset'>0</e:metadata>"
               "<e:metadata name='logical_length'>9</e:metadata>"
               "<e:manage>SECRET1</e:manage>"
               "<e:read>r<e:write>SECRET2-0123456789-0123456789-0123456789-"
               "0123456789-0123456789-0123456789-0123456789</e:write></e:read>"
               "<e:write>SECRET3</e:write></e:mapping></exnode>";
    ck_assert_int_eq(parse_from(xml, "http://m.example/f.xnd"), 0);
    ck_assert_int_eq(write_file(0, "exnode"), 0);
    ck_assert_ptr_null(strstr(text, "SECRET"));
    ck_assert_ptr_nonnull(strstr(text, "<exnode:write></exnode:write>"));
    ck_assert_int_eq(parse_from(text, NULL), 0);
    expect_url(0, 0, 0, "http://m.example/r");
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("write");
    int n = sizeof sayable / sizeof *sayable;
    tcase_add_checked_fixture(t, NULL, forget_all);
    tcase_add_loop_test(t, a_sample_read_and_written_says_the_same, 0, n);
    tcase_add_loop_test(t, what_is_written_twice_is_the_same_text, 0, n);
    tcase_add_test(t, what_was_written_needs_no_warning);
    tcase_add_test(t, a_copy_of_a_whole_file_becomes_a_metalink);
    tcase_add_test(t, a_metalink_cannot_say_copies_of_a_part);
    tcase_add_test(t, a_metalink_cannot_say_where_in_an_object_a_copy_lies);
    tcase_add_test(t, the_hash_of_the_only_extent_is_that_of_the_file);
    tcase_add_test(t, an_exnode_cannot_say_an_unknown_size);
    tcase_add_test(t, an_exnode_holds_one_file_which_may_be_chosen);
    tcase_add_test(t, a_path_is_written_as_a_whole);
    tcase_add_test(t, one_file_of_several_makes_a_metalink);
    tcase_add_test(t, what_a_metalink_names_for_more_copies_is_written_again);
    tcase_add_test(t, a_file_number_or_format_that_is_none_is_refused);
    tcase_add_test(t, characters_of_xml_stand_for_themselves_again);
    tcase_add_test(t, a_url_that_xml_cannot_hold_is_named);
    tcase_add_test(t, a_url_of_this_machine_is_kept);
    tcase_add_test(t, an_exnode_has_what_older_tools_need);
    tcase_add_test(t, a_size_that_an_exnode_did_not_tell_is_not_made_up);
    tcase_add_test(t, an_exnode_may_hold_what_a_metalink_says);
    tcase_add_test(t, the_text_needs_no_length_and_null_is_released);
    tcase_add_test(t, what_the_model_does_not_hold_is_written_again);
    tcase_add_test(t, a_secret_within_a_relative_url_is_not_written);
    return run_suite("write", t);
}
