/* SPDX-License-Identifier: MIT */
/* Requests that send, by way of a runner. */
#include <stdlib.h>

#include "io/mock_server.h"
#include "os/clock.h"
#include "suite.h"
#include "transfer/budget.h"
#include "transfer/runner.h"
#include "url_of.h"

#define SIZE 100000

static struct xd_runner *runner;
static struct xd_budget budget;
static struct mock_server *server;

static struct seen {
    unsigned n_heads, n_ends, n_reads;
    uint64_t n_bytes;
    int64_t code;
    bool starves; /* has no byte when it is asked for the first time */
    struct xd_outcome outcome;
} seen;

static int on_head(void *user, unsigned slot, const struct xd_head *head)
{
    (void)user;
    (void)slot;
    seen.n_heads++;
    ck_assert_ptr_nonnull(head->reply);
    seen.code = head->reply->code;
    return 0;
}

static int on_bytes(void *user, unsigned slot, const void *data, size_t len)
{
    (void)user;
    (void)slot;
    (void)data;
    seen.n_bytes += len;
    return 0;
}

static void on_end(void *user, unsigned slot, const struct xd_outcome *outcome)
{
    (void)user;
    (void)slot;
    seen.n_ends++;
    seen.outcome = *outcome;
}

static int64_t on_read(void *user, unsigned slot, uint64_t at, void *to,
                       size_t len)
{
    unsigned char *bytes = to;

    (void)user;
    (void)slot;
    if (seen.n_reads++ == 0 && seen.starves)
        return XD_E_AGAIN;
    for (size_t i = 0; i < len; i++)
        bytes[i] = mock_byte(at + i);
    return (int64_t)len;
}

static const struct xd_runner_handler handler = {
    .head = on_head, .bytes = on_bytes, .end = on_end};

static const struct mock_step takes[] = {
    SAY("HTTP/1.1 100 Continue\r\n\r\n"), TAKE(0, SIZE),
    SAY("HTTP/1.1 201 Created\r\nContent-Length: 300000\r\n\r\n"),
    BODY(0, 300000), END};

static void set_up(void)
{
    const struct xd_runner_config config = {.n_slots = 1,
                                            .silence = 60 * XD_SECOND,
                                            .budget = &budget,
                                            .asks_for_rest = true};

    setenv("NO_PROXY", "*", 1);
    seen = (struct seen){.code = 0};
    ck_assert_int_eq(xd_budget_init(&budget, 0), 0);
    ck_assert_int_eq(xd_runner_new(&runner, &config, &handler, NULL), 0);
    server = mock_start(takes);
}

static void tear_down(void)
{
    xd_runner_free(runner);
    mock_stop(server);
    xd_budget_fini(&budget);
}

static void start(void)
{
    static const struct xd_sending sending = {
        .method = "PUT", .length = SIZE, .read = on_read};
    const struct xd_request request = {.url = url_of(mock_url(server)),
                                       .sends = &sending};

    ck_assert_int_eq(xd_runner_start(runner, 0, &request, NULL), 0);
}

static void check_done(void)
{
    while (xd_runner_is_busy(runner, 0))
        xd_runner_poll(runner, XD_NEVER);
    ck_assert_msg(seen.outcome.verdict == XD_VERDICT_OK, "%s",
                  seen.outcome.error.msg);
    ck_assert_uint_eq(seen.n_heads, 1);
    ck_assert_uint_eq(seen.n_ends, 1);
    ck_assert_int_eq(seen.code, 201);
    ck_assert_uint_eq(seen.n_bytes, 300000);
    ck_assert_uint_eq(mock_taken(server), SIZE);
}

START_TEST(body_and_answer_are_passed_on)
{
    start();
    check_done();
}
END_TEST

START_TEST(body_without_bytes_goes_on_when_it_is_resumed)
{
    seen.starves = true;
    xd_runner_resume(runner, 0); /* a free slot */
    start();
    while (seen.n_reads == 0)
        xd_runner_poll(runner, xd_now() + XD_SECOND);
    for (int i = 0; i < 3; i++)
        xd_runner_poll(runner, xd_now() + 20 * XD_MS);
    ck_assert_uint_eq(seen.n_reads, 1);
    xd_runner_resume(runner, 0);
    check_done();
}
END_TEST

START_TEST(it_cannot_be_shortened)
{
    start();
    xd_runner_shorten(runner, 0, 0);
    check_done();
}
END_TEST

/* 100000 bytes. */
START_TEST(body_is_paid_for)
{
    const xd_usec began = xd_now();

    xd_budget_set_rate(&budget, 200000);
    start();
    check_done();
    ck_assert_uint_ge(xd_now() - began, 300 * XD_MS);
}
END_TEST

START_TEST(it_can_be_stopped)
{
    seen.starves = true;
    start();
    while (seen.n_reads == 0)
        xd_runner_poll(runner, xd_now() + XD_SECOND);
    xd_runner_settle(runner);
    ck_assert_uint_eq(seen.n_ends, 1);
    ck_assert_int_eq(seen.outcome.verdict, XD_VERDICT_STOPPED);
}
END_TEST

int main(void)
{
    TCase *tcase = tcase_create("runner_send");

    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_add_test(tcase, body_and_answer_are_passed_on);
    tcase_add_test(tcase, body_without_bytes_goes_on_when_it_is_resumed);
    tcase_add_test(tcase, it_cannot_be_shortened);
    tcase_add_test(tcase, body_is_paid_for);
    tcase_add_test(tcase, it_can_be_stopped);
    return run_suite("runner_send", tcase);
}
