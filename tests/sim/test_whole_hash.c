/* SPDX-License-Identifier: MIT */
/* Depots that lie, and nothing but a hash of the whole file to tell. */
#include "sched/policy.h"
#include "sim/run.h"
#include "suite.h"

#define MIB ((uint64_t)1 << 20)

#define HONEST(n, rate) \
    "\ndepot d" n " 1.1.1." n " rate=" rate "mbit rtt=40ms queue=256k"
#define LIAR(n, rate) HONEST(n, rate) " lies"
#define CLIENT "client rate=200mbit queue=1m"

/* With `aggressive` a slow depot may deliver nothing first. */
static const struct xd_policy *const policies[] = {
    &xd_policy_adaptive, &xd_policy_progress, &xd_policy_basic};

static struct xd_sim_options o;
static struct xd_sim_result result;

static void set_up(void)
{
    o = (struct xd_sim_options){.sched = {.redundancy = 2,
                                          .progress = XD_AUTO,
                                          .lanes_per_depot = 2,
                                          .max_open = 16,
                                          .block_bytes = MIB / 2,
                                          .max_failures = 5,
                                          .patience = 120 * XD_SECOND},
                                .size = 8 * MIB,
                                .has_whole_hash = true,
                                .seed = 1,
                                .silence = 5 * XD_SECOND};
}

static void tear_down(void)
{
    xd_sim_result_fini(&result);
}

/* A seed for each number, and a policy. */
static void run(const char *text, int number)
{
    struct xd_error err = {0};
    struct xd_scenario s;

    o.seed = (uint64_t)number + 1;
    o.sched.policy = policies[number % 3];
    xd_sim_result_fini(&result);
    ck_assert_msg(xd_scenario_parse(&s, text, &err) == 0, "%s", err.msg);
    ck_assert_int_eq(xd_sim_run(&s, &o, &result), 0);
    ck_assert_msg(result.broken == XD_RULE_NONE, "%s",
                  xd_rule_text(result.broken));
    ck_assert(!result.is_endless);
    xd_scenario_fini(&s);
}

static void expect_blamed(unsigned depots)
{
    for (unsigned i = 0; i < result.n_depots; i++)
        ck_assert_int_eq(result.depots[i].is_blamed, depots >> i & 1);
}

/* In files. */
static double wire(void)
{
    return (double)result.wire / (double)o.size;
}

START_TEST(where_none_lies_nothing_is_fetched_again)
{
    run(CLIENT HONEST("1", "40") HONEST("2", "20"), _i);
    ck_assert(result.is_complete);
    ck_assert_uint_eq(result.n_repairs, 0);
    expect_blamed(0);
}
END_TEST

/* A vote finds it, at the latest where its copy of another's bytes differs. */
START_TEST(one_of_three_is_replaced_and_blamed)
{
    run(CLIENT HONEST("1", "40") LIAR("2", "30") HONEST("3", "20"), _i);
    ck_assert(result.is_complete);
    ck_assert_uint_ge(result.n_repairs, 1);
    ck_assert_uint_le(result.n_repairs, 2);
    expect_blamed(2);
    ck_assert_double_le(wire(), 2.2);
}
END_TEST

/* No vote tells which, but the hash does. */
START_TEST(one_of_two_is_replaced_and_blamed)
{
    run(CLIENT HONEST("1", "40") LIAR("2", "20"), _i);
    ck_assert(result.is_complete);
    ck_assert_uint_le(result.n_repairs, 2);
    expect_blamed(2);
}
END_TEST

/* To replace what one of them delivered is not enough. */
START_TEST(where_most_lie_all_is_fetched_from_the_honest_one_alone)
{
    run(CLIENT LIAR("1", "40") HONEST("2", "30") LIAR("3", "20"), _i);
    ck_assert(result.is_complete);
    expect_blamed(5);
}
END_TEST

START_TEST(where_all_lie_it_fails)
{
    run(CLIENT LIAR("1", "40") LIAR("2", "20"), _i);
    ck_assert(!result.is_complete);
    expect_blamed(0);
}
END_TEST

START_TEST(what_readers_have_is_not_replaced)
{
    o.sched.window_bytes = 4 * MIB;
    run(CLIENT HONEST("1", "40") LIAR("2", "20"), _i);
    ck_assert(!result.is_complete);
    ck_assert_uint_eq(result.n_repairs, 0);
}
END_TEST

/* What the bad depot delivered cannot be had from another. */
START_TEST(a_round_that_cannot_end_is_given_up)
{
    o.sched.patience = 5 * XD_SECOND;
    run(CLIENT HONEST("1", "40") LIAR("2", "30") "\nat 1s d1 down", _i);
    ck_assert(!result.is_complete);
    ck_assert_uint_ge(result.n_repairs, 2);
    expect_blamed(0);
}
END_TEST

START_TEST(a_depot_that_joins_in_a_repair_helps)
{
    run(CLIENT LIAR("1", "40") LIAR("2", "30") HONEST("3", "20") " joins=2s",
        _i);
    ck_assert(result.is_complete);
    expect_blamed(3);
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("whole_hash");

    tcase_add_checked_fixture(t, set_up, tear_down);
    tcase_set_timeout(t, 120);
    tcase_add_loop_test(t, where_none_lies_nothing_is_fetched_again, 0, 8);
    tcase_add_loop_test(t, one_of_three_is_replaced_and_blamed, 0, 16);
    tcase_add_loop_test(t, one_of_two_is_replaced_and_blamed, 0, 16);
    tcase_add_loop_test(
        t, where_most_lie_all_is_fetched_from_the_honest_one_alone, 0, 16);
    tcase_add_loop_test(t, where_all_lie_it_fails, 0, 8);
    tcase_add_loop_test(t, what_readers_have_is_not_replaced, 0, 4);
    tcase_add_loop_test(t, a_round_that_cannot_end_is_given_up, 0, 8);
    tcase_add_loop_test(t, a_depot_that_joins_in_a_repair_helps, 0, 8);
    return run_suite("sim.whole_hash", t);
}
