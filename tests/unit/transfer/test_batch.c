/* SPDX-License-Identifier: MIT */
#include "transfer/batch.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/hosts.h"
#include "io/mock_server.h"
#include "io/net_options.h"
#include "os/clock.h"
#include "os/thread.h"
#include "suite.h"
#include "url_of.h"

#define MOST 20

#define RANGE(first, last, length)                                         \
    "HTTP/1.1 206 Partial Content\r\nContent-Range: bytes " first "-" last \
    "/1000000\r\nContent-Length: " length "\r\n\r\n"

static const struct mock_step kept_open[] = {
    SAY(RANGE("0", "99", "100")),    BODY(0, 100),   NEXT,
    SAY(RANGE("500", "599", "100")), BODY(500, 100), END};
static const struct mock_step busy_once[] = {
    SAY("HTTP/1.1 503 Busy\r\nContent-Length: 0\r\n\r\n"), NEXT,
    SAY(RANGE("0", "99", "100")), BODY(0, 100), END};
static const struct mock_step busy[] = {
    SAY("HTTP/1.1 503 Busy\r\nContent-Length: 0\r\n\r\n"), END};
static const struct mock_step missing[] = {
    SAY("HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n"), END};
static const struct mock_step silent[] = {HOLD, END};

/* What the handler heard of one request. */
struct heard {
    unsigned char bytes[200];
    size_t n;
    unsigned n_heads, n_ends;
    struct xd_outcome outcome;
};

static struct heard heard[MOST];
static size_t last_ended;
static bool refuses;
static char *excluded;
static struct mock_server *servers[2];
static struct xd_batch *batch;
static struct xd_error error;
static const struct xd_net_options net = XD_NET_OPTIONS_INIT;
static const struct xd_batch_times unhurried = {
    .until = XD_NEVER, .first = XD_NEVER, .grace = XD_NEVER, .turn = XD_NEVER};

static int on_head(void *user, size_t i, const struct xd_head *head)
{
    (void)user;
    (void)head;
    heard[i].n_heads++;
    heard[i].n = 0;
    return 0;
}

static int on_bytes(void *user, size_t i, const void *data, size_t len)
{
    (void)user;
    if (refuses)
        return XD_E_CANCELED;
    ck_assert_uint_le(len, sizeof heard[i].bytes - heard[i].n);
    memcpy(heard[i].bytes + heard[i].n, data, len);
    heard[i].n += len;
    return 0;
}

static void on_end(void *user, size_t i, const struct xd_outcome *outcome)
{
    (void)user;
    heard[i].n_ends++;
    last_ended = i;
    heard[i].outcome = *outcome;
}

static const struct xd_batch_handler handler = {
    .head = on_head, .bytes = on_bytes, .end = on_end};

static void open_batch(bool allows_files, unsigned n_slots)
{
    struct xd_batch_config config = {.net = &net,
                                     .exclude = excluded,
                                     .allow_file = allows_files,
                                     .silence = 20 * XD_SECOND,
                                     .max_failures = 2};

    ck_assert_int_eq(xd_batch_new(&batch, &config, n_slots, &error), 0);
}

static void setup(void)
{
    memset(heard, 0, sizeof heard);
    refuses = false;
    ck_assert_int_eq(xd_hosts_add(&excluded, "excluded.example"), 0);
    open_batch(false, 4);
}

static void teardown(void)
{
    xd_batch_free(batch);
    xd_free(excluded);
    excluded = NULL;
    for (size_t i = 0; i < 2; i++) {
        if (servers[i])
            mock_stop(servers[i]);
        servers[i] = NULL;
    }
}

static struct xd_request range_of(const char *url, uint64_t offset)
{
    return (struct xd_request){.url = url_of(url),
                               .offset = offset,
                               .length = 100,
                               .object_size = XD_SIZE_UNKNOWN};
}

static void run(const struct xd_request *requests, size_t n,
                const struct xd_batch_times *times)
{
    ck_assert_int_eq(xd_batch_run(batch, requests, n, times, &handler, &error),
                     0);
    for (size_t i = 0; i < n; i++)
        ck_assert_uint_eq(heard[i].n_ends, 1);
}

static void run_one(const struct mock_step *script,
                    const struct xd_batch_times *times)
{
    struct xd_request request;

    servers[0] = mock_start(script);
    request = range_of(mock_url(servers[0]), 0);
    run(&request, 1, times);
}

START_TEST(runs_of_one_batch_share_a_connection)
{
    struct xd_request request;

    run_one(kept_open, &unhurried);
    ck_assert_int_eq(heard[0].outcome.verdict, XD_VERDICT_OK);
    ck_assert_uint_eq(heard[0].n, 100);
    ck_assert_uint_eq(heard[0].bytes[99], mock_byte(99));
    heard[0] = (struct heard){0};
    request = range_of(mock_url(servers[0]), 500);
    run(&request, 1, &unhurried);
    ck_assert_uint_eq(heard[0].bytes[0], mock_byte(500));
    ck_assert_uint_eq(mock_connections(servers[0]), 1);
}
END_TEST

START_TEST(a_request_that_failed_is_made_again)
{
    run_one(busy_once, &unhurried);
    ck_assert_int_eq(heard[0].outcome.verdict, XD_VERDICT_OK);
    ck_assert_uint_eq(heard[0].n, 100);
    ck_assert_uint_eq(mock_requests(servers[0]), 2);
}
END_TEST

START_TEST(but_no_more_often_than_is_allowed)
{
    run_one(busy, &unhurried);
    ck_assert_int_eq(heard[0].outcome.verdict, XD_VERDICT_AGAIN);
    ck_assert_int_eq(heard[0].outcome.error.code, XD_E_NET);
    ck_assert_uint_eq(mock_requests(servers[0]), 2);
}
END_TEST

START_TEST(a_request_in_vain_is_not_made_again)
{
    run_one(missing, &unhurried);
    ck_assert_int_eq(heard[0].outcome.verdict, XD_VERDICT_GONE);
    ck_assert_uint_eq(mock_requests(servers[0]), 1);
}
END_TEST

START_TEST(a_handler_may_end_a_request)
{
    refuses = true;
    run_one(kept_open, &unhurried);
    ck_assert_int_eq(heard[0].outcome.verdict, XD_VERDICT_STOPPED);
    ck_assert_int_eq(heard[0].outcome.error.code, XD_OK);
}
END_TEST

START_TEST(there_may_be_more_requests_than_slots)
{
    struct xd_request requests[MOST];

    servers[0] = mock_start(missing);
    for (size_t i = 0; i < MOST; i++)
        requests[i] = range_of(mock_url(servers[0]), 0);
    run(requests, MOST, &unhurried);
    ck_assert_uint_eq(mock_requests(servers[0]), MOST);
}
END_TEST

static const struct mock_step without_ranges[] = {
    SAY("HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n"), BODY(0, 1000),
    HOLD, END};

/* That it knows no ranges is an answer. */
START_TEST(a_late_request_is_ended_once_another_has_answered)
{
    static const struct mock_step *const answers[] = {kept_open,
                                                      without_ranges};
    static const enum xd_verdict verdicts[] = {XD_VERDICT_OK,
                                               XD_VERDICT_NO_RANGES};
    static const uint64_t offsets[] = {0, 500};
    const struct xd_batch_times hurried = {.until = XD_NEVER,
                                           .first = XD_NEVER,
                                           .grace = 50 * XD_MS,
                                           .turn = XD_NEVER};
    struct xd_request requests[2];

    servers[0] = mock_start(silent);
    servers[1] = mock_start(answers[_i]);
    requests[0] = range_of(mock_url(servers[0]), 0);
    requests[1] = range_of(mock_url(servers[1]), offsets[_i]);
    run(requests, 2, &hurried);
    ck_assert_int_eq(heard[0].outcome.error.code, XD_E_AGAIN);
    ck_assert_int_eq(heard[1].outcome.verdict, verdicts[_i]);
}
END_TEST

static bool one_is_enough(void *user)
{
    (void)user;
    return heard[0].n_ends > 0;
}

/* Others are waited for without a bound here; what has begun to answer ends too. */
START_TEST(all_others_are_late_once_the_handler_has_enough)
{
    static const struct mock_step stuck[] = {SAY(RANGE("0", "99", "100")),
                                             BODY(0, 10), HOLD, END};
    struct xd_batch_handler h = handler;
    struct xd_request requests[2];

    servers[0] = mock_start(kept_open);
    servers[1] = mock_start(stuck);
    requests[0] = range_of(mock_url(servers[0]), 0);
    requests[1] = range_of(mock_url(servers[1]), 0);
    h.is_enough = one_is_enough;
    ck_assert_int_eq(xd_batch_run(batch, requests, 2, &unhurried, &h, &error),
                     0);
    ck_assert_int_eq(heard[0].outcome.verdict, XD_VERDICT_OK);
    ck_assert_uint_eq(heard[1].n_ends, 1);
    ck_assert_int_eq(heard[1].outcome.error.code, XD_E_AGAIN);
}
END_TEST

static const struct mock_step slow[] = {SLEEP(40), SAY(RANGE("0", "99", "100")),
                                        BODY(0, 100), END};

static void run_slowly(xd_usec turn)
{
    const struct xd_batch_times hurried = {.until = XD_NEVER,
                                           .first = XD_NEVER,
                                           .grace = 5 * XD_SECOND,
                                           .turn = turn};
    struct xd_request requests[MOST];

    servers[0] = mock_start(slow);
    for (size_t i = 0; i < MOST; i++)
        requests[i] = range_of(mock_url(servers[0]), 0);
    run(requests, MOST, &hurried);
    ck_assert_int_eq(heard[0].outcome.error.code, XD_OK);
}

START_TEST(a_request_that_waits_for_its_turn_is_not_late)
{
    run_slowly(XD_NEVER);
    for (size_t i = 0; i < MOST; i++)
        ck_assert_int_eq(heard[i].outcome.error.code, XD_OK);
}
END_TEST

START_TEST(unless_its_turn_does_not_come_for_long)
{
    run_slowly(60 * XD_MS);
    ck_assert_int_eq(heard[MOST - 1].outcome.error.code, XD_E_AGAIN);
    ck_assert_uint_lt(mock_requests(servers[0]), MOST);
}
END_TEST

static const struct mock_step slower[] = {
    SLEEP(100), SAY(RANGE("0", "99", "100")), BODY(0, 100), END};

/* The pause before a retry is over long before the others have been made. */
START_TEST(a_retry_comes_after_the_requests_that_were_never_made)
{
    enum { N = 6 };
    struct xd_request requests[N];

    xd_batch_free(batch);
    open_batch(false, 1);
    servers[0] = mock_start(busy_once);
    servers[1] = mock_start(slower);
    requests[0] = range_of(mock_url(servers[0]), 0);
    for (size_t i = 1; i < N; i++)
        requests[i] = range_of(mock_url(servers[1]), 0);
    run(requests, N, &unhurried);
    ck_assert_uint_eq(last_ended, 0);
    for (size_t i = 0; i < N; i++)
        ck_assert_int_eq(heard[i].outcome.error.code, XD_OK);
}
END_TEST

/* Each has its own time, from when it was made: 20 of them take 500 ms. */
START_TEST(a_request_is_late_by_its_own_time)
{
    const struct xd_batch_times hurried = {.until = XD_NEVER,
                                           .first = XD_NEVER,
                                           .grace = 350 * XD_MS,
                                           .turn = XD_NEVER};
    struct xd_request requests[MOST];

    servers[0] = mock_start(slower);
    for (size_t i = 0; i < MOST; i++)
        requests[i] = range_of(mock_url(servers[0]), 0);
    run(requests, MOST, &hurried);
    ck_assert_int_eq(heard[MOST - 1].outcome.error.code, XD_OK);
}
END_TEST

START_TEST(if_none_answers_in_time_all_are_late)
{
    const struct xd_batch_times hasty = {.until = XD_NEVER,
                                         .first = 50 * XD_MS,
                                         .grace = XD_NEVER,
                                         .turn = XD_NEVER};

    run_one(silent, &hasty);
    ck_assert_int_eq(heard[0].outcome.error.code, XD_E_AGAIN);
}
END_TEST

START_TEST(time_may_run_out)
{
    const struct xd_batch_times short_of_time = {.until =
                                                     xd_now() + 100 * XD_MS,
                                                 .first = XD_NEVER,
                                                 .grace = XD_NEVER,
                                                 .turn = XD_NEVER};

    run_one(silent, &short_of_time);
    ck_assert_int_eq(heard[0].outcome.error.code, XD_E_TIMEOUT);
    ck_assert_ptr_nonnull(strstr(heard[0].outcome.error.msg, "max-time"));
}
END_TEST

static void *cancel_soon(void *unused)
{
    (void)unused;
    nanosleep(&(struct timespec){.tv_nsec = 50000000}, NULL);
    xd_batch_cancel(batch);
    return NULL;
}

START_TEST(a_run_can_be_canceled_and_so_is_each_further_one)
{
    struct xd_request request;
    struct xd_thread thread;

    ck_assert_int_eq(xd_thread_start(&thread, cancel_soon, NULL), 0);
    run_one(silent, &unhurried);
    xd_thread_join(&thread);
    ck_assert_int_eq(heard[0].outcome.error.code, XD_E_CANCELED);
    heard[0] = (struct heard){0};
    request = range_of(mock_url(servers[0]), 0);
    run(&request, 1, &unhurried);
    ck_assert_int_eq(heard[0].outcome.error.code, XD_E_CANCELED);
}
END_TEST

START_TEST(what_cannot_be_asked_fails_alone)
{
    struct xd_request requests[3];

    servers[0] = mock_start(kept_open);
    requests[0] = range_of("http://excluded.example/f", 0);
    requests[1] = range_of("gopher://u:READ@depot.example/1", 0);
    requests[2] = range_of(mock_url(servers[0]), 0);
    run(requests, 3, &unhurried);
    ck_assert_int_eq(heard[0].outcome.error.code, XD_E_NOREPLICA);
    ck_assert_ptr_nonnull(strstr(heard[0].outcome.error.msg, "excluded"));
    ck_assert_int_eq(heard[1].outcome.error.code, XD_E_NOREPLICA);
    ck_assert_ptr_nonnull(strstr(heard[1].outcome.error.msg, "not supported"));
    ck_assert_ptr_null(strstr(heard[1].outcome.error.msg, "READ"));
    ck_assert_int_eq(heard[2].outcome.error.code, XD_OK);
}
END_TEST

START_TEST(files_of_this_machine_and_depots_go_together)
{
    char folder[SUITE_FOLDER], path[SUITE_FOLDER + 10], url[SUITE_FOLDER + 20];
    struct xd_request requests[2];
    FILE *f;

    suite_folder(folder);
    snprintf(path, sizeof path, "%s/f", folder);
    f = fopen(path, "w");
    ck_assert_ptr_nonnull(f);
    for (uint64_t i = 0; i < 300; i++)
        fputc(mock_byte(i), f);
    ck_assert_int_eq(fclose(f), 0);
    snprintf(url, sizeof url, "file://%s", path);
    servers[0] = mock_start(kept_open);
    requests[0] = range_of(url, 200);
    requests[1] = range_of(mock_url(servers[0]), 0);
    run(requests, 2, &unhurried);
    ck_assert_uint_eq(heard[0].n, 0);
    ck_assert_ptr_nonnull(strstr(heard[0].outcome.error.msg, "allow-file"));
    heard[0] = (struct heard){.n = 0};
    xd_batch_free(batch);
    open_batch(true, 4);
    run(requests, 1, &unhurried);
    unlink(path);
    rmdir(folder);
    ck_assert_uint_eq(heard[0].n, 100);
    ck_assert_uint_eq(heard[0].bytes[0], mock_byte(200));
    ck_assert_uint_eq(heard[1].n, 100);
}
END_TEST

int main(void)
{
    TCase *tests = tcase_create("batch");

    tcase_add_checked_fixture(tests, setup, teardown);
    tcase_add_test(tests, runs_of_one_batch_share_a_connection);
    tcase_add_test(tests, a_request_that_failed_is_made_again);
    tcase_add_test(tests, but_no_more_often_than_is_allowed);
    tcase_add_test(tests, a_request_in_vain_is_not_made_again);
    tcase_add_test(tests, a_handler_may_end_a_request);
    tcase_add_test(tests, there_may_be_more_requests_than_slots);
    tcase_add_loop_test(
        tests, a_late_request_is_ended_once_another_has_answered, 0, 2);
    tcase_add_test(tests, all_others_are_late_once_the_handler_has_enough);
    tcase_add_test(tests, a_request_that_waits_for_its_turn_is_not_late);
    tcase_add_test(tests, unless_its_turn_does_not_come_for_long);
    tcase_add_test(tests,
                   a_retry_comes_after_the_requests_that_were_never_made);
    tcase_add_test(tests, a_request_is_late_by_its_own_time);
    tcase_add_test(tests, if_none_answers_in_time_all_are_late);
    tcase_add_test(tests, time_may_run_out);
    tcase_add_test(tests, a_run_can_be_canceled_and_so_is_each_further_one);
    tcase_add_test(tests, what_cannot_be_asked_fails_alone);
    tcase_add_test(tests, files_of_this_machine_and_depots_go_together);
    return run_suite("batch", tests);
}
