/* SPDX-License-Identifier: MIT */
#include "base/rate.h"
#include "suite.h"

#define START (1000 * XD_SECOND)

START_TEST(nothing_counted_is_no_rate)
{
    struct xd_rate r = {0};

    ck_assert_double_eq(xd_rate_get(&r, START), 0);
}
END_TEST

START_TEST(a_steady_flow_shows_its_rate)
{
    struct xd_rate r = {0};
    xd_usec now = START;

    for (int i = 0; i < 1000; i++, now += 10 * XD_MS)
        xd_rate_add(&r, now, 1000);
    ck_assert_double_eq_tol(xd_rate_get(&r, now), 100000, 3000);
}
END_TEST

START_TEST(what_is_old_no_longer_counts)
{
    struct xd_rate r = {0};

    xd_rate_add(&r, START, 1000000);
    ck_assert_double_gt(xd_rate_get(&r, START + XD_SECOND), 0);
    ck_assert_double_eq(xd_rate_get(&r, START + 5 * XD_SECOND), 0);
}
END_TEST

START_TEST(the_first_second_is_measured_by_its_own_length)
{
    struct xd_rate r = {0};

    xd_rate_add(&r, START, 1000);
    xd_rate_add(&r, START + XD_SECOND, 1000);
    ck_assert_double_eq_tol(xd_rate_get(&r, START + XD_SECOND), 2000, 1);
}
END_TEST

int main(void)
{
    TCase *tcase = tcase_create("rate");

    tcase_add_test(tcase, nothing_counted_is_no_rate);
    tcase_add_test(tcase, a_steady_flow_shows_its_rate);
    tcase_add_test(tcase, what_is_old_no_longer_counts);
    tcase_add_test(tcase, the_first_second_is_measured_by_its_own_length);
    return run_suite("rate", tcase);
}
