/* SPDX-License-Identifier: MIT */
/*
 * The governor in virtual time.  The clients are as greedy as they can be: each
 * wants the next request as soon as the last one has ended, whatever that
 * meant.  So no client of the library asks more often.
 */
#include "base/governor.h"

#include <string.h>

#include "suite.h"

#define START (1000 * XD_SECOND)
#define MINUTE (60 * XD_SECOND)
#define ROUND_TRIP (20 * XD_MS)
#define STEP XD_MS
#define MOST_CLIENTS 64u
#define MOST_MINUTES 10u

/* ---- single rules ---- */

static xd_usec end_at(struct xd_governor *g, xd_usec now,
                      enum xd_governed_end end, xd_usec retry_after)
{
    struct xd_governed r;

    xd_governor_begin(g, &r, now);
    return xd_governor_end(g, &r, end, 0, retry_after, now);
}

START_TEST(a_new_host_may_be_asked_at_once)
{
    struct xd_governor g = {.seed = 1};

    ck_assert_uint_le(xd_governor_ask(&g, false, START), START);
    ck_assert_uint_eq(xd_governor_terms(&g, START).most_open, 0);
}
END_TEST

START_TEST(refusals_double_the_pause_with_jitter)
{
    struct xd_governor g = {.seed = 7};
    xd_usec now = START, least = XD_SECOND / 2;

    for (unsigned i = 0; i < 10; i++) {
        xd_usec pause = end_at(&g, now, XD_GOVERNED_REFUSED, 0);

        ck_assert_uint_ge(pause, least);
        ck_assert_uint_le(pause, least + least / 2);
        ck_assert_uint_ge(xd_governor_ask(&g, false, now), now + pause);
        now += pause;
        if (least < 32 * XD_SECOND)
            least *= 2;
    }
}
END_TEST

START_TEST(long_requests_are_wanted_until_a_minute_after_the_last_refusal)
{
    struct xd_governor g = {.seed = 1};
    struct xd_governed r;
    xd_usec now = START + 30 * XD_SECOND;

    ck_assert(!xd_governor_terms(&g, START).has_refused);
    (void)end_at(&g, START, XD_GOVERNED_REFUSED, 5 * XD_SECOND);
    ck_assert(xd_governor_terms(&g, START).has_refused);
    xd_governor_begin(&g, &r, now);
    xd_governor_progress(&g, &r);
    (void)xd_governor_end(&g, &r, XD_GOVERNED_SERVED, 1 << 20, 0, now);
    for (; now < START + MINUTE; now += XD_SECOND)
        ck_assert(xd_governor_terms(&g, now).has_refused);
    while (now < START + 2 * MINUTE)
        (void)xd_governor_terms(&g, now += XD_SECOND);
    ck_assert(!xd_governor_terms(&g, now).has_refused);
}
END_TEST

START_TEST(two_hosts_do_not_wait_for_equal_times)
{
    struct xd_governor a = {.seed = 7}, b = {.seed = 8};

    ck_assert_uint_ne(end_at(&a, START, XD_GOVERNED_REFUSED, 0),
                      end_at(&b, START, XD_GOVERNED_REFUSED, 0));
}
END_TEST

START_TEST(a_pause_that_the_host_asks_for_is_kept)
{
    struct xd_governor g = {.seed = 1};

    ck_assert_uint_eq(end_at(&g, START, XD_GOVERNED_REFUSED, 90 * XD_SECOND),
                      90 * XD_SECOND);
    ck_assert_uint_eq(g.asked_until, START + 90 * XD_SECOND);
    ck_assert_uint_ge(xd_governor_ask(&g, false, START),
                      START + 90 * XD_SECOND);
}
END_TEST

START_TEST(requests_that_are_refused_together_are_one_refusal)
{
    struct xd_governor g = {.seed = 1};
    struct xd_governed r[8];

    for (unsigned i = 0; i < 8; i++)
        xd_governor_begin(&g, &r[i], START);
    for (unsigned i = 0; i < 8; i++)
        ck_assert_uint_le(xd_governor_end(&g, &r[i], XD_GOVERNED_REFUSED, 0, 0,
                                          START + ROUND_TRIP),
                          XD_SECOND);
    ck_assert_uint_eq(g.refusals, 1);
    ck_assert_uint_eq(g.n_wasted, 8);
}
END_TEST

START_TEST(an_answer_does_not_end_a_row_of_refusals_and_progress_does)
{
    struct xd_governor g = {.seed = 1};
    struct xd_governed r;

    (void)end_at(&g, START, XD_GOVERNED_REFUSED, 0);
    xd_governor_begin(&g, &r, START + 2 * XD_SECOND);
    xd_governor_accepted(&g, &r);
    ck_assert_uint_eq(g.refusals, 1);
    xd_governor_progress(&g, &r);
    ck_assert_uint_eq(g.refusals, 0);
}
END_TEST

START_TEST(progress_of_an_older_request_does_not_end_a_row_of_refusals)
{
    struct xd_governor g = {.seed = 1};
    struct xd_governed old;

    xd_governor_begin(&g, &old, START);
    (void)end_at(&g, START, XD_GOVERNED_REFUSED, 0);
    xd_governor_progress(&g, &old);
    ck_assert_uint_eq(g.refusals, 1);
}
END_TEST

START_TEST(open_requests_fall_to_those_that_were_accepted_and_rise_again)
{
    struct xd_governor g = {.seed = 1};
    struct xd_governed r[6];
    xd_usec now = START;

    for (unsigned i = 0; i < 6; i++)
        xd_governor_begin(&g, &r[i], now);
    for (unsigned i = 0; i < 4; i++)
        xd_governor_progress(&g, &r[i]);
    for (unsigned i = 4; i < 6; i++)
        (void)xd_governor_end(&g, &r[i], XD_GOVERNED_REFUSED, 0, 0, now);
    ck_assert_uint_eq(xd_governor_terms(&g, now).most_open, 4);
    now += XD_SECOND;
    ck_assert_uint_eq(xd_governor_ask(&g, false, now), XD_NEVER);
    (void)xd_governor_end(&g, &r[0], XD_GOVERNED_SERVED, 1 << 20, 0, now);
    ck_assert_uint_le(xd_governor_ask(&g, false, now), now);
    xd_governor_begin(&g, &r[0], now);
    xd_governor_progress(&g, &r[0]); /* the row of refusals has ended */
    ck_assert_uint_eq(xd_governor_ask(&g, false, now), XD_NEVER);
    now += 2 * XD_SECOND;
    ck_assert_uint_le(xd_governor_ask(&g, false, now), now);
    ck_assert_uint_eq(xd_governor_terms(&g, now).most_open, 5);
}
END_TEST

static unsigned open_after(struct xd_governor *g, xd_usec now)
{
    return xd_governor_terms(g, now).most_open;
}

START_TEST(what_was_open_before_a_ban_is_soon_tried_again_and_no_more)
{
    struct xd_governor g = {.seed = 1};
    struct xd_governed r[4];
    xd_usec now = START;

    for (unsigned i = 0; i < 4; i++)
        xd_governor_begin(&g, &r[i], now);
    for (unsigned i = 0; i < 3; i++)
        xd_governor_progress(&g, &r[i]);
    for (unsigned i = 0; i < 3; i++)
        (void)xd_governor_end(&g, &r[i], XD_GOVERNED_BROKEN, 1 << 20, 0, now);
    (void)xd_governor_end(&g, &r[3], XD_GOVERNED_REFUSED, 0, 0, now);
    for (unsigned i = 0; i < 4; i++)
        now += end_at(&g, now, XD_GOVERNED_REFUSED, 0);
    xd_governor_begin(&g, &r[0], now);
    xd_governor_progress(&g, &r[0]); /* the ban is over */
    ck_assert_uint_eq(open_after(&g, now), 1);
    ck_assert_uint_eq(open_after(&g, now + XD_SECOND), 2);
    ck_assert_uint_eq(open_after(&g, now + 2 * XD_SECOND), 3);
    ck_assert_uint_eq(open_after(&g, now + 17 * XD_SECOND), 3);
    ck_assert_uint_eq(open_after(&g, now + 18 * XD_SECOND), 4);
    ck_assert_uint_eq(open_after(&g, now + 33 * XD_SECOND), 4);
    ck_assert_uint_eq(open_after(&g, now + 34 * XD_SECOND), 0);
}
END_TEST

START_TEST(what_was_accepted_later_raises_the_bound_at_once)
{
    struct xd_governor g = {.seed = 1};
    struct xd_governed r[5];

    for (unsigned i = 0; i < 5; i++)
        xd_governor_begin(&g, &r[i], START);
    (void)xd_governor_end(&g, &r[4], XD_GOVERNED_REFUSED, 0, 0, START);
    ck_assert_uint_eq(xd_governor_terms(&g, START).most_open, 1);
    for (unsigned i = 0; i < 4; i++)
        xd_governor_accepted(&g, &r[i]);
    ck_assert_uint_eq(xd_governor_terms(&g, START).most_open, 4);
}
END_TEST

/* Uploads count as accepted while they are sent, and are refused then. */
START_TEST(refused_requests_do_not_count_for_the_rate)
{
    struct xd_governor g = {.seed = 1};
    struct xd_governed r;
    xd_usec now = START;

    xd_governor_begin(&g, &r, now);
    (void)xd_governor_end(&g, &r, XD_GOVERNED_SERVED, 1, 0, now);
    for (unsigned i = 0; i < 5; i++) {
        xd_governor_begin(&g, &r, now);
        xd_governor_accepted(&g, &r);
        now += xd_governor_end(&g, &r, XD_GOVERNED_REFUSED, 0, 0, now);
    }
    ck_assert_uint_le(g.interval, XD_SECOND);
}
END_TEST

START_TEST(a_request_that_did_not_reach_its_host_binds_no_other)
{
    struct xd_governor g = {.seed = 1};

    for (unsigned i = 0; i < 100; i++)
        ck_assert_uint_ge(end_at(&g, START, XD_GOVERNED_UNREACHED, 0),
                          XD_SECOND / 4);
    ck_assert_uint_eq(g.n_unreached, 100);
    ck_assert_uint_eq(g.n_wasted, 0);
    ck_assert_uint_le(xd_governor_ask(&g, false, START), START);
}
END_TEST

START_TEST(attempts_in_a_row_that_do_not_reach_the_host_become_rare)
{
    struct xd_governor g = {.seed = 1};
    struct xd_governed r;
    xd_usec now = START;
    unsigned n = 0;

    for (; now < START + MINUTE; n++)
        now += end_at(&g, now, XD_GOVERNED_UNREACHED, 0);
    ck_assert_uint_le(n, 20);
    xd_governor_begin(&g, &r, now);
    xd_governor_accepted(&g, &r);
    (void)xd_governor_end(&g, &r, XD_GOVERNED_SERVED, 1, 0, now);
    ck_assert_uint_eq(end_at(&g, now, XD_GOVERNED_UNREACHED, 0), XD_SECOND / 4);
}
END_TEST

START_TEST(attempts_that_did_not_reach_the_host_are_forgotten)
{
    struct xd_governor g = {.seed = 1};

    for (unsigned i = 0; i < 10; i++)
        (void)end_at(&g, START, XD_GOVERNED_UNREACHED, 0);
    ck_assert_uint_gt(end_at(&g, START + 9 * MINUTE, XD_GOVERNED_UNREACHED, 0),
                      XD_SECOND / 4);
    ck_assert_uint_eq(end_at(&g, START + 19 * MINUTE, XD_GOVERNED_UNREACHED, 0),
                      XD_SECOND / 4);
}
END_TEST

START_TEST(requests_that_break_off_early_are_slowed_down)
{
    struct xd_governor g = {.seed = 1};
    struct xd_governed r;
    xd_usec pause = 0;

    for (unsigned i = 0; i < 5; i++) {
        xd_governor_begin(&g, &r, START);
        xd_governor_progress(&g, &r);
        pause = xd_governor_end(&g, &r, XD_GOVERNED_BROKEN, 600, 0, START);
    }
    ck_assert_uint_ge(pause, XD_SECOND);
    xd_governor_begin(&g, &r, START + 10 * XD_SECOND);
    xd_governor_progress(&g, &r);
    ck_assert_uint_eq(xd_governor_end(&g, &r, XD_GOVERNED_BROKEN, 1 << 20, 0,
                                      START + 10 * XD_SECOND),
                      0);
}
END_TEST

START_TEST(a_url_that_fails_again_delays_no_other_url)
{
    struct xd_governor g = {.seed = 1};
    struct xd_governed r;

    ck_assert_uint_ge(end_at(&g, START, XD_GOVERNED_FAILED_AGAIN, 0),
                      XD_SECOND / 2);
    ck_assert_uint_le(xd_governor_ask(&g, true, START), START);
    for (unsigned i = 1; i < XD_GOVERNOR_FIRST; i++)
        (void)end_at(&g, START, XD_GOVERNED_FAILED_AGAIN, 0);
    ck_assert_uint_le(xd_governor_ask(&g, false, START), START);
    ck_assert(!xd_governor_terms(&g, START).has_refused);
    ck_assert_uint_ge(xd_governor_ask(&g, true, START + 30 * XD_SECOND),
                      START + MINUTE);
    /* and what delays others delays a repeat, too */
    (void)end_at(&g, START, XD_GOVERNED_REFUSED, 40 * XD_SECOND);
    xd_governor_begin(&g, &r, START);
    xd_governor_progress(&g, &r);
    ck_assert_uint_ge(xd_governor_ask(&g, false, START),
                      START + 40 * XD_SECOND);
    ck_assert_uint_ge(xd_governor_ask(&g, true, START), START + MINUTE);
}
END_TEST

START_TEST(a_host_that_behaves_is_as_new_after_ten_minutes)
{
    struct xd_governor g = {.seed = 1};

    (void)end_at(&g, START, XD_GOVERNED_REFUSED, 0);
    ck_assert(!xd_governor_is_idle(&g, START + MINUTE));
    ck_assert(xd_governor_is_idle(&g, START + 11 * MINUTE));
    ck_assert_uint_eq(xd_governor_terms(&g, START + 11 * MINUTE).most_open, 0);
}
END_TEST

/* ---- greedy clients ---- */

/* A server that serves for a while, and then as its rule says. */
struct server {
    const char *name;
    enum xd_governed_end end; /* of what it refuses */
    xd_usec retry_after;
    unsigned most_open;  /* it serves so many at a time */
    unsigned most_begun; /* in each window */
    xd_usec window;      /* 0: for ever */
    xd_usec until;       /* it refuses all until then; 0: it does not */
    xd_usec serves_for;  /* how long an answer takes */
    uint64_t bytes;      /* in an answer that refuses */
    bool is_accepted;    /* the answer that refuses begins like a good one */
};

static const struct server servers[] = {
    {"429", XD_GOVERNED_REFUSED, .until = XD_NEVER},
    {"429 with Retry-After", XD_GOVERNED_REFUSED, .retry_after = 5 * XD_SECOND,
     .until = XD_NEVER},
    {"503", XD_GOVERNED_REFUSED, .until = XD_NEVER},
    {"509", XD_GOVERNED_REFUSED, .until = XD_NEVER},
    {"403 of one URL", XD_GOVERNED_FAILED_AGAIN, .until = XD_NEVER},
    {"404 of one URL", XD_GOVERNED_FAILED_AGAIN, .until = XD_NEVER},
    {"reset", XD_GOVERNED_REFUSED, .until = XD_NEVER},
    {"empty reply", XD_GOVERNED_REFUSED, .until = XD_NEVER},
    {"206 without a byte", XD_GOVERNED_REFUSED, .until = XD_NEVER,
     .is_accepted = true},
    {"one byte per answer", XD_GOVERNED_REFUSED, .until = XD_NEVER, .bytes = 1,
     .is_accepted = true},
    {"503 for half a minute", XD_GOVERNED_REFUSED,
     .until = START + 30 * XD_SECOND, .serves_for = XD_SECOND},
    {"four requests in five seconds, and it says when", XD_GOVERNED_REFUSED,
     .retry_after = 5 * XD_SECOND, .most_begun = 4, .window = 5 * XD_SECOND,
     .serves_for = XD_SECOND},
    {"four requests in five seconds", XD_GOVERNED_REFUSED, .most_begun = 4,
     .window = 5 * XD_SECOND, .serves_for = XD_SECOND},
    {"four requests in a second", XD_GOVERNED_REFUSED, .most_begun = 4,
     .window = XD_SECOND, .serves_for = XD_SECOND / 2},
    {"four at a time", XD_GOVERNED_REFUSED, .most_open = 4,
     .serves_for = 3 * XD_SECOND},
    {"one at a time", XD_GOVERNED_REFUSED, .most_open = 1,
     .serves_for = 3 * XD_SECOND},
};

#define N_SERVERS (sizeof servers / sizeof *servers)

static const unsigned crowds[] = {1, 4, 16, 64};

#define N_CROWDS (sizeof crowds / sizeof *crowds)

/* How a client begins its next request, as soon as the governor allows it. */
enum sort {
    SORT_DOWNLOAD, /* at once */
    SORT_SET, /* likewise, each second one for a new URL: its first failure is
                      free */
    SORT_SAMPLES, /* now and then */
    SORT_UPLOAD   /* after the pause that end() returned */
};

#define N_SORTS 4

struct client {
    enum sort sort;
    struct xd_governed r;
    xd_usec begins_at, ends_at;
    unsigned n; /* requests */
    bool is_served;
};

struct run {
    struct xd_governor g;
    const struct server *server;
    struct client clients[MOST_CLIENTS];
    xd_usec begun[100000]; /* what the server has accepted */
    unsigned n_begun, n_served, n_open;
    unsigned vain[MOST_MINUTES]; /* in each minute since the first one */
    xd_usec first_vain;
};

static bool accepts(struct run *run, xd_usec now)
{
    const struct server *s = run->server;
    unsigned n = 0;

    if (now < s->until || (s->most_open > 0 && run->n_open >= s->most_open))
        return false;
    for (unsigned i = run->n_begun; s->most_begun > 0 && i-- > 0;) {
        if (s->window > 0 && run->begun[i] + s->window <= now)
            break;
        if (++n == s->most_begun)
            return false;
    }
    return true;
}

static void begin(struct run *run, struct client *c, xd_usec now)
{
    xd_governor_begin(&run->g, &c->r, now);
    c->n++;
    c->is_served = accepts(run, now);
    c->ends_at = now + ROUND_TRIP;
    if (!c->is_served)
        return;
    run->n_open++;
    run->begun[run->n_begun++] = now;
    c->ends_at += run->server->serves_for;
}

/* Returns true if it may be that a URL is missing. */
static bool is_free(const struct run *run, const struct client *c)
{
    return c->sort == SORT_SET &&
           run->server->end == XD_GOVERNED_FAILED_AGAIN && c->n % 2 == 1;
}

/* Whether its next request is for a URL that has failed. */
static bool is_repeat(const struct run *run, const struct client *c)
{
    return run->server->end == XD_GOVERNED_FAILED_AGAIN &&
           (c->sort != SORT_SET || c->n % 2 == 1);
}

static void end_in_vain(struct run *run, struct client *c, xd_usec now)
{
    const bool is_counted = !is_free(run, c);
    xd_usec pause;

    if (run->server->is_accepted)
        xd_governor_accepted(&run->g, &c->r);

    if (is_counted && run->first_vain == 0)
        run->first_vain = now;
    if (is_counted && (now - run->first_vain) / MINUTE < MOST_MINUTES)
        run->vain[(now - run->first_vain) / MINUTE]++;
    pause = xd_governor_end(
        &run->g, &c->r, is_counted ? run->server->end : XD_GOVERNED_NEUTRAL,
        run->server->bytes, is_counted ? run->server->retry_after : 0, now);
    if (c->sort == SORT_UPLOAD)
        c->begins_at = now + pause;
    else if (c->sort == SORT_SAMPLES)
        c->begins_at = now + XD_SECOND;
}

static void end(struct run *run, struct client *c, xd_usec now)
{
    if (c->is_served) {
        run->n_open--;
        run->n_served++;
        (void)xd_governor_end(&run->g, &c->r, XD_GOVERNED_SERVED, 1 << 20, 0,
                              now);
        return;
    }
    end_in_vain(run, c, now);
}

static void step(struct run *run, unsigned n, xd_usec now)
{
    for (unsigned i = 0; i < n; i++) {
        struct client *c = &run->clients[i];

        if (c->r.is_open && c->is_served &&
            now >= c->ends_at - run->server->serves_for)
            xd_governor_progress(&run->g, &c->r);
        if (c->r.is_open && now >= c->ends_at)
            end(run, c, now);
        if (!c->r.is_open && now >= c->begins_at &&
            xd_governor_ask(&run->g, is_repeat(run, c), now) <= now)
            begin(run, c, now);
    }
}

static void play_on(struct run *run, const struct server *server, unsigned n,
                    xd_usec length)
{
    run->g.seed = 1;
    run->server = server;
    for (xd_usec now = START; now < START + length; now += STEP)
        step(run, n, now);
}

/* `n_sorts`: 1, all are downloads; N_SORTS, there are all sorts. */
static void play(struct run *run, const struct server *server, unsigned n,
                 unsigned n_sorts, xd_usec length)
{
    memset(run, 0, sizeof *run);
    for (unsigned i = 0; i < n; i++)
        run->clients[i].sort = (enum sort)(i % n_sorts);
    play_on(run, server, n, length);
}

static void play_alone(struct run *run, const struct server *server, unsigned n,
                       enum sort sort, xd_usec length)
{
    memset(run, 0, sizeof *run);
    for (unsigned i = 0; i < n; i++)
        run->clients[i].sort = sort;
    play_on(run, server, n, length);
}

static struct run run;

static void assert_few_in_vain(unsigned n)
{
    const struct server *server = run.server;

    if (getenv("XD_SHOW")) {
        printf("%-50s %2u: served %5u, in vain", server->name, n, run.n_served);
        for (unsigned i = 0; i < MOST_MINUTES; i++)
            printf(" %u", run.vain[i]);
        printf("\n");
    }
    ck_assert_uint_le(run.vain[0], XD_GOVERNOR_FIRST);
    for (unsigned i = 1; i < MOST_MINUTES; i++)
        ck_assert_msg(run.vain[i] <= XD_GOVERNOR_LATER,
                      "%s, %u clients: %u in vain in minute %u", server->name,
                      n, run.vain[i], i);
}

START_TEST(greedy_clients_make_thirty_requests_in_vain_and_two_a_minute_then)
{
    const unsigned n = crowds[(size_t)_i % N_CROWDS];

    play(&run, &servers[(size_t)_i / N_CROWDS], n, 1, MOST_MINUTES * MINUTE);
    assert_few_in_vain(n);
}
END_TEST

START_TEST(so_do_clients_of_each_sort_alone)
{
    const enum sort sort = (enum sort)(_i % N_SORTS);

    play_alone(&run, &servers[_i / N_SORTS], 16, sort, MOST_MINUTES * MINUTE);
    assert_few_in_vain(16);
}
END_TEST

START_TEST(so_do_downloads_sets_samples_and_uploads_together)
{
    play(&run, &servers[_i], 16, N_SORTS, MOST_MINUTES * MINUTE);
    assert_few_in_vain(16);
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("governor");

    tcase_add_test(t, a_new_host_may_be_asked_at_once);
    tcase_add_test(t, refusals_double_the_pause_with_jitter);
    tcase_add_test(
        t, long_requests_are_wanted_until_a_minute_after_the_last_refusal);
    tcase_add_test(t, two_hosts_do_not_wait_for_equal_times);
    tcase_add_test(t, a_pause_that_the_host_asks_for_is_kept);
    tcase_add_test(t, requests_that_are_refused_together_are_one_refusal);
    tcase_add_test(t,
                   an_answer_does_not_end_a_row_of_refusals_and_progress_does);
    tcase_add_test(t,
                   progress_of_an_older_request_does_not_end_a_row_of_refusals);
    tcase_add_test(
        t, open_requests_fall_to_those_that_were_accepted_and_rise_again);
    tcase_add_test(t,
                   what_was_open_before_a_ban_is_soon_tried_again_and_no_more);
    tcase_add_test(t, what_was_accepted_later_raises_the_bound_at_once);
    tcase_add_test(t, refused_requests_do_not_count_for_the_rate);
    tcase_add_test(t, a_request_that_did_not_reach_its_host_binds_no_other);
    tcase_add_test(t, attempts_that_did_not_reach_the_host_are_forgotten);
    tcase_add_test(t, attempts_in_a_row_that_do_not_reach_the_host_become_rare);
    tcase_add_test(t, requests_that_break_off_early_are_slowed_down);
    tcase_add_test(t, a_url_that_fails_again_delays_no_other_url);
    tcase_add_test(t, a_host_that_behaves_is_as_new_after_ten_minutes);
    tcase_add_loop_test(
        t, greedy_clients_make_thirty_requests_in_vain_and_two_a_minute_then, 0,
        (int)(N_SERVERS * N_CROWDS));
    tcase_add_loop_test(t, so_do_clients_of_each_sort_alone, 0,
                        (int)(N_SERVERS * N_SORTS));
    tcase_add_loop_test(t, so_do_downloads_sets_samples_and_uploads_together, 0,
                        (int)N_SERVERS);
    return run_suite("base.governor", t);
}
