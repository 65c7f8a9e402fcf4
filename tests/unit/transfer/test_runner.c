/* SPDX-License-Identifier: MIT */
/*
 * The runner over a transport that is a script: tests/unit/transfer/
 * toy_transport.c is the file of a new transport, and `kinds` is its row.
 */
#include "transfer/runner.h"

#include <string.h>

#include "os/clock.h"
#include "os/thread.h"
#include "suite.h"
#include "url_of.h"
#include "transfer/budget.h"
#include "transfer/toy_transport.h"

#define N_SLOTS 2
#define FAILS(...)                       \
    {                                    \
        .has_no_head = true, __VA_ARGS__ \
    }

static const struct xd_transport_kind kinds[] = {
    {.name = "toy", .schemes = XD_SCHEME_BIT(XD_SCHEME_IBP), .create = toy_new},
    {.name = "another",
     .schemes = XD_SCHEME_BIT(XD_SCHEME_OTHER),
     .create = toy_new}};
static const struct xd_registry registry = {kinds, 2};

static struct seen {
    unsigned char bytes[TOY_SIZE];
    size_t n;
    unsigned n_heads, n_ends, n_holds, n_releases;
    struct xd_outcome outcome;
} seen[N_SLOTS];

static struct xd_runner *runner;
static struct xd_budget budget;
static size_t room; /* that the handler has for each request */
static bool refuses;

static int on_head(void *user, unsigned slot, const struct xd_head *head)
{
    (void)user;
    (void)head;
    seen[slot].n_heads++;
    return 0;
}

static int on_bytes(void *user, unsigned slot, const void *data, size_t len)
{
    struct seen *s = &seen[slot];

    (void)user;
    if (refuses)
        return XD_E_CANCELED;
    ck_assert_uint_le(len, room - s->n);
    memcpy(s->bytes + s->n, data, len);
    s->n += len;
    return 0;
}

static bool has_room(void *user, unsigned slot, size_t len)
{
    (void)user;
    return len <= room - seen[slot].n;
}

static void on_hold(void *user, unsigned slot, bool is_held)
{
    (void)user;
    seen[slot].n_holds += is_held;
    seen[slot].n_releases += !is_held;
}

static void on_end(void *user, unsigned slot, const struct xd_outcome *outcome)
{
    (void)user;
    seen[slot].n_ends++;
    seen[slot].outcome = *outcome;
}

static const struct xd_runner_handler handler = {.head = on_head,
                                                 .bytes = on_bytes,
                                                 .has_room = has_room,
                                                 .hold = on_hold,
                                                 .end = on_end};

static void open_runner(bool asks_for_rest)
{
    struct xd_runner_config config = {.n_slots = N_SLOTS,
                                      .silence = 30 * XD_MS,
                                      .budget = &budget,
                                      .registry = &registry,
                                      .asks_for_rest = asks_for_rest};

    ck_assert_int_eq(xd_runner_new(&runner, &config, &handler, NULL), 0);
}

static void setup(void)
{
    memset(seen, 0, sizeof seen);
    room = TOY_SIZE;
    refuses = false;
    toy_script(NULL, 0);
    ck_assert_int_eq(xd_budget_init(&budget, 0), 0);
    open_runner(true);
}

static void teardown(void)
{
    xd_runner_free(runner);
    xd_budget_fini(&budget);
}

static void start_at(unsigned slot, const char *url, uint64_t offset,
                     uint64_t length)
{
    struct xd_request request = {.url = url_of(url),
                                 .offset = offset,
                                 .length = length,
                                 .object_size = XD_SIZE_UNKNOWN};

    ck_assert_int_eq(xd_runner_start(runner, slot, &request, NULL), 0);
}

static void start(uint64_t offset, uint64_t length)
{
    start_at(0, "ibp://depot.example:6714/k#1/2/READ", offset, length);
}

static void finish(void)
{
    while (xd_runner_is_busy(runner, 0) || xd_runner_is_busy(runner, 1))
        xd_runner_poll(runner, XD_NEVER);
}

static void assert_bytes(unsigned slot, uint64_t offset, size_t n)
{
    ck_assert_uint_eq(seen[slot].n, n);
    for (size_t i = 0; i < n; i++)
        ck_assert_uint_eq(seen[slot].bytes[i], toy_byte(offset + i));
}

START_TEST(a_new_transport_is_a_file_and_a_row)
{
    start(1000, 20000);
    finish();
    assert_bytes(0, 1000, 20000);
    ck_assert_uint_eq(seen[0].n_ends, 1);
    ck_assert_int_eq(seen[0].outcome.verdict, XD_VERDICT_OK);
}
END_TEST

START_TEST(a_url_for_which_there_is_no_transport_is_not_asked)
{
    struct xd_request request = {.url = url_of("http://a.example/f"),
                                 .length = 1};
    struct xd_error error = {0};

    ck_assert_int_eq(xd_runner_start(runner, 0, &request, &error),
                     XD_E_NOREPLICA);
    ck_assert(!xd_runner_is_busy(runner, 0));
}
END_TEST

START_TEST(requests_on_two_transports_run_together)
{
    start(0, 20000);
    start_at(1, "toy://depot.example/f", 500, 20000);
    finish();
    assert_bytes(0, 0, 20000);
    assert_bytes(1, 500, 20000);
}
END_TEST

START_TEST(a_request_without_room_is_held_until_there_is)
{
    room = 4096;
    start(0, 10000);
    while (!xd_runner_is_held(runner, 0))
        xd_runner_poll(runner, xd_now());
    xd_runner_poll(runner, xd_now() + 50 * XD_MS); /* longer than silence */
    ck_assert(xd_runner_is_held(runner, 0));
    ck_assert_uint_eq(seen[0].n_holds, 1);
    room = TOY_SIZE;
    finish();
    assert_bytes(0, 0, 10000);
    ck_assert_uint_eq(seen[0].n_releases, 1);
}
END_TEST

START_TEST(bytes_are_paid_for_once)
{
    xd_usec begun = xd_now();

    xd_budget_set_rate(&budget, 200000);
    room = 4096;
    start(0, 20000);
    while (!xd_runner_is_held(runner, 0))
        xd_runner_poll(runner, xd_now());
    room = TOY_SIZE;
    finish();
    assert_bytes(0, 0, 20000);
    /* 100 ms, less the 50 that a bucket gives at once. */
    ck_assert_uint_ge(xd_now() - begun, 40 * XD_MS);
    ck_assert_uint_eq(xd_budget_pay(&budget, xd_now() + XD_SECOND, 100), 0);
}
END_TEST

static const struct toy_answer skips[] = {{.skips = 40000}};

START_TEST(bytes_that_are_skipped_are_paid_for_too)
{
    xd_usec begun = xd_now();

    toy_script(skips, 1);
    xd_budget_set_rate(&budget, 400000);
    start(0, 100);
    finish();
    assert_bytes(0, 0, 100);
    ck_assert_uint_ge(xd_now() - begun, 40 * XD_MS);
}
END_TEST

START_TEST(a_new_rate_ends_the_waits_of_the_old_one)
{
    xd_usec begun = xd_now();

    xd_budget_set_rate(&budget, 1000);
    start(0, 40000); /* 40 s */
    while (!xd_runner_is_held(runner, 0))
        xd_runner_poll(runner, xd_now());
    xd_budget_set_rate(&budget, 0);
    finish();
    assert_bytes(0, 0, 40000);
    ck_assert_uint_lt(xd_now() - begun, 5 * XD_SECOND);
}
END_TEST

static const struct toy_answer cut[] = {{.is_cut = true, .bytes = 6000},
                                        {.is_cut = true, .bytes = 1000}};

START_TEST(the_rest_of_a_short_answer_is_asked_for)
{
    toy_script(cut, 2);
    start(100, 10000);
    finish();
    assert_bytes(0, 100, 10000);
    ck_assert_uint_eq(toy_requests(), 3);
    ck_assert_uint_eq(seen[0].n_heads, 3);
    ck_assert_uint_eq(seen[0].n_ends, 1);
}
END_TEST

START_TEST(unless_the_client_takes_it_as_it_is)
{
    xd_runner_free(runner);
    open_runner(false);
    toy_script(cut, 2);
    start(100, 10000);
    finish();
    assert_bytes(0, 100, 6000);
    ck_assert(seen[0].outcome.is_cut);
}
END_TEST

static const struct toy_answer cut_then_none[] = {
    {.is_cut = true, .bytes = 6000}, {.cannot_start = true}};

START_TEST(a_rest_that_cannot_be_asked_for_is_a_failure)
{
    toy_script(cut_then_none, 2);
    start(0, 10000);
    finish();
    ck_assert_int_eq(seen[0].outcome.verdict, XD_VERDICT_AGAIN);
    ck_assert_int_eq(seen[0].outcome.error.code, XD_E_NOMEM);
    ck_assert_uint_eq(seen[0].n_ends, 1);
}
END_TEST

START_TEST(a_rest_is_not_asked_for_after_a_stop)
{
    toy_script(cut, 1);
    start(0, 10000);
    while (seen[0].n < 6000)
        xd_runner_poll(runner, XD_NEVER);
    xd_runner_stop(runner, 0);
    finish();
    ck_assert_int_eq(seen[0].outcome.verdict, XD_VERDICT_STOPPED);
    ck_assert_uint_eq(toy_requests(), 1);
}
END_TEST

START_TEST(a_shortened_request_ends_well_at_its_new_end)
{
    start(1000, 20000);
    xd_runner_poll(runner, XD_NEVER);
    xd_runner_shorten(runner, 0, 10500);
    finish();
    assert_bytes(0, 1000, 9500);
    ck_assert_int_eq(seen[0].outcome.verdict, XD_VERDICT_OK);
    ck_assert_uint_eq(seen[0].outcome.object_size, TOY_SIZE);
}
END_TEST

START_TEST(and_at_once_where_more_than_that_is_here)
{
    start(0, 20000);
    while (seen[0].n < 8000)
        xd_runner_poll(runner, XD_NEVER);
    xd_runner_shorten(runner, 0, 5000);
    finish();
    ck_assert_int_eq(seen[0].outcome.verdict, XD_VERDICT_OK);
    ck_assert_uint_lt(seen[0].n, 20000);
}
END_TEST

static const struct toy_answer silent[] = {
    {.is_silent = true, .bytes = 3000, .is_unanswered = true}};

/* ---- a runner that changes hands ---- */

static int leave_bytes(void *user, unsigned slot, const void *data, size_t len)
{
    (void)user;
    (void)data;
    (void)len;
    seen[slot].n_releases++;
    return XD_E_AGAIN;
}

static const struct xd_runner_handler first_handler = {
    .head = on_head, .bytes = leave_bytes, .end = on_end};

/* 10000 bytes were asked for, and `carries` come, of which none was taken; then
 * another handler goes on with it, for `length`. */
static void change_hands(uint64_t carries, uint64_t length)
{
    struct xd_runner_config config = {
        .n_slots = N_SLOTS, .silence = 30 * XD_MS, .registry = &registry};
    struct xd_request request = {
        .url = url_of("ibp://depot.example:6714/k#1/2/READ"),
        .length = length,
        .object_size = XD_SIZE_UNKNOWN};

    xd_runner_free(runner);
    ck_assert_int_eq(xd_runner_new(&runner, &config, &first_handler, NULL), 0);
    start(0, 10000);
    while (seen[0].n_releases == 0) {
        ck_assert(!xd_runner_can_change_hands(runner, 1));
        xd_runner_poll(runner, XD_NEVER);
    }
    ck_assert(xd_runner_can_change_hands(runner, 0));
    ck_assert_uint_eq(xd_runner_carries(runner, 0), carries);
    ck_assert_uint_le(xd_runner_waited(runner, 0), 10 * XD_SECOND);
    seen[0].n_releases = 0;
    config.budget = &budget;
    config.asks_for_rest = true;
    xd_runner_take_over(runner, &config, &handler);
    xd_runner_go_on(runner, 0, &request);
    ck_assert_uint_eq(seen[0].n_heads, 2);
    finish();
    assert_bytes(0, 0, length);
    ck_assert_int_eq(seen[0].outcome.verdict, XD_VERDICT_OK);
    ck_assert_uint_eq(seen[0].n_ends, 1);
}

START_TEST(a_request_goes_on_in_other_hands)
{
    change_hands(10000, 10000);
    ck_assert_uint_eq(toy_requests(), 1);
    ck_assert_int_eq(seen[0].outcome.error.code, XD_OK);
}
END_TEST

START_TEST(which_may_want_less_of_it)
{
    change_hands(10000, 5000);
    ck_assert_uint_eq(toy_requests(), 1);
}
END_TEST

START_TEST(or_more)
{
    change_hands(10000, 50000);
    ck_assert_uint_eq(toy_requests(), 2);
    ck_assert_uint_eq(seen[0].n_heads, 3);
}
END_TEST

static const struct toy_answer short_object[] = {{.object_size = 7000}};

START_TEST(an_object_may_be_shorter_than_what_was_asked_for)
{
    toy_script(short_object, 1);
    change_hands(7000, 7000);
    ck_assert_uint_eq(toy_requests(), 1);
}
END_TEST

START_TEST(a_silent_request_ends)
{
    toy_script(silent, 1);
    start(0, 10000);
    finish();
    ck_assert_uint_eq(seen[0].n, 3000);
    ck_assert_int_eq(seen[0].outcome.verdict, XD_VERDICT_AGAIN);
    ck_assert(xd_verdict_may_pass(seen[0].outcome.verdict));
}
END_TEST

START_TEST(how_long_silence_may_last_can_change)
{
    xd_usec begun = xd_now();

    toy_script(silent, 1);
    start(0, 10000);
    xd_runner_set_silence(runner, 150 * XD_MS, 150 * XD_MS);
    finish();
    ck_assert_uint_ge(xd_now() - begun, 150 * XD_MS);
}
END_TEST

START_TEST(a_handler_may_refuse)
{
    refuses = true;
    start(0, 10000);
    finish();
    ck_assert_int_eq(seen[0].outcome.verdict, XD_VERDICT_STOPPED);
}
END_TEST

START_TEST(a_stopped_request_ends_once)
{
    start(0, 20000);
    xd_runner_poll(runner, XD_NEVER);
    xd_runner_stop(runner, 0);
    xd_runner_stop(runner, 0);
    finish();
    xd_runner_stop(runner, 0);
    xd_runner_poll(runner, xd_now());
    ck_assert_uint_eq(seen[0].n_ends, 1);
    ck_assert_int_eq(seen[0].outcome.verdict, XD_VERDICT_STOPPED);
}
END_TEST

START_TEST(what_is_settled_has_ended)
{
    toy_script(silent, 1);
    start(0, 20000);
    start_at(1, "toy://depot.example/f", 0, 20000);
    xd_runner_settle(runner);
    ck_assert(!xd_runner_is_busy(runner, 0));
    ck_assert(!xd_runner_is_busy(runner, 1));
}
END_TEST

START_TEST(what_is_closed_ends_without_a_word_and_can_be_opened_again)
{
    start(0, 20000);
    xd_runner_poll(runner, XD_NEVER);
    xd_runner_close(runner);
    ck_assert_uint_eq(seen[0].n_ends, 0);
    ck_assert(!xd_runner_use(runner, &kinds[0]));
    seen[0].n = 0;
    start(0, 5000);
    finish();
    assert_bytes(0, 0, 5000);
}
END_TEST

START_TEST(a_wakeup_is_not_lost_before_a_transport_is_open)
{
    xd_usec begun = xd_now();

    xd_runner_wakeup(runner);
    ck_assert_int_eq(xd_runner_open(runner, &kinds[0], NULL), 0);
    xd_runner_poll(runner, xd_now() + 20 * XD_SECOND);
    ck_assert_uint_lt(xd_now() - begun, 10 * XD_SECOND);
}
END_TEST

static void *wake(void *unused)
{
    (void)unused;
    xd_runner_wakeup(runner);
    return NULL;
}

START_TEST(any_thread_may_end_a_poll)
{
    struct xd_thread thread;
    xd_usec begun = xd_now();

    ck_assert_int_eq(xd_runner_open(runner, &kinds[1], NULL), 0);
    ck_assert_int_eq(xd_thread_start(&thread, wake, NULL), 0);
    xd_runner_poll(runner, xd_now() + 20 * XD_SECOND);
    xd_thread_join(&thread);
    ck_assert_uint_lt(xd_now() - begun, 10 * XD_SECOND);
}
END_TEST

/* What it says of another attempt. */
static const struct {
    enum xd_verdict verdict;
    bool may_pass;
} verdicts[] = {{XD_VERDICT_OK, false},
                {XD_VERDICT_AGAIN, true},
                {XD_VERDICT_GONE, false},
                {XD_VERDICT_NO_RANGES, false},
                {XD_VERDICT_REFUSED_RANGE, false},
                {XD_VERDICT_DIFFERENT, false},
                {XD_VERDICT_CHANGED, false},
                {XD_VERDICT_LOCAL, true},
                {XD_VERDICT_STOPPED, false}};

START_TEST(a_verdict_says_whether_another_attempt_may_do_better)
{
    ck_assert_int_eq(xd_verdict_may_pass(verdicts[_i].verdict),
                     verdicts[_i].may_pass);
}
END_TEST

/* ---- a host that refuses ---- */

static const struct toy_answer halves[] = {
    {.verdict = XD_VERDICT_AGAIN, .bytes = 50},
    {.verdict = XD_VERDICT_AGAIN, .bytes = 49}};

START_TEST(a_host_that_delivers_half_of_a_request_need_not_pause)
{
    toy_script(halves, 2);
    start(0, 100);
    finish();
    ck_assert_int_eq(seen[0].outcome.verdict, XD_VERDICT_AGAIN);
    ck_assert_uint_eq(seen[0].outcome.retry_after, 0);
    start(0, 100);
    finish();
    ck_assert_uint_gt(seen[0].outcome.retry_after, 0);
}
END_TEST

static const struct toy_answer refusal[] = {
    FAILS(.verdict = XD_VERDICT_AGAIN, .is_refusal = true)};

START_TEST(a_refusal_holds_up_all_requests_to_its_host_and_no_others)
{
    xd_usec begun = xd_now();

    toy_script(refusal, 1);
    start(0, 1000);
    finish();
    ck_assert_uint_ge(seen[0].outcome.retry_after, XD_SECOND / 4);
    start_at(0, "ibp://depot.example:6714/another#1/2/READ", 0, 1000);
    start_at(1, "ibp://other.example:6714/k#1/2/READ", 0, 1000);
    while (xd_runner_is_busy(runner, 1))
        xd_runner_poll(runner, XD_NEVER);
    ck_assert(xd_runner_is_held(runner, 0));
    ck_assert_uint_eq(toy_requests(), 2);
    finish();
    ck_assert_uint_ge(xd_now() - begun, XD_SECOND / 2);
    assert_bytes(0, 0, 1000);
}
END_TEST

START_TEST(a_request_that_waits_for_its_host_can_be_stopped)
{
    toy_script(refusal, 1);
    start(0, 1000);
    finish();
    start(0, 1000);
    xd_runner_stop(runner, 0);
    finish();
    ck_assert_int_eq(seen[0].outcome.verdict, XD_VERDICT_STOPPED);
    ck_assert_uint_eq(seen[0].n_ends, 2);
    ck_assert_uint_eq(toy_requests(), 1);
    start(0, 1000);
    xd_runner_settle(runner);
    start(0, 1000);
    xd_runner_close(runner);
    ck_assert_uint_eq(toy_requests(), 1);
}
END_TEST

/* `is_known`: as in struct xd_request. */
static struct xd_request request_of_object(bool is_known)
{
    return (struct xd_request){
        .url = url_of("ibp://depot.example:6714/k#1/2/READ"),
        .length = 10000,
        .object_size = XD_SIZE_UNKNOWN,
        .is_known = is_known};
}

/* Runs `request` in slot 1 to its end, beside the same request in slot 0.  The
 * first of the two `answers` is for slot 0, which keeps running. */
static void run_beside(const struct xd_request *request,
                       const struct toy_answer *answers,
                       bool waits_for_first_byte)
{
    xd_runner_set_silence(runner, XD_NEVER, XD_NEVER);
    toy_script(answers, 2);
    ck_assert_int_eq(xd_runner_start(runner, 0, request, NULL), 0);
    while (waits_for_first_byte && seen[0].n == 0)
        xd_runner_poll(runner, XD_NEVER);
    ck_assert_int_eq(xd_runner_start(runner, 1, request, NULL), 0);
    while (xd_runner_is_busy(runner, 1))
        xd_runner_poll(runner, XD_NEVER);
}

/* A server answers with a status like 404 while it sends the same URL to
 * another request. */
static const struct toy_answer denied_beside[] = {
    {.bytes = 8000, .is_silent = true},
    FAILS(.verdict = XD_VERDICT_GONE, .is_denied = true)};
static const struct {
    const char *origin; /* the URL that was redirected, or NULL */
    enum xd_verdict verdict;
} beside[] = {{NULL, XD_VERDICT_AGAIN},
              {"ibp://depot.example:6714/k#1/2/READ", XD_VERDICT_AGAIN},
              {"ibp://depot.example:6714/to-k#1/2/READ", XD_VERDICT_GONE}};

START_TEST(
    a_status_beside_a_response_is_a_refusal_unless_the_url_may_have_expired)
{
    struct xd_request request = request_of_object(false);

    request.origin = beside[_i].origin ? url_of(beside[_i].origin) : NULL;
    run_beside(&request, denied_beside, true);
    ck_assert_int_eq(seen[1].outcome.verdict, beside[_i].verdict);
    ck_assert_int_eq(seen[1].outcome.is_refusal,
                     beside[_i].verdict == XD_VERDICT_AGAIN);
}
END_TEST

/* The other request has not delivered a byte yet. */
static const struct toy_answer denied_at_once[] = {
    {.has_no_head = true, .is_silent = true},
    FAILS(.verdict = XD_VERDICT_GONE, .is_denied = true)};

START_TEST(status_beside_a_request_is_a_refusal_if_the_object_was_sent_before)
{
    const bool is_known = _i == 1;
    const struct xd_request request = request_of_object(is_known);

    run_beside(&request, denied_at_once, false);
    ck_assert_int_eq(seen[1].outcome.verdict,
                     is_known ? XD_VERDICT_AGAIN : XD_VERDICT_GONE);
    ck_assert_int_eq(seen[1].outcome.is_refusal, is_known);
}
END_TEST

static const struct toy_answer mirror_lacks_it[] = {
    FAILS(.verdict = XD_VERDICT_GONE, .is_denied = true,
          .is_of_redirect = true)};

static const struct toy_answer mirror_lacks_it_beside[] = {
    {.bytes = 8000, .is_silent = true},
    FAILS(.verdict = XD_VERDICT_GONE, .is_denied = true,
          .is_of_redirect = true)};

START_TEST(redirector_does_not_refuse_because_one_mirror_lacks_the_object)
{
    const struct xd_request request = request_of_object(true);

    run_beside(&request, mirror_lacks_it_beside, true);
    ck_assert_int_eq(seen[1].outcome.verdict, XD_VERDICT_AGAIN);
    ck_assert(!seen[1].outcome.is_refusal);
}
END_TEST

START_TEST(
    redirector_that_has_delivered_the_object_is_asked_again_after_a_pause)
{
    const bool is_known = _i == 1;
    const struct xd_request request = request_of_object(is_known);

    toy_script(mirror_lacks_it, 1);
    ck_assert_int_eq(xd_runner_start(runner, 0, &request, NULL), 0);
    finish();
    ck_assert_int_eq(seen[0].outcome.verdict,
                     is_known ? XD_VERDICT_AGAIN : XD_VERDICT_GONE);
    ck_assert(!seen[0].outcome.is_refusal);
    ck_assert_int_eq(seen[0].outcome.retry_after >= XD_SECOND / 2, is_known);
}
END_TEST

static const struct toy_answer asks_for_an_hour[] = {
    FAILS(.verdict = XD_VERDICT_AGAIN, .is_refusal = true,
          .retry_after = 3600 * XD_SECOND)};

START_TEST(a_pause_beyond_patience_ends_this_request_and_those_that_follow)
{
    struct xd_runner_config config = {.n_slots = N_SLOTS,
                                      .silence = 30 * XD_MS,
                                      .patience = 120 * XD_SECOND,
                                      .registry = &registry};

    xd_runner_free(runner);
    ck_assert_int_eq(xd_runner_new(&runner, &config, &handler, NULL), 0);
    toy_script(asks_for_an_hour, 1);
    for (int i = 0; i < 2; i++) {
        start(0, 1000);
        finish();
        ck_assert_int_eq(seen[0].outcome.verdict, XD_VERDICT_GONE);
        ck_assert_ptr_nonnull(strstr(seen[0].outcome.error.msg, "again in 3"));
    }
    ck_assert_uint_eq(toy_requests(), 1);
}
END_TEST

static const struct toy_answer one_byte[] = {
    {.is_cut = true, .bytes = 1},
    {.is_cut = true, .verdict = XD_VERDICT_AGAIN, .bytes = 1000}};

START_TEST(a_short_answer_with_one_byte_is_a_failure)
{
    toy_script(one_byte, 2);
    start(0, 10000);
    finish();
    ck_assert_int_eq(seen[0].outcome.verdict, XD_VERDICT_AGAIN);
    ck_assert_uint_eq(toy_requests(), 1);
}
END_TEST

START_TEST(a_short_answer_that_breaks_off_is_a_failure)
{
    toy_script(one_byte + 1, 1);
    start(0, 10000);
    finish();
    ck_assert_int_eq(seen[0].outcome.verdict, XD_VERDICT_AGAIN);
    ck_assert_uint_eq(toy_requests(), 1);
}
END_TEST

int main(void)
{
    TCase *tests = tcase_create("runner");

    tcase_add_checked_fixture(tests, setup, teardown);
    tcase_add_test(tests, a_new_transport_is_a_file_and_a_row);
    tcase_add_test(tests, a_url_for_which_there_is_no_transport_is_not_asked);
    tcase_add_test(tests, requests_on_two_transports_run_together);
    tcase_add_test(tests, a_request_without_room_is_held_until_there_is);
    tcase_add_test(tests, bytes_are_paid_for_once);
    tcase_add_test(tests, bytes_that_are_skipped_are_paid_for_too);
    tcase_add_test(tests, a_new_rate_ends_the_waits_of_the_old_one);
    tcase_add_test(tests, the_rest_of_a_short_answer_is_asked_for);
    tcase_add_test(tests, unless_the_client_takes_it_as_it_is);
    tcase_add_test(tests, a_rest_that_cannot_be_asked_for_is_a_failure);
    tcase_add_test(tests, a_rest_is_not_asked_for_after_a_stop);
    tcase_add_test(tests, a_shortened_request_ends_well_at_its_new_end);
    tcase_add_test(tests, and_at_once_where_more_than_that_is_here);
    tcase_add_test(tests, a_request_goes_on_in_other_hands);
    tcase_add_test(tests, which_may_want_less_of_it);
    tcase_add_test(tests, or_more);
    tcase_add_test(tests, an_object_may_be_shorter_than_what_was_asked_for);
    tcase_add_test(tests, a_silent_request_ends);
    tcase_add_test(tests,
                   a_host_that_delivers_half_of_a_request_need_not_pause);
    tcase_add_test(tests, how_long_silence_may_last_can_change);
    tcase_add_test(tests, a_handler_may_refuse);
    tcase_add_test(tests, a_stopped_request_ends_once);
    tcase_add_test(tests, what_is_settled_has_ended);
    tcase_add_test(tests,
                   what_is_closed_ends_without_a_word_and_can_be_opened_again);
    tcase_add_test(tests, a_wakeup_is_not_lost_before_a_transport_is_open);
    tcase_add_test(tests, any_thread_may_end_a_poll);
    tcase_add_loop_test(tests,
                        a_verdict_says_whether_another_attempt_may_do_better, 0,
                        sizeof verdicts / sizeof *verdicts);
    tcase_add_test(tests,
                   a_refusal_holds_up_all_requests_to_its_host_and_no_others);
    tcase_add_test(tests, a_request_that_waits_for_its_host_can_be_stopped);
    tcase_add_loop_test(
        tests,
        a_status_beside_a_response_is_a_refusal_unless_the_url_may_have_expired,
        0, sizeof beside / sizeof beside[0]);
    tcase_add_loop_test(
        tests,
        status_beside_a_request_is_a_refusal_if_the_object_was_sent_before, 0,
        2);
    tcase_add_test(
        tests, redirector_does_not_refuse_because_one_mirror_lacks_the_object);
    tcase_add_loop_test(
        tests,
        redirector_that_has_delivered_the_object_is_asked_again_after_a_pause,
        0, 2);
    tcase_add_test(
        tests, a_pause_beyond_patience_ends_this_request_and_those_that_follow);
    tcase_add_test(tests, a_short_answer_with_one_byte_is_a_failure);
    tcase_add_test(tests, a_short_answer_that_breaks_off_is_a_failure);
    return run_suite("runner", tests);
}
