/* SPDX-License-Identifier: MIT */
#include "suite.h"

#include <string.h>
#include <xdownload/manifest.h>

#include "trace/trace_reader.h"

#define FIRST                                                  \
    "[\n{\"name\":\"xdownload_trace\",\"ph\":\"M\",\"pid\":0," \
    "\"args\":{\"format\":1}}"

static FILE *opened(const char *text)
{
    FILE *from = fmemopen((void *)(uintptr_t)text, strlen(text), "r");

    ck_assert_ptr_nonnull(from);
    return from;
}

/* ---- JSON ---- */

static const struct {
    const char *text;
    enum json_token token;
    const char *string; /* NULL: none */
} tokens[] = {
    {" \t\r\n", JSON_END, NULL},
    {"{", JSON_OPEN_OBJECT, NULL},
    {"]", JSON_CLOSE_ARRAY, NULL},
    {"true", JSON_WORD, "true"},
    {"null,", JSON_WORD, "null"},
    {"nul", JSON_BAD, NULL},
    {"-1.5e3", JSON_NUMBER, NULL},
    {"+1", JSON_BAD, NULL},
    {"inf", JSON_BAD, NULL},
    {"0x1", JSON_BAD, NULL},
    {"1-", JSON_BAD, NULL},
    {"\"\"", JSON_STRING, ""},
    {"\"a\\\"\\\\\\/\\b\\f\\n\\r\\t\"", JSON_STRING, "a\"\\/\b\f\n\r\t"},
    {"\"\\u0041\\u00e9\\u20ac\"", JSON_STRING, "A\xc3\xa9\xe2\x82\xac"},
    {"\"\\ud83d\\ude00\"", JSON_STRING, "\xf0\x9f\x98\x80"},
    {"\"\\u0000\"", JSON_STRING, "\xef\xbf\xbd"},
    {"\"\\ud83d\"", JSON_BAD, NULL},
    {"\"\\ud83d\\u0041\"", JSON_BAD, NULL},
    {"\"\\ude00\"", JSON_BAD, NULL},
    {"\"\\x\"", JSON_BAD, NULL},
    {"\"\\u12\"", JSON_BAD, NULL},
    {"\"a\nb\"", JSON_BAD, NULL},
    {"\"a", JSON_BAD, NULL},
    {"#", JSON_BAD, NULL},
};

START_TEST(a_token_is_what_rfc_8259_says)
{
    FILE *from = opened(tokens[_i].text);
    struct json_reader r;

    json_reader_init(&r, from);
    ck_assert_int_eq(json_reader_next(&r), tokens[_i].token);
    if (tokens[_i].string != NULL)
        ck_assert_str_eq(r.text, tokens[_i].string);
    fclose(from);
}
END_TEST

START_TEST(a_long_string_is_cut_and_what_is_behind_it_is_read)
{
    char text[4 * JSON_TEXT];
    struct json_reader r;
    FILE *from;

    memset(text, 'x', sizeof text);
    text[0] = text[sizeof text - 3] = '"';
    text[sizeof text - 2] = '7';
    text[sizeof text - 1] = '\0';
    from = opened(text);
    json_reader_init(&r, from);
    ck_assert_int_eq(json_reader_next(&r), JSON_STRING);
    ck_assert_uint_eq(strlen(r.text), JSON_TEXT - 1);
    ck_assert_int_eq(json_reader_next(&r), JSON_NUMBER);
    ck_assert_double_eq(r.number, 7);
    fclose(from);
}
END_TEST

static const struct {
    const char *text;
    bool is_skipped;
} values[] = {
    {"[1,{\"a\":[true,null]},\"x\"] 5", true},
    {"\"x\" 5", true},
    {"{} 5", true},
    {"[1", false},
    {"]", false},
    {", 5", false},
    {"[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[", false},
};

START_TEST(a_value_is_passed_over)
{
    FILE *from = opened(values[_i].text);
    struct json_reader r;

    json_reader_init(&r, from);
    ck_assert_int_eq(json_reader_skip(&r, json_reader_next(&r)),
                     values[_i].is_skipped);
    if (values[_i].is_skipped) {
        ck_assert_int_eq(json_reader_next(&r), JSON_NUMBER);
        ck_assert_double_eq(r.number, 5);
    }
    fclose(from);
}
END_TEST

/* ---- events ---- */

/* The first event of a trace with this one. */
static int read_one(struct trace_event *out, const char *event, char *why,
                    size_t size)
{
    char text[2000];
    struct trace_reader r;
    FILE *from;
    int rc;

    snprintf(text, sizeof text, FIRST ",\n%s\n]\n", event);
    from = opened(text);
    trace_reader_init(&r, from, "t.json");
    rc = trace_reader_next(&r, out, why, size);
    ck_assert(!r.is_torn);
    fclose(from);
    return rc;
}

START_TEST(a_request_has_all_that_was_written)
{
    struct trace_event e;
    char why[300];

    ck_assert_int_eq(
        read_one(&e,
                 "{\"name\":\"net\",\"cat\":\"request\",\"ph\":\"X\","
                 "\"ts\":1500000,\"dur\":250000,\"pid\":3,\"tid\":130,"
                 "\"args\":{\"depot\":2,\"host\":\"d3:80\",\"lane\":1,"
                 "\"reason\":\"hedge\",\"begin\":10,\"end\":30,"
                 "\"received\":15,\"duplicate\":5,\"queued\":1000,"
                 "\"first_byte\":null,\"name_lookup\":2000,"
                 "\"connect\":3000,\"error\":\"d3: gone\"}}",
                 why, sizeof why),
        1);
    ck_assert_int_eq(e.kind, TRACE_REQUEST);
    ck_assert_uint_eq(e.run, 3);
    ck_assert_uint_eq(e.depot, 2);
    ck_assert_double_eq_tol(e.at, 1.5, 1e-9);
    ck_assert_double_eq_tol(e.lasts, 0.25, 1e-9);
    ck_assert_double_eq_tol(e.name_lookup, 0.002, 1e-9);
    ck_assert_double_eq_tol(e.connect, 0.003, 1e-9);
    ck_assert_double_lt(e.first_byte, 0);
    ck_assert_uint_eq(e.received, 15);
    ck_assert_str_eq(e.name, "net");
    ck_assert_str_eq(e.host, "d3:80");
    ck_assert_str_eq(e.error, "d3: gone");
}
END_TEST

START_TEST(what_is_hostile_is_bounded)
{
    struct trace_event e;
    char why[300];

    ck_assert_int_eq(read_one(&e,
                              "{\"cat\":\"request\",\"ph\":\"X\",\"pid\":1,"
                              "\"ts\":1e300,\"dur\":-7,\"args\":"
                              "{\"received\":1e99,\"lost\":-1}}",
                              why, sizeof why),
                     1);
    ck_assert_double_le(e.at, 1e9);
    ck_assert_double_eq(e.lasts, 0);
    ck_assert_uint_le(e.received, UINT64_C(1000000000000000000));
    ck_assert_uint_eq(e.lost, 0);
    ck_assert_uint_eq(e.size, XD_SIZE_UNKNOWN);
}
END_TEST

START_TEST(events_of_others_are_passed_over)
{
    struct trace_event e;
    char why[300];

    ck_assert_int_eq(
        read_one(&e,
                 "{\"ph\":\"b\",\"pid\":1,\"args\":[1,{}]},{},"
                 "{\"cat\":\"request\",\"ph\":\"X\",\"pid\":0},"
                 "{\"cat\":\"request\",\"ph\":\"X\",\"pid\":1,\"args\":"
                 "{\"depot\":4e9}},"
                 "{\"ph\":\"M\",\"cat\":\"\",\"name\":\"process_name\","
                 "\"pid\":2,\"args\":{\"name\":\"f\"},\"odd\":[[]]}",
                 why, sizeof why),
        1);
    ck_assert_int_eq(e.kind, TRACE_NAME);
    ck_assert_uint_eq(e.run, 2);
    ck_assert_str_eq(e.name, "process_name");
    ck_assert_str_eq(e.text, "f");
}
END_TEST

static const struct {
    const char *text;
    int rc;
    bool is_torn;
    const char *why; /* NULL: nothing is said */
} traces[] = {
    {FIRST "]", 0, false, NULL},
    {FIRST "\n", 0, true, NULL},
    {FIRST ",\n{\"name\":\"x", 0, true, NULL},
    {FIRST ",\n{\"ts\":12", 0, true, NULL},
    {FIRST ",\n{\"name\":\"\\u00", 0, true, NULL},
    {FIRST ",\n{\"a\" 1}]", -1, false, "line 3 is no event"},
    {FIRST ",\n[]]", -1, false, "line 3 is no event"},
    {"[]", -1, false, "is no trace of xdownload"},
    {"{}", -1, false, "is no trace of xdownload"},
    {"[{\"name\":\"xdownload_trace\",\"args\":{\"format\":2}}]", -1, false,
     "is a trace of format 2, and this xdownload reads format 1"},
};

START_TEST(a_trace_ends_or_is_refused_in_a_sentence)
{
    FILE *from = opened(traces[_i].text);
    struct trace_event e;
    struct trace_reader r;
    char why[300] = "";

    trace_reader_init(&r, from, "t.json");
    ck_assert_int_eq(trace_reader_next(&r, &e, why, sizeof why), traces[_i].rc);
    ck_assert_int_eq(r.is_torn, traces[_i].is_torn);
    if (traces[_i].why != NULL) {
        ck_assert_ptr_nonnull(strstr(why, traces[_i].why));
        ck_assert_ptr_eq(strstr(why, "t.json: "), why);
    }
    fclose(from);
}
END_TEST

int main(void)
{
    TCase *tc = tcase_create("trace_reader");

    tcase_add_loop_test(tc, a_token_is_what_rfc_8259_says, 0,
                        sizeof tokens / sizeof *tokens);
    tcase_add_test(tc, a_long_string_is_cut_and_what_is_behind_it_is_read);
    tcase_add_loop_test(tc, a_value_is_passed_over, 0,
                        sizeof values / sizeof *values);
    tcase_add_test(tc, a_request_has_all_that_was_written);
    tcase_add_test(tc, what_is_hostile_is_bounded);
    tcase_add_test(tc, events_of_others_are_passed_over);
    tcase_add_loop_test(tc, a_trace_ends_or_is_refused_in_a_sentence, 0,
                        sizeof traces / sizeof *traces);
    return run_suite("trace_reader", tc);
}
