/* SPDX-License-Identifier: MIT */
#include "base/addresses.h"

#include <stdio.h>

#include "suite.h"

#define MIB ((uint64_t)1 << 20)

static struct xd_addresses a;
static struct xd_address_list passed;

static void setup(void)
{
    a = (struct xd_addresses){.n = 0};
}

/* An address served this many MiB in a second. */
static void serve(const char *text, uint64_t mib)
{
    xd_addresses_served(&a, text, mib * MIB, XD_SECOND);
}

static bool passes_over(const char *text)
{
    (void)xd_addresses_choose(&a, &passed);
    return xd_address_list_has(&passed, text);
}

START_TEST(at_first_nothing_is_passed_over)
{
    ck_assert(!xd_addresses_choose(&a, &passed));
    ck_assert_uint_eq(passed.n, 0);
}
END_TEST

START_TEST(once_one_is_known_another_is_tried_by_one_request)
{
    serve("10.0.0.1", 1);
    ck_assert(xd_addresses_choose(&a, &passed));
    ck_assert(xd_address_list_has(&passed, "10.0.0.1"));
    ck_assert(!xd_address_list_leaves(&passed, "10.0.0.1"));
    ck_assert(!xd_address_list_has(&passed, "10.0.0.2"));
    ck_assert(!xd_addresses_choose(&a, &passed));
    ck_assert_uint_eq(passed.n, 0);
    xd_addresses_end_try(&a);
    ck_assert(xd_addresses_choose(&a, &passed));
}
END_TEST

START_TEST(of_two_that_are_known_no_third_is_sought)
{
    serve("10.0.0.1", 1);
    serve("10.0.0.2", 1);
    ck_assert(!xd_addresses_choose(&a, &passed));
    ck_assert_uint_eq(passed.n, 0);
}
END_TEST

START_TEST(of_a_name_with_one_nothing_is_passed_over)
{
    serve("10.0.0.1", 1);
    a.are_all = true;
    ck_assert(!xd_addresses_choose(&a, &passed));
    ck_assert_uint_eq(passed.n, 0);
}
END_TEST

START_TEST(a_faster_one_is_preferred)
{
    a.are_all = true;
    serve("10.0.0.1", 2);
    serve("2001:db8::2", 4);
    ck_assert(passes_over("10.0.0.1"));
    ck_assert(xd_address_list_leaves(&passed, "10.0.0.1"));
    ck_assert(!passes_over("2001:db8::2"));
}
END_TEST

START_TEST(what_runs_at_a_much_slower_one_is_stopped)
{
    serve("10.0.0.1", 2);
    serve("10.0.0.2", 8);
    ck_assert(xd_addresses_is_slow(&a, "10.0.0.1"));
    ck_assert(!xd_addresses_is_very_slow(&a, "10.0.0.1"));
    serve("10.0.0.2", 9);
    ck_assert(xd_addresses_is_very_slow(&a, "10.0.0.1"));
    ck_assert(!xd_addresses_is_slow(&a, "10.0.0.2"));
    ck_assert(!xd_addresses_is_slow(&a, "10.0.0.3"));
}
END_TEST

START_TEST(not_one_that_is_hardly_faster)
{
    a.are_all = true;
    serve("10.0.0.1", 2);
    serve("10.0.0.2", 3);
    ck_assert(!passes_over("10.0.0.1"));
    ck_assert(!passes_over("10.0.0.2"));
    serve("10.0.0.2", 4);
    ck_assert(passes_over("10.0.0.1"));
}
END_TEST

START_TEST(a_rate_is_that_of_later_requests_too)
{
    a.are_all = true;
    serve("10.0.0.1", 2);
    serve("10.0.0.2", 8);
    serve("10.0.0.2", 1);
    serve("10.0.0.2", 1);
    ck_assert(!passes_over("10.0.0.1"));
}
END_TEST

START_TEST(what_is_short_tells_the_least_that_it_may_be)
{
    a.are_all = true;
    serve("10.0.0.1", 4);
    xd_addresses_served(&a, "10.0.0.2", MIB, XD_MS); /* 5 MiB/s or more */
    ck_assert(!passes_over("10.0.0.1"));
    ck_assert(!passes_over("10.0.0.2"));
    xd_addresses_served(&a, "10.0.0.2", 2 * MIB, 199 * XD_MS);
    ck_assert(passes_over("10.0.0.1"));
    xd_addresses_served(&a, "10.0.0.2", MIB, 200 * XD_MS);
    ck_assert(!passes_over("10.0.0.1"));
}
END_TEST

START_TEST(it_does_not_tell_that_one_is_slow)
{
    a.are_all = true;
    serve("10.0.0.1", 4);
    xd_addresses_served(&a, "10.0.0.2", 1000, 199 * XD_MS);
    ck_assert(!passes_over("10.0.0.2"));
    xd_addresses_served(&a, "10.0.0.2", 1000, 200 * XD_MS);
    ck_assert(passes_over("10.0.0.2"));
}
END_TEST

START_TEST(what_fails_at_the_first_is_the_depots)
{
    ck_assert(!xd_addresses_failed(&a, "10.0.0.1"));
    serve("10.0.0.1", 1);
    ck_assert(!xd_addresses_failed(&a, "10.0.0.1"));
}
END_TEST

START_TEST(what_fails_at_another_is_its_own)
{
    serve("10.0.0.1", 1);
    a.are_all = true;
    ck_assert(xd_addresses_failed(&a, "10.0.0.2"));
    ck_assert(passes_over("10.0.0.2"));
    ck_assert(!passes_over("10.0.0.1"));
    ck_assert(xd_addresses_failed(&a, "10.0.0.2"));
}
END_TEST

START_TEST(but_not_once_it_has_served)
{
    serve("10.0.0.1", 1);
    serve("10.0.0.2", 1);
    ck_assert(!xd_addresses_failed(&a, "10.0.0.2"));
    ck_assert(!xd_addresses_failed(&a, "10.0.0.1"));
}
END_TEST

START_TEST(one_that_is_unfit_is_not_the_fastest)
{
    a.are_all = true;
    serve("10.0.0.1", 1);
    (void)xd_addresses_failed(&a, "10.0.0.2");
    a.list[1].rate = 100.0 * (double)MIB;
    ck_assert(!passes_over("10.0.0.1"));
}
END_TEST

START_TEST(there_may_be_more_than_are_kept)
{
    char text[20];

    for (int i = 0; i <= XD_ADDRESSES_MAX; i++) {
        ck_assert(!a.are_all);
        snprintf(text, sizeof text, "10.0.0.%d", i);
        serve(text, 1);
    }
    ck_assert(a.are_all);
    ck_assert_uint_eq(a.n, XD_ADDRESSES_MAX);
    ck_assert(!xd_addresses_failed(&a, "10.0.0.9"));
    ck_assert(!passes_over("10.0.0.9"));
}
END_TEST

int main(void)
{
    TCase *tcase = tcase_create("addresses");

    tcase_add_checked_fixture(tcase, setup, NULL);
    tcase_add_test(tcase, at_first_nothing_is_passed_over);
    tcase_add_test(tcase, once_one_is_known_another_is_tried_by_one_request);
    tcase_add_test(tcase, of_two_that_are_known_no_third_is_sought);
    tcase_add_test(tcase, of_a_name_with_one_nothing_is_passed_over);
    tcase_add_test(tcase, a_faster_one_is_preferred);
    tcase_add_test(tcase, what_runs_at_a_much_slower_one_is_stopped);
    tcase_add_test(tcase, not_one_that_is_hardly_faster);
    tcase_add_test(tcase, a_rate_is_that_of_later_requests_too);
    tcase_add_test(tcase, what_is_short_tells_the_least_that_it_may_be);
    tcase_add_test(tcase, it_does_not_tell_that_one_is_slow);
    tcase_add_test(tcase, what_fails_at_the_first_is_the_depots);
    tcase_add_test(tcase, what_fails_at_another_is_its_own);
    tcase_add_test(tcase, but_not_once_it_has_served);
    tcase_add_test(tcase, one_that_is_unfit_is_not_the_fastest);
    tcase_add_test(tcase, there_may_be_more_than_are_kept);
    return run_suite("addresses", tcase);
}
