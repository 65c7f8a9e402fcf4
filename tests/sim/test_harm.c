/* SPDX-License-Identifier: MIT */
/* A depot more never hurts: in the mean of scenarios of any kind, for what one
 * packet that is lost, or not, does to a single run says nothing. */
#include <math.h>

#include "random.h"
#include "sched/policy.h"
#include "sim/run.h"
#include "suite.h"

#define SEEDS 60
#define MOST_BYTES (UINT64_C(4) << 20)

/* In seconds. */
static double time_of(const char *text, uint64_t size, uint64_t seed)
{
    struct xd_sim_options o = {.sched = {.policy = &xd_policy_adaptive,
                                         .redundancy = 2,
                                         .lanes_per_depot = 2,
                                         .max_open = 64,
                                         .block_bytes = 1 << 20,
                                         .max_failures = 5,
                                         .patience = 120 * XD_SECOND},
                               .size = size < MOST_BYTES ? size : MOST_BYTES,
                               .seed = seed,
                               .piece_bytes = 1 << 20,
                               .silence = 5 * XD_SECOND};
    struct xd_scenario s;
    struct xd_sim_result r;
    double took;

    ck_assert_int_eq(xd_scenario_parse(&s, text, NULL), 0);
    ck_assert_int_eq(xd_sim_run(&s, &o, &r), 0);
    ck_assert(r.is_complete);
    took = (double)r.took / 1e6;
    xd_sim_result_fini(&r);
    xd_scenario_fini(&s);
    return took;
}

/* By how much longer it takes with such a depot: 1 is not at all. */
static double cost_of(enum xd_bad_kind kind)
{
    double sum = 0;

    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        struct xd_text text = {.s = NULL};
        uint64_t size = xd_random_scenario(&text, seed);
        double without = time_of(text.s, size, seed);

        xd_random_bad_depot(&text, kind, seed);
        sum += log(time_of(text.s, size, seed) / without);
        xd_text_fini(&text);
    }
    return exp(sum / SEEDS);
}

START_TEST(who_never_answers_costs_nothing)
{
    ck_assert_double_le(cost_of(XD_BAD_DEAD), 1.05);
}
END_TEST

START_TEST(who_refuses_costs_nothing)
{
    ck_assert_double_le(cost_of(XD_BAD_REFUSES), 1.05);
}
END_TEST

START_TEST(who_is_slow_costs_nothing)
{
    ck_assert_double_le(cost_of(XD_BAD_SLOW), 1.05);
}
END_TEST

START_TEST(who_falls_silent_costs_nothing)
{
    ck_assert_double_le(cost_of(XD_BAD_SILENT), 1.05);
}
END_TEST

/* Whoever fills a slow line makes the others on it fall silent until they are
 * given up.  The file is one piece, and 30 s: it comes from both, from the liar
 * alone, and from the other. */
START_TEST(a_liar_that_fills_the_line_does_not_end_the_download)
{
    static const char scenario[] =
        "client rate=71kbit queue=314k\n"
        "link l rate=5206kbit queue=256k\n"
        "depot bad 198.18.1.99 rate=9619kbit rtt=25ms lies\n"
        "depot good 198.18.1.1 rate=248kbit rtt=101ms queue=239k via=l\n";

    for (uint64_t seed = 1; seed <= 4; seed++)
        ck_assert_double_lt(time_of(scenario, 256 << 10, seed), 120);
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("harm");

    tcase_set_timeout(t, 0);
    tcase_add_test(t, who_never_answers_costs_nothing);
    tcase_add_test(t, who_refuses_costs_nothing);
    tcase_add_test(t, who_is_slow_costs_nothing);
    tcase_add_test(t, who_falls_silent_costs_nothing);
    tcase_add_test(t, a_liar_that_fills_the_line_does_not_end_the_download);
    return run_suite("sim.harm", t);
}
