/* SPDX-License-Identifier: MIT */
/*
 * A mesh on wires: five nodes, each chunk of 4 MiB owned by two of them, and the
 * origin behind; how soon others are asked for what owners cannot deliver.
 */
#include <inttypes.h>

#include "random.h"
#include "sched/policy.h"
#include "sim/run.h"
#include "suite.h"

#define MIB ((uint64_t)1 << 20)
#define N_NODES 5
#define ORIGIN N_NODES

static const struct xd_policy *const policies[] = {
    &xd_policy_adaptive, &xd_policy_basic, &xd_policy_aggressive,
    &xd_policy_progress};

static struct xd_sim_options options_for(const struct xd_policy *policy)
{
    bool is_adaptive = policy == &xd_policy_adaptive;

    return (struct xd_sim_options){
        .sched = {.policy = policy,
                  .redundancy = 2,
                  .progress = XD_AUTO,
                  .lanes_per_depot = is_adaptive ? 6 : 1,
                  .first_lanes = is_adaptive ? 2 : 0,
                  .max_open = 16,
                  .block_bytes = MIB,
                  .max_failures = 5,
                  .patience = 120 * XD_SECOND},
        .size = 64 * MIB,
        .object_bytes = 4 * MIB,
        .piece_bytes = MIB,
        .seed = 1,
        .silence = 5 * XD_SECOND};
}

static struct xd_sim_result run(const char *text,
                                const struct xd_sim_options *o)
{
    struct xd_error err = {0};
    struct xd_sim_result result;
    struct xd_scenario s;

    ck_assert_msg(xd_scenario_parse(&s, text, &err) == 0, "%s", err.msg);
    ck_assert_int_eq(xd_sim_run(&s, o, &result), 0);
    ck_assert_msg(result.broken == XD_RULE_NONE, "seed %" PRIu64 " broke: %s",
                  o->seed, xd_rule_text(result.broken));
    ck_assert_msg(result.is_complete, "seed %" PRIu64 " came to no end",
                  o->seed);
    xd_scenario_fini(&s);
    return result;
}

struct fault {
    const char *what;
    unsigned at; /* ms */
};

/* Seconds, where each of the first n_bad nodes has that fault; and how many
 * requests the origin got. */
static double run_mesh(const struct xd_policy *policy, unsigned n_bad,
                       struct fault fault, uint64_t *from_origin)
{
    const struct xd_sim_options o = options_for(policy);
    struct xd_text text = {.s = NULL};
    struct xd_sim_result result;
    double seconds;

    xd_text_addf(&text, "client rate=250mbit queue=1m\n");
    for (unsigned i = 0; i < N_NODES; i++)
        xd_text_addf(&text, "depot n%u 1.1.1.%u rate=50mbit rtt=5ms owners=2\n",
                     i, i);
    xd_text_addf(&text, "depot o 1.1.1.9 rate=100mbit rtt=40ms tier=2\n");
    for (unsigned i = 0; i < n_bad; i++)
        xd_text_addf(&text, "at %ums n%u %s\n", fault.at, i, fault.what);
    result = run(text.s, &o);
    seconds = (double)result.took / 1e6;
    *from_origin = result.depots[ORIGIN].requests;
    xd_text_fini(&text);
    xd_sim_result_fini(&result);
    return seconds;
}

START_TEST(nothing_is_asked_of_the_origin_while_nodes_answer)
{
    uint64_t from_origin;
    double took = run_mesh(policies[_i], 0, (struct fault){0}, &from_origin);

    ck_assert_uint_eq(from_origin, 0);
    ck_assert_double_lt(took, 4);
}
END_TEST

/* Two of five nodes own one chunk in ten alone.  The last of these is there two
 * seconds after they fell silent at most, or the silence of two requests one
 * after the other where a policy waits for each; at once if they refuse. */
START_TEST(others_deliver_what_dead_nodes_own)
{
    static const struct fault faults[] = {
        {"refuses", 0}, {"down", 0}, {"down", 500}};
    uint64_t from_origin;
    double took = run_mesh(policies[_i % 4], 2, faults[_i / 4], &from_origin);

    ck_assert_uint_eq(from_origin, 0);
    if (policies[_i % 4] == &xd_policy_adaptive)
        ck_assert_double_lt(took, 4.5);
    ck_assert_double_lt(took, _i < 4 ? 6 : 13);
}
END_TEST

START_TEST(the_origin_delivers_what_no_node_can)
{
    static const struct fault faults[] = {{"refuses", 0}, {"down", 500}};
    uint64_t from_origin;
    double took =
        run_mesh(policies[_i % 4], N_NODES, faults[_i / 4], &from_origin);

    ck_assert_uint_gt(from_origin, 0);
    if (policies[_i % 4] == &xd_policy_adaptive)
        ck_assert_double_lt(took, 9);
    ck_assert_double_lt(took, 25);
}
END_TEST

/* They lie, and nothing of theirs is left. */
START_TEST(others_deliver_what_liars_own)
{
    uint64_t from_origin;
    double took =
        run_mesh(policies[_i], 2, (struct fault){"lies", 0}, &from_origin);

    ck_assert_double_lt(took, 12);
}
END_TEST

START_TEST(every_rule_is_kept_with_tiers_on_any_network)
{
    struct xd_sim_options o = options_for(policies[_i]);
    uint64_t seeds = (uint64_t)suite_cases(12, 60);

    for (o.seed = 1; o.seed <= seeds; o.seed++) {
        struct xd_text text = {.s = NULL};
        struct xd_sim_result result;

        o.size = xd_random_tiered_scenario(&text, o.seed);
        o.object_bytes = o.size / 9 + 1;
        o.sched.window_bytes = o.seed % 4 == 0 ? 12 * MIB : 0;
        xd_random_bad_depot(&text, (enum xd_bad_kind)(o.seed % XD_N_BAD_KINDS),
                            o.seed);
        result = run(text.s, &o);
        xd_sim_result_fini(&result);
        xd_text_fini(&text);
    }
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("mesh");

    tcase_add_loop_test(t, nothing_is_asked_of_the_origin_while_nodes_answer, 0,
                        4);
    tcase_add_loop_test(t, others_deliver_what_dead_nodes_own, 0, 12);
    tcase_add_loop_test(t, the_origin_delivers_what_no_node_can, 0, 8);
    tcase_add_loop_test(t, others_deliver_what_liars_own, 0, 4);
    tcase_add_loop_test(t, every_rule_is_kept_with_tiers_on_any_network, 0, 4);
    return run_suite("sim.mesh", t);
}
