/* SPDX-License-Identifier: MIT */
/* lib/io/ftp_answer: what an FTP server's replies say. */
#include <string.h>

#include "io/http/ftp_answer.h"
#include "suite.h"

#define NAME "ftp://d3/x"

static struct xd_http_answer answer;
static struct xd_http_judgement judgement;
static struct xd_outcome outcome;

static const struct xd_request some = {
    .offset = 100, .length = 100, .object_size = 1000};
static const struct xd_request some_of_unknown = {
    .offset = 100, .length = 100, .object_size = XD_SIZE_UNKNOWN};
static const struct xd_request all = {
    .offset = 0, .length = XD_TO_END, .object_size = XD_SIZE_UNKNOWN};
static const struct xd_request past = {
    .offset = 100, .length = 100, .object_size = 1000, .whole = true};

static void say(const char *line)
{
    xd_ftp_answer_line(&answer, line, strlen(line));
}

static void forget(void)
{
    memset(&answer, 0, sizeof answer);
    memset(&outcome, 0, sizeof outcome);
}

static void judge(const char *size_reply, struct xd_request r)
{
    forget();
    say(size_reply);
    xd_ftp_judge(&answer, &r, NAME, &judgement);
}

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
}

START_TEST(size_is_what_the_server_says_of_it)
{
    say("213 1000\r\n");
    ck_assert(answer.has_length);
    ck_assert_uint_eq(answer.length, 1000);
    say("226 done\r\n");
    ck_assert_uint_eq(answer.status, 226);
    ck_assert_uint_eq(answer.length, 1000);
}
END_TEST

START_TEST(what_is_no_size_is_none)
{
    static const char *const lines[] = {
        "213-1000\r\n", " 213 1000\r\n",
        "213 many\r\n", "213 \r\n",
        "213\r\n",      "213 -1\r\n",
        "2134 5\r\n",   "213 1 2\r\n",
        "\r\n",         "213 18446744073709551616"};

    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        forget();
        say(lines[i]);
        ck_assert_msg(!answer.has_length, "%s", lines[i]);
    }
}
END_TEST

START_TEST(object_of_the_right_size_is_accepted)
{
    judge("213 1000\r\n", some);
    check_ok(200, 1000);
    judge("213 150\r\n", some_of_unknown);
    check_ok(150, 150);
    judge("213 1000\r\n", all);
    check_ok(1000, 1000);
    judge("213 1000\r\n", past);
    check_ok(200, 1000);
}
END_TEST

START_TEST(empty_object_is_all_there_is)
{
    judge("213 0\r\n", all);
    check_ok(0, 0);
}
END_TEST

START_TEST(object_of_another_size_is_another_file)
{
    judge("213 999\r\n", some);
    check_refused(XD_VERDICT_DIFFERENT,
                  "ftp://d3/x: has 999 bytes instead of 1000");
    ck_assert_uint_eq(judgement.outcome.object_size, 999);
    judge("213 100\r\n", some_of_unknown);
    check_refused(XD_VERDICT_DIFFERENT,
                  "ftp://d3/x: has 100 bytes, none from 100 on");
}
END_TEST

START_TEST(object_of_unsaid_size_is_accepted)
{
    judge("150 here it comes\r\n", all);
    check_ok(XD_TO_END, XD_SIZE_UNKNOWN);
    judge("150 here it comes\r\n", some);
    check_ok(200, XD_SIZE_UNKNOWN);
}
END_TEST

START_TEST(refusal_may_pass_or_not)
{
    static const struct {
        const char *line;
        enum xd_verdict verdict;
        const char *sentence;
    } rows[] = {
        {"421 too many\r\n", XD_VERDICT_AGAIN, "ftp://d3/x: answered 421"},
        {"450 busy\r\n", XD_VERDICT_AGAIN, "ftp://d3/x: answered 450"},
        {"530 too many\r\n", XD_VERDICT_AGAIN, "ftp://d3/x: answered 530"},
        {"550 no such\r\n", XD_VERDICT_GONE, "ftp://d3/x: answered 550"},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        forget();
        say(rows[i].line);
        ck_assert(xd_ftp_has_refused(&answer));
        xd_ftp_judge_refusal(&answer, NAME, &outcome);
        ck_assert_int_eq(outcome.verdict, rows[i].verdict);
        ck_assert_str_eq(outcome.error.msg, rows[i].sentence);
    }
    say("226 done\r\n");
    ck_assert(!xd_ftp_has_refused(&answer));
}
END_TEST

START_TEST(server_without_rest_knows_no_ranges)
{
    forget();
    outcome.object_size = XD_SIZE_UNKNOWN;
    say("213 1000\r\n");
    say("502 what?\r\n");
    xd_ftp_judge_no_ranges(&answer, NAME, &outcome);
    ck_assert_int_eq(outcome.verdict, XD_VERDICT_NO_RANGES);
    ck_assert_uint_eq(outcome.object_size, 1000);
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("ftp_answer");

    tcase_add_checked_fixture(t, forget, NULL);
    tcase_add_test(t, size_is_what_the_server_says_of_it);
    tcase_add_test(t, what_is_no_size_is_none);
    tcase_add_test(t, object_of_the_right_size_is_accepted);
    tcase_add_test(t, empty_object_is_all_there_is);
    tcase_add_test(t, object_of_another_size_is_another_file);
    tcase_add_test(t, object_of_unsaid_size_is_accepted);
    tcase_add_test(t, refusal_may_pass_or_not);
    tcase_add_test(t, server_without_rest_knows_no_ranges);
    return run_suite("ftp_answer", t);
}
