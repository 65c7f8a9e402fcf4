/* SPDX-License-Identifier: MIT */
/* What depots say that they would be asked for next may be anything, and costs
 * next to nothing. */
#include <math.h>

#include "random.h"
#include "sched/policy.h"
#include "sim/net.h"
#include "sim/run.h"
#include "suite.h"

#define SEEDS 20
#define KIB ((uint64_t)1 << 10)
#define MIB ((uint64_t)1 << 20)
#define LEAST_BYTES (24 * MIB)
#define MOST_COST 1.02

/* What a depot says. */
struct talk {
    struct xd_range (*says)(struct talk *t, struct xd_range asked);
    uint64_t random, size, last;
};

static struct xd_range say(void *user, unsigned depot, struct xd_range asked)
{
    struct talk *t = user;

    (void)depot;
    return t->says(t, asked);
}

/* Any 256 KiB of the file. */
static struct xd_range anywhere(struct talk *t, struct xd_range asked)
{
    uint64_t at = xd_sim_random(&t->random) % t->size;

    (void)asked;
    return (struct xd_range){at, at + 256 * KIB};
}

/* Any byte, of the file or not. */
static struct xd_range one_byte(struct talk *t, struct xd_range asked)
{
    uint64_t at = xd_sim_random(&t->random) % (2 * t->size);

    (void)asked;
    return (struct xd_range){at, at + 1};
}

/* From the end to the begin, so that holes remain. */
static struct xd_range backwards(struct talk *t, struct xd_range asked)
{
    uint64_t step = 3 * MIB + 1;

    (void)asked;
    t->last = t->last > step ? t->last - step : t->size;
    return (struct xd_range){t->last, t->last + 64 * KIB};
}

/* What was just asked for. */
static struct xd_range the_same(struct talk *t, struct xd_range asked)
{
    (void)t;
    return asked;
}

static double time_of(const char *text, uint64_t size, uint64_t seed,
                      struct talk *talk)
{
    struct xd_sim_options o = {.sched = {.policy = &xd_policy_adaptive,
                                         .redundancy = 2,
                                         .lanes_per_depot = 6,
                                         .first_lanes = 2,
                                         .connections_per_depot = 6,
                                         .max_open = 64,
                                         .block_bytes = 1 << 20,
                                         .max_failures = 5,
                                         .patience = 120 * XD_SECOND},
                               .size = size,
                               .seed = seed,
                               .piece_bytes = 1 << 20,
                               .silence = 5 * XD_SECOND};
    struct xd_scenario s;
    struct xd_sim_result r;
    double took;

    if (talk) {
        o.hint = say;
        o.hint_user = talk;
    }
    ck_assert_int_eq(xd_scenario_parse(&s, text, NULL), 0);
    ck_assert_int_eq(xd_sim_run(&s, &o, &r), 0);
    ck_assert(r.is_complete);
    ck_assert_int_eq(r.broken, XD_RULE_NONE);
    took = (double)r.took / 1e6;
    xd_sim_result_fini(&r);
    xd_scenario_fini(&s);
    return took;
}

/* By how much longer it takes in the mean of many scenarios: 1 is not at all. */
static double cost_of(struct xd_range (*says)(struct talk *, struct xd_range))
{
    double sum = 0;

    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        struct xd_text text = {.s = NULL};
        uint64_t size = xd_random_scenario(&text, seed);

        if (size < LEAST_BYTES)
            size = LEAST_BYTES;
        struct talk t = {.says = says, .random = seed, .size = size};
        double without = time_of(text.s, size, seed, NULL);

        sum += log(time_of(text.s, size, seed, &t) / without);
        xd_text_fini(&text);
    }
    return exp(sum / SEEDS);
}

START_TEST(any_place_costs_next_to_nothing)
{
    ck_assert_double_le(cost_of(anywhere), MOST_COST);
}
END_TEST

START_TEST(bytes_here_and_there_cost_next_to_nothing)
{
    ck_assert_double_le(cost_of(one_byte), MOST_COST);
}
END_TEST

START_TEST(holes_cost_next_to_nothing)
{
    ck_assert_double_le(cost_of(backwards), MOST_COST);
}
END_TEST

START_TEST(what_was_asked_for_costs_next_to_nothing)
{
    ck_assert_double_le(cost_of(the_same), 1.001);
}
END_TEST

/* Where each pause between requests is long. */
static double cost_where_far(const char *scenario,
                             struct xd_range (*says)(struct talk *,
                                                     struct xd_range))
{
    double sum = 0;

    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        struct talk t = {.says = says, .random = seed, .size = 64 * MIB};
        double without = time_of(scenario, t.size, seed, NULL);

        sum += log(time_of(scenario, t.size, seed, &t) / without);
    }
    return exp(sum / SEEDS);
}

START_TEST(a_depot_that_is_far_costs_next_to_nothing)
{
    static const char scenario[] =
        "client rate=1000mbit queue=4m\n"
        "depot d 198.18.1.1 rate=100mbit rtt=80ms queue=1m\n";

    ck_assert_double_le(cost_where_far(scenario, anywhere), MOST_COST);
    ck_assert_double_le(cost_where_far(scenario, backwards), MOST_COST);
}
END_TEST

START_TEST(depots_that_differ_cost_next_to_nothing)
{
    static const char scenario[] =
        "client rate=1000mbit queue=4m\n"
        "depot d 198.18.1.1 rate=400mbit rtt=30ms queue=1m\n"
        "depot e 198.18.1.2 rate=100mbit rtt=80ms queue=1m\n";

    ck_assert_double_le(cost_where_far(scenario, anywhere), MOST_COST);
    ck_assert_double_le(cost_where_far(scenario, one_byte), MOST_COST);
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("hints");

    tcase_set_timeout(t, 0);
    tcase_add_test(t, any_place_costs_next_to_nothing);
    tcase_add_test(t, bytes_here_and_there_cost_next_to_nothing);
    tcase_add_test(t, holes_cost_next_to_nothing);
    tcase_add_test(t, what_was_asked_for_costs_next_to_nothing);
    tcase_add_test(t, a_depot_that_is_far_costs_next_to_nothing);
    tcase_add_test(t, depots_that_differ_cost_next_to_nothing);
    return run_suite("sim.hints", t);
}
