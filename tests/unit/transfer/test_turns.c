/* SPDX-License-Identifier: MIT */
#include "transfer/turns.h"

#include "base/error.h"
#include "suite.h"

static struct xd_turns turns;

static void teardown(void)
{
    xd_turns_fini(&turns);
}

static size_t take(xd_usec now)
{
    size_t i = SIZE_MAX;

    if (!xd_turns_take_fresh(&turns, &i))
        xd_turns_take_retry(&turns, now, &i);
    return i;
}

START_TEST(requests_are_made_in_their_order)
{
    ck_assert_int_eq(xd_turns_init(&turns, 3), 0);
    for (size_t i = 0; i < 3; i++) {
        ck_assert_uint_eq(xd_turns_next_at(&turns), 0);
        ck_assert_uint_eq(take(0), i);
    }
    ck_assert_uint_eq(xd_turns_next_at(&turns), XD_NEVER);
    ck_assert_uint_eq(take(XD_NEVER), SIZE_MAX);
}
END_TEST

START_TEST(what_failed_waits_for_those_that_were_never_made)
{
    ck_assert_int_eq(xd_turns_init(&turns, 3), 0);
    ck_assert_uint_eq(take(0), 0);
    xd_turns_again(&turns, 0, 10);
    ck_assert_uint_eq(take(20), 1);
    ck_assert_uint_eq(take(20), 2);
    ck_assert_uint_eq(xd_turns_next_at(&turns), 10);
    ck_assert_uint_eq(take(9), SIZE_MAX);
    ck_assert_uint_eq(take(10), 0);
}
END_TEST

START_TEST(the_earliest_retry_is_the_first)
{
    static const xd_usec at[] = {70, 20, 90, 20, 10, 80, 30, 60, 40};
    const size_t n = sizeof at / sizeof *at;
    xd_usec last = 0;

    ck_assert_int_eq(xd_turns_init(&turns, n), 0);
    for (size_t i = 0; i < n; i++)
        ck_assert_uint_eq(take(0), i);
    for (size_t i = 0; i < n; i++)
        xd_turns_again(&turns, i, at[i]);
    for (size_t i = 0; i < n; i++) {
        xd_usec next = xd_turns_next_at(&turns);
        size_t taken = take(next);

        ck_assert_uint_ge(next, last);
        ck_assert_uint_eq(at[taken], next);
        last = next;
    }
    ck_assert_uint_eq(take(XD_NEVER), SIZE_MAX);
}
END_TEST

/* 2^17 requests that all fail once: no turn costs more than the height of the
 * heap.  A walk over those that wait would cost 2^33 steps. */
START_TEST(a_turn_costs_the_logarithm_of_those_that_wait)
{
    const size_t n = (size_t)1 << 17;

    ck_assert_int_eq(xd_turns_init(&turns, n), 0);
    for (size_t i = 0; i < n; i++)
        xd_turns_again(&turns, take(0), (i * 7919) % n);
    for (size_t i = 0; i < n; i++)
        ck_assert_uint_lt(take(XD_NEVER), n);
    ck_assert_uint_le(turns.n_moves, 3 * 17 * n);
}
END_TEST

int main(void)
{
    TCase *tests = tcase_create("turns");

    tcase_add_checked_fixture(tests, NULL, teardown);
    tcase_add_test(tests, requests_are_made_in_their_order);
    tcase_add_test(tests, what_failed_waits_for_those_that_were_never_made);
    tcase_add_test(tests, the_earliest_retry_is_the_first);
    tcase_add_test(tests, a_turn_costs_the_logarithm_of_those_that_wait);
    return run_suite("turns", tests);
}
