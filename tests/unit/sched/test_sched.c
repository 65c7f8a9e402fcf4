/* SPDX-License-Identifier: MIT */
/* Lanes, losers, what arrived and what was accepted, and the end. */
#include "play.h"

START_TEST(a_lane_runs_one_fetch_until_its_end_event)
{
    struct play p;
    unsigned fetch;

    play_init(&p, &xd_policy_basic, 1, 100);
    play_start(&p);
    expect_opened(&p, 1);
    fetch = expect_block(&p, 0, 0);
    expect_wait(&p);
    play_bytes(&p, fetch, 10);
    play_range(&p, XD_EV_VERIFIED, 0, 10);
    expect_wait(&p);
    play_done(&p, fetch);
    expect_block(&p, 0, 1);
    play_fini(&p);
}
END_TEST

START_TEST(numbers_of_fetches_are_dense_and_free_after_the_end)
{
    struct play p;
    bool seen[6] = {false};

    play_init(&p, &xd_policy_basic, 3, 1000);
    p.o.lanes_per_depot = 2;
    play_start(&p);
    expect_opened(&p, 3);
    for (int i = 0; i < 6; i++) {
        unsigned fetch = play_next(&p).fetch;

        ck_assert_uint_lt(fetch, 6);
        ck_assert(!seen[fetch]);
        seen[fetch] = true;
    }
    play_done(&p, 4);
    ck_assert_uint_eq(play_next(&p).fetch, 4);
    play_fini(&p);
}
END_TEST

static const struct xd_policy *const policies[] = {
    &xd_policy_adaptive, &xd_policy_basic, &xd_policy_aggressive,
    &xd_policy_progress};

static enum xd_byte_state state_of(const struct play *p, uint64_t byte)
{
    return (enum xd_byte_state)xd_runs_at(&p->ledger.states, byte).state;
}

/* Without ranges, or with one size for all, another part of the scheduler
 * makes the request. */
START_TEST(what_a_request_is_to_deliver_is_assigned_until_it_ends)
{
    struct play p;
    struct xd_sched_action a;

    play_init(&p, policies[_i / 3], 1, 100);
    p.o.block_bytes = 100;
    if (_i % 3 == 2)
        p.layout.size = p.whole.end = p.wanted.end = UINT64_MAX;
    play_start(&p);
    if (_i % 3 == 1)
        play_depot(&p, XD_EV_NORANGES, 0);
    expect_opened(&p, 1);
    ck_assert_int_eq(state_of(&p, 0), XD_BYTE_MISSING);
    a = play_next(&p);
    ck_assert_int_eq(a.kind, XD_DO_FETCH);
    ck_assert(xd_ledger_has(&p.ledger, 1 << XD_BYTE_ASSIGNED, a.range));
    play_bytes(&p, a.fetch, a.range.begin + 1);
    ck_assert_int_eq(state_of(&p, a.range.begin), XD_BYTE_RECEIVED);
    ck_assert_int_eq(state_of(&p, a.range.begin + 1), XD_BYTE_ASSIGNED);
    play_range(&p, XD_EV_REJECTED, a.range.begin, a.range.begin + 1);
    ck_assert_int_eq(state_of(&p, a.range.end - 1), XD_BYTE_ASSIGNED);
    play_failed_at(&p, a.fetch, a.range.begin + 1);
    ck_assert_int_eq(state_of(&p, a.range.begin + 1), XD_BYTE_MISSING);
    ck_assert_int_eq(state_of(&p, a.range.end - 1), XD_BYTE_MISSING);
    play_fini(&p);
}
END_TEST

/* A copy has nothing assigned: the first request has. */
START_TEST(a_copy_that_ends_leaves_its_bytes_to_the_first_request)
{
    struct play p;
    unsigned first, copy;

    play_init(&p, &xd_policy_aggressive, 2, 10);
    play_start(&p);
    expect_opened(&p, 2);
    first = expect_block(&p, 0, 0);
    copy = expect_block(&p, 1, 0);
    play_failed(&p, copy);
    ck_assert_int_eq(state_of(&p, 0), XD_BYTE_ASSIGNED);
    play_failed(&p, first);
    ck_assert_int_eq(state_of(&p, 0), XD_BYTE_MISSING);
    play_fini(&p);
}
END_TEST

START_TEST(a_depot_that_allows_fewer_lanes_gets_no_more)
{
    struct play p;

    play_init(&p, &xd_policy_basic, 2, 1000);
    p.o.lanes_per_depot = 3;
    p.holdings[0].max_lanes = 1;
    p.holdings[1].max_lanes = 2;
    play_start(&p);
    expect_opened(&p, 2);
    expect_block(&p, 0, 0);
    expect_block(&p, 1, 1);
    expect_block(&p, 1, 2);
    expect_wait(&p);
    play_done(&p, 0);
    expect_block(&p, 0, 3);
    expect_wait(&p);
    play_fini(&p);
}
END_TEST

START_TEST(a_depot_that_allows_more_lanes_than_there_are_gets_those)
{
    struct play p;

    play_init(&p, &xd_policy_basic, 1, 1000);
    p.o.lanes_per_depot = 2;
    p.holdings[0].max_lanes = 5;
    play_start(&p);
    expect_opened(&p, 1);
    expect_block(&p, 0, 0);
    expect_block(&p, 0, 1);
    expect_wait(&p);
    play_fini(&p);
}
END_TEST

START_TEST(a_fetch_is_canceled_when_another_has_completed_its_block)
{
    struct play p;

    play_init(&p, &xd_policy_aggressive, 2, 100);
    play_start(&p);
    expect_opened(&p, 2);
    expect_block(&p, 0, 0);
    expect_block(&p, 1, 0);
    play_bytes(&p, 0, 4);
    play_done(&p, 1);
    expect_cancel(&p, 0);
    expect_block(&p, 1, 1);
    expect_wait(&p); /* once is enough, and the lane is busy until it ends */
    play_canceled(&p, 0);
    expect_block(&p, 0, 1);
    play_fini(&p);
}
END_TEST

START_TEST(a_canceled_fetch_may_still_end_with_done)
{
    struct play p;

    play_init(&p, &xd_policy_aggressive, 2, 100);
    play_start(&p);
    expect_opened(&p, 2);
    expect_block(&p, 0, 0);
    expect_block(&p, 1, 0);
    play_done(&p, 1);
    expect_cancel(&p, 0);
    play_done(&p, 0);
    expect_block(&p, 0, 1);
    play_fini(&p);
}
END_TEST

static void play_hindered(struct play *p, unsigned fetch, xd_usec retry_at)
{
    play_event(p, (struct xd_sched_event){.kind = XD_EV_CANCELED,
                                          .fetch = fetch,
                                          .retry_at = retry_at});
}

START_TEST(a_depot_that_was_hindered_is_asked_again_in_its_time)
{
    struct play p;

    play_init(&p, &xd_policy_basic, 1, 100);
    p.o.patience = 1000;
    play_start(&p);
    expect_opened(&p, 1);
    for (p.now = 0; p.now < 1000; p.now += 100) {
        unsigned fetch = expect_block(&p, 0, 0);

        play_hindered(&p, fetch, p.now + 100);
        ck_assert_uint_eq(play_next(&p).until, p.now + 100);
    }
    play_fini(&p);
}
END_TEST

START_TEST(a_depot_that_is_hindered_for_longer_than_patience_has_failed)
{
    struct play p;

    play_init(&p, &xd_policy_basic, 1, 100);
    p.o.patience = 1000;
    p.o.max_failures = 1;
    play_start(&p);
    expect_opened(&p, 1);
    play_hindered(&p, expect_block(&p, 0, 0), 100);
    p.now = 1000;
    play_hindered(&p, expect_block(&p, 0, 0), 1100);
    ck_assert_int_eq(play_next(&p).kind, XD_DO_FAIL);
    play_fini(&p);
}
END_TEST

START_TEST(losers_run_on_if_asked_to)
{
    struct play p;

    play_init(&p, &xd_policy_aggressive, 2, 100);
    p.o.run_losers = true;
    play_start(&p);
    expect_opened(&p, 2);
    expect_block(&p, 0, 0);
    expect_block(&p, 1, 0);
    play_done(&p, 1);
    expect_block(&p, 1, 1);
    expect_wait(&p);
    play_done(&p, 0);
    expect_block(&p, 0, 1);
    play_fini(&p);
}
END_TEST

START_TEST(a_fetch_that_has_all_its_bytes_is_no_loser)
{
    struct play p;

    play_init(&p, &xd_policy_aggressive, 2, 10);
    play_start(&p);
    expect_opened(&p, 2);
    expect_block(&p, 0, 0);
    expect_block(&p, 1, 0);
    play_bytes(&p, 0, 10);
    expect_cancel(&p, 1);
    expect_wait(&p);
    play_fini(&p);
}
END_TEST

START_TEST(a_loser_that_is_needed_again_is_not_canceled)
{
    struct play p;

    play_init(&p, &xd_policy_aggressive, 2, 10);
    play_start(&p);
    expect_opened(&p, 2);
    expect_block(&p, 0, 0);
    expect_block(&p, 1, 0);
    play_bytes(&p, 0, 10);
    play_range(&p, XD_EV_REJECTED, 0, 10);
    expect_wait(&p);
    play_fini(&p);
}
END_TEST

START_TEST(it_is_over_when_all_is_accepted_not_when_it_arrived)
{
    struct play p;
    unsigned fetch;

    play_init(&p, &xd_policy_basic, 1, 10);
    play_start(&p);
    expect_opened(&p, 1);
    fetch = expect_block(&p, 0, 0);
    play_event(&p, (struct xd_sched_event){.kind = XD_EV_DONE, .fetch = fetch});
    expect_depot(&p, XD_DO_PARK, 0);
    expect_wait(&p);
    play_range(&p, XD_EV_VERIFIED, 0, 9);
    expect_wait(&p);
    play_range(&p, XD_EV_VERIFIED, 9, 10);
    expect_kind(&p, XD_DO_FINISH);
    expect_kind(&p, XD_DO_FINISH);
    play_fini(&p);
}
END_TEST

START_TEST(it_is_over_while_stragglers_still_run)
{
    struct play p;

    play_init(&p, &xd_policy_aggressive, 2, 10);
    p.o.run_losers = true;
    play_start(&p);
    expect_opened(&p, 2);
    expect_block(&p, 0, 0);
    expect_block(&p, 1, 0);
    play_done(&p, 1);
    expect_kind(&p, XD_DO_FINISH);
    play_fini(&p);
}
END_TEST

START_TEST(an_empty_range_is_over_at_once)
{
    struct play p;

    play_init(&p, &xd_policy_basic, 1, 10);
    p.wanted = (struct xd_range){4, 4};
    play_start(&p);
    expect_kind(&p, XD_DO_FINISH);
    play_fini(&p);
}
END_TEST

START_TEST(what_is_there_already_is_not_fetched)
{
    struct play p;

    play_init(&p, &xd_policy_basic, 1, 40);
    play_start(&p);
    play_range(&p, XD_EV_VERIFIED, 0, 13);
    play_range(&p, XD_EV_VERIFIED, 20, 35);
    expect_opened(&p, 1);
    play_done(&p, expect_fetch(&p, 0, 13, 20));
    play_done(&p, expect_fetch(&p, 0, 35, 40));
    expect_kind(&p, XD_DO_FINISH);
    play_fini(&p);
}
END_TEST

START_TEST(what_was_rejected_is_fetched_again)
{
    struct play p;

    play_init(&p, &xd_policy_basic, 1, 20);
    play_start(&p);
    expect_opened(&p, 1);
    play_done(&p, expect_block(&p, 0, 0));
    play_done(&p, expect_block(&p, 0, 1));
    expect_kind(&p, XD_DO_FINISH);
    play_range(&p, XD_EV_REJECTED, 4, 12);
    play_done(&p, expect_fetch(&p, 0, 4, 10));
    play_done(&p, expect_fetch(&p, 0, 10, 12));
    expect_kind(&p, XD_DO_FINISH);
    play_fini(&p);
}
END_TEST

START_TEST(it_fails_with_the_first_byte_that_nobody_holds)
{
    struct play p;
    struct xd_sched_action a;

    play_init(&p, &xd_policy_basic, 2, 40);
    play_start(&p);
    play_lost(&p, 0, 25, 40);
    play_lost(&p, 1, 10, 30);
    a = play_next(&p);
    ck_assert_int_eq(a.kind, XD_DO_FAIL);
    ck_assert_uint_eq(a.range.begin, 25);
    play_fini(&p);
}
END_TEST

static void expect_failed(struct play *p, uint64_t begin, uint64_t end)
{
    const struct xd_sched_action a = play_next(p);

    ck_assert_int_eq(a.kind, XD_DO_FAIL);
    ck_assert_uint_eq(a.range.begin, begin);
    ck_assert_uint_eq(a.range.end, end);
}

START_TEST(what_may_come_in_another_way_holds_up_nothing_else)
{
    struct play p;

    play_init(&p, &xd_policy_basic, 1, 40);
    play_start(&p);
    play_lost(&p, 0, 0, 20);
    expect_failed(&p, 0, 20);
    ck_assert_int_eq(xd_sched_put_off(p.s, (struct xd_range){0, 10}), 0);
    expect_failed(&p, 10, 20);
    ck_assert_int_eq(xd_sched_put_off(p.s, (struct xd_range){10, 20}), 0);
    expect_opened(&p, 1);
    play_done(&p, expect_block(&p, 0, 2));
    xd_sched_ask_again(p.s);
    expect_failed(&p, 0, 20);
    ck_assert_int_eq(xd_sched_put_off(p.s, (struct xd_range){0, 20}), 0);
    play_range(&p, XD_EV_HELD, 0, 20); /* so it did */
    play_range(&p, XD_EV_VERIFIED, 0, 20);
    play_done(&p, expect_block(&p, 0, 3));
    expect_kind(&p, XD_DO_FINISH);
    play_fini(&p);
}
END_TEST

START_TEST(it_does_not_fail_while_the_last_copy_is_in_flight)
{
    struct play p;
    unsigned first;

    play_init(&p, &xd_policy_basic, 1, 20);
    p.o.lanes_per_depot = 2;
    p.o.max_failures = 1;
    play_start(&p);
    expect_opened(&p, 1);
    first = expect_block(&p, 0, 0);
    play_done(&p, expect_block(&p, 0, 1));
    play_bytes(&p, first, 4);
    expect_wait(&p);
    play_range(&p, XD_EV_REJECTED, 10, 20);
    play_failed(&p, expect_block(&p, 0, 1)); /* the depot is dropped */
    play_range(&p, XD_EV_VERIFIED, 10, 20);
    expect_wait(&p);
    play_done(&p, first);
    expect_kind(&p, XD_DO_FINISH);
    play_fini(&p);
}
END_TEST

START_TEST(it_fails_when_the_last_copy_breaks_off)
{
    struct play p;
    struct xd_sched_action a;
    unsigned first;

    play_init(&p, &xd_policy_basic, 1, 20);
    p.o.lanes_per_depot = 2;
    p.o.max_failures = 1;
    play_start(&p);
    expect_opened(&p, 1);
    first = expect_block(&p, 0, 0);
    play_done(&p, expect_block(&p, 0, 1));
    play_range(&p, XD_EV_REJECTED, 10, 20);
    play_failed(&p, expect_block(&p, 0, 1));
    play_range(&p, XD_EV_VERIFIED, 10, 20);
    expect_wait(&p);
    play_failed_at(&p, first, 7);
    a = play_next(&p);
    ck_assert_int_eq(a.kind, XD_DO_FAIL);
    ck_assert_uint_eq(a.range.begin, 7);
    play_fini(&p);
}
END_TEST

START_TEST(without_depots_it_fails_at_the_first_byte)
{
    struct play p;

    play_init(&p, &xd_policy_progress, 0, 20);
    p.o.progress = XD_AUTO;
    play_start(&p);
    expect_kind(&p, XD_DO_FAIL);
    play_fini(&p);
}
END_TEST

START_TEST(no_fetch_goes_outside_of_what_is_wanted)
{
    struct play p;

    play_init(&p, &xd_policy_basic, 1, 100);
    p.wanted = (struct xd_range){33, 48};
    play_start(&p);
    expect_opened(&p, 1);
    play_done(&p, expect_fetch(&p, 0, 33, 43));
    play_range(&p, XD_EV_VERIFIED, 0, 100);
    expect_kind(&p, XD_DO_FINISH);
    play_fini(&p);
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("sched");

    tcase_add_test(t, a_lane_runs_one_fetch_until_its_end_event);
    tcase_add_test(t, numbers_of_fetches_are_dense_and_free_after_the_end);
    tcase_add_loop_test(
        t, what_a_request_is_to_deliver_is_assigned_until_it_ends, 0, 12);
    tcase_add_test(t, a_copy_that_ends_leaves_its_bytes_to_the_first_request);
    tcase_add_test(t, a_depot_that_allows_fewer_lanes_gets_no_more);
    tcase_add_test(t, a_depot_that_allows_more_lanes_than_there_are_gets_those);
    tcase_add_test(t, a_fetch_is_canceled_when_another_has_completed_its_block);
    tcase_add_test(t, a_canceled_fetch_may_still_end_with_done);
    tcase_add_test(t, a_depot_that_was_hindered_is_asked_again_in_its_time);
    tcase_add_test(
        t, a_depot_that_is_hindered_for_longer_than_patience_has_failed);
    tcase_add_test(t, losers_run_on_if_asked_to);
    tcase_add_test(t, a_fetch_that_has_all_its_bytes_is_no_loser);
    tcase_add_test(t, a_loser_that_is_needed_again_is_not_canceled);
    tcase_add_test(t, it_is_over_when_all_is_accepted_not_when_it_arrived);
    tcase_add_test(t, it_is_over_while_stragglers_still_run);
    tcase_add_test(t, an_empty_range_is_over_at_once);
    tcase_add_test(t, what_is_there_already_is_not_fetched);
    tcase_add_test(t, what_was_rejected_is_fetched_again);
    tcase_add_test(t, it_fails_with_the_first_byte_that_nobody_holds);
    tcase_add_test(t, what_may_come_in_another_way_holds_up_nothing_else);
    tcase_add_test(t, it_does_not_fail_while_the_last_copy_is_in_flight);
    tcase_add_test(t, it_fails_when_the_last_copy_breaks_off);
    tcase_add_test(t, without_depots_it_fails_at_the_first_byte);
    tcase_add_test(t, no_fetch_goes_outside_of_what_is_wanted);
    return run_suite("sched.sched", t);
}
