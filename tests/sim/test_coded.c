/* SPDX-License-Identifier: MIT */
/* Files of which each depot has a part: stripes with parity, and copies. */
#include <math.h>
#include <stdio.h>

#include "base/text.h"
#include "sched/policy.h"
#include "sim/run.h"
#include "suite.h"

#define KIB ((uint64_t)1 << 10)
#define MIB ((uint64_t)1 << 20)

#define N_DEPOTS 6
#define N_PAIRS 15

static const struct xd_policy *const policies[] = {
    &xd_policy_adaptive, &xd_policy_progress, &xd_policy_basic,
    &xd_policy_aggressive};

#define N_POLICIES (int)(sizeof policies / sizeof *policies)

/* Unequal: in kbit/s, and ms. */
static const struct line {
    unsigned rate, rtt;
} slow[N_DEPOTS] = {{4000, 20}, {3500, 60},  {3000, 100},
                    {2600, 40}, {2300, 140}, {2000, 80}},
  fast[N_DEPOTS] = {{60000, 12}, {50000, 40}, {40000, 20},
                    {30000, 90}, {25000, 60}, {20000, 30}};

static const struct line *lines;

/* All have the same rate, and none is late. */
static bool are_alike;

static struct xd_sim_options o;
static struct xd_sim_result result;
static double limit;

static void set_up(void)
{
    are_alike = false;
    lines = slow;
    o = (struct xd_sim_options){.sched = {.policy = &xd_policy_adaptive,
                                          .redundancy = 2,
                                          .progress = XD_AUTO,
                                          .lanes_per_depot = 4,
                                          .max_open = 16,
                                          .block_bytes = MIB / 2,
                                          .max_failures = 5,
                                          .patience = 10 * XD_SECOND},
                                .size = 6 * MIB - 1000, /* a short shard */
                                .object_bytes = 128 * KIB,
                                .piece_bytes = 128 * KIB,
                                .code = {4, N_DEPOTS},
                                .seed = 1,
                                .silence = 5 * XD_SECOND};
}

static void tear_down(void)
{
    xd_sim_result_fini(&result);
}

static bool is_in(unsigned set, unsigned depot)
{
    return set >> depot & 1;
}

/* Those of the set are what the word says, from the beginning or at 1 s. */
static void run(unsigned set, const char *word, bool later)
{
    struct xd_text text = {.s = NULL};
    struct xd_error err = {0};
    struct xd_scenario s;

    xd_text_addf(&text, "client rate=1000mbit queue=4m\n");
    for (unsigned i = 0; i < N_DEPOTS; i++) {
        xd_text_addf(&text,
                     "depot d%u 1.1.1.%u rate=%ukbit rtt=%ums queue=512k %s\n",
                     i, i, are_alike ? 3000 : lines[i].rate, lines[i].rtt,
                     is_in(set, i) && !later ? word : "");
        if (is_in(set, i) && later)
            xd_text_addf(&text, "at 1s d%u %s\n", i, word);
    }
    xd_sim_result_fini(&result);
    ck_assert_msg(xd_scenario_parse(&s, text.s, &err) == 0, "%s", err.msg);
    ck_assert_int_eq(xd_sim_limit(&s, &o, &limit), 0);
    ck_assert_int_eq(xd_sim_run(&s, &o, &result), 0);
    ck_assert_msg(result.broken == XD_RULE_NONE, "%s",
                  xd_rule_text(result.broken));
    ck_assert(!result.is_endless);
    xd_scenario_fini(&s);
    xd_text_fini(&text);
}

static unsigned pair(int number)
{
    for (unsigned a = 0; a < N_DEPOTS; a++)
        for (unsigned b = a + 1; b < N_DEPOTS; b++)
            if (number-- == 0)
                return 1u << a | 1u << b;
    return 0;
}

static uint64_t parity(void)
{
    uint64_t bytes = 0;

    for (size_t i = 0; i < result.n_depots; i++)
        bytes += result.depots[i].parity;
    return bytes;
}

static double seconds(void)
{
    return (double)result.took / XD_SECOND;
}

/* In files. */
static double wire(void)
{
    return (double)result.wire / (double)o.size;
}

START_TEST(where_none_is_late_no_parity_is_fetched)
{
    are_alike = true;
    o.sched.policy = policies[_i];
    run(0, "", false);
    ck_assert(result.is_complete);
    ck_assert_uint_eq(parity(), 0);
    for (unsigned i = 0; i < N_DEPOTS; i++)
        ck_assert_uint_gt(result.depots[i].bytes, 0);
}
END_TEST

START_TEST(what_is_late_comes_sooner_as_parity)
{
    double without;

    o.ignores_late = true;
    run(0, "", false);
    ck_assert(result.is_complete);
    ck_assert_uint_eq(parity(), 0);
    without = seconds();
    o.ignores_late = false;
    run(0, "", false);
    ck_assert(result.is_complete);
    ck_assert_uint_gt(parity(), 0);
    ck_assert_double_lt(seconds(), without);
    ck_assert_double_le(wire(), 1.1);
}
END_TEST

START_TEST(any_two_depots_may_be_dead)
{
    o.sched.policy = policies[_i / N_PAIRS];
    o.size = 2 * MIB - 1000; /* they are many */
    run(pair(_i % N_PAIRS), _i % 2 ? "down" : "refuses", false);
    ck_assert(result.is_complete);
    /* Of the third of the data that they have, or of less if they have most of
     * the parity. */
    ck_assert_uint_gt(parity(), o.size / 5);
    ck_assert_uint_lt(parity(), o.size / 2);
}
END_TEST

/* Each of those that are left must bring a quarter: the slowest decides. */
START_TEST(with_two_dead_it_takes_a_tenth_more_than_it_must)
{
    run(pair(_i), "down", false);
    ck_assert(result.is_complete);
    ck_assert_msg(seconds() <= 1.1 * limit, "%.3f s in place of %.3f",
                  seconds(), limit);
    ck_assert_double_ge(seconds(), 0.98 * limit);
    ck_assert_double_le(wire(), 1.1);
}
END_TEST

/* With two connections all the time these take 1.13 and 1.49 of that. */
START_TEST(a_far_depot_is_busy_with_short_objects)
{
    static const unsigned lost[] = {1u | 1u << 5, 1u << 4 | 1u << 5};
    const unsigned seeds = 8;
    double sum = 0;

    lines = fast;
    o.sched.first_lanes = 2;
    o.sched.patience = 120 * XD_SECOND;
    o.sched.lanes_per_depot = 6;
    o.size = 50 * MIB;
    o.object_bytes = o.piece_bytes = 512 * KIB;
    for (o.seed = 1; o.seed <= seeds; o.seed++) {
        run(lost[_i], "down", false);
        ck_assert(result.is_complete);
        sum += seconds() / limit;
    }
    ck_assert_double_lt(sum / seeds, 1.05);
}
END_TEST

START_TEST(any_two_depots_may_die_meanwhile)
{
    o.sched.policy = policies[_i % N_POLICIES];
    run(pair(_i), "down", true);
    ck_assert(result.is_complete);
    ck_assert_uint_gt(parity(), 0);
}
END_TEST

/* Of data, and of parity: each is found, and used no more. */
START_TEST(any_two_depots_may_lie)
{
    const unsigned set = pair(_i);

    o.sched.policy = policies[_i % N_POLICIES];
    run(set, "lies", false);
    ck_assert(result.is_complete);
    ck_assert_uint_gt(parity(), o.size / 5);
    ck_assert_double_le(wire(), 1.3);
    for (unsigned i = 0; i < N_DEPOTS; i++)
        if (is_in(set, i))
            ck_assert_uint_lt(result.depots[i].bytes, o.size / 10);
}
END_TEST

START_TEST(three_dead_depots_are_too_many)
{
    o.sched.policy = policies[_i];
    run(0x15, "refuses", false);
    ck_assert(!result.is_complete);
    ck_assert(isinf(limit));
}
END_TEST

START_TEST(the_same_seed_gives_the_same_run)
{
    struct xd_sim_result first;

    o.seed = (uint64_t)_i + 1;
    run(pair(_i), "down", true);
    first = result;
    result = (struct xd_sim_result){.n_depots = 0};
    run(pair(_i), "down", true);
    ck_assert_uint_eq(first.took, result.took);
    ck_assert_uint_eq(first.wire, result.wire);
    for (unsigned i = 0; i < N_DEPOTS; i++)
        ck_assert_uint_eq(first.depots[i].parity, result.depots[i].parity);
    xd_sim_result_fini(&first);
}
END_TEST

static void with_copies(unsigned n)
{
    o.code = (struct xd_sim_code){.k = 0};
    o.copies = n;
}

/* Of two copies one is on the next depot. */
START_TEST(two_copies_bear_two_dead_depots_unless_these_are_neighbours)
{
    o.sched.policy = policies[_i];
    with_copies(2);
    run(1u << 1 | 1u << 3, "refuses", false);
    ck_assert(result.is_complete);
    /* Objects are few, and of unequal numbers. */
    ck_assert_double_ge(seconds(), 0.98 * limit);
    run(1u << 0 | 1u << 5, "refuses", false);
    ck_assert(!result.is_complete);
    ck_assert(isinf(limit));
}
END_TEST

START_TEST(a_copy_of_a_piece_that_two_depots_delivered_is_compared)
{
    with_copies(3);
    o.piece_bytes = 64 * KIB;
    run(pair(_i), "lies", false);
    ck_assert(result.is_complete);
    ck_assert_double_le(wire(), 1.3);
}
END_TEST

/* Six depots with one copy bring a sixth each, four with parity a quarter. */
/* Pieces of 300 KiB span three shards: which of the depots lies, combinations of their
 * copies show. */
START_TEST(any_two_depots_may_lie_though_pieces_span_shards)
{
    o.piece_bytes = 300 * KIB;
    run(pair(_i), "lies", false);
    ck_assert(result.is_complete);
}
END_TEST

START_TEST(one_depot_of_copies_may_lie_though_pieces_span_objects)
{
    with_copies(2);
    o.piece_bytes = 300 * KIB;
    run(1u << _i, "lies", false);
    ck_assert(result.is_complete);
}
END_TEST

START_TEST(the_limit_is_that_of_the_depot_that_has_to_bring_most)
{
    const double packets = 1500. / 1448, slowest = 2e6 / 8 / packets;
    double once;

    with_copies(1);
    run(0, "", false);
    once = (double)o.size / N_DEPOTS / slowest;
    ck_assert_double_gt(limit, once);
    ck_assert_double_lt(limit, once + 0.5);
    set_up();
    run(1u << 0 | 1u << 1, "down", false);
    once = (double)o.size / 4 / slowest;
    ck_assert_double_gt(limit, once);
    ck_assert_double_lt(limit, once + 0.5);
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("coded");

    tcase_add_checked_fixture(t, set_up, tear_down);
    tcase_set_timeout(t, 120);
    tcase_add_loop_test(t, where_none_is_late_no_parity_is_fetched, 0,
                        N_POLICIES);
    tcase_add_test(t, what_is_late_comes_sooner_as_parity);
    tcase_add_loop_test(t, any_two_depots_may_be_dead, 0, N_POLICIES * N_PAIRS);
    tcase_add_loop_test(t, with_two_dead_it_takes_a_tenth_more_than_it_must, 0,
                        N_PAIRS);
    tcase_add_loop_test(t, a_far_depot_is_busy_with_short_objects, 0, 2);
    tcase_add_loop_test(t, any_two_depots_may_die_meanwhile, 0, N_PAIRS);
    tcase_add_loop_test(t, any_two_depots_may_lie, 0, N_PAIRS);
    tcase_add_loop_test(t, three_dead_depots_are_too_many, 0, N_POLICIES);
    tcase_add_loop_test(t, the_same_seed_gives_the_same_run, 0, 4);
    tcase_add_loop_test(
        t, two_copies_bear_two_dead_depots_unless_these_are_neighbours, 0,
        N_POLICIES);
    tcase_add_loop_test(
        t, a_copy_of_a_piece_that_two_depots_delivered_is_compared, 0, N_PAIRS);
    tcase_add_loop_test(t, any_two_depots_may_lie_though_pieces_span_shards, 0,
                        N_PAIRS);
    tcase_add_loop_test(
        t, one_depot_of_copies_may_lie_though_pieces_span_objects, 0, N_DEPOTS);
    tcase_add_test(t, the_limit_is_that_of_the_depot_that_has_to_bring_most);
    return run_suite("sim.coded", t);
}
