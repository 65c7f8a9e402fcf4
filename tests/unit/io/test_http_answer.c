/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <string.h>

#include "io/http/http_answer.h"
#include "io/request.h"
#include "suite.h"

#define NAME "http://d3/x"

static struct xd_http_answer answer;
static struct xd_http_judgement judgement;

/* Give it the text line by line, as libcurl would. */
static void read_answer(const char *text)
{
    while (*text != '\0') {
        const char *end = strchr(text, '\n') + 1;

        xd_http_answer_line(&answer, text, (size_t)(end - text));
        text = end;
    }
}

static void judge(const char *text, struct xd_request r)
{
    read_answer(text);
    xd_http_judge(&answer, &r, NAME, &judgement);
}

/* Bytes 100-199 of an object of 1000. */
static const struct xd_request some = {
    .offset = 100, .length = 100, .object_size = 1000};
static const struct xd_request some_of_unknown = {
    .offset = 100, .length = 100, .object_size = XD_SIZE_UNKNOWN};
static const struct xd_request first = {
    .offset = 0, .length = 100, .object_size = 1000};
static const struct xd_request first_of_unknown = {
    .offset = 0, .length = 100, .object_size = XD_SIZE_UNKNOWN};
static const struct xd_request all = {
    .offset = 0, .length = XD_TO_END, .object_size = XD_SIZE_UNKNOWN};
static const struct xd_request rest = {
    .offset = 100, .length = XD_TO_END, .object_size = XD_SIZE_UNKNOWN};
static const struct xd_request past = {
    .offset = 100, .length = 100, .object_size = 1000, .whole = true};

static void check_ok(uint64_t end, uint64_t object_size)
{
    ck_assert_int_eq(judgement.outcome.verdict, XD_VERDICT_OK);
    ck_assert_uint_eq(judgement.end, end);
    ck_assert_uint_eq(judgement.object_size, object_size);
}

static void check_refused(enum xd_verdict verdict, const char *sentence)
{
    ck_assert_int_eq(judgement.outcome.verdict, verdict);
    ck_assert_str_eq(judgement.outcome.error.msg, sentence);
    ck_assert_int_eq(judgement.outcome.error.http_status, (int)answer.status);
}

static void check_different(uint64_t object_size, const char *sentence)
{
    check_refused(XD_VERDICT_DIFFERENT, sentence);
    ck_assert_int_eq(judgement.outcome.error.code, XD_E_DIFFERENT);
    ck_assert_uint_eq(judgement.outcome.object_size, object_size);
}

#define PARTIAL(range)                 \
    "HTTP/1.1 206 Partial Content\r\n" \
    "Content-Range: " range "\r\n"

START_TEST(range_as_asked_is_accepted)
{
    judge(PARTIAL("bytes 100-199/1000") "Content-Length: 100\r\n\r\n", some);
    check_ok(200, 1000);
}
END_TEST

START_TEST(names_and_units_of_fields_have_no_case)
{
    judge("HTTP/2 206\r\ncontent-range:Bytes 100-199/1000 \r\n\r\n", some);
    check_ok(200, 1000);
}
END_TEST

START_TEST(range_without_total_is_accepted_if_no_size_is_known)
{
    judge(PARTIAL("bytes 100-199/*") "\r\n", some_of_unknown);
    check_ok(200, XD_SIZE_UNKNOWN);
}
END_TEST

START_TEST(range_without_total_or_unit_is_accepted)
{
    judge(PARTIAL("bytes 100-199/*") "\r\n", some);
    check_ok(200, XD_SIZE_UNKNOWN);
    judge(PARTIAL("bytes 100-199/") "\r\n", some);
    check_ok(200, XD_SIZE_UNKNOWN);
    judge(PARTIAL("bytes 100-199") "\r\n", some_of_unknown);
    check_ok(200, XD_SIZE_UNKNOWN);
    judge(PARTIAL("100-199/1000") "\r\n", some);
    check_ok(200, 1000);
    judge(PARTIAL("bytes=100-199/1000") "\r\n", some);
    check_ok(200, 1000);
    judge(PARTIAL("bytes 100-1000/*") "\r\n", some);
    ck_assert_int_eq(judgement.outcome.verdict, XD_VERDICT_NO_RANGES);
}
END_TEST

START_TEST(shorter_range_is_accepted_at_the_end_of_the_object)
{
    judge(PARTIAL("bytes 100-149/150") "\r\n", some_of_unknown);
    check_ok(150, 150);
    ck_assert(!judgement.outcome.is_cut);
}
END_TEST

START_TEST(shorter_range_elsewhere_is_cut)
{
    judge(PARTIAL("bytes 100-149/1000") "\r\n", some);
    check_ok(150, 1000);
    ck_assert(judgement.outcome.is_cut);
    judge(PARTIAL("bytes 100-149/*") "\r\n", some);
    check_ok(150, XD_SIZE_UNKNOWN);
    ck_assert(judgement.outcome.is_cut);
    judge(PARTIAL("bytes 100-199/1000") "\r\n", some);
    ck_assert(!judgement.outcome.is_cut);
}
END_TEST

START_TEST(range_to_the_end_must_say_where_that_is)
{
    judge(PARTIAL("bytes 100-999/1000") "\r\n", rest);
    check_ok(1000, 1000);
    ck_assert(!judgement.outcome.is_cut);
    judge(PARTIAL("bytes 100-998/1000") "\r\n", rest);
    check_ok(999, 1000);
    ck_assert(judgement.outcome.is_cut);
    judge(PARTIAL("bytes 100-998/*") "\r\n", rest);
    ck_assert_int_eq(judgement.outcome.verdict, XD_VERDICT_NO_RANGES);
}
END_TEST

START_TEST(wrong_start_is_refused)
{
    judge(PARTIAL("bytes 0-199/1000") "\r\n", some);
    check_refused(XD_VERDICT_NO_RANGES,
                  NAME ": answered 206 with bytes 0-199 to a request for "
                       "bytes 100-199");
}
END_TEST

START_TEST(wrong_end_is_refused)
{
    judge(PARTIAL("bytes 100-200/1000") "\r\n", some);
    ck_assert_int_eq(judgement.outcome.verdict, XD_VERDICT_NO_RANGES);
}
END_TEST

START_TEST(wrong_total_is_a_different_object)
{
    judge(PARTIAL("bytes 100-199/1001") "\r\n", some);
    check_different(1001, NAME ": has 1001 bytes instead of 1000");
}
END_TEST

START_TEST(malformed_range_counts_as_none)
{
    static const char *const fields[] = {"bytes 199-100/1000",
                                         "bytes 100-1000/1000",
                                         "bytes -199/1000",
                                         "bytes 100-/1000",
                                         "bytes +100-199/1000",
                                         "bytes 100-199/10x",
                                         "bytes */*",
                                         "bytes */1000",
                                         "bytes *",
                                         "bytes /",
                                         "pages 100-199/1000",
                                         "bytes 100-18446744073709551615/*",
                                         "bytes 100-199/-1",
                                         "bytes 1 00-199/1000",
                                         "bytes 0x64-0xc7/1000",
                                         "bytes 100-199/18446744073709551616",
                                         "bytes 100-199,300/1000"};

    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
        char text[200];

        snprintf(text, sizeof text, PARTIAL("%s") "\r\n", fields[i]);
        judge(text, some);
        check_refused(XD_VERDICT_REFUSED_RANGE,
                      NAME ": answered 206 without saying with which bytes to "
                           "a request for bytes 100-199");
    }
}
END_TEST

START_TEST(two_ranges_in_one_answer_are_refused)
{
    judge(PARTIAL("bytes 100-199/1000") "Content-Range: bytes 0-99/1000\r\n"
                                        "\r\n",
          some);
    check_refused(XD_VERDICT_GONE,
                  NAME ": answered 206 with two different lengths or ranges to "
                       "a request for bytes 100-199");
}
END_TEST

START_TEST(two_lengths_in_one_answer_are_refused)
{
    judge("HTTP/1.1 200 OK\r\nContent-Length: 10\r\nContent-Length: 11\r\n\r\n",
          all);
    ck_assert_int_eq(judgement.outcome.verdict, XD_VERDICT_GONE);
    judge("HTTP/1.1 200 OK\r\nContent-Length: 10\r\nContent-Length: 10\r\n\r\n",
          all);
    check_ok(10, 10);
}
END_TEST

START_TEST(length_of_one_byte_less_than_the_range_means_no_ranges)
{
    static const char *const lengths[] = {"99", "0"};
    char text[200];

    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        snprintf(text, sizeof text,
                 "HTTP/1.1 206 Partial Content\r\n"
                 "Content-Range: bytes 100-199/1000\r\n"
                 "Content-Length: %s\r\n\r\n",
                 lengths[i]);
        answer = (struct xd_http_answer){.status = 0};
        judge(text, some);
        ck_assert_int_eq(judgement.outcome.verdict, XD_VERDICT_NO_RANGES);
        ck_assert(judgement.outcome.is_wrong_range);
        ck_assert_uint_eq(judgement.outcome.object_size, 1000);
    }
}
END_TEST

START_TEST(other_wrong_lengths_are_found_out_by_the_body)
{
    judge("HTTP/1.1 206 Partial Content\r\n"
          "Content-Range: bytes 100-199/1000\r\n"
          "Content-Length: 50\r\n\r\n",
          some);
    check_ok(200, 1000);
    answer = (struct xd_http_answer){.status = 0};
    judge("HTTP/1.1 206 Partial Content\r\n"
          "Content-Range: bytes 100-199/1000\r\n"
          "Content-Length: 101\r\n\r\n",
          some);
    check_ok(200, 1000);
}
END_TEST

START_TEST(several_ranges_are_refused)
{
    judge("HTTP/1.1 206 Partial Content\r\n"
          "Content-Type: multipart/byteranges; boundary=x\r\n\r\n",
          some);
    check_refused(XD_VERDICT_REFUSED_RANGE,
                  NAME ": answered 206 with several ranges to a request for "
                       "bytes 100-199");
}
END_TEST

#define GZIP "Content-Encoding: gzip\r\n\r\n"

START_TEST(encoded_bytes_are_refused)
{
    judge(PARTIAL("bytes 100-199/*") GZIP, some);
    check_refused(XD_VERDICT_GONE,
                  NAME ": answered 206 in the encoding \"gzip\" to a request "
                       "for bytes 100-199");
    judge(PARTIAL("bytes 100-199/999") GZIP, some);
    ck_assert_int_eq(judgement.outcome.verdict, XD_VERDICT_GONE);
    judge(PARTIAL("bytes 100-199/1000") GZIP, some_of_unknown);
    ck_assert_int_eq(judgement.outcome.verdict, XD_VERDICT_GONE);
    judge("HTTP/1.1 200 OK\r\nContent-Encoding: br\r\n"
          "Content-Encoding: identity\r\n\r\n",
          all);
    ck_assert_int_eq(judgement.outcome.verdict, XD_VERDICT_GONE);
}
END_TEST

START_TEST(encoding_of_an_object_of_the_right_size_does_not_matter)
{
    judge(PARTIAL("bytes 100-199/1000") GZIP, some);
    check_ok(200, 1000);
    judge("HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n" GZIP, past);
    check_ok(200, 1000);
}
END_TEST

START_TEST(encoding_does_not_matter_where_the_request_takes_it)
{
    struct xd_request takes = some_of_unknown;

    takes.takes_encoded = true;
    judge(PARTIAL("bytes 100-199/*") GZIP, takes);
    check_ok(200, XD_SIZE_UNKNOWN);
}
END_TEST

START_TEST(what_is_no_coding_is_no_encoding)
{
    static const char *const words[] = {
        "identity", "none", "binary", "utf-8", "8bit", "", "aws-chunked"};

    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        char text[200];

        snprintf(text, sizeof text,
                 PARTIAL("bytes 100-199/*") "Content-Encoding: %s\r\n\r\n",
                 words[i]);
        judge(text, some);
        check_ok(200, XD_SIZE_UNKNOWN);
    }
}
END_TEST

START_TEST(range_nobody_asked_for_is_refused)
{
    judge(PARTIAL("bytes 0-99/1000") "\r\n", all);
    check_refused(XD_VERDICT_GONE, NAME ": answered 206 with a range to a "
                                        "request for the whole object");
}
END_TEST

#define WHOLE(length) "HTTP/1.1 200 OK\r\nContent-Length: " length "\r\n\r\n"

START_TEST(whole_object_for_a_range_means_no_ranges)
{
    judge(WHOLE("1000"), some);
    check_refused(XD_VERDICT_NO_RANGES,
                  NAME ": answered 200 with the whole object to a request for "
                       "bytes 100-199");
    ck_assert_uint_eq(judgement.outcome.object_size, 1000);
    judge(WHOLE("1000"), first_of_unknown);
    ck_assert_int_eq(judgement.outcome.verdict, XD_VERDICT_NO_RANGES);
    judge("HTTP/1.1 200 OK\r\n\r\n", first_of_unknown);
    ck_assert_int_eq(judgement.outcome.verdict, XD_VERDICT_NO_RANGES);
    ck_assert_uint_eq(judgement.outcome.object_size, XD_SIZE_UNKNOWN);
}
END_TEST

START_TEST(whole_object_with_a_content_range_is_still_whole)
{
    judge("HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n"
          "Content-Range: bytes 100-199/1000\r\n\r\n",
          some);
    ck_assert_int_eq(judgement.outcome.verdict, XD_VERDICT_NO_RANGES);
}
END_TEST

START_TEST(a_200_that_says_that_it_is_a_part_is_one)
{
    judge("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n"
          "Content-Range: bytes 100-199/1000\r\n\r\n",
          some);
    check_ok(200, 1000);
    judge("HTTP/1.1 200 OK\r\nContent-Length: 1\r\n"
          "Content-Range: bytes 0-0/*\r\n\r\n",
          (struct xd_request){.length = 1, .object_size = XD_SIZE_UNKNOWN});
    check_ok(1, XD_SIZE_UNKNOWN);
    judge("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n"
          "Content-Range: bytes 0-99/1000\r\n\r\n",
          some);
    ck_assert_int_eq(judgement.outcome.verdict, XD_VERDICT_NO_RANGES);
    ck_assert(judgement.outcome.is_wrong_range);
    judge("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n"
          "Content-Range: bytes 0-99/1000\r\n\r\n",
          all);
    check_refused(XD_VERDICT_GONE, NAME ": answered 200 with a range to a "
                                        "request for the whole object");
}
END_TEST

START_TEST(a_200_with_the_range_of_the_whole_object_is_whole)
{
    judge("HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n"
          "Content-Range: bytes 0-999/1000\r\n\r\n",
          all);
    check_ok(1000, 1000);
    judge("HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n"
          "Content-Range: bytes 0-999/*\r\n\r\n",
          all);
    check_ok(1000, 1000);
    judge("HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n"
          "Content-Range: bytes 0-999/1000\r\n\r\n",
          past);
    check_ok(200, 1000);
}
END_TEST

START_TEST(a_proxy_that_may_have_changed_the_object_brings_it)
{
    judge("HTTP/1.1 203 OK\r\nContent-Length: 1000\r\n\r\n", all);
    check_ok(1000, 1000);
    judge("HTTP/1.1 203 OK\r\nContent-Length: 1000\r\n\r\n", some);
    ck_assert_int_eq(judgement.outcome.verdict, XD_VERDICT_NO_RANGES);
}
END_TEST

START_TEST(whole_object_of_another_size_is_a_different_one)
{
    judge(WHOLE("999"), some);
    check_different(999, NAME ": has 999 bytes instead of 1000");
    judge(WHOLE("1001"), past);
    check_different(1001, NAME ": has 1001 bytes instead of 1000");
}
END_TEST

START_TEST(whole_object_is_accepted_where_it_is_what_was_asked_for)
{
    struct xd_request known = first;

    judge(WHOLE("100"), first_of_unknown);
    check_ok(100, 100);
    judge(WHOLE("40"), first_of_unknown);
    check_ok(40, 40);
    known.object_size = 100;
    judge("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", known);
    check_ok(100, XD_SIZE_UNKNOWN);
}
END_TEST

START_TEST(whole_object_without_a_size_is_read_to_its_end)
{
    judge("HTTP/1.1 200 OK\r\n\r\n", all);
    check_ok(XD_TO_END, XD_SIZE_UNKNOWN);
    judge("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n"
          "Content-Length: 5\r\n\r\n",
          all);
    check_ok(XD_TO_END, XD_SIZE_UNKNOWN);
}
END_TEST

START_TEST(empty_object_is_an_object)
{
    judge(WHOLE("0"), all);
    check_ok(0, 0);
}
END_TEST

START_TEST(object_that_grows_may_have_become_longer)
{
    struct xd_request request = some;

    request.grows = true;
    judge(PARTIAL("bytes 100-199/1001") "\r\n", request);
    check_ok(200, 1001);
    judge(PARTIAL("bytes 100-199/999") "\r\n", request);
    check_different(999, NAME ": has 999 bytes instead of 1000");
    request.whole = true;
    judge(WHOLE("1001"), request);
    check_ok(200, 1001);
}
END_TEST

START_TEST(whole_object_is_read_past_to_the_range)
{
    struct xd_request unknown = past;

    judge(WHOLE("1000"), past);
    check_ok(200, 1000);
    unknown.object_size = XD_SIZE_UNKNOWN;
    judge(WHOLE("150"), unknown);
    check_ok(150, 150);
    judge(WHOLE("100"), unknown);
    check_different(100, NAME ": has 100 bytes, none from 100 on");
}
END_TEST

START_TEST(unsatisfied_range_tells_the_size)
{
    judge("HTTP/1.1 416 No\r\nContent-Range: bytes */50\r\n\r\n", some);
    check_different(50, NAME ": has 50 bytes instead of 1000");
    judge("HTTP/1.1 416 No\r\nContent-Range: bytes */0\r\n\r\n",
          first_of_unknown);
    check_different(0, NAME ": has 0 bytes, none from 0 on");
}
END_TEST

START_TEST(unsatisfied_range_that_the_object_may_have_is_a_refused_one)
{
    judge("HTTP/1.1 416 No\r\nContent-Range: bytes */1000\r\n\r\n", some);
    check_refused(XD_VERDICT_REFUSED_RANGE,
                  NAME ": answered 416 (no such range) to a request for bytes "
                       "100-199");
    judge("HTTP/1.1 416 No\r\n\r\n", some);
    ck_assert_int_eq(judgement.outcome.verdict, XD_VERDICT_REFUSED_RANGE);
    judge("HTTP/1.1 416 No\r\n\r\n", all);
    ck_assert_int_eq(judgement.outcome.verdict, XD_VERDICT_GONE);
}
END_TEST

START_TEST(statuses_say_whether_to_come_again)
{
    static const struct {
        unsigned status;
        enum xd_verdict verdict;
    } rows[] = {{204, XD_VERDICT_GONE},  {302, XD_VERDICT_GONE},
                {304, XD_VERDICT_GONE},  {400, XD_VERDICT_GONE},
                {401, XD_VERDICT_GONE},  {403, XD_VERDICT_GONE},
                {404, XD_VERDICT_GONE},  {410, XD_VERDICT_GONE},
                {412, XD_VERDICT_GONE},  {501, XD_VERDICT_GONE},
                {505, XD_VERDICT_GONE},  {408, XD_VERDICT_AGAIN},
                {425, XD_VERDICT_AGAIN}, {429, XD_VERDICT_AGAIN},
                {500, XD_VERDICT_AGAIN}, {502, XD_VERDICT_AGAIN},
                {503, XD_VERDICT_AGAIN}, {504, XD_VERDICT_AGAIN},
                {599, XD_VERDICT_AGAIN}};

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char text[100], sentence[100];

        snprintf(text, sizeof text, "HTTP/1.1 %u Words\r\n\r\n",
                 rows[i].status);
        snprintf(sentence, sizeof sentence, NAME ": answered %u",
                 rows[i].status);
        judge(text, all);
        check_refused(rows[i].verdict, sentence);
        ck_assert_int_eq(judgement.outcome.error.code, XD_E_NET);
    }
}
END_TEST

static struct xd_request some_of(const char *validator)
{
    struct xd_request r = some;

    r.if_range = validator;
    return r;
}

START_TEST(some_statuses_may_be_meant_for_the_range_alone)
{
    static const char *const refusals[] = {
        "HTTP/1.1 400 No\r\n\r\n", "HTTP/1.1 403 No\r\n\r\n",
        "HTTP/1.1 405 No\r\n\r\n", "HTTP/1.1 406 No\r\n\r\n",
        "HTTP/1.1 501 No\r\n\r\n"};

    for (size_t i = 0; i < sizeof refusals / sizeof *refusals; i++) {
        judge(refusals[i], some);
        ck_assert_int_eq(judgement.outcome.verdict, XD_VERDICT_REFUSED_RANGE);
    }
    judge("HTTP/1.1 404 No\r\n\r\n", some);
    ck_assert_int_eq(judgement.outcome.verdict, XD_VERDICT_GONE);
    judge("HTTP/1.1 412 No\r\n\r\n", some);
    ck_assert_int_eq(judgement.outcome.verdict, XD_VERDICT_GONE);
    judge("HTTP/1.1 412 No\r\n\r\n", some_of("\"a\""));
    ck_assert_int_eq(judgement.outcome.verdict, XD_VERDICT_REFUSED_RANGE);
}
END_TEST

START_TEST(a_condition_of_the_request_itself_tells_of_another_file)
{
    struct xd_request conditional = some;

    conditional.fields = "Xd-Match: \"a\"\n";
    judge("HTTP/1.1 412 No\r\n\r\n", conditional);
    ck_assert_int_eq(judgement.outcome.verdict, XD_VERDICT_DIFFERENT);
    judge("HTTP/1.1 404 No\r\n\r\n", conditional);
    ck_assert_int_eq(judgement.outcome.verdict, XD_VERDICT_GONE);
}
END_TEST

START_TEST(status_line_forgets_what_was_before)
{
    read_answer("HTTP/1.1 301 Moved\r\nLocation: /y\r\nETag: \"a\"\r\n"
                "Content-Range: bytes 0-1/2\r\nContent-Length: 5\r\n\r\n");
    ck_assert(answer.complete && answer.location.len && answer.has_range);
    read_answer("HTTP/1.1 200 OK\r\n");
    ck_assert_uint_eq(answer.status, 200);
    ck_assert(!answer.complete && !answer.location.len && !answer.has_range);
    ck_assert(!answer.has_length);
    ck_assert_str_eq(answer.etag, "");
}
END_TEST

START_TEST(validators_are_strong_and_whole)
{
    char text[400] = "HTTP/1.1 200 OK\r\nETag: \"";

    read_answer("HTTP/1.1 200 OK\r\nETag: \"abc\"\r\n"
                "Last-Modified: Tue, 15 Nov 1994 12:45:26 GMT\r\n\r\n");
    ck_assert_str_eq(answer.etag, "\"abc\"");
    ck_assert_str_eq(answer.modified, "Tue, 15 Nov 1994 12:45:26 GMT");
    read_answer("HTTP/1.1 200 OK\r\nETag: W/\"abc\"\r\n\r\n");
    ck_assert_str_eq(answer.etag, "");
    memset(text + strlen(text), 'x', 300);
    strcat(text, "\"\r\n\r\n");
    read_answer(text);
    ck_assert_str_eq(answer.etag, "");
}
END_TEST

START_TEST(etag_is_a_validator_if_it_is_strong)
{
    read_answer("HTTP/1.1 200 OK\r\nETag: \"a\"\r\n\r\n");
    ck_assert_str_eq(xd_http_validator(&answer), "\"a\"");
    read_answer("HTTP/1.1 200 OK\r\nETag: W/\"a\"\r\n\r\n");
    ck_assert_ptr_null(xd_http_validator(&answer));
    /* Sent back it would be read as a date. */
    read_answer("HTTP/1.1 200 OK\r\nETag: a\r\n\r\n");
    ck_assert_ptr_null(xd_http_validator(&answer));
}
END_TEST

#define MODIFIED "Last-Modified: Tue, 15 Nov 1994 12:45:26 GMT\r\n"

START_TEST(last_modified_is_a_validator_if_it_is_old_enough)
{
    read_answer("HTTP/1.1 200 OK\r\n" MODIFIED
                "Date: Tue, 15 Nov 1994 12:46:26 GMT\r\n\r\n");
    ck_assert_str_eq(xd_http_validator(&answer),
                     "Tue, 15 Nov 1994 12:45:26 GMT");
    read_answer("HTTP/1.1 200 OK\r\n" MODIFIED
                "Date: Tue, 15 Nov 1994 12:46:25 GMT\r\n\r\n");
    ck_assert_ptr_null(xd_http_validator(&answer));
    read_answer("HTTP/1.1 200 OK\r\n" MODIFIED "\r\n");
    ck_assert_ptr_null(xd_http_validator(&answer));
    read_answer("HTTP/1.1 200 OK\r\nLast-Modified: long ago\r\n"
                "Date: Tue, 15 Nov 1994 12:46:26 GMT\r\n\r\n");
    ck_assert_ptr_null(xd_http_validator(&answer));
}
END_TEST

#define CHANGED NAME ": its file has changed during the download"

START_TEST(range_of_a_changed_object_is_refused)
{
    judge(PARTIAL("bytes 100-199/1000") "ETag: \"b\"\r\n\r\n",
          some_of("\"a\""));
    check_refused(XD_VERDICT_CHANGED, CHANGED);
    ck_assert_int_eq(judgement.outcome.error.code, XD_E_DIFFERENT);
    judge(PARTIAL("bytes 100-199/2000") "ETag: \"b\"\r\n\r\n",
          some_of("\"a\""));
    check_refused(XD_VERDICT_CHANGED, CHANGED);
    judge(PARTIAL("bytes 100-199/1000") MODIFIED "\r\n",
          some_of("Tue, 15 Nov 1994 12:45:25 GMT"));
    check_refused(XD_VERDICT_CHANGED, CHANGED);
}
END_TEST

START_TEST(whole_object_in_place_of_a_range_has_changed_unless_it_says_no)
{
    judge("HTTP/1.1 200 OK\r\nContent-Length: 1000\r\nETag: \"b\"\r\n\r\n",
          some_of("\"a\""));
    check_refused(XD_VERDICT_CHANGED, CHANGED);
    judge("HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n", some_of("\"a\""));
    check_refused(XD_VERDICT_CHANGED, CHANGED);
    judge("HTTP/1.1 200 OK\r\nContent-Length: 1000\r\nETag: \"a\"\r\n\r\n",
          some_of("\"a\""));
    ck_assert_int_eq(judgement.outcome.verdict, XD_VERDICT_NO_RANGES);
}
END_TEST

START_TEST(object_that_is_the_same_or_does_not_say_is_accepted)
{
    judge(PARTIAL("bytes 100-199/1000") "ETag: \"a\"\r\n\r\n",
          some_of("\"a\""));
    check_ok(200, 1000);
    judge(PARTIAL("bytes 100-199/1000") MODIFIED "\r\n", some_of("\"a\""));
    check_ok(200, 1000);
    judge(PARTIAL("bytes 100-199/1000") "ETag: \"a\"\r\n\r\n", some);
    check_ok(200, 1000);
}
END_TEST

START_TEST(folded_and_nameless_lines_are_passed_over)
{
    read_answer("HTTP/1.1 200 OK\r\n Content-Length: 5\r\nContent-Length\r\n"
                ": 5\r\n\r\n");
    ck_assert(!answer.has_length);
    ck_assert(answer.complete);
}
END_TEST

START_TEST(request_that_runs_over_the_last_number_goes_to_the_end)
{
    struct xd_request r = {.offset = UINT64_MAX - 5, .length = 10};

    ck_assert_uint_eq(xd_request_end(&r), XD_TO_END);
}
END_TEST

START_TEST(digest_is_known_among_challenges)
{
    static const struct {
        const char *line;
        bool wants;
    } lines[] = {
        {"WWW-Authenticate: Digest realm=\"r\", nonce=\"n\"\r\n", true},
        {"www-authenticate:digest realm=r\r\n", true},
        {"WWW-Authenticate: Basic realm=\"a, b\", Digest realm=\"c\"\r\n",
         true},
        {"WWW-Authenticate: Negotiate,  Digest realm=\"c\"\r\n", true},
        {"WWW-Authenticate: Basic realm=\"Digest x\"\r\n", false},
        {"WWW-Authenticate: Basic realm=\"a, Digest x\"\r\n", false},
        {"WWW-Authenticate: Basic realm=\"a\\\", Digest x\"\r\n", false},
        {"WWW-Authenticate: Digestive realm=\"r\"\r\n", false},
        {"Digest: sha-256=x\r\n", false},
    };

    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        answer = (struct xd_http_answer){.status = 0};
        read_answer("HTTP/1.1 401 Who\r\n");
        read_answer(lines[i].line);
        ck_assert_msg(answer.wants_digest == lines[i].wants, "%s",
                      lines[i].line);
    }
}
END_TEST

#define HTML "Content-Type: text/html; charset=utf-8\r\n"
#define SAID_PAGE                                                             \
    NAME ": answered 200 with a page (text/html; charset=utf-8) in place of " \
         "the file"

static struct xd_request some_of_type(const char *media_type)
{
    struct xd_request r = some_of("\"a\"");

    r.media_type = media_type;
    return r;
}

START_TEST(page_of_another_type_and_size_is_a_refusal)
{
    static const char *const types[] = {"application/octet-stream", "",
                                        "text/htm", "text/html5"};
    static const char *const pages[] = {
        "HTTP/1.1 200 OK\r\nContent-Length: 85\r\n" HTML "\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 85\r\nETag: \"b\"\r\n" HTML "\r\n",
        "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n" HTML "\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n" HTML "\r\n"};

    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        for (size_t k = 0; k < sizeof pages / sizeof *pages; k++) {
            judge(pages[k], some_of_type(types[i]));
            check_refused(XD_VERDICT_AGAIN, SAID_PAGE);
            ck_assert(judgement.outcome.is_refusal);
        }
    }
    judge(PARTIAL("bytes 100-199/5000") "\r\n", some_of_type("a/b"));
    check_refused(XD_VERDICT_AGAIN, NAME
                  ": answered 206 with a page (of no type) in place of the "
                  "file");
}
END_TEST

START_TEST(answer_of_the_same_type_or_size_is_no_page)
{
    judge("HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n" HTML "\r\n",
          some_of_type("a/b"));
    ck_assert_int_eq(judgement.outcome.verdict, XD_VERDICT_CHANGED);
    judge("HTTP/1.1 200 OK\r\nContent-Length: 85\r\nETag: \"b\"\r\n" HTML
          "\r\n",
          some_of_type("TEXT/html ;charset=x"));
    ck_assert_int_eq(judgement.outcome.verdict, XD_VERDICT_CHANGED);
    judge(PARTIAL("bytes 100-199/*") HTML "\r\n", some_of_type("a/b"));
    ck_assert_int_eq(judgement.outcome.verdict, XD_VERDICT_OK);
    judge("HTTP/1.1 200 OK\r\nContent-Length: 85\r\n" HTML "\r\n", some);
    check_different(85, NAME ": has 85 bytes instead of 1000");
}
END_TEST

START_TEST(page_of_the_type_of_the_file_lacks_its_validator)
{
    judge("HTTP/1.1 200 OK\r\nContent-Length: 85\r\n" HTML "\r\n",
          some_of_type("text/html"));
    check_refused(XD_VERDICT_AGAIN, SAID_PAGE);
}
END_TEST

int main(void)
{
    TCase *tcase = tcase_create("http_answer");

    tcase_add_test(tcase, range_as_asked_is_accepted);
    tcase_add_test(tcase, names_and_units_of_fields_have_no_case);
    tcase_add_test(tcase, range_without_total_is_accepted_if_no_size_is_known);
    tcase_add_test(tcase, range_without_total_or_unit_is_accepted);
    tcase_add_test(tcase, shorter_range_is_accepted_at_the_end_of_the_object);
    tcase_add_test(tcase, shorter_range_elsewhere_is_cut);
    tcase_add_test(tcase, range_to_the_end_must_say_where_that_is);
    tcase_add_test(tcase, wrong_start_is_refused);
    tcase_add_test(tcase, wrong_end_is_refused);
    tcase_add_test(tcase, wrong_total_is_a_different_object);
    tcase_add_test(tcase, object_that_grows_may_have_become_longer);
    tcase_add_test(tcase, malformed_range_counts_as_none);
    tcase_add_test(tcase, two_ranges_in_one_answer_are_refused);
    tcase_add_test(tcase, two_lengths_in_one_answer_are_refused);
    tcase_add_test(tcase,
                   length_of_one_byte_less_than_the_range_means_no_ranges);
    tcase_add_test(tcase, other_wrong_lengths_are_found_out_by_the_body);
    tcase_add_test(tcase, several_ranges_are_refused);
    tcase_add_test(tcase, encoded_bytes_are_refused);
    tcase_add_test(tcase,
                   encoding_of_an_object_of_the_right_size_does_not_matter);
    tcase_add_test(tcase, encoding_does_not_matter_where_the_request_takes_it);
    tcase_add_test(tcase, what_is_no_coding_is_no_encoding);
    tcase_add_test(tcase, range_nobody_asked_for_is_refused);
    tcase_add_test(tcase, whole_object_for_a_range_means_no_ranges);
    tcase_add_test(tcase, whole_object_with_a_content_range_is_still_whole);
    tcase_add_test(tcase, a_200_that_says_that_it_is_a_part_is_one);
    tcase_add_test(tcase, a_200_with_the_range_of_the_whole_object_is_whole);
    tcase_add_test(tcase, a_proxy_that_may_have_changed_the_object_brings_it);
    tcase_add_test(tcase, whole_object_of_another_size_is_a_different_one);
    tcase_add_test(tcase,
                   whole_object_is_accepted_where_it_is_what_was_asked_for);
    tcase_add_test(tcase, whole_object_without_a_size_is_read_to_its_end);
    tcase_add_test(tcase, empty_object_is_an_object);
    tcase_add_test(tcase, whole_object_is_read_past_to_the_range);
    tcase_add_test(tcase, unsatisfied_range_tells_the_size);
    tcase_add_test(tcase,
                   unsatisfied_range_that_the_object_may_have_is_a_refused_one);
    tcase_add_test(tcase, statuses_say_whether_to_come_again);
    tcase_add_test(tcase, some_statuses_may_be_meant_for_the_range_alone);
    tcase_add_test(tcase,
                   a_condition_of_the_request_itself_tells_of_another_file);
    tcase_add_test(tcase, status_line_forgets_what_was_before);
    tcase_add_test(tcase, validators_are_strong_and_whole);
    tcase_add_test(tcase, etag_is_a_validator_if_it_is_strong);
    tcase_add_test(tcase, last_modified_is_a_validator_if_it_is_old_enough);
    tcase_add_test(tcase, range_of_a_changed_object_is_refused);
    tcase_add_test(
        tcase, whole_object_in_place_of_a_range_has_changed_unless_it_says_no);
    tcase_add_test(tcase, object_that_is_the_same_or_does_not_say_is_accepted);
    tcase_add_test(tcase, page_of_another_type_and_size_is_a_refusal);
    tcase_add_test(tcase, answer_of_the_same_type_or_size_is_no_page);
    tcase_add_test(tcase, page_of_the_type_of_the_file_lacks_its_validator);
    tcase_add_test(tcase, digest_is_known_among_challenges);
    tcase_add_test(tcase, folded_and_nameless_lines_are_passed_over);
    tcase_add_test(tcase,
                   request_that_runs_over_the_last_number_goes_to_the_end);
    return run_suite("http_answer", tcase);
}
