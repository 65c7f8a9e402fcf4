/* SPDX-License-Identifier: MIT */
#include "store/s3_xml.h"
#include "suite.h"

#define N_OF(array) (sizeof(array) / sizeof *(array))

#define LONG "0123456789012345678901234567890123456789"

/* The root's name, and the text of its child <Code>; "": there is none. */
static const struct row {
    const char *text, *root, *code;
} rows[] = {
    {"<Error><Code>SlowDown</Code></Error>", "Error", "SlowDown"},
    {" \r\n\n<Error>\n <Code>A</Code>\n</Error>\n", "Error", "A"},
    {"\xef\xbb\xbf<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<Error><Code>A"
     "</Code></Error>",
     "Error", "A"},
    {"<?a?><!-- <Code>B</Code> --><Error><!----><Code>A</Code></Error>",
     "Error", "A"},
    {"<Error xmlns=\"http://x/>\" a='/>'><Code a='>'>A</Code></Error>", "Error",
     "A"},
    {"<Error><Message>x<Code>B</Code></Message><Code>A</Code></Error>", "Error",
     "A"},
    {"<Error><Empty/><Code >A</Code ></Error>", "Error", "A"},
    {"<Error><Code>a&lt;b&amp;&gt;&quot;&apos;&#34;&#39;</Code></Error>",
     "Error", "a<b&>\"'\"'"},
    {"<Error><Code>A</Code>", "Error", "A"}, /* what is wanted has come */
    {"<Error><Code></Code></Error>", "Error", ""},
    {"<Error><Code/></Error>", "Error", ""},
    {"<Error/>", "Error", ""},
    {"<Error><Code>A", "Error", ""},
    {"<Error><Code>A<", "Error", ""},
    {"<Error><Code>A</Cod", "Error", ""},
    {"<Error><Code>A</Code", "Error", ""},
    {"<Error><Code>A</Other></Error>", "Error", ""},
    {"<Error><Code>A<b>B</b></Code></Error>", "Error", ""},
    {"<Error><Code>A&b;</Code></Error>", "Error", ""},
    {"<Error><Code>A&#0;</Code></Error>", "Error", ""},
    {"<Error><Code>" LONG "</Code></Error>", "Error", ""},
    {"<Error><Codes>A</Codes></Error>", "Error", ""},
    {"<Error></Error><Code>A</Code>", "Error", ""},
    {"<Error><a></b><Code>A</Code></Error>", "Error", ""},
    {"<Error><a><b><c><d><e><f></f></e></d></c></b></a><Code>A</Code></Error>",
     "Error", "A"},
    {"<Error><a><b><c><d><e><f><g><h></h></g></f></e></d></c></b></a><Code>A"
     "</Code></Error>",
     "Error", ""},
    {"<Error><![CDATA[x]]><Code>A</Code></Error>", "Error", ""},
    {"<!DOCTYPE Error [<!ENTITY a \"b\">]><Error><Code>A</Code></Error>", "",
     ""},
    {"x<Error><Code>A</Code></Error>", "", ""},
    {"</Error><Code>A</Code>", "", ""},
    {"<Error", "", ""},
    {"<Error a='>", "", ""},
    {"<Error <Code>A</Code>", "", ""},
    {"< Error><Code>A</Code>", "", ""},
    {"<!-- ", "", ""},
    {"<", "", ""},
    {"", "", ""},
};

START_TEST(the_words_of_an_answer_are_found)
{
    const struct row *row = &rows[_i];
    /* Of its own length, so that a sanitizer sees what reads beyond it. */
    size_t len = strlen(row->text);
    char *text = malloc(len + 1), code[20];
    struct xd_span span = xd_span(memcpy(text, row->text, len), len), root;
    bool has_text;

    text = realloc(text, len > 0 ? len : 1);
    span.s = text;
    root = xd_s3_xml_root(span);
    ck_assert_msg(xd_span_is(root, row->root), "%.*s", (int)root.len, root.s);
    has_text = xd_s3_xml_child(span, "Code", code, sizeof code);
    ck_assert_str_eq(code, row->code);
    ck_assert(has_text || code[0] == '\0');
    free(text);
}
END_TEST

START_TEST(a_text_that_just_fits_is_found)
{
    char out[3];

    ck_assert(xd_s3_xml_child(xd_span_of("<E><C>ab</C></E>"), "C", out, 3));
    ck_assert_str_eq(out, "ab");
    ck_assert(!xd_s3_xml_child(xd_span_of("<E><C>abc</C></E>"), "C", out, 3));
    ck_assert_str_eq(out, "");
}
END_TEST

#define UPLOADS(inside) \
    "<ListMultipartUploadsResult>" inside "</ListMultipartUploadsResult>"
#define UPLOAD(inside) "<Upload>" inside "</Upload>"

static const struct upload_row {
    const char *text, *id;
} upload_rows[] = {
    {UPLOADS(UPLOAD("<Key>a&amp;b</Key><UploadId>1</UploadId>")), "1"},
    {UPLOADS(UPLOAD("<UploadId>1</UploadId><Owner><ID>x</ID></Owner>"
                    "<Key>a&amp;b</Key>")),
     "1"},
    {UPLOADS(UPLOAD("<Key>a&amp;bc</Key><UploadId>2</UploadId>")
                 UPLOAD("<Key>a&amp;b</Key><UploadId>1</UploadId>")),
     "1"},
    {UPLOADS(UPLOAD("<UploadId>2</UploadId>")
                 UPLOAD("<Key>a&amp;b</Key><UploadId>1</UploadId>")),
     "1"},
    {UPLOADS("<Key>a&amp;b</Key><UploadId>1</UploadId>"), ""},
    {UPLOADS("<Other>" UPLOAD(
         "<Key>a&amp;b</Key><UploadId>1</UploadId>") "</Other>"),
     ""},
    {UPLOADS(UPLOAD("<Owner><Key>a&amp;b</Key></Owner><UploadId>1</UploadId>")),
     ""},
    {UPLOADS(UPLOAD("<Key>a&amp;b</Key>")), ""},
    {UPLOADS(UPLOAD("<Key>a&amp;b</Key><UploadId/>")), ""},
    {"<ListMultipartUploadsResult><Upload><Key>a&amp;b</Key><UploadId>1", ""},
    {"<E>" UPLOAD("<Key>a&amp;b</Key><UploadId>1</UploadId>") "</E>", ""},
    {"", ""},
};

START_TEST(the_upload_of_a_key_is_found)
{
    const struct upload_row *row = &upload_rows[_i];
    char id[8];
    bool has_one =
        xd_s3_xml_upload(xd_span_of(row->text), "a&b", id, sizeof id);

    ck_assert_str_eq(id, row->id);
    ck_assert_int_eq(has_one, row->id[0] != '\0');
}
END_TEST

int main(void)
{
    TCase *tcase = tcase_create("s3_xml");

    tcase_add_loop_test(tcase, the_words_of_an_answer_are_found, 0,
                        (int)N_OF(rows));
    tcase_add_test(tcase, a_text_that_just_fits_is_found);
    tcase_add_loop_test(tcase, the_upload_of_a_key_is_found, 0,
                        (int)N_OF(upload_rows));
    return run_suite("store/s3_xml", tcase);
}
