/* SPDX-License-Identifier: MIT */
/* lib/io/ftp_answer: what an FTP server's replies say. */
#include <string.h>

#include "io/http/ftp_answer.h"
#include "suite.h"

#define NAME "ftp://d3/x"

static struct xd_http_answer answer;
static struct xd_http_judgement judgement;
static struct xd_outcome outcome;
static struct xd_ftp_object known;

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
    memset(&known, 0, sizeof known);
}

static void judge(const char *size_reply, struct xd_request r)
{
    forget();
    say(size_reply);
    xd_ftp_judge(&answer, &r, NAME, &known, 0, &judgement);
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

START_TEST(second_reply_213_is_the_time_of_the_object)
{
    static const struct {
        const char *line;
        int64_t modified;
    } cases[] = {{"213 20200913122640\r\n", 1600000000},
                 {"213 20200913122640.123\r\n", 1600000000},
                 {"213 20200913\r\n", 0},
                 {"213 2020091312264x\r\n", 0},
                 {"213 yesterday, some time\r\n", 0},
                 {"213\r\n", 0},
                 {"550 no such file\r\n", 0}};

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        forget();
        say("213 1000\r\n");
        say(cases[i].line);
        ck_assert_int_eq(xd_http_modified(&answer), cases[i].modified);
        ck_assert_uint_eq(answer.length, 1000);
    }
    forget();
    say("213 20200913122640\r\n");
    ck_assert_int_eq(xd_http_modified(&answer), 0);
}
END_TEST

START_TEST(what_is_no_size_is_none)
{
    static const char *const lines[] = {
        "213-1000\r\n", " 213 1000\r\n",
        "213 many\r\n", "213 \r\n",
        "213\r\n",      "213 -1\r\n",
        "2134 5\r\n",   "213 1 2\r\n",
        "\r\n",         "213 18446744073709551616",
        "213 -5\r\n",   "213 9223372036854775808\r\n",
        "213 1,000\r\n"};

    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        forget();
        say(lines[i]);
        ck_assert_msg(!answer.has_length, "%s", lines[i]);
    }
}
END_TEST

START_TEST(announced_bytes_are_those_in_brackets)
{
    static const struct {
        const char *line;
        uint64_t announced;
    } rows[] = {
        {"150 Opening BINARY mode data connection for f (300 bytes)\r\n", 300},
        {"125 f(1) (22 bytes).\r\n", 22},
        {"150 f (12 bytes) (34 bytes)\r\n", 12},
        {"150 here it comes\r\n", 0},
        {"150 12.3 kbytes to download\r\n", 0},
        {"150 (-5 bytes)\r\n", 0},
        {"150 ( bytes)\r\n", 0},
        {"150 (5 bytes\r\n", 0},
        {"150 (5", 0},
        {"150 (99999999999999999999 bytes)\r\n", 0},
        {"226 sent (300 bytes)\r\n", 0},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        forget();
        say(rows[i].line);
        ck_assert_msg(answer.announced == rows[i].announced, "%s",
                      rows[i].line);
    }
}
END_TEST

/* Judges a request when the first `len` bytes have arrived. */
static void judge_with(struct xd_request r, size_t len)
{
    xd_ftp_judge(&answer, &r, NAME, &known, len, &judgement);
}

START_TEST(size_that_the_server_contradicts_is_unknown)
{
    say("213 5\r\n");
    judge_with(all, 5);
    check_ok(5, 5);
    judge_with(all, 6);
    check_ok(XD_TO_END, XD_SIZE_UNKNOWN);
    say("150 go (5 bytes)\r\n");
    judge_with(all, 5);
    check_ok(5, 5);
    say("150 go (300 bytes)\r\n");
    judge_with(all, 5);
    check_ok(XD_TO_END, XD_SIZE_UNKNOWN);
    say("150 go\r\n");
    known.has_wrong_size = true;
    judge_with(all, 5);
    check_ok(XD_TO_END, XD_SIZE_UNKNOWN);
}
END_TEST

/* Some announce the rest of the object, others all of it. */
START_TEST(rest_may_be_announced_in_either_way)
{
    static const char *const lines[] = {"150 go (1000 bytes)\r\n",
                                        "150 go (900 bytes)\r\n"};

    for (size_t i = 0; i < 2; i++) {
        forget();
        say("213 1000\r\n");
        say(lines[i]);
        judge_with(some, 16);
        check_ok(200, 1000);
    }
}
END_TEST

START_TEST(more_bytes_than_the_rest_has_are_of_another_place)
{
    say("213 1000\r\n");
    judge_with(some, 900);
    check_ok(200, 1000);
    judge_with(some, 901);
    check_refused(XD_VERDICT_NO_RANGES,
                  "ftp://d3/x: accepted to begin at byte 100, and sent more "
                  "than the 900 bytes from there to the end of its file");
    ck_assert_uint_eq(judgement.outcome.object_size, 1000);
    judge_with(past, 901);
    check_ok(200, 1000);
}
END_TEST

START_TEST(trial_begins_at_an_odd_offset_with_one_or_two_bytes_left)
{
    for (uint64_t size = 2; size < 100; size++) {
        const uint64_t begin = xd_ftp_trial_begin(size);

        ck_assert_uint_eq(begin % 2, 1);
        ck_assert_uint_ge(begin + 2, size);
        ck_assert_uint_lt(begin, size);
        ck_assert_uint_eq(xd_ftp_trial_bytes(&answer, size), size - begin);
    }
    say("213 1010\r\n"); /* it has grown by 10 bytes */
    ck_assert_uint_eq(xd_ftp_trial_bytes(&answer, 1000), 11);
}
END_TEST

START_TEST(failed_trial_means_no_ranges)
{
    say("213 1000\r\n");
    xd_ftp_judge_trial(&answer, NAME, 1000, &outcome);
    ck_assert_int_eq(outcome.verdict, XD_VERDICT_NO_RANGES);
    ck_assert_uint_eq(outcome.object_size, 1000);
    ck_assert_str_eq(outcome.error.msg,
                     "ftp://d3/x: accepted to begin at byte 999, and sent "
                     "other bytes than the last of its 1000");
    xd_ftp_judge_trial(&answer, NAME, XD_SIZE_UNKNOWN, &outcome);
    ck_assert_int_eq(outcome.verdict, XD_VERDICT_NO_RANGES);
    ck_assert_str_eq(outcome.error.msg,
                     "ftp://d3/x: does not say how long its file is, so "
                     "nothing shows where its ranges begin");
}
END_TEST

START_TEST(code_without_space_is_no_end_of_a_reply)
{
    static const struct {
        const char *first, *line;
        bool is_bare;
    } rows[] = {
        {"", "213\r\n", true},
        {"", "350\n", true},
        {"", "213 \r\n", false},
        {"", "213 5\r\n", false},
        {"", "213-\r\n", false},
        {"", "2130\r\n", false},
        {"220-hi\r\n", "213\r\n", false},
        {"220 hi\r\n", "213\r\n", true},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        forget();
        say(rows[i].first);
        say(rows[i].line);
        ck_assert_msg(answer.is_bare == rows[i].is_bare, "%s%s", rows[i].first,
                      rows[i].line);
    }
    forget();
    say("350\r\n");
    xd_ftp_judge_bare(&answer, NAME, &outcome);
    ck_assert_int_eq(outcome.verdict, XD_VERDICT_GONE);
    ck_assert_str_eq(outcome.error.msg,
                     "ftp://d3/x: answered 350 without the space that FTP "
                     "requires after it");
}
END_TEST

START_TEST(bytes_beyond_the_end_change_the_file)
{
    xd_ftp_judge_overlong(&past, NAME, 1000, &outcome);
    ck_assert_int_eq(outcome.verdict, XD_VERDICT_CHANGED);
    ck_assert(outcome.is_overlong);
    ck_assert_str_eq(outcome.error.msg,
                     "ftp://d3/x: sent more than the 1000 bytes of its file");
    xd_ftp_judge_overlong(&some, NAME, 1000, &outcome);
    ck_assert_str_eq(outcome.error.msg,
                     "ftp://d3/x: was asked to begin at byte 100, and sent "
                     "more than the 900 bytes from there to the end of its "
                     "file");
}
END_TEST

START_TEST(object_that_ends_before_its_size_is_another_file)
{
    forget();
    say("213 1000\r\n");
    say("150 here it comes\r\n");
    ck_assert(!xd_ftp_says_complete(&answer));
    say("226 done\r\n");
    ck_assert(xd_ftp_says_complete(&answer));
    xd_ftp_judge_short(&answer, NAME, 150, &outcome);
    ck_assert_int_eq(outcome.verdict, XD_VERDICT_DIFFERENT);
    ck_assert_str_eq(outcome.error.msg,
                     "ftp://d3/x: states a size of 1000 bytes, but its file "
                     "has none from byte 150 on");
    forget();
    say("250 done\r\n");
    ck_assert(xd_ftp_says_complete(&answer));
    xd_ftp_judge_short(&answer, NAME, 150, &outcome);
    ck_assert_str_eq(outcome.error.msg,
                     "ftp://d3/x: has no bytes from byte 150 on");
}
END_TEST

START_TEST(offset_may_be_refused_when_it_is_used)
{
    say("554 no such offset\r\n");
    ck_assert(xd_ftp_refuses_offset(&answer, &some));
    ck_assert(!xd_ftp_refuses_offset(&answer, &past));
    say("550 no such file\r\n");
    ck_assert(!xd_ftp_refuses_offset(&answer, &some));
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
    tcase_add_test(t, second_reply_213_is_the_time_of_the_object);
    tcase_add_test(t, what_is_no_size_is_none);
    tcase_add_test(t, announced_bytes_are_those_in_brackets);
    tcase_add_test(t, size_that_the_server_contradicts_is_unknown);
    tcase_add_test(t, rest_may_be_announced_in_either_way);
    tcase_add_test(t, trial_begins_at_an_odd_offset_with_one_or_two_bytes_left);
    tcase_add_test(t, failed_trial_means_no_ranges);
    tcase_add_test(t, code_without_space_is_no_end_of_a_reply);
    tcase_add_test(t, more_bytes_than_the_rest_has_are_of_another_place);
    tcase_add_test(t, bytes_beyond_the_end_change_the_file);
    tcase_add_test(t, object_that_ends_before_its_size_is_another_file);
    tcase_add_test(t, offset_may_be_refused_when_it_is_used);
    tcase_add_test(t, object_of_the_right_size_is_accepted);
    tcase_add_test(t, empty_object_is_all_there_is);
    tcase_add_test(t, object_of_another_size_is_another_file);
    tcase_add_test(t, object_of_unsaid_size_is_accepted);
    tcase_add_test(t, refusal_may_pass_or_not);
    tcase_add_test(t, server_without_rest_knows_no_ranges);
    return run_suite("ftp_answer", t);
}
