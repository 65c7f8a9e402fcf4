/* SPDX-License-Identifier: MIT */
/* A decision visits at most 64 nodes at a million blocks. */
#include "play.h"

#define BLOCKS (UINT64_C(1) << 20)
#define BOUND 64

static struct xd_range *stripes;

static void teardown(void)
{
    free(stripes);
    stripes = NULL;
}

/* Let one lane after the other finish, and look at each decision. */
static void decide(struct play *p, int steps)
{
    unsigned fetch = 0;

    while (steps > 0) {
        struct xd_sched_action a = play_next(p);

        ck_assert_uint_le(xd_sched_visits(p->s), BOUND);
        if (a.kind == XD_DO_FINISH)
            return;
        if (a.kind == XD_DO_CANCEL) {
            play_canceled(p, a.fetch);
            p->asked[a.fetch].end = 0;
        }
        if (a.kind != XD_DO_WAIT)
            continue;
        for (unsigned i = 0; i < 4096; i++) { /* the next that runs */
            fetch = (fetch + 1) % 4096;
            if (p->asked[fetch].end > 0)
                break;
        }
        play_done(p, fetch);
        p->asked[fetch].end = 0;
        steps--;
    }
}

/* The first decisions, some in the middle, and all of the last. */
static void play_first_middle_last(struct play *p)
{
    play_start(p);
    decide(p, 2000);
    play_range(p, XD_EV_VERIFIED, BLOCKS / 4, BLOCKS / 2);
    decide(p, 2000);
    play_range(p, XD_EV_VERIFIED, 0, BLOCKS - 3000);
    decide(p, 10000);
    expect_kind(p, XD_DO_FINISH);
    play_fini(p);
}

static void play_full_replicas(const struct xd_policy *policy,
                               unsigned n_depots)
{
    static struct play p;

    play_init(&p, policy, n_depots, BLOCKS);
    p.o.block_bytes = 1;
    p.o.lanes_per_depot = 2;
    play_first_middle_last(&p);
}

START_TEST(basic_with_full_replicas)
{
    play_full_replicas(&xd_policy_basic, 6);
}
END_TEST

START_TEST(aggressive_with_full_replicas)
{
    play_full_replicas(&xd_policy_aggressive, 6);
}
END_TEST

START_TEST(progress_with_full_replicas)
{
    play_full_replicas(&xd_policy_progress, 6);
}
END_TEST

START_TEST(progress_with_223_depots)
{
    play_full_replicas(&xd_policy_progress, 223);
}
END_TEST

/* Block i lies on the depots i and i + 1, counted modulo 5. */
START_TEST(progress_with_stripes_that_interleave)
{
    static struct play p;
    const unsigned n = 5;

    play_init(&p, &xd_policy_progress, n, BLOCKS);
    p.o.block_bytes = 1;
    stripes = calloc(n * BLOCKS, sizeof *stripes);
    ck_assert_ptr_nonnull(stripes);
    for (unsigned i = 0; i < n; i++) {
        p.holdings[i] = (struct xd_holding){.held = stripes + i * BLOCKS};
        for (uint64_t b = 0; b < BLOCKS; b++)
            if (b % n == i || (b + 1) % n == i)
                p.holdings[i].held[p.holdings[i].n_held++] =
                    (struct xd_range){b, b + 1};
    }
    play_first_middle_last(&p);
}
END_TEST

START_TEST(the_last_block_is_found_as_fast_as_the_first)
{
    struct play p;
    unsigned first, last;

    play_init(&p, &xd_policy_progress, 2, BLOCKS);
    p.o.block_bytes = 1;
    play_start(&p);
    expect_opened(&p, 2);
    expect_block(&p, 0, 0);
    first = xd_sched_visits(p.s);
    play_range(&p, XD_EV_VERIFIED, 0, BLOCKS - 1);
    expect_cancel(&p, 0);
    expect_block(&p, 1, BLOCKS - 1);
    last = xd_sched_visits(p.s);
    ck_assert_uint_gt(first, 10); /* the count is alive */
    ck_assert_uint_le(last, first);
    play_fini(&p);
}
END_TEST

/* All but the last of `n` depots fail at once when they are asked; how many
 * depots the scheduler looks at until the last one is asked. */
static uint64_t steps_to_the_last_of(unsigned n, const struct xd_policy *policy)
{
    static struct xd_range whole = {0, 1000000};
    struct xd_holding *holdings = calloc(n, sizeof *holdings);
    struct xd_layout layout = {
        .size = whole.end, .depots = holdings, .n_depots = n};
    struct xd_sched_options o = {.policy = policy,
                                 .redundancy = 1,
                                 .lanes_per_depot = 1,
                                 .max_open = 4,
                                 .block_bytes = 1000,
                                 .max_failures = 5,
                                 .patience = 120 * XD_SECOND};
    struct xd_ledger ledger = {0};
    struct xd_sched_action a;
    struct xd_sched *s;
    unsigned n_asked = 0;
    xd_usec now = XD_SECOND;
    uint64_t steps;

    ck_assert_ptr_nonnull(holdings);
    for (unsigned i = 0; i < n; i++)
        holdings[i] = (struct xd_holding){.held = &whole, .n_held = 1};
    s = xd_sched_new(&layout, &o, whole, &ledger);
    ck_assert_ptr_nonnull(s);
    while (a = xd_sched_next(s, now),
           a.kind != XD_DO_FETCH || a.depot != n - 1) {
        struct xd_sched_event failed = {.kind = XD_EV_FAILED,
                                        .fetch = a.fetch,
                                        .range = {a.range.begin, 0}};

        now += 20; /* as fast as a depot of this machine refuses */
        failed.now = now;
        ck_assert_int_ne(a.kind, XD_DO_FAIL);
        if (a.kind != XD_DO_FETCH)
            continue;
        n_asked++;
        ck_assert_int_eq(xd_sched_event(s, &failed), 0);
    }
    /* None is asked again before all were asked, but those that are in use. */
    ck_assert_uint_lt(n_asked, n + n / 10);
    steps = xd_sched_steps(s);
    xd_sched_free(s);
    xd_ledger_fini(&ledger);
    free(holdings);
    return steps;
}

START_TEST(depots_that_fail_are_gone_through_in_linear_time)
{
    static const struct xd_policy *const policies[] = {
        &xd_policy_adaptive, &xd_policy_basic, &xd_policy_progress};

    for (size_t i = 0; i < sizeof policies / sizeof *policies; i++) {
        uint64_t few = steps_to_the_last_of(2000, policies[i]);
        uint64_t many = steps_to_the_last_of(20000, policies[i]);

        ck_assert_uint_gt(few, 2000); /* the count is alive */
        ck_assert_uint_lt(many, 12 * few);
        ck_assert_uint_lt(many, UINT64_C(100) * 20000);
    }
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("visits");

    tcase_set_timeout(t, 0);
    tcase_add_checked_fixture(t, NULL, teardown);
    tcase_add_test(t, basic_with_full_replicas);
    tcase_add_test(t, aggressive_with_full_replicas);
    tcase_add_test(t, progress_with_full_replicas);
    tcase_add_test(t, progress_with_223_depots);
    tcase_add_test(t, progress_with_stripes_that_interleave);
    tcase_add_test(t, the_last_block_is_found_as_fast_as_the_first);
    tcase_add_test(t, depots_that_fail_are_gone_through_in_linear_time);
    return run_suite("sched.visits", t);
}
