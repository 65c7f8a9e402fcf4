/* SPDX-License-Identifier: MIT */
/* Where copies more of several shards may lie. */
#include "publish/plan.h"

#include "publish/plan_state.h"
#include "suite.h"

#define MIB ((uint64_t)1 << 20)
#define STORES_MAX 6

static struct xd_plan *plan;
static struct xd_error err;
static xd_usec now;

static void setup(void)
{
    plan = NULL;
    now = XD_SECOND;
}

static void teardown(void)
{
    xd_plan_free(plan);
}

static void add(size_t begin, size_t end, unsigned wanted)
{
    ck_assert_int_eq(xd_plan_add(plan,
                                 (struct xd_range){begin * MIB, end * MIB},
                                 wanted, &err),
                     0);
}

/* A group of shards 0 and 1, on hosts of one store each, of which the last has something
 * already. */
static void begin_shards(size_t n_hosts, unsigned used)
{
    size_t hosts[STORES_MAX];

    ck_assert_int_eq(xd_plan_new(&plan, n_hosts, true, &err), 0);
    for (size_t i = 0; i < n_hosts; i++)
        hosts[i] = i;
    ck_assert_int_eq(xd_plan_set_hosts(plan, hosts, &err), 0);
    ck_assert_int_eq(xd_plan_begin_group(plan, &err), 0);
    xd_plan_use_host(plan, n_hosts - 1, used);
    for (unsigned i = 0; i < 2; i++) {
        xd_plan_begin_shard(plan, i);
        add(i, i + 1, 1);
    }
}

/* Shards 0 and 1, of one piece each, and so many copies more of both at once; shard 2 is
 * parity, if there is any. */
static void begin_more(unsigned n_more, size_t n_hosts, bool has_parity)
{
    begin_shards(n_hosts, XD_SHARD_SEVERAL);
    xd_plan_begin_more(plan, 2);
    add(0, 2, n_more);
    xd_plan_begin_shard(plan, 2);
    if (has_parity)
        add(9, 10, 1);
    xd_plan_ready(plan, xd_plan_n_extents(plan));
}

START_TEST(a_copy_more_leaves_hosts_to_shards)
{
    begin_more(1, 4, false);
    ck_assert(xd_plan_is_more(plan, 2));
    ck_assert(!xd_plan_is_more(plan, 1));
    xd_plan_forbid(plan, 2, 3);
    ck_assert(!xd_plan_take(plan, 2, 0));
    ck_assert_uint_eq(xd_plan_next(plan, 0, now), 0);
    ck_assert(!xd_plan_take(plan, 2, 1));
    ck_assert_uint_eq(xd_plan_next(plan, 1, now), 1);
    ck_assert(!xd_plan_take(plan, 2, 0)); /* which has some of the bytes */
    ck_assert_uint_eq(xd_plan_next(plan, 2, now), 2);
    xd_plan_failed(plan, 1, 1, now);
    ck_assert(!xd_plan_take(plan, 1, 2));
    xd_plan_failed(plan, 2, 2, now);
    ck_assert(xd_plan_take(plan, 1, 2));
}
END_TEST

START_TEST(a_copy_more_takes_a_host_that_shards_must_not_get)
{
    begin_more(1, 4, false);
    xd_plan_drop(plan, 1);
    xd_plan_drop(plan, 2);
    ck_assert(xd_plan_take(plan, 0, 0));
    ck_assert(xd_plan_take(plan, 2, 3)); /* it has other data */
    xd_plan_done(plan, 0, 0, now);
    xd_plan_done(plan, 2, 3, now);
    ck_assert(xd_plan_is_stuck(plan));
}
END_TEST

START_TEST(a_copy_more_lies_beside_no_parity)
{
    begin_more(1, 3, true);
    xd_plan_drop(plan, 2);
    ck_assert(xd_plan_hold(plan, 0, 2));
    ck_assert(xd_plan_hold(plan, 1, 2));
    ck_assert(!xd_plan_take(plan, 2, 0)); /* parity waits for a host */
    ck_assert_uint_eq(xd_plan_next(plan, 0, now), 3);
    ck_assert(!xd_plan_take(plan, 2, 0));
    ck_assert_uint_eq(xd_plan_next(plan, 1, now), 2);
    xd_plan_failed(plan, 3, 0, now);
    ck_assert(!xd_plan_take(plan, 3, 1));
    ck_assert(xd_plan_take(plan, 3, 0));
}
END_TEST

START_TEST(copies_more_of_one_shard_each_may_lie_beside_each_other)
{
    begin_shards(4, XD_SHARD_NONE);
    xd_plan_begin_more(plan, 2);
    for (size_t i = 0; i < 2; i++)
        add(i, i + 1, 1);
    xd_plan_ready(plan, 4);
    ck_assert(xd_plan_take(plan, 0, 0));
    ck_assert(!xd_plan_take(plan, 3, 1));
    ck_assert(xd_plan_take(plan, 3, 0)); /* beside shard 0 */
    ck_assert(xd_plan_take(plan, 1, 1));
    ck_assert(!xd_plan_take(plan, 2, 0));
    ck_assert(!xd_plan_take(plan, 2, 3));
    ck_assert(xd_plan_take(plan, 2, 1));
}
END_TEST

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
        xd_plan_done(plan, extent, store, now);
    else if (random % 8 == 6 && place == XD_PLACE_UNDER_WAY)
        xd_plan_failed(plan, extent, store, now);
    else if (random % 8 == 7 && place == XD_PLACE_UNDER_WAY)
        xd_plan_put_off(plan, extent, store, now);
}

START_TEST(what_stores_may_get_is_summed_up_whatever_happens)
{
    unsigned random = (unsigned)_i + 1;

    begin_more(1 + (unsigned)_i % 2, 3 + (size_t)_i % 4, _i % 3 > 0);
    expect_sums();
    for (unsigned i = 0; i < 300; i++) {
        random = random * 1103515245u + 12345;
        change_anything(random >> 8);
        expect_sums();
    }
    xd_plan_drop(plan, 2);
    expect_sums();
}
END_TEST

/* A shard may be planned after copies more, which wait for it then. */
START_TEST(what_is_planned_later_is_in_the_sums)
{
    begin_shards(5, XD_SHARD_NONE);
    ck_assert_int_eq(xd_plan_begin_group(plan, &err), 0);
    for (size_t i = 0; i < 2; i++) {
        xd_plan_begin_more(plan, 2);
        add(2 + 2 * i, 4 + 2 * i, 1);
        expect_sums();
    }
    for (unsigned i = 0; i < 3; i++) {
        xd_plan_begin_shard(plan, 2 + i / 2);
        add(9 + i, 10 + i, 1);
        expect_sums();
    }
    ck_assert(!xd_plan_may_get(plan, 2, 0));
    xd_plan_begin_more(plan, 2);
    add(6, 8, 1);
    xd_plan_end_group(plan);
    add(8, 9, 1);
    expect_sums();
}
END_TEST

int main(void)
{
    TCase *tcase = tcase_create("plan_more");

    tcase_add_checked_fixture(tcase, setup, teardown);
    tcase_add_test(tcase, a_copy_more_leaves_hosts_to_shards);
    tcase_add_test(tcase, a_copy_more_takes_a_host_that_shards_must_not_get);
    tcase_add_test(tcase, a_copy_more_lies_beside_no_parity);
    tcase_add_test(tcase,
                   copies_more_of_one_shard_each_may_lie_beside_each_other);
    tcase_add_test(tcase, what_is_planned_later_is_in_the_sums);
    tcase_add_loop_test(
        tcase, what_stores_may_get_is_summed_up_whatever_happens, 0, 24);
    return run_suite("plan_more", tcase);
}
