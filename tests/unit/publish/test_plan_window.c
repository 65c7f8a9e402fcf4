/* SPDX-License-Identifier: MIT */
/* Of how many extents the next one is chosen: those that no store may get keep no others
 * from being sent. */
#include "publish/plan.h"

#include "publish/plan_state.h"
#include "suite.h"

#define MIB ((uint64_t)1 << 20)
#define N_HOSTS 3
#define N_BLOCKED 1500 /* more than are looked at at a time */

static struct xd_plan *plan;
static struct xd_error err;
static xd_usec now;

static void setup(void)
{
    const size_t hosts[N_HOSTS] = {0, 1, 2};

    now = XD_SECOND;
    ck_assert_int_eq(xd_plan_new(&plan, N_HOSTS, true, &err), 0);
    ck_assert_int_eq(xd_plan_set_hosts(plan, hosts, &err), 0);
}

static void teardown(void)
{
    xd_plan_free(plan);
}

/* Groups of one extent each, which the first `n_used` hosts must not get. */
static void add_groups(size_t n, size_t n_used)
{
    for (size_t i = 0; i < n; i++) {
        const uint64_t at = xd_plan_n_extents(plan) * MIB;

        ck_assert_int_eq(xd_plan_begin_group(plan, &err), 0);
        for (size_t host = 0; host < n_used; host++)
            xd_plan_use_host(plan, host, XD_SHARD_NONE);
        ck_assert_int_eq(
            xd_plan_add(plan, (struct xd_range){at, at + MIB}, 1, &err), 0);
    }
    xd_plan_end_group(plan);
    xd_plan_ready(plan, xd_plan_n_extents(plan));
}

START_TEST(what_no_store_may_get_is_passed_over)
{
    add_groups(N_BLOCKED, N_HOSTS);
    add_groups(2, 1);
    ck_assert(!xd_plan_is_stuck(plan));
    ck_assert_uint_eq(xd_plan_next(plan, 0, now), XD_PLAN_NONE);
    ck_assert_uint_eq(xd_plan_next(plan, 1, now), N_BLOCKED);
    ck_assert_uint_eq(xd_plan_next(plan, 2, now), N_BLOCKED + 1);
    xd_plan_done(plan, N_BLOCKED, 1, now);
    xd_plan_done(plan, N_BLOCKED + 1, 2, now);
    ck_assert(xd_plan_is_stuck(plan));
    ck_assert_uint_eq(xd_plan_missing(plan), N_BLOCKED);
}
END_TEST

START_TEST(what_has_failed_is_looked_at_again)
{
    add_groups(1, 0);
    add_groups(N_BLOCKED, N_HOSTS);
    add_groups(1, 0);
    ck_assert_uint_eq(xd_plan_next(plan, 0, now), 0);
    ck_assert_uint_eq(xd_plan_next(plan, 1, now), N_BLOCKED + 1);
    ck_assert_uint_eq(xd_plan_next(plan, 2, now), XD_PLAN_NONE);
    xd_plan_failed(plan, 0, 0, now);
    ck_assert(!xd_plan_is_stuck(plan));
    ck_assert_uint_eq(xd_plan_next(plan, 2, now), 0);
}
END_TEST

/* Both extents of the first group wait for the host that has one of them. */
START_TEST(what_waits_for_its_group_is_looked_at_again)
{
    ck_assert_int_eq(xd_plan_begin_group(plan, &err), 0);
    xd_plan_use_host(plan, 0, XD_SHARD_NONE);
    xd_plan_use_host(plan, 1, XD_SHARD_NONE);
    for (size_t i = 0; i < 2; i++)
        ck_assert_int_eq(xd_plan_add(plan,
                                     (struct xd_range){i * MIB, (i + 1) * MIB},
                                     1, &err),
                         0);
    add_groups(N_BLOCKED, N_HOSTS);
    add_groups(1, 0);
    ck_assert(xd_plan_take(plan, 1, 2));
    ck_assert_uint_eq(xd_plan_next(plan, 0, now), N_BLOCKED + 2);
    xd_plan_failed(plan, 1, 2, now);
    ck_assert_uint_eq(xd_plan_next(plan, 2, now), 0);
}
END_TEST

START_TEST(what_waits_for_a_host_is_looked_at_again_when_that_is_dropped)
{
    ck_assert_int_eq(xd_plan_begin_group(plan, &err), 0);
    xd_plan_use_host(plan, 0, 7);
    xd_plan_begin_shard(plan, 7);
    ck_assert_int_eq(xd_plan_add(plan, (struct xd_range){0, MIB}, 1, &err), 0);
    add_groups(N_BLOCKED, N_HOSTS);
    ck_assert_uint_eq(xd_plan_next(plan, 1, now), XD_PLAN_NONE);
    ck_assert(!xd_plan_is_stuck(plan));
    xd_plan_drop(plan, 0);
    ck_assert(!xd_plan_is_stuck(plan));
    ck_assert_uint_eq(xd_plan_next(plan, 1, now), 0);
}
END_TEST

/* What is read for parity is read together. */
START_TEST(no_store_looks_far_beyond_what_others_may_get)
{
    add_groups(1024, 2);
    add_groups(2, 0);
    ck_assert_uint_eq(xd_plan_next(plan, 0, now), XD_PLAN_NONE);
    ck_assert(xd_plan_take(plan, 0, 2));
    ck_assert_uint_eq(xd_plan_next(plan, 0, now), 1024);
    ck_assert_uint_eq(xd_plan_next(plan, 1, now), XD_PLAN_NONE);
}
END_TEST

int main(void)
{
    TCase *tcase = tcase_create("plan_window");

    tcase_add_checked_fixture(tcase, setup, teardown);
    tcase_add_test(tcase, what_no_store_may_get_is_passed_over);
    tcase_add_test(tcase, what_has_failed_is_looked_at_again);
    tcase_add_test(tcase, what_waits_for_its_group_is_looked_at_again);
    tcase_add_test(
        tcase, what_waits_for_a_host_is_looked_at_again_when_that_is_dropped);
    tcase_add_test(tcase, no_store_looks_far_beyond_what_others_may_get);
    return run_suite("plan_window", tcase);
}
