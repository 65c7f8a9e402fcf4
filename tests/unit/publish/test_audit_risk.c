/* SPDX-License-Identifier: MIT */
#include "publish/audit_risk.h"

#include "suite.h"

static struct xd_rangeset none, one;

static void find(const struct xd_audit_holding *list, size_t n, uint64_t size)
{
    ck_assert_int_eq(xd_audit_find_risk(list, n, 3, size, &none, &one), 0);
}

static void assert_run(const struct xd_rangeset *s, size_t i, uint64_t begin,
                       uint64_t end)
{
    ck_assert_uint_lt(i, s->n);
    ck_assert_uint_eq(s->ranges[i].begin, begin);
    ck_assert_uint_eq(s->ranges[i].end, end);
}

START_TEST(bytes_that_no_depot_has_are_found)
{
    const struct xd_audit_holding list[] = {
        {{0, 10}, 0}, {{0, 4}, 1}, {{6, 8}, 1}};

    find(list, 3, 12);
    ck_assert_uint_eq(none.n, 1);
    assert_run(&none, 0, 10, 12);
    ck_assert_uint_eq(one.n, 2);
    assert_run(&one, 0, 4, 6);
    assert_run(&one, 1, 8, 10);
}
END_TEST

START_TEST(two_copies_on_one_depot_are_one)
{
    const struct xd_audit_holding list[] = {
        {{0, 6}, 2}, {{2, 10}, 2}, {{0, 10}, 2}};

    find(list, 3, 10);
    ck_assert_uint_eq(none.n, 0);
    ck_assert_uint_eq(one.bytes, 10);
}
END_TEST

START_TEST(what_two_depots_have_is_not_at_risk)
{
    const struct xd_audit_holding list[] = {
        {{0, 5}, 0}, {{5, 10}, 1}, {{0, 10}, 2}};

    find(list, 3, 10);
    ck_assert_uint_eq(none.bytes + one.bytes, 0);
}
END_TEST

START_TEST(without_any_depot_all_is_lost)
{
    find(NULL, 0, 7);
    assert_run(&none, 0, 0, 7);
}
END_TEST

START_TEST(what_lies_behind_the_file_does_not_count)
{
    const struct xd_audit_holding list[] = {{{3, 20}, 0}, {{9, 20}, 1}};

    find(list, 2, 5);
    assert_run(&none, 0, 0, 3);
    assert_run(&one, 0, 3, 5);
    ck_assert_uint_eq(one.n, 1);
}
END_TEST

static void forget(void)
{
    xd_rangeset_fini(&none);
    xd_rangeset_fini(&one);
}

int main(void)
{
    TCase *t = tcase_create("audit_risk");

    tcase_add_checked_fixture(t, NULL, forget);
    tcase_add_test(t, bytes_that_no_depot_has_are_found);
    tcase_add_test(t, two_copies_on_one_depot_are_one);
    tcase_add_test(t, what_two_depots_have_is_not_at_risk);
    tcase_add_test(t, without_any_depot_all_is_lost);
    tcase_add_test(t, what_lies_behind_the_file_does_not_count);
    return run_suite("audit_risk", t);
}
