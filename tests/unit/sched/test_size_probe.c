/* SPDX-License-Identifier: MIT */
#include <check.h>

#include "sched/size_probe.h"
#include "suite.h"

static struct xd_size_probe *c;

static void make(size_t n_depots, unsigned max_open)
{
    c = xd_size_probe_new(n_depots, max_open, 3, 0);
    ck_assert_ptr_nonnull(c);
}

static void make_with_pings(size_t n_depots, unsigned max_open)
{
    c = xd_size_probe_new(n_depots, max_open, 3, 2);
    ck_assert_ptr_nonnull(c);
}

static void teardown(void)
{
    xd_size_probe_free(c);
    c = NULL;
}

static void expect(enum xd_sched_action_kind kind, unsigned depot, xd_usec now)
{
    struct xd_sched_action a = xd_size_probe_next(c, now);

    ck_assert_int_eq(a.kind, kind);
    ck_assert_uint_eq(a.depot, depot);
    if (kind == XD_DO_CANCEL)
        ck_assert_uint_eq(a.range.begin + a.range.end, 1);
}

static void expect_asked(unsigned depot, xd_usec now)
{
    struct xd_sched_action a;

    expect(XD_DO_OPEN, depot, now);
    a = xd_size_probe_next(c, now);
    ck_assert_int_eq(a.kind, XD_DO_FETCH);
    ck_assert_uint_eq(a.depot, depot);
    ck_assert_uint_eq(a.range.begin, 0);
    ck_assert_uint_eq(a.range.end, 1);
}

static void expect_kind(enum xd_sched_action_kind kind, xd_usec now)
{
    ck_assert_int_eq(xd_size_probe_next(c, now).kind, kind);
}

static void expect_wait(xd_usec now, xd_usec until)
{
    struct xd_sched_action a = xd_size_probe_next(c, now);

    ck_assert_int_eq(a.kind, XD_DO_WAIT);
    ck_assert_uint_eq(a.until, until);
}

static void expect_size(uint64_t size, xd_usec now)
{
    expect_kind(XD_DO_FINISH, now);
    ck_assert_uint_eq(xd_size_probe_size(c), size);
}

START_TEST(depots_are_asked_in_order_as_many_as_may_be_open)
{
    make(3, 2);
    expect_asked(0, 0);
    expect_asked(1, 0);
    expect_wait(0, XD_NEVER);
}
END_TEST

START_TEST(it_is_over_when_all_that_were_asked_have_answered)
{
    make(3, 2);
    expect_asked(0, 0);
    expect_asked(1, 0);
    xd_size_probe_answered(c, 1, 100, 77);
    expect_wait(100, 100 + 500 * XD_MS);
    xd_size_probe_answered(c, 0, 120, 77);
    expect_size(77, 120);
    expect_size(77, 121);
}
END_TEST

START_TEST(it_is_over_when_the_others_cannot_outvote_those_who_agree)
{
    make(5, 5);
    for (unsigned i = 0; i < 5; i++)
        expect_asked(i, 0);
    xd_size_probe_answered(c, 4, 10, 66);
    xd_size_probe_answered(c, 3, 20, 77);
    xd_size_probe_answered(c, 2, 30, 77);
    expect_wait(30, 10 + 500 * XD_MS);
    xd_size_probe_answered(c, 1, 40, 77);
    expect(XD_DO_CANCEL, 0, 40);
    expect_size(77, 40);
}
END_TEST

START_TEST(half_of_those_who_are_asked_are_no_majority)
{
    make(4, 4);
    for (unsigned i = 0; i < 4; i++)
        expect_asked(i, 0);
    xd_size_probe_answered(c, 3, 0, 66);
    xd_size_probe_answered(c, 2, 0, 66);
    expect_wait(1, 500 * XD_MS);
    xd_size_probe_answered(c, 1, 2, 77);
    xd_size_probe_answered(c, 0, 2, 77);
    expect_size(77, 2);
}
END_TEST

START_TEST(who_takes_the_place_of_one_that_failed_may_outvote_the_first)
{
    make(5, 3);
    for (unsigned i = 0; i < 3; i++)
        expect_asked(i, 0);
    xd_size_probe_answered(c, 2, 0, 66);
    xd_size_probe_failed(c, 0);
    expect(XD_DO_PARK, 0, 1);
    expect_asked(3, 1);
    expect_wait(1, 500 * XD_MS);
    xd_size_probe_answered(c, 3, 2, 77);
    expect_wait(2, 500 * XD_MS);
    xd_size_probe_answered(c, 1, 3, 77);
    expect_size(77, 3);
}
END_TEST

START_TEST(those_who_do_not_know_decide_nothing_early)
{
    make(3, 3);
    for (unsigned i = 0; i < 3; i++)
        expect_asked(i, 0);
    xd_size_probe_answered(c, 0, 0, UINT64_MAX);
    xd_size_probe_answered(c, 1, 0, UINT64_MAX);
    expect_wait(1, 500 * XD_MS);
    xd_size_probe_answered(c, 2, 2, 77);
    expect_size(77, 2);
}
END_TEST

START_TEST(half_a_second_after_the_first_answer_it_is_over)
{
    make(2, 2);
    expect_asked(0, 0);
    expect_asked(1, 0);
    xd_size_probe_answered(c, 1, 10 * XD_MS, 77);
    expect_wait(509 * XD_MS, 510 * XD_MS);
    expect(XD_DO_CANCEL, 0, 510 * XD_MS);
    expect_size(77, 510 * XD_MS);
}
END_TEST

START_TEST(after_a_slow_first_answer_it_waits_twice_as_long)
{
    make(2, 2);
    expect_asked(0, XD_SECOND);
    expect_asked(1, XD_SECOND);
    xd_size_probe_answered(c, 0, 2 * XD_SECOND, 77);
    expect_wait(2 * XD_SECOND, 4 * XD_SECOND);
}
END_TEST

START_TEST(only_the_first_answer_sets_the_time)
{
    make(3, 3);
    for (unsigned i = 0; i < 3; i++)
        expect_asked(i, 0);
    xd_size_probe_answered(c, 0, 0, 77);
    xd_size_probe_answered(c, 1, 400 * XD_MS, 66);
    expect_wait(400 * XD_MS, 500 * XD_MS);
}
END_TEST

START_TEST(a_failed_depot_is_replaced_by_the_next_in_reserve)
{
    make(3, 2);
    expect_asked(0, 0);
    expect_asked(1, 0);
    xd_size_probe_failed(c, 0);
    expect(XD_DO_PARK, 0, 5);
    expect_asked(2, 5);
    xd_size_probe_failed(c, 2);
    expect(XD_DO_PARK, 2, 6);
    expect_wait(6, XD_NEVER);
    xd_size_probe_answered(c, 1, 7, 77);
    expect_size(77, 7);
}
END_TEST

START_TEST(numbers_of_fetches_stay_below_max_open)
{
    make(9, 2);
    for (unsigned i = 0; i < 9; i++) {
        struct xd_sched_action a;

        expect(XD_DO_OPEN, i, 0);
        a = xd_size_probe_next(c, 0);
        ck_assert_int_eq(a.kind, XD_DO_FETCH);
        ck_assert_uint_lt(a.fetch, 2);
        xd_size_probe_failed(c, i);
        expect(XD_DO_PARK, i, 0);
    }
    expect_kind(XD_DO_FAIL, 0);
}
END_TEST

START_TEST(it_fails_when_nobody_answers)
{
    make(1, 4);
    expect_asked(0, 0);
    xd_size_probe_failed(c, 0);
    expect(XD_DO_PARK, 0, 5);
    expect_kind(XD_DO_FAIL, 5);
    expect_kind(XD_DO_FAIL, 6);
}
END_TEST

START_TEST(one_that_may_answer_later_is_asked_again_in_its_time)
{
    make(1, 4);
    expect_asked(0, 0);
    xd_size_probe_retry(c, 0, 260 * XD_MS);
    expect_wait(10 * XD_MS, 260 * XD_MS);
    expect(XD_DO_FETCH, 0, 260 * XD_MS);
    xd_size_probe_retry(c, 0, 7 * XD_SECOND);
    expect_wait(300 * XD_MS, 7 * XD_SECOND);
    expect(XD_DO_FETCH, 0, 7 * XD_SECOND);
    xd_size_probe_answered(c, 0, 8 * XD_SECOND, 77);
    expect_size(77, 8 * XD_SECOND);
}
END_TEST

START_TEST(it_is_given_up_after_max_failures)
{
    make(1, 4);
    expect_asked(0, 0);
    xd_size_probe_retry(c, 0, XD_SECOND);
    expect(XD_DO_FETCH, 0, XD_SECOND);
    xd_size_probe_retry(c, 0, 2 * XD_SECOND);
    expect(XD_DO_FETCH, 0, 2 * XD_SECOND);
    xd_size_probe_retry(c, 0, 3 * XD_SECOND);
    expect(XD_DO_PARK, 0, 2 * XD_SECOND);
    expect_kind(XD_DO_FAIL, 2 * XD_SECOND);
}
END_TEST

START_TEST(one_that_could_not_be_asked_is_asked_in_its_time_and_has_not_failed)
{
    make(2, 1);
    expect_asked(0, 0);
    for (xd_usec now = 100; now <= 1000; now += 100) {
        xd_size_probe_postponed(c, 0, now);
        expect_wait(now - 1, now);
        expect(XD_DO_FETCH, 0, now);
    }
}
END_TEST

START_TEST(who_rests_is_not_waited_for_when_another_has_answered)
{
    make(2, 4);
    expect_asked(0, 0);
    expect_asked(1, 0);
    xd_size_probe_retry(c, 0, 250 * XD_MS);
    xd_size_probe_answered(c, 1, 10, 77);
    expect_size(77, 10);
}
END_TEST

START_TEST(one_in_reserve_is_asked_before_another_is_asked_again)
{
    make(2, 1);
    expect_asked(0, 0);
    xd_size_probe_retry(c, 0, 250 * XD_MS);
    expect(XD_DO_PARK, 0, 0);
    expect_asked(1, 0);
}
END_TEST

START_TEST(without_depots_it_fails)
{
    make(0, 4);
    expect_kind(XD_DO_FAIL, 0);
}
END_TEST

static void all_vote(const uint64_t *sizes, unsigned n)
{
    make(n, n);
    for (unsigned i = 0; i < n; i++)
        expect_asked(i, 0);
    for (unsigned i = n; i-- > 0;)
        xd_size_probe_answered(c, i, 1, sizes[i]);
}

START_TEST(the_size_that_most_report_wins)
{
    const uint64_t sizes[] = {5, 9, UINT64_MAX, 9, 7};

    all_vote(sizes, 5);
    expect_size(9, 1);
}
END_TEST

START_TEST(of_equals_the_most_preferred_depots_size_wins)
{
    const uint64_t sizes[] = {7, 5, 5, 9, 9};

    all_vote(sizes, 5);
    expect_size(5, 1);
}
END_TEST

START_TEST(those_who_know_outvote_those_who_do_not)
{
    const uint64_t sizes[] = {UINT64_MAX, UINT64_MAX, 0};

    all_vote(sizes, 3);
    expect_size(0, 1);
}
END_TEST

START_TEST(if_nobody_knows_the_size_stays_unknown)
{
    const uint64_t sizes[] = {UINT64_MAX, UINT64_MAX};

    all_vote(sizes, 2);
    expect_size(UINT64_MAX, 1);
}
END_TEST

START_TEST(a_vote_that_comes_too_late_changes_nothing)
{
    make(2, 2);
    expect_asked(0, 0);
    expect_asked(1, 0);
    xd_size_probe_answered(c, 1, 0, 77);
    expect(XD_DO_CANCEL, 0, XD_SECOND);
    xd_size_probe_answered(c, 0, XD_SECOND, 99);
    expect_size(77, XD_SECOND);
}
END_TEST

START_TEST(one_that_joins_is_asked_beside_the_others)
{
    make(1, 1);
    expect_asked(0, 0);
    expect_wait(0, XD_NEVER);
    ck_assert_int_eq(xd_size_probe_join(c, 1, 2), 0);
    expect_asked(1, 5);
    ck_assert_int_eq(xd_size_probe_join(c, 2, 2), 0);
    expect_wait(5, XD_NEVER); /* no more than two at a time */
    xd_size_probe_failed(c, 1);
    expect(XD_DO_PARK, 1, 6);
    expect_asked(2, 6);
    xd_size_probe_answered(c, 2, 10, 77);
    xd_size_probe_answered(c, 0, 10, 77);
    expect_size(77, 10);
}
END_TEST

START_TEST(one_that_failed_and_joins_anew_is_asked_again)
{
    make(2, 2);
    expect_asked(0, 0);
    expect_asked(1, 0);
    xd_size_probe_failed(c, 0);
    ck_assert_int_eq(xd_size_probe_join(c, 0, 2), 0);
    expect(XD_DO_FETCH, 0, 1);
    xd_size_probe_failed(c, 0);
    expect(XD_DO_PARK, 0, 2);
    ck_assert_int_eq(xd_size_probe_join(c, 0, 2), 0);
    expect_asked(0, 3);
}
END_TEST

START_TEST(those_in_reserve_are_pinged_before_they_take_the_place_of_another)
{
    make_with_pings(5, 1);
    expect_asked(0, 0);
    expect_wait(0, XD_NEVER);
    xd_size_probe_failed(c, 0);
    expect(XD_DO_PARK, 0, 0);
    expect(XD_DO_PING, 1, 0);
    expect(XD_DO_PING, 2, 0);
    expect_wait(0, XD_NEVER);
    xd_size_probe_pinged(c, 1, XD_PING_REFUSED);
    expect(XD_DO_PING, 3, 0);
    xd_size_probe_pinged(c, 2, XD_PING_SILENT);
    expect(XD_DO_PING, 4, 0);
    xd_size_probe_pinged(c, 4, XD_PING_ANSWERED);
    expect_asked(4, 0);
    xd_size_probe_answered(c, 4, 100, 77);
    expect_size(77, 100);
}
END_TEST

START_TEST(silent_ones_are_asked_when_no_other_is_left)
{
    make_with_pings(3, 1);
    expect_asked(0, 0);
    xd_size_probe_failed(c, 0);
    expect(XD_DO_PARK, 0, 0);
    expect(XD_DO_PING, 1, 0);
    expect(XD_DO_PING, 2, 0);
    xd_size_probe_pinged(c, 1, XD_PING_SILENT);
    expect_wait(0, XD_NEVER);
    xd_size_probe_pinged(c, 2, XD_PING_REFUSED);
    expect_asked(1, 0);
    xd_size_probe_failed(c, 1);
    expect(XD_DO_PARK, 1, 0);
    expect_kind(XD_DO_FAIL, 0);
}
END_TEST

START_TEST(the_last_that_refused_is_asked_all_the_same)
{
    make_with_pings(2, 1);
    expect_asked(0, 0);
    xd_size_probe_failed(c, 0);
    expect(XD_DO_PARK, 0, 0);
    expect(XD_DO_PING, 1, 0);
    xd_size_probe_pinged(c, 1, XD_PING_REFUSED);
    expect_asked(1, 0);
    xd_size_probe_retry(c, 1, 250 * XD_MS);
    expect_wait(0, 250 * XD_MS);
    expect_kind(XD_DO_FETCH, 250 * XD_MS);
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("size_probe");

    tcase_add_checked_fixture(t, NULL, teardown);
    tcase_add_test(t, depots_are_asked_in_order_as_many_as_may_be_open);
    tcase_add_test(t, it_is_over_when_all_that_were_asked_have_answered);
    tcase_add_test(t,
                   it_is_over_when_the_others_cannot_outvote_those_who_agree);
    tcase_add_test(t, half_of_those_who_are_asked_are_no_majority);
    tcase_add_test(
        t, who_takes_the_place_of_one_that_failed_may_outvote_the_first);
    tcase_add_test(t, those_who_do_not_know_decide_nothing_early);
    tcase_add_test(t, half_a_second_after_the_first_answer_it_is_over);
    tcase_add_test(t, after_a_slow_first_answer_it_waits_twice_as_long);
    tcase_add_test(t, only_the_first_answer_sets_the_time);
    tcase_add_test(t, a_failed_depot_is_replaced_by_the_next_in_reserve);
    tcase_add_test(t, numbers_of_fetches_stay_below_max_open);
    tcase_add_test(t, it_fails_when_nobody_answers);
    tcase_add_test(t, one_that_may_answer_later_is_asked_again_in_its_time);
    tcase_add_test(t, it_is_given_up_after_max_failures);
    tcase_add_test(
        t, one_that_could_not_be_asked_is_asked_in_its_time_and_has_not_failed);
    tcase_add_test(t, who_rests_is_not_waited_for_when_another_has_answered);
    tcase_add_test(t, one_in_reserve_is_asked_before_another_is_asked_again);
    tcase_add_test(t, without_depots_it_fails);
    tcase_add_test(t, the_size_that_most_report_wins);
    tcase_add_test(t, of_equals_the_most_preferred_depots_size_wins);
    tcase_add_test(t, those_who_know_outvote_those_who_do_not);
    tcase_add_test(t, if_nobody_knows_the_size_stays_unknown);
    tcase_add_test(t, a_vote_that_comes_too_late_changes_nothing);
    tcase_add_test(t, one_that_joins_is_asked_beside_the_others);
    tcase_add_test(t, one_that_failed_and_joins_anew_is_asked_again);
    tcase_add_test(
        t, those_in_reserve_are_pinged_before_they_take_the_place_of_another);
    tcase_add_test(t, silent_ones_are_asked_when_no_other_is_left);
    tcase_add_test(t, the_last_that_refused_is_asked_all_the_same);
    return run_suite("sched.size probe", t);
}
