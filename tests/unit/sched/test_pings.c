/* SPDX-License-Identifier: MIT */
#include "play.h"

#define MIB (UINT64_C(1) << 20)

static struct play p;

/* Mirrors, of which `max_open` may be open, and 8 pinged at once. */
static void begin(const struct xd_policy *policy, unsigned n, unsigned max_open)
{
    play_init(&p, policy, n, 64 * MIB);
    p.now = XD_SECOND;
    p.o.block_bytes = MIB;
    p.o.max_open = max_open;
    p.o.max_pings = 8;
    p.o.patience = 120 * XD_SECOND;
}

static void teardown(void)
{
    play_fini(&p);
    p.s = NULL;
}

static void pinged(unsigned depot, enum xd_ping_result result,
                   xd_usec round_trip)
{
    play_event(&p, (struct xd_sched_event){.kind = XD_EV_PINGED,
                                           .depot = depot,
                                           .ping = result,
                                           .round_trip = round_trip});
}

/* The next action of this kind, whatever is asked for before it. */
static struct xd_sched_action next_action(enum xd_sched_action_kind kind)
{
    struct xd_sched_action a;

    do {
        a = play_next(&p);
        ck_assert_int_ne(a.kind, XD_DO_WAIT);
    } while (a.kind != kind);
    return a;
}

static unsigned next_depot(enum xd_sched_action_kind kind)
{
    return next_action(kind).depot;
}

/* How many are ordered before it waits. */
static unsigned count(enum xd_sched_action_kind kind)
{
    struct xd_sched_action a;
    unsigned n = 0;

    while (a = play_next(&p), a.kind != XD_DO_WAIT)
        n += a.kind == kind;
    return n;
}

START_TEST(few_depots_are_not_pinged)
{
    begin(&xd_policy_adaptive, 48, 64);
    play_start(&p);
    ck_assert_uint_eq(count(XD_DO_PING), 0);
}
END_TEST

START_TEST(depots_that_hold_parts_are_not_pinged)
{
    struct xd_range half = {0, 32 * MIB};

    begin(&xd_policy_adaptive, 60, 64);
    p.holdings[59].held = &half;
    play_start(&p);
    ck_assert_uint_eq(count(XD_DO_PING), 0);
}
END_TEST

START_TEST(without_leave_to_ping_none_is)
{
    begin(&xd_policy_adaptive, 60, 64);
    p.o.max_pings = 0;
    play_start(&p);
    ck_assert_uint_eq(count(XD_DO_PING), 0);
}
END_TEST

START_TEST(four_are_opened_at_once_and_then_those_that_answer_nearest_first)
{
    begin(&xd_policy_adaptive, 60, 64);
    play_start(&p);
    for (unsigned i = 0; i < 4; i++)
        expect_depot(&p, XD_DO_OPEN, i);
    for (unsigned i = 4; i < 12; i++)
        expect_depot(&p, XD_DO_PING, i);
    ck_assert_uint_eq(count(XD_DO_OPEN), 0);
    pinged(5, XD_PING_ANSWERED, 30 * XD_MS);
    pinged(9, XD_PING_ANSWERED, 10 * XD_MS);
    pinged(7, XD_PING_ANSWERED, 20 * XD_MS);
    ck_assert_uint_eq(next_depot(XD_DO_OPEN), 9);
    ck_assert_uint_eq(next_depot(XD_DO_OPEN), 7);
    ck_assert_uint_eq(next_depot(XD_DO_OPEN), 5);
    ck_assert_uint_eq(count(XD_DO_OPEN), 0);
}
END_TEST

START_TEST(a_small_file_troubles_nobody_with_pings)
{
    begin(&xd_policy_adaptive, 60, 64);
    p.whole.end = p.layout.size = p.wanted.end = 100000;
    play_start(&p);
    ck_assert_uint_eq(count(XD_DO_PING), 0);
}
END_TEST

START_TEST(a_small_file_has_others_pinged_when_those_that_are_open_fail)
{
    begin(&xd_policy_adaptive, 60, 64);
    p.whole.end = p.layout.size = p.wanted.end = 100000;
    play_start(&p);
    expect_opened(&p, 16);
    for (unsigned i = 0; i < 16; i++)
        play_depot(&p, XD_EV_BANNED, i);
    ck_assert_uint_eq(next_depot(XD_DO_PING), 16);
}
END_TEST

START_TEST(depots_of_known_speed_are_opened_without_a_ping)
{
    static struct xd_guess guesses[60];

    begin(&xd_policy_adaptive, 60, 64);
    p.layout.guesses = guesses;
    for (unsigned i = 0; i < 6; i++)
        guesses[i].rate = 1e6;
    play_start(&p);
    for (unsigned i = 0; i < 6; i++)
        ck_assert_uint_eq(next_depot(XD_DO_OPEN), i);
    ck_assert_uint_eq(count(XD_DO_OPEN), 0);
}
END_TEST

START_TEST(what_cannot_be_pinged_is_opened_in_its_order)
{
    begin(&xd_policy_adaptive, 60, 64);
    play_start(&p);
    count(XD_DO_PING);
    pinged(4, XD_PING_UNKNOWN, 0);
    ck_assert_uint_eq(next_depot(XD_DO_OPEN), 4);
}
END_TEST

START_TEST(those_that_are_silent_come_after_all_others)
{
    begin(&xd_policy_adaptive, 60, 64);
    p.o.max_pings = 100;
    play_start(&p);
    ck_assert_uint_eq(count(XD_DO_PING), 56);
    for (unsigned i = 4; i < 59; i++)
        pinged(i, XD_PING_SILENT, 0);
    ck_assert_uint_eq(count(XD_DO_OPEN), 0);
    pinged(59, XD_PING_ANSWERED, 500 * XD_MS);
    ck_assert_uint_eq(next_depot(XD_DO_OPEN), 59);
    ck_assert_uint_eq(next_depot(XD_DO_OPEN), 4);
}
END_TEST

START_TEST(a_refusal_is_a_failure_and_after_a_rest_it_is_pinged_again)
{
    begin(&xd_policy_adaptive, 60, 64);
    p.o.max_pings = 1;
    play_start(&p);
    for (unsigned i = 0; i < 4; i++)
        ck_assert_uint_eq(next_depot(XD_DO_OPEN), i);
    for (unsigned i = 4; i < 60; i++) {
        ck_assert_uint_eq(next_depot(XD_DO_PING), i);
        pinged(i, XD_PING_REFUSED, 0);
    }
    ck_assert_uint_eq(count(XD_DO_PING), 0);
    p.now += 250 * XD_MS; /* the first rest */
    for (unsigned failures = 1; failures < p.o.max_failures; failures++) {
        for (unsigned i = 4; i < 60; i++) {
            ck_assert_uint_eq(next_depot(XD_DO_PING), i);
            pinged(i, XD_PING_REFUSED, 0);
        }
        p.now += XD_SECOND;
    }
    ck_assert_uint_eq(count(XD_DO_PING), 0);
    ck_assert_uint_eq(count(XD_DO_OPEN), 0);
}
END_TEST

START_TEST(the_papers_policies_open_all_they_may_and_ping_after_a_failure)
{
    static const struct xd_policy *const policies[] = {
        &xd_policy_basic, &xd_policy_aggressive, &xd_policy_progress};

    begin(policies[_i], 60, 16);
    play_start(&p);
    expect_opened(&p, 16);
    ck_assert_uint_eq(count(XD_DO_PING), 0);
    for (unsigned fetch = 0; fetch < 16; fetch++)
        play_failed(&p, fetch);
    ck_assert_uint_eq(next_depot(XD_DO_PING), 16);
    ck_assert_uint_eq(next_depot(XD_DO_PING), 17);
    pinged(17, XD_PING_ANSWERED, XD_MS);
    ck_assert_uint_eq(next_depot(XD_DO_OPEN), 17);
}
END_TEST

START_TEST(no_more_are_pinged_than_give_a_choice_unless_they_refuse)
{
    begin(&xd_policy_adaptive, 200, 32);
    p.o.max_pings = 150;
    play_start(&p);
    ck_assert_uint_eq(count(XD_DO_PING), 64);
    for (unsigned i = 4; i < 14; i++)
        pinged(i, XD_PING_REFUSED, 0);
    ck_assert_uint_eq(count(XD_DO_PING), 20);
}
END_TEST

START_TEST(what_was_found_out_elsewhere_is_heeded)
{
    begin(&xd_policy_adaptive, 60, 64);
    play_start(&p);
    pinged(40, XD_PING_ANSWERED, 10 * XD_MS);
    pinged(0, XD_PING_REFUSED, 0);
    ck_assert_uint_eq(next_depot(XD_DO_OPEN), 40);
    ck_assert_uint_eq(next_depot(XD_DO_OPEN), 1);
}
END_TEST

START_TEST(a_banned_depot_that_answers_is_not_opened)
{
    begin(&xd_policy_adaptive, 60, 64);
    play_start(&p);
    count(XD_DO_PING);
    play_depot(&p, XD_EV_BANNED, 4);
    pinged(4, XD_PING_ANSWERED, XD_MS);
    pinged(5, XD_PING_ANSWERED, 2 * XD_MS);
    play_depot(&p, XD_EV_BANNED, 5);
    ck_assert_uint_eq(count(XD_DO_OPEN), 0);
}
END_TEST

enum { N = 100000 };
static struct xd_holding *holdings;

static void begin_a_hundred_thousand(void)
{
    holdings = calloc(N, sizeof *holdings);
    ck_assert_ptr_nonnull(holdings);
    begin(&xd_policy_adaptive, 60, 64);
    for (unsigned i = 0; i < N; i++)
        holdings[i] = (struct xd_holding){.held = &p.whole, .n_held = 1};
    p.layout.depots = holdings;
    p.layout.n_depots = N;
    play_start(&p);
}

/* The next `n` that are pinged refuse. */
static void refuse(unsigned n)
{
    while (n > 0) {
        struct xd_sched_action a = play_next(&p);

        ck_assert_int_ne(a.kind, XD_DO_WAIT);
        if (a.kind != XD_DO_PING)
            continue;
        pinged(a.depot, XD_PING_REFUSED, 0);
        n--;
    }
}

/* Each depot is looked at a few times, however many there are. */
START_TEST(a_hundred_thousand_that_refuse_cost_a_few_steps_each)
{
    begin_a_hundred_thousand();
    refuse(N - 5);
    ck_assert_uint_eq(next_depot(XD_DO_PING), N - 1);
    pinged(N - 1, XD_PING_ANSWERED, 10 * XD_MS);
    ck_assert_uint_eq(next_depot(XD_DO_OPEN), N - 1);
    ck_assert_uint_lt(xd_sched_steps(p.s), UINT64_C(20) * N);
    free(holdings);
}
END_TEST

/* Depot 0 knows no ranges, and the others refuse, `n` of them to a ping, all that
 * are pinged at once.  Returns the last request made of depot 0. */
static struct xd_sched_action refuse_beside_one_without_ranges(unsigned n)
{
    struct xd_sched_action a, last = {.kind = XD_DO_WAIT};
    unsigned list[8], n_pinged = 0;

    while (n > 0) {
        a = play_next(&p);
        if (a.kind == XD_DO_PING)
            list[n_pinged++] = a.depot;
        if (a.kind == XD_DO_FETCH && last.kind == XD_DO_WAIT)
            play_depot(&p, XD_EV_NORANGES, 0);
        if (a.kind == XD_DO_FETCH && (a.depot > 0 || last.kind == XD_DO_WAIT))
            play_failed(&p, a.fetch);
        if (a.kind == XD_DO_FETCH && a.depot == 0)
            last = a;
        if (a.kind != XD_DO_WAIT)
            continue;
        ck_assert_uint_gt(n_pinged, 0);
        for (; n_pinged > 0; n--)
            pinged(list[--n_pinged], XD_PING_REFUSED, 0);
    }
    return last;
}

START_TEST(one_without_ranges_does_not_wait_for_a_hundred_thousand_that_refuse)
{
    struct xd_sched_action a;

    begin_a_hundred_thousand();
    a = refuse_beside_one_without_ranges(8);
    ck_assert_uint_eq(xd_range_length(a.range), 64 * MIB);
    refuse_beside_one_without_ranges(1000);
    ck_assert_uint_lt(xd_sched_steps(p.s), 20 * 1000);
    play_done(&p, a.fetch);
    expect_kind(&p, XD_DO_FINISH);
    free(holdings);
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("pings");

    tcase_add_checked_fixture(t, NULL, teardown);
    tcase_add_test(t, few_depots_are_not_pinged);
    tcase_add_test(t, depots_that_hold_parts_are_not_pinged);
    tcase_add_test(t, without_leave_to_ping_none_is);
    tcase_add_test(
        t, four_are_opened_at_once_and_then_those_that_answer_nearest_first);
    tcase_add_test(t, a_small_file_troubles_nobody_with_pings);
    tcase_add_test(
        t, a_small_file_has_others_pinged_when_those_that_are_open_fail);
    tcase_add_test(t, depots_of_known_speed_are_opened_without_a_ping);
    tcase_add_test(t, what_cannot_be_pinged_is_opened_in_its_order);
    tcase_add_test(t, those_that_are_silent_come_after_all_others);
    tcase_add_test(t,
                   a_refusal_is_a_failure_and_after_a_rest_it_is_pinged_again);
    tcase_add_loop_test(
        t, the_papers_policies_open_all_they_may_and_ping_after_a_failure, 0,
        3);
    tcase_add_test(t, no_more_are_pinged_than_give_a_choice_unless_they_refuse);
    tcase_add_test(t, what_was_found_out_elsewhere_is_heeded);
    tcase_add_test(t, a_banned_depot_that_answers_is_not_opened);
    tcase_add_test(t, a_hundred_thousand_that_refuse_cost_a_few_steps_each);
    tcase_add_test(
        t, one_without_ranges_does_not_wait_for_a_hundred_thousand_that_refuse);
    return run_suite("sched.pings", t);
}
