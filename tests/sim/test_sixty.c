/* SPDX-License-Identifier: MIT */
/* Sixty depots, of which the last ten are near and good: pings find them. */
#include "base/text.h"
#include "sched/policy.h"
#include "sim/run.h"
#include "suite.h"

#define MIB ((uint64_t)1 << 20)
#define MOST_TIMES 1.5

enum kind { CRAWLS, IS_SILENT, REFUSES, N_KINDS };

static void add_bad(struct xd_text *to, unsigned i, enum kind kind)
{
    static const char *const words[] = {
        "rate=200kbit queue=32k", "rate=10mbit down", "rate=10mbit refuses"};

    xd_text_addf(to, "depot bad%u 1.1.1.1 rtt=%ums %s\n", i, 100 + 4 * i,
                 words[kind]);
}

/* With n_kinds of the bad ones, from `kind` on, in turns. */
static void check(enum kind kind, unsigned n_kinds, unsigned max_open)
{
    const struct xd_sim_options o = {.sched = {.policy = &xd_policy_adaptive,
                                               .redundancy = 2,
                                               .lanes_per_depot = 6,
                                               .first_lanes = 2,
                                               .progress = XD_AUTO,
                                               .max_open = max_open,
                                               .block_bytes = MIB,
                                               .max_failures = 5,
                                               .patience = 120 * XD_SECOND,
                                               .max_pings = 64},
                                     .size = 25 * MIB,
                                     .seed = 1,
                                     .silence = 5 * XD_SECOND};
    struct xd_error err = {0};
    struct xd_sim_result result;
    struct xd_scenario s;
    struct xd_text text = {.s = NULL};
    double limit;

    xd_text_addf(&text, "client rate=300mbit queue=1m\n");
    for (unsigned i = 1; i <= 50; i++)
        add_bad(&text, i, (enum kind)(kind + i % n_kinds));
    for (unsigned i = 1; i <= 10; i++)
        xd_text_addf(&text, "depot good%u 1.1.1.1 rate=20mbit rtt=%ums\n", i,
                     10 + 4 * i);
    ck_assert_msg(xd_scenario_parse(&s, text.s, &err) == 0, "%s", err.msg);
    ck_assert_int_eq(xd_sim_run(&s, &o, &result), 0);
    ck_assert_int_eq(xd_scenario_limit(&s, 1, o.size, &limit), 0);
    ck_assert_msg(result.broken == XD_RULE_NONE, "broken: %s",
                  xd_rule_text(result.broken));
    ck_assert(result.is_complete);
    ck_assert_double_le((double)result.took / 1e6, MOST_TIMES * limit);
    for (size_t i = 0; i < result.n_depots; i++) /* but those that refuse */
        ck_assert_uint_le(result.depots[i].pings, o.sched.max_failures);
    xd_sim_result_fini(&result);
    xd_scenario_fini(&s);
    xd_text_fini(&text);
}

START_TEST(whatever_the_others_do_the_good_ones_are_used_soon)
{
    check((enum kind)_i, 1, 64);
    check((enum kind)_i, 1, 16);
}
END_TEST

START_TEST(likewise_if_each_does_something_else)
{
    check(CRAWLS, N_KINDS, 64);
    check(CRAWLS, N_KINDS, 16);
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("sixty");

    tcase_set_timeout(t, 120);
    tcase_add_loop_test(t, whatever_the_others_do_the_good_ones_are_used_soon,
                        0, N_KINDS);
    tcase_add_test(t, likewise_if_each_does_something_else);
    return run_suite("sim.sixty", t);
}
