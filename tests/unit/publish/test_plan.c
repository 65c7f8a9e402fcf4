/* SPDX-License-Identifier: MIT */
/* Which extent goes to which store: in virtual time, with stores of which each
 * takes so many bytes per second. */
#include "publish/plan.h"

#include "publish/plan_state.h"
#include "suite.h"

#define MIB ((uint64_t)1 << 20)
#define STORES_MAX 6

/* A step of virtual time. */
#define STEP (10 * XD_MS)

static struct xd_plan *plan;
static struct xd_error err;
static xd_usec now;

/* What is under way to a store. */
static struct sending {
    size_t extent;
    double left; /* bytes */
} sending[STORES_MAX];

static void begin(size_t n_stores, bool stripes, size_t n_extents,
                  unsigned wanted)
{
    ck_assert_int_eq(xd_plan_new(&plan, n_stores, stripes, &err), 0);
    for (size_t i = 0; i < n_extents; i++)
        ck_assert_int_eq(xd_plan_add(plan,
                                     (struct xd_range){i * MIB, (i + 1) * MIB},
                                     wanted, &err),
                         0);
    xd_plan_ready(plan, n_extents);
    for (size_t i = 0; i < STORES_MAX; i++)
        sending[i].extent = XD_PLAN_NONE;
}

static void setup(void)
{
    plan = NULL;
    now = XD_SECOND;
}

static void teardown(void)
{
    xd_plan_free(plan);
}

/* One store sends what it can within a step. */
static void send(size_t store, double rate)
{
    struct sending *s = &sending[store];
    double room = rate * (double)STEP / (double)XD_SECOND;

    while (room > 0) {
        if (s->extent == XD_PLAN_NONE) {
            s->extent = xd_plan_next(plan, store, now);
            if (s->extent == XD_PLAN_NONE)
                return;
            s->left = (double)MIB;
        }
        const double bytes = s->left < room ? s->left : room;
        xd_plan_sent(plan, store, (uint64_t)(bytes + 0.5), now);
        s->left -= bytes;
        room -= bytes;
        if (s->left > 0)
            return;
        xd_plan_done(plan, s->extent, store, now);
        s->extent = XD_PLAN_NONE;
    }
}

/* Seconds until all copies are there. */
static double run(size_t n_stores, const double *rates)
{
    const xd_usec began = now;

    while (xd_plan_missing(plan) > 0) {
        ck_assert_uint_lt(now, began + 100000 * XD_SECOND);
        now += STEP;
        for (size_t i = 0; i < n_stores; i++)
            send(i, rates[i]);
    }
    return (double)(now - began) / (double)XD_SECOND;
}

START_TEST(whole_copies_go_to_the_first_stores_in_order)
{
    begin(3, false, 2, 2);
    ck_assert_uint_eq(xd_plan_next(plan, 0, now), 0);
    ck_assert_uint_eq(xd_plan_next(plan, 0, now), 1);
    ck_assert_uint_eq(xd_plan_next(plan, 0, now), XD_PLAN_NONE);
    ck_assert_uint_eq(xd_plan_next(plan, 1, now), 0);
    ck_assert_uint_eq(xd_plan_next(plan, 2, now), XD_PLAN_NONE);
}
END_TEST

START_TEST(a_store_that_stands_by_takes_what_a_dropped_one_has_not)
{
    begin(2, false, 3, 1);
    ck_assert_uint_eq(xd_plan_next(plan, 0, now), 0);
    xd_plan_done(plan, 0, 0, now);
    ck_assert_uint_eq(xd_plan_next(plan, 0, now), 1);
    xd_plan_failed(plan, 1, 0, now);
    xd_plan_drop(plan, 0);
    ck_assert_uint_eq(xd_plan_next(plan, 0, now), XD_PLAN_NONE);
    ck_assert_uint_eq(xd_plan_next(plan, 1, now), 1);
    ck_assert_uint_eq(xd_plan_next(plan, 1, now), 2);
    ck_assert_uint_eq(xd_plan_next(plan, 1, now), XD_PLAN_NONE);
    ck_assert_uint_eq(xd_plan_missing(plan), 2);
}
END_TEST

START_TEST(a_store_can_be_done_without_where_others_may_get_the_copies)
{
    begin(3, false, 2, 2);
    ck_assert_uint_eq(xd_plan_next(plan, 0, now), 0);
    ck_assert_uint_eq(xd_plan_next(plan, 1, now), 0);
    xd_plan_failed(plan, 0, 0, now);
    ck_assert(xd_plan_can_do_without(plan, 0, 0)); /* store 2 stands by */
    xd_plan_done(plan, 0, 1, now);
    ck_assert(xd_plan_can_do_without(plan, 0, 0));
    xd_plan_drop(plan, 2);
    ck_assert(!xd_plan_can_do_without(plan, 0, 0));
    ck_assert(!xd_plan_can_do_without(plan, 1, 0));
}
END_TEST

START_TEST(a_store_that_must_not_get_an_extent_leaves_it_to_the_next)
{
    begin(3, false, 2, 1);
    xd_plan_forbid(plan, 0, 0);
    ck_assert_uint_eq(xd_plan_next(plan, 2, now), XD_PLAN_NONE);
    ck_assert_uint_eq(xd_plan_next(plan, 1, now), 0);
    ck_assert_uint_eq(xd_plan_next(plan, 1, now), XD_PLAN_NONE);
    ck_assert_uint_eq(xd_plan_next(plan, 0, now), 1);
}
END_TEST

START_TEST(no_store_gets_two_copies_of_an_extent)
{
    begin(2, true, 1, 2);
    ck_assert_uint_eq(xd_plan_next(plan, 0, now), 0);
    ck_assert_uint_eq(xd_plan_next(plan, 0, now), XD_PLAN_NONE);
    xd_plan_done(plan, 0, 0, now);
    ck_assert_uint_eq(xd_plan_next(plan, 0, now), XD_PLAN_NONE);
    ck_assert_uint_eq(xd_plan_next(plan, 1, now), 0);
}
END_TEST

START_TEST(what_is_held_or_forbidden_is_not_sent)
{
    begin(2, true, 2, 1);
    xd_plan_hold(plan, 0, 1);
    xd_plan_forbid(plan, 1, 0);
    ck_assert_uint_eq(xd_plan_missing(plan), 1);
    ck_assert_uint_eq(xd_plan_next(plan, 0, now), XD_PLAN_NONE);
    ck_assert_uint_eq(xd_plan_next(plan, 1, now), 1);
    xd_plan_done(plan, 1, 1, now);
    ck_assert_uint_eq(xd_plan_missing(plan), 0);
    ck_assert(!xd_plan_is_stuck(plan));
}
END_TEST

/* As where a copy more is there than is wanted. */
START_TEST(more_copies_than_are_wanted_are_not_missing)
{
    begin(3, true, 1, 1);
    xd_plan_hold(plan, 0, 0);
    xd_plan_hold(plan, 0, 1);
    ck_assert_uint_eq(xd_plan_missing(plan), 0);
    ck_assert_uint_eq(xd_plan_next(plan, 2, now), XD_PLAN_NONE);
}
END_TEST

static size_t find(uint64_t begin, uint64_t end)
{
    return xd_plan_find(plan, (struct xd_range){begin, end});
}

START_TEST(an_extent_is_found_by_its_bytes)
{
    begin(1, true, 3, 1);
    ck_assert_int_eq(xd_plan_sort(plan, &err), 0);
    ck_assert_uint_eq(find(0, MIB), 0);
    ck_assert_uint_eq(find(2 * MIB, 3 * MIB), 2);
    ck_assert_uint_eq(find(0, MIB - 1), XD_PLAN_NONE);
    ck_assert_uint_eq(find(0, 0), XD_PLAN_NONE);
    ck_assert_uint_eq(find(MIB + 1, 2 * MIB), XD_PLAN_NONE);
    ck_assert_uint_eq(find(3 * MIB, 4 * MIB), XD_PLAN_NONE);
}
END_TEST

static size_t begun(uint64_t begin, uint64_t end, size_t store)
{
    return xd_plan_find_begun(plan, (struct xd_range){begin, end}, store);
}

START_TEST(what_was_begun_is_found_by_its_bytes_or_the_first)
{
    static const struct xd_range ranges[] = {
        {0, 20}, {0, 30}, {0, 30}, {5, 40}, {50, 60}};

    begin(2, true, 0, 1);
    for (size_t i = 0; i < 5; i++)
        ck_assert_int_eq(xd_plan_add(plan, ranges[i], 1, &err), 0);
    xd_plan_forbid(plan, 4, 1);
    ck_assert_int_eq(xd_plan_sort(plan, &err), 0);
    ck_assert_uint_eq(begun(0, 30, 0), 1);
    ck_assert_uint_eq(begun(0, 20, 0), 0);
    ck_assert_uint_eq(begun(0, 25, 0), 0);
    ck_assert_uint_eq(begun(0, 0, 0), 0);
    ck_assert_uint_eq(begun(5, 5, 0), 3);
    ck_assert_uint_eq(begun(6, 40, 0), XD_PLAN_NONE);
    ck_assert_uint_eq(begun(50, 60, 0), 4);
    ck_assert_uint_eq(begun(50, 60, 1), XD_PLAN_NONE);
    /* Of two that are alike one is under way, or put off, at the other store. */
    ck_assert(xd_plan_take(plan, 1, 0));
    ck_assert_uint_eq(begun(0, 30, 1), 2);
    ck_assert_uint_eq(begun(0, 30, 0), XD_PLAN_NONE);
    xd_plan_put_off(plan, 1, 0, now);
    ck_assert_uint_eq(begun(0, 30, 0), 1);
}
END_TEST

START_TEST(extents_are_sorted_whatever_order_they_came_in)
{
    static const struct xd_range ranges[] = {
        {30, 40}, {10, 20}, {30, 35}, {0, 50}};
    static const size_t sorted[] = {3, 1, 0, 2};

    begin(1, true, 0, 1);
    for (size_t i = 0; i < 4; i++)
        ck_assert_int_eq(xd_plan_add(plan, ranges[i], 1, &err), 0);
    ck_assert_int_eq(xd_plan_sort(plan, &err), 0);
    for (size_t i = 0; i < 4; i++)
        ck_assert_uint_eq(xd_plan_sorted(plan, i), sorted[i]);
    ck_assert_uint_eq(find(30, 40), 0);
    ck_assert_uint_eq(find(10, 20), 1);
    ck_assert_uint_eq(find(30, 35), 2);
    ck_assert_uint_eq(find(30, 36), XD_PLAN_NONE);
    ck_assert_uint_eq(find(20, 30), XD_PLAN_NONE);
}
END_TEST

START_TEST(what_an_earlier_run_has_begun_is_under_way)
{
    begin(2, true, 1, 1);
    ck_assert(xd_plan_take(plan, 0, 1));
    ck_assert(!xd_plan_take(plan, 0, 0));
    ck_assert(!xd_plan_take(plan, XD_PLAN_NONE, 0));
    ck_assert_uint_eq(xd_plan_next(plan, 0, now), XD_PLAN_NONE);
    xd_plan_done(plan, 0, 1, now);
    ck_assert_uint_eq(xd_plan_missing(plan), 0);
}
END_TEST

START_TEST(what_is_put_off_is_a_copy_that_is_not_under_way)
{
    begin(2, true, 2, 1);
    ck_assert(xd_plan_take(plan, 0, 1));
    ck_assert(!xd_plan_is_put_off(plan, 0, 1));
    xd_plan_put_off(plan, 0, 1, now);
    ck_assert(xd_plan_is_put_off(plan, 0, 1));
    ck_assert(!xd_plan_is_put_off(plan, 0, 0));
    ck_assert(!xd_plan_is_put_off(plan, XD_PLAN_NONE, 1));
    ck_assert_uint_eq(xd_plan_left(plan, 1, now), 0);
    ck_assert(!xd_plan_take(plan, 0, 0));
    ck_assert_uint_eq(xd_plan_next(plan, 1, now), 1);
    xd_plan_done(plan, 1, 1, now);
    xd_plan_drop(plan, 0);
    xd_plan_drop(plan, 1);
    ck_assert(!xd_plan_is_stuck(plan));
    ck_assert(xd_plan_take(plan, 0, 1));
    ck_assert(!xd_plan_is_put_off(plan, 0, 1));
    xd_plan_failed(plan, 0, 1, now);
    ck_assert_uint_eq(xd_plan_missing(plan), 1);
    ck_assert(xd_plan_is_stuck(plan));
}
END_TEST

START_TEST(only_what_is_ready_is_sent)
{
    begin(1, true, 2, 1);
    xd_plan_ready(plan, 1);
    ck_assert(xd_plan_is_ready(plan, 0) && !xd_plan_is_ready(plan, 1));
    ck_assert_uint_eq(xd_plan_next(plan, 0, now), 0);
    ck_assert_uint_eq(xd_plan_next(plan, 0, now), XD_PLAN_NONE);
    xd_plan_ready(plan, 2);
    ck_assert_uint_eq(xd_plan_next(plan, 0, now), 1);
}
END_TEST

START_TEST(it_is_stuck_when_no_store_may_get_what_is_missing)
{
    begin(2, true, 1, 2);
    ck_assert(!xd_plan_is_stuck(plan));
    ck_assert_uint_eq(xd_plan_next(plan, 0, now), 0);
    xd_plan_drop(plan, 1);
    ck_assert(!xd_plan_is_stuck(plan));
    xd_plan_done(plan, 0, 0, now);
    ck_assert(xd_plan_is_stuck(plan));
    ck_assert(xd_plan_is_dropped(plan, 1) && !xd_plan_is_dropped(plan, 0));
}
END_TEST

START_TEST(what_has_failed_is_sent_again)
{
    begin(2, true, 1, 1);
    ck_assert_uint_eq(xd_plan_next(plan, 0, now), 0);
    ck_assert_uint_eq(xd_plan_next(plan, 1, now), XD_PLAN_NONE);
    xd_plan_failed(plan, 0, 0, now);
    ck_assert_uint_eq(xd_plan_next(plan, 1, now), 0);
}
END_TEST

START_TEST(what_is_left_to_send_is_known_by_the_rate)
{
    begin(1, true, 1, 1);
    ck_assert_uint_eq(xd_plan_left(plan, 0, now), 0);
    ck_assert_uint_eq(xd_plan_next(plan, 0, now), 0);
    ck_assert_uint_eq(xd_plan_left(plan, 0, now), XD_NEVER);
    for (int i = 0; i < 4; i++, now += XD_SECOND / 4)
        xd_plan_sent(plan, 0, MIB / 8, now);
    ck_assert_uint_ge(xd_plan_left(plan, 0, now), XD_SECOND / 2);
    ck_assert_uint_le(xd_plan_left(plan, 0, now), 3 * XD_SECOND / 2);
    xd_plan_sent(plan, 0, MIB / 2, now);
    ck_assert_uint_eq(xd_plan_left(plan, 0, now), 0);
}
END_TEST

/* The least time: of all stores together, where none has to hold more than all of
 * it. */
START_TEST(stores_of_unequal_rates_end_together)
{
    static const double rates[][4] = {{4e6, 3e6, 2e6, 1e6},
                                      {1e6, 2e6, 3e6, 4e6},
                                      {5e6, 5e6, 5e6, .2e6},
                                      {2e6, 2e6, 2e6, 2e6}};

    for (size_t i = 0; i < sizeof rates / sizeof *rates; i++) {
        double all = 0;

        for (size_t k = 0; k < 4; k++)
            all += rates[i][k];
        begin(4, true, 64, 2);
        const double least = 2 * 64 * (double)MIB / all;
        const double took = run(4, rates[i]);
        ck_assert_msg(took <= 1.05 * least, "%zu: %.2f of %.2f s", i, took,
                      least);
        xd_plan_free(plan);
    }
    plan = NULL;
}
END_TEST

/* The fast one has to hold all of it, and the others share the second copy. */
START_TEST(a_fast_store_gets_every_extent_once)
{
    const double rates[] = {20e6, 1e6, 1e6, 1e6};

    begin(4, true, 60, 2);
    const double least = 60 * (double)MIB / 3e6, took = run(4, rates);
    ck_assert_msg(took <= 1.05 * least, "%.2f of %.2f s", took, least);
}
END_TEST

/* It has all of it long before the end, and is not waited for then. */
START_TEST(stores_go_on_when_a_fast_one_has_all)
{
    const double rates[] = {1.5e6, .5e6, .3125e6, .1875e6};

    begin(4, true, 64, 2);
    const double least = 64 * (double)MIB / 1e6, took = run(4, rates);
    ck_assert_msg(took <= 1.03 * least, "%.3f of %.2f s", took / least, least);
}
END_TEST

/* Also where it could send little more than all of it in that time. */
START_TEST(what_a_fast_store_has_not_is_left_to_it)
{
    const double rates[] = {3e6, 3e6, 3e6, 11e6};

    begin(4, true, 64, 2);
    const double least = 64 * (double)MIB / 9e6, took = run(4, rates);
    ck_assert_msg(took <= 1.05 * least, "%.2f of %.2f s", took, least);
}
END_TEST

/* A store that waited for others to end is not slow for that. */
START_TEST(a_store_that_has_waited_has_the_rate_that_it_had)
{
    const double rates[] = {8e6, .1e6};

    begin(2, true, 16, 1);
    (void)run(2, rates);
    ck_assert_int_eq(
        xd_plan_add(plan, (struct xd_range){16 * MIB, 17 * MIB}, 1, &err), 0);
    xd_plan_ready(plan, 17);
    now += 60 * XD_SECOND;
    ck_assert_uint_eq(xd_plan_next(plan, 1, now), XD_PLAN_NONE);
    ck_assert_uint_eq(xd_plan_next(plan, 0, now), 16);
}
END_TEST

/* It takes what it would be late with, if nobody else can. */
START_TEST(a_slow_store_takes_what_is_left_when_others_fail)
{
    const double rates[] = {8e6, .1e6};

    begin(2, true, 16, 1);
    (void)run(2, rates);
    ck_assert_int_eq(
        xd_plan_add(plan, (struct xd_range){16 * MIB, 17 * MIB}, 1, &err), 0);
    xd_plan_ready(plan, 17);
    xd_plan_drop(plan, 0);
    ck_assert_uint_eq(xd_plan_next(plan, 1, now), 16);
}
END_TEST

/* ---- groups ---- */

/* Groups of `n` extents each, and so many hosts, of which the last has two stores. */
static void begin_groups(size_t n_groups, size_t n, size_t n_hosts)
{
    size_t hosts[STORES_MAX];

    begin(n_hosts + 1, true, 0, 1);
    for (size_t i = 0; i < n_hosts + 1; i++)
        hosts[i] = i < n_hosts ? i : n_hosts - 1;
    ck_assert_int_eq(xd_plan_set_hosts(plan, hosts, &err), 0);
    for (size_t g = 0; g < n_groups; g++) {
        ck_assert_int_eq(xd_plan_begin_group(plan, &err), 0);
        for (size_t i = g * n; i < (g + 1) * n; i++)
            ck_assert_int_eq(
                xd_plan_add(plan, (struct xd_range){i * MIB, (i + 1) * MIB}, 1,
                            &err),
                0);
    }
    xd_plan_ready(plan, n_groups * n);
}

START_TEST(no_host_gets_two_extents_of_a_group)
{
    begin_groups(1, 3, 2);
    ck_assert_uint_eq(xd_plan_n_hosts(plan), 2);
    ck_assert_uint_eq(xd_plan_next(plan, 0, now), 0);
    ck_assert_uint_eq(xd_plan_n_hosts(plan), 1);
    ck_assert_uint_eq(xd_plan_next(plan, 0, now), XD_PLAN_NONE);
    ck_assert_uint_eq(xd_plan_next(plan, 1, now), 1);
    ck_assert_uint_eq(xd_plan_next(plan, 2, now), XD_PLAN_NONE);
    ck_assert(!xd_plan_take(plan, 2, 2));
    ck_assert(!xd_plan_is_stuck(plan));
    xd_plan_done(plan, 0, 0, now);
    ck_assert(!xd_plan_is_stuck(plan));
    xd_plan_done(plan, 1, 1, now);
    ck_assert(xd_plan_is_stuck(plan));
    ck_assert_uint_eq(xd_plan_next(plan, 0, now), XD_PLAN_NONE);
}
END_TEST

START_TEST(an_extent_that_has_failed_leaves_its_host_free)
{
    begin_groups(1, 2, 2);
    ck_assert_uint_eq(xd_plan_next(plan, 1, now), 0);
    xd_plan_failed(plan, 0, 1, now);
    ck_assert_uint_eq(xd_plan_next(plan, 2, now), 0);
    ck_assert_uint_eq(xd_plan_next(plan, 1, now), XD_PLAN_NONE);
    ck_assert_uint_eq(xd_plan_next(plan, 0, now), 1);
}
END_TEST

START_TEST(one_that_is_held_or_put_off_uses_its_host)
{
    begin_groups(1, 3, 3);
    ck_assert(xd_plan_hold(plan, 1, 0));
    ck_assert(!xd_plan_take(plan, 0, 0));
    ck_assert(xd_plan_take(plan, 0, 2));
    xd_plan_put_off(plan, 0, 2, now);
    ck_assert(!xd_plan_take(plan, 2, 3));
    ck_assert(!xd_plan_is_stuck(plan));
    ck_assert(xd_plan_take(plan, 0, 2));
    xd_plan_done(plan, 0, 2, now);
    ck_assert(!xd_plan_take(plan, 2, 3));
    ck_assert(xd_plan_take(plan, 2, 1));
    xd_plan_done(plan, 2, 1, now);
    ck_assert_uint_eq(xd_plan_missing(plan), 0);
}
END_TEST

START_TEST(a_host_that_is_forbidden_gets_none_of_that_group)
{
    begin_groups(2, 1, 2);
    ck_assert_int_eq(xd_plan_begin_group(plan, &err), 0);
    xd_plan_use_host(plan, 1, XD_SHARD_NONE);
    ck_assert_uint_eq(xd_plan_n_hosts(plan), 1);
    ck_assert_int_eq(xd_plan_add(plan, (struct xd_range){90, 91}, 1, &err), 0);
    xd_plan_end_group(plan);
    ck_assert_int_eq(xd_plan_add(plan, (struct xd_range){91, 92}, 1, &err), 0);
    xd_plan_ready(plan, 4);
    ck_assert(!xd_plan_take(plan, 2, 1));
    ck_assert(xd_plan_take(plan, 1, 1));
    ck_assert(xd_plan_take(plan, 3, 1));
    ck_assert(xd_plan_take(plan, 2, 0));
}
END_TEST

/* ---- pieces ---- */

/* A group of shards 0 and 1, of `n` pieces each, on hosts of one store each, of which
 * the last has some of a shard already. */
static void begin_pieces(size_t n, unsigned wanted, size_t n_hosts,
                         unsigned used)
{
    size_t hosts[STORES_MAX];

    begin(n_hosts, true, 0, 1);
    for (size_t i = 0; i < n_hosts; i++)
        hosts[i] = i;
    ck_assert_int_eq(xd_plan_set_hosts(plan, hosts, &err), 0);
    ck_assert_int_eq(xd_plan_begin_group(plan, &err), 0);
    xd_plan_use_host(plan, n_hosts - 1, used);
    for (size_t i = 0; i < 2 * n; i++) {
        xd_plan_begin_shard(plan, (unsigned)(i / n));
        ck_assert_int_eq(xd_plan_add(plan,
                                     (struct xd_range){i * MIB, (i + 1) * MIB},
                                     wanted, &err),
                         0);
    }
    xd_plan_ready(plan, 2 * n);
}

START_TEST(pieces_of_a_shard_go_to_one_host)
{
    begin_pieces(2, 1, 3, XD_SHARD_NONE);
    ck_assert_uint_eq(xd_plan_n_hosts(plan), 2);
    ck_assert(!xd_plan_take(plan, 0, 2));
    ck_assert(xd_plan_take(plan, 0, 0));
    ck_assert(!xd_plan_take(plan, 1, 1)); /* shard 1 would have no host */
    ck_assert(!xd_plan_take(plan, 2, 0));
    ck_assert_uint_eq(xd_plan_next(plan, 1, now), 2);
    ck_assert(!xd_plan_take(plan, 3, 0));
    ck_assert_uint_eq(xd_plan_next(plan, 1, now), 3);
    ck_assert_uint_eq(xd_plan_next(plan, 0, now), 1);
    ck_assert_uint_eq(xd_plan_next(plan, 0, now), XD_PLAN_NONE);
}
END_TEST

START_TEST(a_piece_goes_to_another_host_if_that_of_its_shard_is_dropped)
{
    begin_pieces(2, 1, 4, XD_SHARD_NONE);
    ck_assert(xd_plan_take(plan, 0, 0));
    xd_plan_done(plan, 0, 0, now);
    ck_assert(!xd_plan_take(plan, 1, 1));
    xd_plan_drop(plan, 0);
    ck_assert(xd_plan_take(plan, 1, 1));
    ck_assert(!xd_plan_take(plan, 2, 1));
    xd_plan_failed(plan, 1, 1, now);
    ck_assert(xd_plan_take(plan, 2, 1)); /* it has nothing now */
}
END_TEST

START_TEST(a_host_gets_more_of_the_shard_that_it_has)
{
    begin_pieces(1, 1, 2, 1);
    ck_assert(!xd_plan_take(plan, 1, 0)); /* shard 0 would have no host */
    ck_assert(!xd_plan_take(plan, 0, 1));
    ck_assert_uint_eq(xd_plan_next(plan, 1, now), 1);
    ck_assert_uint_eq(xd_plan_next(plan, 0, now), 0);
}
END_TEST

START_TEST(two_copies_of_a_piece_take_two_hosts)
{
    begin_pieces(2, 2, 5, XD_SHARD_NONE);
    ck_assert(xd_plan_take(plan, 0, 0));
    ck_assert(!xd_plan_take(plan, 0, 0));
    ck_assert(xd_plan_take(plan, 0, 1));
    ck_assert(!xd_plan_take(plan, 1, 2));
    ck_assert(xd_plan_take(plan, 1, 1));
    ck_assert(xd_plan_take(plan, 1, 0));
    ck_assert(xd_plan_take(plan, 2, 2));
    ck_assert(xd_plan_take(plan, 2, 3));
}
END_TEST

START_TEST(a_host_that_must_not_get_a_piece_is_passed_over)
{
    begin_pieces(1, 1, 3, 0);
    xd_plan_forbid(plan, 0, 2);
    ck_assert(!xd_plan_take(plan, 0, 2));
    ck_assert(xd_plan_take(plan, 0, 0));
}
END_TEST

/* Each of them has to take one extent of each group. */
START_TEST(a_slow_host_does_its_part_from_the_beginning)
{
    const double rates[] = {10e6, 10e6, 1e6, 0};

    begin_groups(20, 3, 3);
    ck_assert_double_le(run(4, rates), 20 * (double)MIB / 1e6 + 0.5);
}
END_TEST

START_TEST(a_slow_host_does_less_where_others_can)
{
    const double rates[] = {10e6, 10e6, 10e6, 1e6, 0};

    begin_groups(20, 3, 4);
    ck_assert_double_le(run(5, rates), 10 * (double)MIB / 1e6);
}
END_TEST

START_TEST(a_store_that_is_dropped_is_no_host)
{
    begin_groups(1, 2, 2);
    xd_plan_drop(plan, 1);
    ck_assert_uint_eq(xd_plan_n_hosts(plan), 2);
    xd_plan_drop(plan, 2);
    ck_assert_uint_eq(xd_plan_n_hosts(plan), 1);
}
END_TEST

/* More groups than are looked at at a time, each of an extent more than there are
 * hosts: those of which one waits for ever keep none from being sent. */
START_TEST(it_is_stuck_once_all_is_sent_that_can_be)
{
    size_t n = 0;

    begin_groups(1200, 3, 2);
    for (size_t i, store; n < 4000; n++) {
        store = n % 3;
        i = xd_plan_next(plan, store, now);
        if (i == XD_PLAN_NONE && xd_plan_is_stuck(plan))
            break;
        if (i != XD_PLAN_NONE)
            xd_plan_done(plan, i, store, now);
    }
    ck_assert_uint_eq(xd_plan_missing(plan), 1200);
}
END_TEST

START_TEST(what_is_lacking_is_a_store_or_a_host)
{
    begin_groups(2, 1, 1); /* of which one host has two stores */
    for (size_t store = 0; store < 2; store++)
        ck_assert(xd_plan_hold(plan, 0, store));
    xd_plan_forbid(plan, 1, 0);
    xd_plan_forbid(plan, 1, 1);
    ck_assert(xd_plan_is_stuck(plan));
    ck_assert_int_eq(xd_plan_lack(plan), XD_LACK_NEW_STORES);
}
END_TEST

START_TEST(it_may_be_a_host_alone)
{
    begin_groups(1, 2, 1);
    ck_assert(xd_plan_hold(plan, 0, 0));
    ck_assert(xd_plan_is_stuck(plan));
    ck_assert_int_eq(xd_plan_lack(plan), XD_LACK_NEW_HOSTS);
    xd_plan_forbid(plan, 1, 1);
    ck_assert_int_eq(xd_plan_lack(plan), XD_LACK_BOTH);
    xd_plan_drop(plan, 1);
    ck_assert_int_eq(xd_plan_lack(plan), XD_LACK_NEW_HOSTS);
    xd_plan_drop(plan, 0);
    ck_assert_int_eq(xd_plan_lack(plan), XD_LACK_NEW_STORES);
}
END_TEST

START_TEST(what_else_its_host_has_may_keep_a_store_from_an_extent)
{
    for (int stripes = 0; stripes < 2; stripes++) {
        begin(3, stripes, 1, 1);
        xd_plan_keep_apart(plan, 0, 0);
        ck_assert_uint_eq(xd_plan_next(plan, 0, 0), XD_PLAN_NONE);
        xd_plan_forbid(plan, 0, 0); /* that it has it as well is nothing new */
        xd_plan_keep_apart(plan, 0, 1);
        ck_assert(!xd_plan_is_stuck(plan));
        xd_plan_drop(plan, 2);
        ck_assert(xd_plan_is_stuck(plan));
        ck_assert_int_eq(xd_plan_lack(plan), XD_LACK_NEW_HOSTS);
        xd_plan_free(plan);
        begin(3, stripes, 1, 1);
        xd_plan_keep_apart(plan, 0, 0);
        xd_plan_forbid(plan, 0, 1);
        ck_assert_uint_eq(xd_plan_next(plan, 2, 0), 0);
        xd_plan_failed(plan, 0, 2, 0);
        xd_plan_drop(plan, 2);
        ck_assert_int_eq(xd_plan_lack(plan), XD_LACK_BOTH);
        xd_plan_free(plan);
        plan = NULL;
    }
}
END_TEST

int main(void)
{
    TCase *tcase = tcase_create("plan");

    tcase_add_checked_fixture(tcase, setup, teardown);
    tcase_add_test(tcase, whole_copies_go_to_the_first_stores_in_order);
    tcase_add_test(tcase,
                   a_store_that_stands_by_takes_what_a_dropped_one_has_not);
    tcase_add_test(tcase,
                   a_store_can_be_done_without_where_others_may_get_the_copies);
    tcase_add_test(tcase,
                   a_store_that_must_not_get_an_extent_leaves_it_to_the_next);
    tcase_add_test(tcase, no_store_gets_two_copies_of_an_extent);
    tcase_add_test(tcase, what_is_held_or_forbidden_is_not_sent);
    tcase_add_test(tcase, more_copies_than_are_wanted_are_not_missing);
    tcase_add_test(tcase, an_extent_is_found_by_its_bytes);
    tcase_add_test(tcase, what_was_begun_is_found_by_its_bytes_or_the_first);
    tcase_add_test(tcase, extents_are_sorted_whatever_order_they_came_in);
    tcase_add_test(tcase, what_an_earlier_run_has_begun_is_under_way);
    tcase_add_test(tcase, what_is_put_off_is_a_copy_that_is_not_under_way);
    tcase_add_test(tcase, only_what_is_ready_is_sent);
    tcase_add_test(tcase, it_is_stuck_when_no_store_may_get_what_is_missing);
    tcase_add_test(tcase, what_has_failed_is_sent_again);
    tcase_add_test(tcase, what_is_left_to_send_is_known_by_the_rate);
    tcase_add_test(tcase, stores_of_unequal_rates_end_together);
    tcase_add_test(tcase, a_fast_store_gets_every_extent_once);
    tcase_add_test(tcase, stores_go_on_when_a_fast_one_has_all);
    tcase_add_test(tcase, what_a_fast_store_has_not_is_left_to_it);
    tcase_add_test(tcase, a_store_that_has_waited_has_the_rate_that_it_had);
    tcase_add_test(tcase, a_slow_store_takes_what_is_left_when_others_fail);
    tcase_add_test(tcase, no_host_gets_two_extents_of_a_group);
    tcase_add_test(tcase, an_extent_that_has_failed_leaves_its_host_free);
    tcase_add_test(tcase, one_that_is_held_or_put_off_uses_its_host);
    tcase_add_test(tcase, a_host_that_is_forbidden_gets_none_of_that_group);
    tcase_add_test(tcase, pieces_of_a_shard_go_to_one_host);
    tcase_add_test(
        tcase, a_piece_goes_to_another_host_if_that_of_its_shard_is_dropped);
    tcase_add_test(tcase, a_host_gets_more_of_the_shard_that_it_has);
    tcase_add_test(tcase, two_copies_of_a_piece_take_two_hosts);
    tcase_add_test(tcase, a_host_that_must_not_get_a_piece_is_passed_over);
    tcase_add_test(tcase, a_slow_host_does_its_part_from_the_beginning);
    tcase_add_test(tcase, a_slow_host_does_less_where_others_can);
    tcase_add_test(tcase, a_store_that_is_dropped_is_no_host);
    tcase_add_test(tcase, it_is_stuck_once_all_is_sent_that_can_be);
    tcase_add_test(tcase, what_is_lacking_is_a_store_or_a_host);
    tcase_add_test(tcase, it_may_be_a_host_alone);
    tcase_add_test(tcase,
                   what_else_its_host_has_may_keep_a_store_from_an_extent);
    return run_suite("plan", tcase);
}
