/* SPDX-License-Identifier: MIT */
/* Extents that have bytes in common do not go to one store. */
#include "publish/plan.h"

#include "publish/plan_state.h"
#include "suite.h"

#define N_STORES 4

static struct xd_plan *plan;
static struct xd_error err;
static xd_usec now;

static void setup(void)
{
    now = XD_SECOND;
    ck_assert_int_eq(xd_plan_new(&plan, N_STORES, true, &err), 0);
}

static void teardown(void)
{
    xd_plan_free(plan);
}

static void add(uint64_t begin, uint64_t end, unsigned wanted)
{
    ck_assert_int_eq(
        xd_plan_add(plan, (struct xd_range){begin, end}, wanted, &err), 0);
}

static void end_adding(void)
{
    xd_plan_ready(plan, xd_plan_n_extents(plan));
    ck_assert_int_eq(xd_plan_sort(plan, &err), 0);
}

/* Stores 0 and 1 are on one host. */
static void begin_group(void)
{
    const size_t hosts[N_STORES] = {0, 0, 2, 3};

    ck_assert_int_eq(xd_plan_set_hosts(plan, hosts, &err), 0);
    ck_assert_int_eq(xd_plan_begin_group(plan, &err), 0);
}

START_TEST(no_store_gets_bytes_that_it_has)
{
    add(4, 8, 1);
    add(8, 12, 1); /* which begins where the first one ends */
    add(1, 4, 1);  /* which ends where it begins */
    add(7, 9, 1);
    add(0, 5, 1);
    add(4, 6, 1);
    add(0, 12, 1);
    end_adding();
    ck_assert(xd_plan_take(plan, 0, 0));
    for (size_t i = 1; i <= 2; i++)
        ck_assert(xd_plan_may_get(plan, i, 0));
    for (size_t i = 3; i <= 6; i++) {
        ck_assert(!xd_plan_may_get(plan, i, 0));
        ck_assert(xd_plan_may_get(plan, i, 1));
    }
}
END_TEST

START_TEST(it_gets_them_once_nothing_of_them_is_there)
{
    add(0, 4, 1);
    add(4, 8, 1);
    add(2, 6, 1);
    end_adding();
    ck_assert(xd_plan_take(plan, 0, 0));
    ck_assert(xd_plan_hold(plan, 1, 0));
    xd_plan_failed(plan, 0, 0, now);
    ck_assert(!xd_plan_take(plan, 2, 0));
    ck_assert(xd_plan_take(plan, 2, 1));
    ck_assert(!xd_plan_take(plan, 0, 1));
    xd_plan_put_off(plan, 2, 1, now);
    ck_assert(!xd_plan_take(plan, 0, 1));
    ck_assert(xd_plan_take(plan, 2, 1));
    xd_plan_failed(plan, 2, 1, now);
    ck_assert(xd_plan_take(plan, 0, 1));
}
END_TEST

START_TEST(they_are_looked_at_again_then)
{
    add(0, 4, 1);
    add(2, 6, 1);
    add(6, 8, 1);
    end_adding();
    for (size_t i = 1; i < N_STORES; i++)
        xd_plan_drop(plan, i);
    ck_assert(xd_plan_take(plan, 1, 0));
    ck_assert_uint_eq(xd_plan_next(plan, 0, now), 2);
    xd_plan_failed(plan, 1, 0, now);
    ck_assert_uint_eq(xd_plan_next(plan, 0, now), 0);
}
END_TEST

START_TEST(extents_that_follow_each_other_have_none_in_common)
{
    add(4, 8, 1);
    add(0, 4, 1);
    end_adding();
    ck_assert_ptr_null(plan->barred);
}
END_TEST

START_TEST(that_is_why_it_is_stuck)
{
    add(0, 4, 1);
    add(2, 6, 1);
    end_adding();
    for (size_t i = 1; i < N_STORES; i++)
        xd_plan_drop(plan, i);
    ck_assert_uint_eq(xd_plan_next(plan, 0, now), 0);
    ck_assert_uint_eq(xd_plan_next(plan, 0, now), XD_PLAN_NONE);
    xd_plan_failed(plan, 0, 0, now);
    ck_assert_uint_eq(xd_plan_next(plan, 0, now), 0);
    xd_plan_done(plan, 0, 0, now);
    ck_assert(xd_plan_is_stuck(plan));
    ck_assert_int_eq(xd_plan_lack(plan), XD_LACK_NEW_STORES);
}
END_TEST

START_TEST(a_host_has_what_its_stores_have_where_one_is_of_a_group)
{
    begin_group();
    add(0, 4, 1);
    xd_plan_end_group(plan);
    add(0, 8, 1);
    add(4, 8, 1);
    end_adding();
    ck_assert(xd_plan_take(plan, 1, 0));
    ck_assert(!xd_plan_take(plan, 0, 1));
    ck_assert(!xd_plan_take(plan, 2, 0));
    ck_assert(xd_plan_take(plan, 2, 1));
    ck_assert(xd_plan_take(plan, 0, 2));
    xd_plan_failed(plan, 1, 0, now);
    ck_assert(!xd_plan_take(plan, 1, 2));
    ck_assert(!xd_plan_take(plan, 1, 1));
    ck_assert(xd_plan_take(plan, 1, 0)); /* its other store has them */
}
END_TEST

START_TEST(a_piece_goes_elsewhere_if_the_host_of_its_shard_has_it)
{
    begin_group();
    xd_plan_use_host(plan, 2, 1);
    xd_plan_begin_shard(plan, 1);
    add(0, 4, 1);
    xd_plan_end_group(plan);
    add(0, 8, 1);
    end_adding();
    ck_assert(!xd_plan_take(plan, 0, 3));
    ck_assert(xd_plan_take(plan, 1, 2));
    ck_assert(!xd_plan_take(plan, 0, 2));
    ck_assert(xd_plan_take(plan, 0, 3));
}
END_TEST

START_TEST(a_copy_more_leaves_no_host_to_a_shard_that_it_has)
{
    begin_group();
    xd_plan_use_host(plan, 0, XD_SHARD_NONE);
    xd_plan_use_host(plan, 2, XD_SHARD_NONE);
    xd_plan_begin_shard(plan, 0);
    add(0, 4, 1);
    xd_plan_begin_more(plan, 2);
    add(6, 8, 1);
    xd_plan_end_group(plan);
    add(0, 6, 1);
    end_adding();
    ck_assert(!xd_plan_may_get(plan, 1, 3));
    ck_assert(xd_plan_take(plan, 2, 3));
    ck_assert(xd_plan_take(plan, 1, 3));
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

/* Each byte is in one or two of these, of which a third is in groups. */
START_TEST(what_stores_may_get_is_summed_up_whatever_happens)
{
    unsigned random = (unsigned)_i + 1;

    begin_group();
    for (unsigned i = 0; i < 5; i++) {
        xd_plan_begin_shard(plan, i / 2);
        add(2 * i, 2 * i + 2, 1);
    }
    xd_plan_end_group(plan);
    for (unsigned i = 0; i < 10; i++)
        add(i, i + 3, 1 + i % 2);
    end_adding();
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

int main(void)
{
    TCase *tcase = tcase_create("plan_apart");

    tcase_add_checked_fixture(tcase, setup, teardown);
    tcase_add_test(tcase, no_store_gets_bytes_that_it_has);
    tcase_add_test(tcase, it_gets_them_once_nothing_of_them_is_there);
    tcase_add_test(tcase, they_are_looked_at_again_then);
    tcase_add_test(tcase, extents_that_follow_each_other_have_none_in_common);
    tcase_add_test(tcase, that_is_why_it_is_stuck);
    tcase_add_test(tcase,
                   a_host_has_what_its_stores_have_where_one_is_of_a_group);
    tcase_add_test(tcase,
                   a_piece_goes_elsewhere_if_the_host_of_its_shard_has_it);
    tcase_add_test(tcase, a_copy_more_leaves_no_host_to_a_shard_that_it_has);
    tcase_add_loop_test(
        tcase, what_stores_may_get_is_summed_up_whatever_happens, 0, 24);
    return run_suite("plan_apart", tcase);
}
