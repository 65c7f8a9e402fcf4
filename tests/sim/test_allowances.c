/* SPDX-License-Identifier: MIT */
/* Depots that bound their connections: does the simulated network do so? */
#include <string.h>

#include "base/governor.h"
#include "plain.h"
#include "sched/policy.h"
#include "sim/run.h"
#include "suite.h"

#define MIB ((uint64_t)1 << 20)
#define PATH "depot a 1.1.1.1 rate=200mbit rtt=40ms "

static struct xd_sim_options o;
static struct xd_sim_result result;

static void set_up(void)
{
    o = (struct xd_sim_options){.sched = {.policy = &xd_policy_basic,
                                          .redundancy = 1,
                                          .progress = XD_AUTO,
                                          .lanes_per_depot = 1,
                                          .max_open = 16,
                                          .block_bytes = 4 * MIB,
                                          .max_failures = 5,
                                          .patience = 120 * XD_SECOND},
                                .size = 16 * MIB,
                                .seed = 1,
                                .silence = 5 * XD_SECOND};
}

static void tear_down(void)
{
    xd_sim_result_fini(&result);
}

/* Seconds. */
static double run(const char *text)
{
    struct xd_error err = {0};
    struct xd_scenario s;

    xd_sim_result_fini(&result);
    ck_assert_msg(xd_scenario_parse(&s, text, &err) == 0, "%s", err.msg);
    ck_assert_int_eq(xd_sim_run(&s, &o, &result), 0);
    xd_scenario_fini(&s);
    return (double)result.took / 1e6;
}

static void expect_within(double value, double least, double most)
{
    ck_assert_msg(value >= least && value <= most, "%.4f is not in %.4f..%.4f",
                  value, least, most);
}

struct bound {
    const char *text;
    unsigned lanes;
    bool has_http2;
    double least, most; /* seconds for 16 MiB */
};

/* Between two requests a round trip passes, in which a bucket fills and a
 * window does not. */
static const struct bound bounds[] = {
    {PATH "cap=1m", 1, false, 15.9, 16.3},
    {PATH "cap=1m", 4, false, 3.9, 4.3},
    {PATH "cap=1m burst=4m", 1, false, 12.0, 12.4},
    {PATH "cap=1m\nat 2s a cap=0", 1, false, 2.5, 4.5},
    {PATH "cap=1m", 4, true, 15.9, 16.4},
    {PATH "cap=1m per=request", 4, true, 3.8, 4.4},
    {PATH "window=64k", 1, false, 10.5, 11.2},
    {PATH "window=64k", 4, false, 2.6, 2.9},
    {PATH "window=64k", 4, true, 10.5, 11.2},
    {PATH "cap=100m window=1m", 4, false, 0.75, 1.9},
    {PATH "draws=1m:1", 1, false, 15.9, 16.3},
    {PATH "draws=1m:2,1m:1", 4, false, 3.9, 4.3},
    {PATH "think=0s", 1, false, 1.2, 1.8}, /* four requests: */
    {PATH "think=500ms", 1, false, 3.2, 3.8},
    {PATH "think=500ms-1s", 1, false, 3.3, 5.8},
};

START_TEST(a_depot_bounds_its_connections)
{
    const struct bound *b = &bounds[_i];

    o.sched.lanes_per_depot = b->lanes;
    o.has_http2 = b->has_http2;
    expect_within(run(b->text), b->least, b->most);
    ck_assert(result.is_complete);
}
END_TEST

/* The same without a scheduler, and as a fluid. */
static const struct bound limits[] = {
    {PATH "cap=1m", 1, false, 15.9, 16.2},
    {PATH "cap=1m", 4, false, 3.9, 4.2},
    {PATH "cap=1m most=2", 4, false, 7.9, 8.2},
    {PATH "window=64k", 4, false, 2.5, 2.9},
    {PATH, 4, false, 0.7, 1.2},
    {PATH "most=2", 4, false, 0.7, 1.2},
    {PATH "draws=1m:1", 4, false, 3.9, 4.2},
    {PATH "think=2s", 4, false, 2.7, 3.2},
};

START_TEST(a_limit_knows_what_connections_are_allowed)
{
    const struct bound *b = &limits[_i];
    struct xd_scenario s;
    double fluid = 0;
    xd_usec took, stalled;

    o.sched.lanes_per_depot = b->lanes;
    ck_assert_int_eq(xd_scenario_parse(&s, b->text, NULL), 0);
    ck_assert_int_eq(xd_scenario_limit(&s, b->lanes, o.size, &fluid), 0);
    ck_assert_int_eq(xd_sim_plain(&s, &o, &took, &stalled), 0);
    expect_within(fluid, b->least, b->most);
    expect_within((double)took / 1e6, b->least, b->most);
    xd_scenario_fini(&s);
}
END_TEST

static const char *const refusals[] = {"503", "429", "reset", "close"};

/* Two of four requests are refused, again and again; none that flows is. */
START_TEST(a_depot_serves_so_many_connections)
{
    char text[128] = PATH "cap=1m most=2 answer=";

    strncat(text, refusals[_i], 8);
    o.sched.lanes_per_depot = 2;
    run(text);
    ck_assert_uint_eq(result.depots[0].failures, 0);
    o.sched.lanes_per_depot = 4;
    expect_within(run(text), 7.9, 9.5);
    ck_assert_uint_gt(result.depots[0].failures, 1);
    ck_assert(result.is_complete);
}
END_TEST

START_TEST(a_ban_ends_all_connections)
{
    o.sched.lanes_per_depot = 2;
    run(PATH "cap=1m most=2 answer=reset ban=3s");
    ck_assert_uint_eq(result.depots[0].failures, 0);
    o.sched.lanes_per_depot = 3;
    o.sched.max_failures = 1;
    o.sched.patience = 0;
    run(PATH "cap=1m most=2 answer=reset ban=3s");
    ck_assert_uint_gt(result.depots[0].failures, 0);
    ck_assert(!result.is_complete);
}
END_TEST

/* One connection for each of 64 requests. */
START_TEST(a_lottery_draws_the_cap_of_each_connection)
{
    double slow, fast;

    o.sched.block_bytes = MIB / 4;
    slow = run(PATH "draws=256k:1 life=1");
    fast = run(PATH "draws=4m:1 life=1");
    expect_within(run(PATH "draws=256k:1,4m:1 life=1"),
                  fast + 0.25 * (slow - fast), fast + 0.75 * (slow - fast));
    ck_assert_uint_eq(result.depots[0].connections, 64);
}
END_TEST

START_TEST(a_limit_counts_the_best_draw)
{
    struct xd_scenario s;
    double fluid = 0;

    ck_assert_int_eq(xd_scenario_parse(&s, PATH "draws=256k:9,1m:1", NULL), 0);
    ck_assert_int_eq(xd_scenario_limit(&s, 4, o.size, &fluid), 0);
    expect_within(fluid, 3.9, 4.2);
    xd_scenario_fini(&s);
}
END_TEST

/* A clairvoyant closes each connection when its burst is over. */
START_TEST(a_limit_knows_that_bursts_come_again)
{
    struct xd_scenario s;
    double fluid = 0;

    ck_assert_int_eq(xd_scenario_parse(&s, PATH "cap=64k burst=2m", NULL), 0);
    ck_assert_int_eq(xd_scenario_limit(&s, 4, o.size, &fluid), 0);
    expect_within(fluid, 0.8, 1.6);
    xd_scenario_fini(&s);
}
END_TEST

START_TEST(a_connection_lives_for_so_many_answers)
{
    o.sched.block_bytes = MIB;
    run(PATH "life=4");
    ck_assert_uint_eq(result.depots[0].requests, 16);
    ck_assert_uint_eq(result.depots[0].connections, 4);
    ck_assert_uint_eq(result.depots[0].failures, 0);
}
END_TEST

START_TEST(a_connection_that_hangs_answers_nothing)
{
    run(PATH "hangs=100%\ndepot b 1.1.1.2 rate=20mbit rtt=10ms");
    ck_assert_uint_eq(result.depots[0].wire, 0);
    ck_assert_uint_gt(result.depots[0].failures, 0);
    ck_assert(result.is_complete);
}
END_TEST

/* Of 16 requests of 65 ms each, two per second and two more are answered. */
START_TEST(a_depot_answers_so_many_requests_per_second)
{
    const struct xd_sim_depot *d;
    double took;

    o.sched.block_bytes = MIB;
    took = run(PATH "asks=2 spare=2");
    d = &result.depots[0];
    ck_assert(result.is_complete);
    ck_assert_uint_gt(d->failures, 0);
    ck_assert_uint_eq(d->requests - d->failures, 16);
    ck_assert_double_ge(took, (16 - 3) / 2.0);
}
END_TEST

/* Without a governor 123 of 187 requests would be refused. */
START_TEST(a_governor_bounds_what_is_asked_in_vain)
{
    o.sched.block_bytes = MIB / 4;
    o.sched.lanes_per_depot = 6;
    run(PATH "asks=1");
    ck_assert(result.is_complete);
    ck_assert_uint_gt(result.depots[0].failures, 0);
    ck_assert_uint_le(result.depots[0].failures, XD_GOVERNOR_FIRST);
}
END_TEST

static xd_usec refused_at, asked_again_at;

static void note_refusal(void *user, const struct xd_sim_record *r)
{
    (void)user;
    if (refused_at > 0 && asked_again_at == 0)
        asked_again_at = r->began;
    if (refused_at == 0 && r->how == XD_SIM_FAILED)
        refused_at = r->ended;
}

START_TEST(a_refusal_says_when_to_ask_again)
{
    refused_at = asked_again_at = 0;
    o.record = note_refusal;
    o.size = 8 * MIB;
    run(PATH "asks=1 retry=3s");
    ck_assert_uint_gt(refused_at, 0);
    ck_assert_uint_ge(asked_again_at, refused_at + 3 * XD_SECOND);
    ck_assert(result.is_complete);
}
END_TEST

static const char *const mistakes[] = {
    PATH "cap=fast",
    PATH "burst=1k",
    PATH "window=1k",
    PATH "per=customer",
    PATH "answer=perhaps",
    PATH "most=1k",
    PATH "ban=10",
    PATH "draws=1m",
    PATH "draws=1m:0",
    PATH "draws=1m:1,",
    PATH "think=2s-1s",
    PATH "think=1s-",
    PATH "draws=1m:1,2m:1,3m:1,4m:1,5m:1",
    PATH "hangs=often",
    PATH "life=1s",
    PATH "asks=many",
    PATH "spare=-1",
    PATH "retry=1",
};

START_TEST(a_word_that_makes_no_sense_is_refused)
{
    struct xd_error err = {0};
    struct xd_scenario s;

    ck_assert_int_eq(xd_scenario_parse(&s, mistakes[_i], &err), XD_E_INVAL);
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("allowances");

    tcase_set_timeout(t, 0);
    tcase_add_checked_fixture(t, set_up, tear_down);
    tcase_add_loop_test(t, a_depot_bounds_its_connections, 0,
                        sizeof bounds / sizeof *bounds);
    tcase_add_loop_test(t, a_limit_knows_what_connections_are_allowed, 0,
                        sizeof limits / sizeof *limits);
    tcase_add_loop_test(t, a_depot_serves_so_many_connections, 0,
                        sizeof refusals / sizeof *refusals);
    tcase_add_test(t, a_ban_ends_all_connections);
    tcase_add_test(t, a_lottery_draws_the_cap_of_each_connection);
    tcase_add_test(t, a_limit_counts_the_best_draw);
    tcase_add_test(t, a_limit_knows_that_bursts_come_again);
    tcase_add_test(t, a_connection_lives_for_so_many_answers);
    tcase_add_test(t, a_connection_that_hangs_answers_nothing);
    tcase_add_test(t, a_depot_answers_so_many_requests_per_second);
    tcase_add_test(t, a_governor_bounds_what_is_asked_in_vain);
    tcase_add_test(t, a_refusal_says_when_to_ask_again);
    tcase_add_loop_test(t, a_word_that_makes_no_sense_is_refused, 0,
                        sizeof mistakes / sizeof *mistakes);
    return run_suite("sim.allowances", t);
}
