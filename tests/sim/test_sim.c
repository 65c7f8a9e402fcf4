/* SPDX-License-Identifier: MIT */
/* Whole downloads of any kind, and a few of a kind that matters. */
#include <inttypes.h>

#include "cases.h"
#include "sim.h"
#include "suite.h"

/* For each policy. */
#define SEEDS ((uint64_t)sim_cases(800, 2500))

static bool run(const struct sim_scenario *sc, uint64_t seed)
{
    struct sim_outcome outcome = sim_run(sc);

    ck_assert_msg(outcome.broken == XD_RULE_NONE,
                  "seed %" PRIu64 " breaks at %" PRIu64 " us the rule \"%s\"",
                  seed, outcome.took, xd_rule_text(outcome.broken));
    ck_assert_msg(!outcome.is_endless, "seed %" PRIu64 " never ends", seed);
    return outcome.is_complete;
}

/* Whether it could be completed. */
static bool run_seed(const struct xd_policy *policy, uint64_t seed)
{
    static struct sim_scenario sc;

    sim_scenario_from_seed(&sc, seed, policy);
    return run(&sc, seed);
}

static void run_joining(const struct xd_policy *policy, uint64_t seed)
{
    static struct sim_scenario sc;

    sim_scenario_joining(&sc, seed, policy);
    (void)run(&sc, seed);
}

static void run_tiered(const struct xd_policy *policy, uint64_t seed)
{
    static struct sim_scenario sc;

    sim_scenario_tiered(&sc, seed, policy);
    (void)run(&sc, seed);
}

static void run_seeds(const struct xd_policy *policy)
{
    unsigned complete = 0;

    for (uint64_t seed = 1; seed <= SEEDS; seed++)
        complete += run_seed(policy, seed);
    /* Most can be completed: the scenarios are alive. */
    ck_assert_uint_gt(complete, SEEDS / 2);
}

START_TEST(adaptive_keeps_every_rule_in_any_scenario)
{
    run_seeds(&xd_policy_adaptive);
}
END_TEST

START_TEST(basic_keeps_every_rule_in_any_scenario)
{
    run_seeds(&xd_policy_basic);
}
END_TEST

START_TEST(aggressive_keeps_every_rule_in_any_scenario)
{
    run_seeds(&xd_policy_aggressive);
}
END_TEST

START_TEST(progress_keeps_every_rule_in_any_scenario)
{
    run_seeds(&xd_policy_progress);
}
END_TEST

/* Depots join at any moment, also some that hold a part or fail. */
START_TEST(every_rule_is_kept_when_depots_join)
{
    static const struct xd_policy *const policies[] = {
        &xd_policy_adaptive, &xd_policy_basic, &xd_policy_aggressive,
        &xd_policy_progress};

    for (uint64_t seed = 1; seed <= SEEDS; seed++)
        run_joining(policies[_i], seed);
}
END_TEST

START_TEST(every_rule_is_kept_with_tiers)
{
    static const struct xd_policy *const policies[] = {
        &xd_policy_adaptive, &xd_policy_basic, &xd_policy_aggressive,
        &xd_policy_progress};

    for (uint64_t seed = 1; seed <= SEEDS; seed++)
        run_tiered(policies[_i], seed);
}
END_TEST

/* Windows that begin within a block of which the end is in flight from R depots
 * already, which only one scenario in a thousand has. */
START_TEST(a_copy_of_a_head_ends_where_others_fetch_the_rest)
{
    run_seed(&xd_policy_basic, 17984);
    run_seed(&xd_policy_basic, 18452);
    run_seed(&xd_policy_aggressive, 2541);
    run_seed(&xd_policy_progress, 11438);
}
END_TEST

/* What was rejected is missing between bytes that are not, and an attempt runs
 * in another part of the block. */
START_TEST(what_was_rejected_is_asked_for_alone)
{
    run_seed(&xd_policy_aggressive, 42802);
    run_seed(&xd_policy_progress, 30221);
}
END_TEST

/* A reader's window is full as far as the next one's, in which bytes are
 * missing. */
START_TEST(a_fetch_without_ranges_goes_on_from_window_to_window)
{
    run_seed(&xd_policy_basic, 37489);
    run_seed(&xd_policy_adaptive, 37489);
}
END_TEST

/* Three good depots; the first never answers, and is asked for the first
 * block of a stream. */
static xd_usec silent_head(const struct xd_policy *policy)
{
    static const uint64_t rates[] = {1000, 1000, 1000};
    static struct sim_scenario sc;
    struct sim_outcome outcome;

    sim_scenario_plain(&sc, policy, 1000, rates, 3);
    sc.depots[0].is_silent = true;
    sc.o.window_bytes = 160;
    sc.reader_bytes_per_s = 100000;
    outcome = sim_run(&sc);
    ck_assert_int_eq(outcome.broken, XD_RULE_NONE);
    ck_assert(outcome.is_complete);
    return outcome.took;
}

START_TEST(progress_streams_past_a_silent_depot_before_it_fails)
{
    ck_assert_uint_lt(silent_head(&xd_policy_progress), 2 * XD_SECOND);
}
END_TEST

START_TEST(aggressive_streams_past_a_silent_depot_before_it_fails)
{
    ck_assert_uint_lt(silent_head(&xd_policy_aggressive), 2 * XD_SECOND);
}
END_TEST

START_TEST(basic_streams_past_a_silent_depot_when_it_fails)
{
    xd_usec took = silent_head(&xd_policy_basic);

    ck_assert_uint_gt(took, 5 * XD_SECOND);
    ck_assert_uint_lt(took, 60 * XD_SECOND);
}
END_TEST

/* Two depots need a minute for all of it, and overtake the silent one long
 * before it fails; the rules know how often it may be asked. */
START_TEST(aggressive_asks_a_silent_depot_ten_times_at_most)
{
    static const uint64_t rates[] = {1000, 3, 3};
    static struct sim_scenario sc;
    struct sim_outcome outcome;

    sim_scenario_plain(&sc, &xd_policy_aggressive, 1000, rates, 3);
    sc.depots[0].is_dead = true;
    sc.depots[0].latency = 3600 * XD_SECOND;
    sc.o.max_failures = 10;
    sc.o.block_bytes = 5;
    sc.o.redundancy = 3;
    outcome = sim_run(&sc);
    ck_assert_msg(outcome.broken == XD_RULE_NONE, "broken is: %s",
                  xd_rule_text(outcome.broken));
    ck_assert(outcome.is_complete);
    ck_assert_uint_gt(outcome.took, 32 * XD_SECOND);
}
END_TEST

START_TEST(basic_without_faults_brings_no_byte_twice)
{
    static const uint64_t rates[] = {100, 500, 1000, 3000};
    static struct sim_scenario sc;
    struct sim_outcome outcome;

    sim_scenario_plain(&sc, &xd_policy_basic, 1000, rates, 4);
    outcome = sim_run(&sc);
    ck_assert(outcome.is_complete);
    ck_assert_uint_eq(outcome.bytes_received, 1000);
    ck_assert_uint_eq(outcome.bytes_redundant, 0);
}
END_TEST

/* The paper's point: one slow depot ruins basic, and progress pays for its
 * rescue with a few bytes. */
START_TEST(progress_is_not_held_up_by_one_slow_depot)
{
    static const uint64_t rates[] = {1000, 1000, 1000, 5};
    static struct sim_scenario sc;
    struct sim_outcome basic, progress;

    sim_scenario_plain(&sc, &xd_policy_basic, 1000, rates, 4);
    basic = sim_run(&sc);
    sim_scenario_plain(&sc, &xd_policy_progress, 1000, rates, 4);
    progress = sim_run(&sc);
    ck_assert(basic.is_complete);
    ck_assert(progress.is_complete);
    ck_assert_uint_gt(basic.took, 4 * progress.took);
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("sim");

    tcase_set_timeout(t, 0);
    tcase_add_test(t, adaptive_keeps_every_rule_in_any_scenario);
    tcase_add_test(t, basic_keeps_every_rule_in_any_scenario);
    tcase_add_test(t, aggressive_keeps_every_rule_in_any_scenario);
    tcase_add_test(t, progress_keeps_every_rule_in_any_scenario);
    tcase_add_loop_test(t, every_rule_is_kept_when_depots_join, 0, 4);
    tcase_add_loop_test(t, every_rule_is_kept_with_tiers, 0, 4);
    tcase_add_test(t, a_copy_of_a_head_ends_where_others_fetch_the_rest);
    tcase_add_test(t, what_was_rejected_is_asked_for_alone);
    tcase_add_test(t, a_fetch_without_ranges_goes_on_from_window_to_window);
    tcase_add_test(t, progress_streams_past_a_silent_depot_before_it_fails);
    tcase_add_test(t, aggressive_streams_past_a_silent_depot_before_it_fails);
    tcase_add_test(t, basic_streams_past_a_silent_depot_when_it_fails);
    tcase_add_test(t, aggressive_asks_a_silent_depot_ten_times_at_most);
    tcase_add_test(t, basic_without_faults_brings_no_byte_twice);
    tcase_add_test(t, progress_is_not_held_up_by_one_slow_depot);
    return run_suite("sim", t);
}
