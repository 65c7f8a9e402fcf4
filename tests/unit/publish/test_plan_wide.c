/* SPDX-License-Identifier: MIT */
/* What is summed up, and looked at once for many extents, is as if all were looked at:
 * of a wide code there are many. */
#include "publish/plan.h"

#include "publish/plan_state.h"
#include "suite.h"

#define MIB ((uint64_t)1 << 20)
#define NOW (100 * XD_SECOND)
#define WIDE 255

static struct xd_plan *plan;
static struct xd_error err;

static void setup(void)
{
    plan = NULL;
}

static void teardown(void)
{
    xd_plan_free(plan);
}

/* The sums, as they are found by looking at all extents. */
static void expect_sums(void)
{
    uint64_t missing = 0;

    for (size_t i = 0; i < plan->n; i++)
        missing += xd_plan_missing_of(&plan->extents[i]);
    ck_assert_uint_eq(plan->unsent, missing);
    for (size_t k = 0; k < plan->n_stores; k++) {
        uint64_t bytes = 0;

        for (size_t i = 0; i < plan->n; i++)
            if (xd_plan_missing_of(&plan->extents[i]) > 0 &&
                xd_plan_is_free(plan, i, k))
                bytes += xd_range_length(plan->extents[i].range);
        ck_assert_uint_eq(plan->stores[k].unsent, bytes);
    }
}

/* Stores of several rates, of which the last two are on one host if there are hosts. */
static void begin(size_t n_stores, bool has_hosts)
{
    size_t hosts[WIDE];

    ck_assert_int_eq(xd_plan_new(&plan, n_stores, true, &err), 0);
    for (size_t i = 0; i < n_stores; i++) {
        plan->stores[i].known = 1000 + 7 * (double)i;
        hosts[i] = i < n_stores - 1 ? i : n_stores - 2;
    }
    if (has_hosts)
        ck_assert_int_eq(xd_plan_set_hosts(plan, hosts, &err), 0);
}

static void add(unsigned wanted)
{
    const size_t i = xd_plan_n_extents(plan);

    ck_assert_int_eq(xd_plan_add(plan,
                                 (struct xd_range){i * MIB, (i + 1) * MIB},
                                 wanted, &err),
                     0);
    xd_plan_ready(plan, i + 1);
}

static void begin_group(void)
{
    ck_assert_int_eq(xd_plan_begin_group(plan, &err), 0);
}

static void begin_groups(size_t n_groups, size_t n, size_t n_stores)
{
    begin(n_stores, true);
    for (size_t i = 0; i < n_groups * n; i++) {
        if (i % n == 0)
            begin_group();
        add(1);
    }
}

/* Each group has two shards, of two pieces each. */
static void begin_shards(void)
{
    begin(6, true);
    for (unsigned i = 0; i < 32; i++) {
        if (i % 4 == 0)
            begin_group();
        xd_plan_begin_shard(plan, i % 4 / 2);
        add(1);
    }
}

/* Each group has a shard of two pieces, and others of which some get two copies; and
 * some is under way before the last are added, of which one is a piece. */
static void begin_mixed(void)
{
    static const unsigned shards[] = {0, 1, XD_SHARD_NONE, 0, 2};

    begin(7, true);
    for (unsigned i = 0; i < 30; i++) {
        if (i % 5 == 0)
            begin_group();
        xd_plan_begin_shard(plan, shards[i % 5]);
        add(1 + i % 2);
        expect_sums();
        if (i % 5 < 3 && i % 4 > 0)
            (void)xd_plan_take(plan, i, i % 7);
        expect_sums();
    }
}

static void begin_any(int which)
{
    if (which == 0) {
        begin(5, false);
        for (unsigned i = 0; i < 30; i++) {
            add(3);
            (void)xd_plan_hold(plan, i, 4 - i % 5);
        }
    } else if (which == 1) {
        begin_groups(10, 3, 5);
        xd_plan_use_host(plan, 1, XD_SHARD_NONE);
        expect_sums();
        xd_plan_use_host(plan, 3, XD_SHARD_NONE);
    } else if (which == 2) {
        begin_shards();
    } else {
        begin_mixed();
    }
    xd_plan_end_group(plan);
    expect_sums();
}

static void change_anything(unsigned random)
{
    const size_t extent = random / 8 % plan->n,
                 store = random / 1024 % plan->n_stores;
    const unsigned char place = *xd_plan_place(plan, extent, store);

    if (random % 8 == 0 && place == XD_PLACE_FREE)
        (void)xd_plan_hold(plan, extent, store);
    else if (random % 8 == 1)
        xd_plan_forbid(plan, extent, store);
    else if (random % 8 < 5)
        (void)xd_plan_take(plan, extent, store);
    else if (random % 8 == 5 && place == XD_PLACE_UNDER_WAY)
        xd_plan_done(plan, extent, store, NOW);
    else if (random % 8 == 6 && place == XD_PLACE_UNDER_WAY)
        xd_plan_failed(plan, extent, store, NOW);
    else if (random % 8 == 7 && place == XD_PLACE_UNDER_WAY)
        xd_plan_put_off(plan, extent, store, NOW);
}

static unsigned next_random(unsigned *random)
{
    *random = *random * 1103515245u + 12345;
    return *random >> 8;
}

START_TEST(what_stores_may_get_is_summed_up_whatever_happens)
{
    unsigned random = (unsigned)_i + 1;

    begin_any(_i % 4);
    for (unsigned i = 0; i < 300; i++) {
        change_anything(next_random(&random));
        expect_sums();
    }
    xd_plan_drop(plan, 2);
    expect_sums();
}
END_TEST

/* ---- which extent is next ---- */

/* How much extent `i` needs the store: the copies that it wants, against the rates of
 * the others that may have it. */
static double need(size_t i, size_t store)
{
    const struct xd_plan_extent *e = &plan->extents[i];
    double others = 1;

    for (size_t k = 0; k < plan->n_stores; k++)
        if (k != store && !plan->stores[k].is_dropped &&
            xd_plan_is_free(plan, i, k))
            others += plan->stores[k].known;
    return (double)(e->wanted - e->n_copies) / others;
}

static size_t most_in_need(size_t store)
{
    size_t best = XD_PLAN_NONE;
    double most = 0;

    for (size_t i = 0; i < plan->n; i++)
        if (xd_plan_may_get(plan, i, store) && need(i, store) > most) {
            most = need(i, store);
            best = i;
        }
    return best;
}

/* A store may be too slow for it. */
START_TEST(the_next_extent_is_that_which_needs_the_store_most)
{
    unsigned random = (unsigned)_i + 1, n = 0;

    begin_any(_i % 4);
    for (unsigned i = 0; i < 100; i++) {
        const size_t store = next_random(&random) % plan->n_stores;
        const size_t best = most_in_need(store);
        const size_t next = xd_plan_next(plan, store, NOW);

        if (next != XD_PLAN_NONE) {
            ck_assert_uint_eq(next, best);
            n++;
            xd_plan_failed(plan, next, store, NOW);
            plan->stores[store].known = 1000 + 7 * (double)store;
        }
        change_anything(next_random(&random));
    }
    ck_assert_uint_gt(n, 20);
}
END_TEST

/* Of two pieces each has a copy on one of two hosts that have a third: the piece which
 * the slower one lacks is next. */
START_TEST(pieces_of_a_shard_need_a_store_more_or_less)
{
    begin(5, true);
    begin_group();
    xd_plan_begin_shard(plan, 0);
    for (unsigned i = 0; i < 3; i++)
        add(3);
    for (size_t store = 0; store < 3; store++)
        (void)xd_plan_hold(plan, 2, store);
    (void)xd_plan_hold(plan, 0, 1);
    (void)xd_plan_hold(plan, 1, 2);
    plan->stores[0].known = 10000;
    ck_assert_uint_eq(xd_plan_next(plan, 0, NOW), 1);
}
END_TEST

/* ---- what a wide code costs ---- */

static void add_wide_group(void)
{
    begin_group();
    for (unsigned i = 0; i < WIDE; i++) {
        xd_plan_begin_shard(plan, i);
        add(1);
    }
    xd_plan_end_group(plan);
}

START_TEST(an_extent_that_is_added_is_counted_alone)
{
    begin(WIDE, true);
    add_wide_group();
    ck_assert_uint_eq(plan->visits, WIDE * WIDE);
    add_wide_group();
    ck_assert_uint_eq(plan->visits, 2 * WIDE * WIDE);
}
END_TEST

/* Before and after: at all stores, and all of its group at the one. */
START_TEST(an_extent_that_is_taken_changes_its_group_at_its_host)
{
    begin(WIDE, true);
    add_wide_group();
    plan->visits = 0;
    ck_assert(xd_plan_take(plan, 7, 9));
    ck_assert_uint_le(plan->visits, 2 * (WIDE + WIDE));
    expect_sums();
}
END_TEST

/* The first stripes are looked at, each once at all stores; and what is taken is
 * counted. */
START_TEST(shards_that_are_alike_are_looked_at_once)
{
    begin(WIDE, true);
    for (unsigned i = 0; i < 8; i++)
        add_wide_group();
    plan->visits = 0;
    ck_assert_uint_eq(xd_plan_next(plan, 3, NOW), 0);
    ck_assert_uint_le(plan->visits, 5 * WIDE + 2 * (WIDE + WIDE));
}
END_TEST

int main(void)
{
    TCase *tcase = tcase_create("plan_wide");

    tcase_add_checked_fixture(tcase, setup, teardown);
    tcase_add_loop_test(
        tcase, what_stores_may_get_is_summed_up_whatever_happens, 0, 28);
    tcase_add_loop_test(
        tcase, the_next_extent_is_that_which_needs_the_store_most, 0, 28);
    tcase_add_test(tcase, pieces_of_a_shard_need_a_store_more_or_less);
    tcase_add_test(tcase, an_extent_that_is_added_is_counted_alone);
    tcase_add_test(tcase,
                   an_extent_that_is_taken_changes_its_group_at_its_host);
    tcase_add_test(tcase, shards_that_are_alike_are_looked_at_once);
    return run_suite("plan_wide", tcase);
}
