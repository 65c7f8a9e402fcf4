/* SPDX-License-Identifier: MIT */
/* A player in the paper's experiment: does it stall, and must it? */
#include <stdio.h>

#include "sched/policy.h"
#include "sim/run.h"
#include "suite.h"

#define MIB ((uint64_t)1 << 20)
#define MBIT ((uint64_t)125000)

/* The six depots of the paper as seen from Tennessee, the nearest one last but
 * one. */
#define CLIENT "client rate=100mbit queue=512k\n"
#define TAMU "depot tamu 1.1.1.1 rate=12mbit rtt=32ms queue=128k\n"
#define UCSB "depot ucsb 1.1.1.2 rate=10mbit rtt=68ms queue=128k\n"
#define HARVARD "depot harvard 1.1.1.3 rate=10mbit rtt=36ms queue=128k\n"
#define SINGAPORE "depot singapore 1.1.1.4 rate=6mbit rtt=250ms queue=128k\n"
#define TENNESSEE "depot tennessee 1.1.1.5 rate=75mbit rtt=1ms queue=256k\n"
#define FAR "depot far 1.1.1.7 rate=9mbit rtt=45ms queue=128k\n"
#define SURFNET "depot surfnet 1.1.1.6 rate=1500kbit rtt=115ms queue=64k\n"
#define FOUR CLIENT TAMU UCSB HARVARD SINGAPORE
#define SIX FOUR TENNESSEE SURFNET

static struct xd_sim_options o;
static struct xd_sim_result result;

static void set_up(void)
{
    o = (struct xd_sim_options){.sched = {.policy = &xd_policy_adaptive,
                                          .redundancy = 2,
                                          .progress = XD_AUTO,
                                          .lanes_per_depot = 2,
                                          .max_open = 64,
                                          .block_bytes = MIB,
                                          .window_bytes = 32 * MIB,
                                          .max_failures = 5,
                                          .patience = 120 * XD_SECOND},
                                .size = 50 * MIB,
                                .seed = 1,
                                .piece_bytes = MIB,
                                .silence = 5 * XD_SECOND,
                                .player = {.prebuffer = 5 * XD_SECOND}};
}

static void tear_down(void)
{
    xd_sim_result_fini(&result);
}

/* Seconds for which the player stands still. */
static double play(const char *text, uint64_t bytes_per_s)
{
    struct xd_error err = {0};
    struct xd_scenario s;

    o.player.bytes_per_s = bytes_per_s;
    xd_sim_result_fini(&result);
    ck_assert_msg(xd_scenario_parse(&s, text, &err) == 0, "%s", err.msg);
    ck_assert_int_eq(xd_sim_run(&s, &o, &result), 0);
    ck_assert_msg(result.broken == XD_RULE_NONE, "broken: %s",
                  xd_rule_text(result.broken));
    ck_assert(result.is_complete);
    xd_scenario_fini(&s);
    return (double)result.stalled / 1e6;
}

static double least(const char *text, uint64_t bytes_per_s, double prebuffer_s)
{
    struct xd_scenario s;
    double seconds = -1;

    ck_assert_int_eq(xd_scenario_parse(&s, text, NULL), 0);
    ck_assert_int_eq(xd_scenario_stall(&s, 1, o.size, o.piece_bytes,
                                       bytes_per_s, prebuffer_s, &seconds),
                     0);
    xd_scenario_fini(&s);
    return seconds;
}

static void expect_within(double value, double from, double to)
{
    ck_assert_msg(value >= from && value <= to, "%.4f is not in %.4f..%.4f",
                  value, from, to);
}

/* 52.4 MB at 1.44 MB/s are there after 36.3 s, and shown after 5 + 28 s; the last
 * MiB, if it is a piece, is needed 0.56 s sooner. */
START_TEST(the_least_stall_is_that_of_a_fluid)
{
    expect_within(least(CLIENT TAMU, 15 * MBIT, 5), 3.86, 3.92);
    o.piece_bytes = 0;
    expect_within(least(CLIENT TAMU, 15 * MBIT, 5), 3.30, 3.36);
    expect_within(least(CLIENT TAMU, 15 * MBIT, 6), 2.30, 2.36);
    expect_within(least(CLIENT TAMU, 11 * MBIT, 5), 0, 0);
}
END_TEST

START_TEST(a_player_on_one_line_stalls_as_long_as_it_must)
{
    o.piece_bytes = 0;
    expect_within(play(CLIENT TAMU, 15 * MBIT), 3.30, 3.43);
    expect_within(play(CLIENT TAMU, 50 * MBIT), 22.9, 23.0);
    expect_within(play(CLIENT FAR, 15 * MBIT), 15.4, 15.6);
    ck_assert(play(CLIENT TAMU, 11 * MBIT) == 0);
}
END_TEST

/* Where it goes to nothing was fetched: the window is shorter. */
START_TEST(a_seek_is_waited_for_about_as_long_as_a_start)
{
    o.sched.window_bytes = 8 * MIB;
    o.player.leaves_at = 10 * MIB;
    o.player.goes_to = 30 * MIB;
    ck_assert(play(FOUR, 15 * MBIT) < 0.5);
    expect_within((double)result.jump / 1e6, 0.1, 1);
}
END_TEST

START_TEST(while_a_player_is_paused_the_rest_arrives)
{
    o.piece_bytes = 0;
    o.player.pauses_at = 15 * MIB;
    o.player.pause = 2 * XD_SECOND;
    expect_within(play(CLIENT TAMU, 15 * MBIT), 1.30, 1.53);
    o.player.pause = 5 * XD_SECOND;
    ck_assert(play(CLIENT TAMU, 15 * MBIT) == 0);
}
END_TEST

START_TEST(two_players_are_served_side_by_side)
{
    o.sched.window_bytes = 8 * MIB;
    o.second = (struct xd_sim_player){.bytes_per_s = 15 * MBIT,
                                      .prebuffer = 5 * XD_SECOND,
                                      .begins_at = 25 * MIB};
    ck_assert(play(FOUR, 15 * MBIT) == 0);
    ck_assert(play(CLIENT TAMU, 15 * MBIT) > 5);
}
END_TEST

/* The paper's rates, and the nine tenths of what the lines bring. */
START_TEST(adaptive_does_not_stall_where_none_need)
{
    const struct {
        const char *text;
        uint64_t rate;
    } cases[] = {{CLIENT TAMU UCSB, 15 * MBIT},
                 {SIX, 15 * MBIT},
                 {FOUR, 32 * MBIT},
                 {CLIENT TAMU UCSB HARVARD, 27 * MBIT},
                 {CLIENT TAMU, 1300000 / 8},
                 {FOUR, 15 * MBIT},
                 {SIX, 1300000 / 8},
                 {SIX, 50 * MBIT}};

    ck_assert(play(cases[_i].text, cases[_i].rate) == 0);
}
END_TEST

/* The last fast depot waits for the block that a slow one has. */
START_TEST(basic_stalls_and_progress_does_not)
{
    static const char text[] = CLIENT TAMU UCSB TENNESSEE
        "depot far 1.1.1.7 rate=400kbit rtt=115ms queue=64k\n";

    o.sched.lanes_per_depot = 1;
    o.sched.policy = &xd_policy_basic;
    ck_assert(play(text, 15 * MBIT) > 5);
    o.sched.policy = &xd_policy_progress;
    ck_assert(play(text, 15 * MBIT) == 0);
}
END_TEST

#define THREE                                           \
    "depot a 1.1.1.1 rate=10mbit rtt=40ms queue=128k\n" \
    "depot b 1.1.1.2 rate=10mbit rtt=40ms queue=128k\n" \
    "depot c 1.1.1.3 rate=10mbit rtt=40ms queue=128k\n"
#define ONE_OF_THREE                                    \
    "depot a 1.1.1.1 rate=60mbit rtt=20ms queue=256k\n" \
    "depot b 1.1.1.2 rate=9mbit rtt=40ms queue=128k\n"  \
    "depot c 1.1.1.3 rate=9mbit rtt=40ms queue=128k\n"

START_TEST(a_depot_that_falls_silent_costs_no_stall)
{
    static const char *const texts[] = {
        THREE "at 2100ms a down\n", THREE "at 3s a down\n",
        THREE "at 3s b down\n", THREE "at 8s c down\n"};

    o.player.prebuffer = 2 * XD_SECOND;
    ck_assert(play(texts[_i], 15 * MBIT) == 0);
}
END_TEST

START_TEST(the_best_depot_collapsing_costs_no_stall)
{
    static const char *const texts[] = {ONE_OF_THREE
                                        "at 2100ms a rate=300kbit\n",
                                        ONE_OF_THREE "at 3s a rate=300kbit\n",
                                        ONE_OF_THREE "at 4s a rate=300kbit\n",
                                        ONE_OF_THREE "at 8s a rate=300kbit\n"};

    o.player.prebuffer = 2 * XD_SECOND;
    ck_assert(play(texts[_i], 15 * MBIT) == 0);
}
END_TEST

/* All depots have enough to do, and one that has the head becomes slow. */
START_TEST(depots_that_are_busy_save_the_head_of_the_line)
{
    static const char text[] =
        "client rate=40mbit queue=256k\n"
        "depot a 198.18.1.1 rate=50mbit rtt=15ms\n"
        "depot b 198.18.1.2 rate=50mbit rtt=60ms\n"
        "depot c 198.18.1.3 rate=50mbit rtt=120ms\n"
        "depot d 198.18.1.4 rate=5mbit  rtt=200ms queue=128k\n"
        "at 2s client rate=15mbit\n"
        "at 5s client rate=40mbit\n"
        "at 8s client rate=20mbit\n"
        "at 11s client rate=40mbit\n";

    double stalls = 0;

    o.piece_bytes = 0;
    for (o.seed = 1; o.seed <= 20; o.seed++)
        stalls += play(text, 26 * MBIT);
    ck_assert(stalls < 20 * 0.1); /* most have none */
}
END_TEST

START_TEST(the_first_byte_takes_two_round_trips_of_the_nearest_depot)
{
    o.piece_bytes = 0;
    play(SIX, 15 * MBIT);
    expect_within((double)result.first_byte / 1e6, 0.002, 0.022);
    play(FOUR, 15 * MBIT);
    expect_within((double)result.first_byte / 1e6, 0.064, 0.084);
}
END_TEST

START_TEST(a_first_depot_that_is_slow_or_silent_does_not_hold_up_the_start)
{
    static const char *const first[] = {
        "depot x 1.1.1.9 rate=800kbit rtt=30ms queue=64k\n",
        "depot x 1.1.1.9 rate=10mbit rtt=30ms\nat 0s x down\n",
        "depot x 1.1.1.9 rate=30mbit rtt=10ms\nat 70ms x down\n"};
    char text[512];

    snprintf(text, sizeof text, "%s%s", first[_i], THREE);
    play(text, 15 * MBIT);
    ck_assert_uint_lt(result.first_mib, 3 * XD_SECOND / 2);
}
END_TEST

/* With time to spare nothing is asked for twice: what came twice did so at the
 * start. */
START_TEST(a_full_buffer_leaves_depots_alone)
{
    unsigned requests = 0;

    ck_assert(play(SIX, 1300000 / 8) == 0);
    for (size_t i = 0; i < result.n_depots; i++)
        requests += result.depots[i].requests;
    ck_assert_uint_lt(requests, 70);
    ck_assert_uint_lt(result.wire, o.size + o.size / 40);
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("player");

    tcase_set_timeout(t, 0);
    tcase_add_checked_fixture(t, set_up, tear_down);
    tcase_add_test(t, the_least_stall_is_that_of_a_fluid);
    tcase_add_test(t, two_players_are_served_side_by_side);
    tcase_add_test(t, while_a_player_is_paused_the_rest_arrives);
    tcase_add_test(t, a_seek_is_waited_for_about_as_long_as_a_start);
    tcase_add_test(t, a_player_on_one_line_stalls_as_long_as_it_must);
    tcase_add_loop_test(t, adaptive_does_not_stall_where_none_need, 0,
                        suite_cases(4, 8));
    tcase_add_test(t, basic_stalls_and_progress_does_not);
    tcase_add_loop_test(t, a_depot_that_falls_silent_costs_no_stall, 0,
                        suite_cases(2, 4));
    tcase_add_loop_test(t, the_best_depot_collapsing_costs_no_stall, 0,
                        suite_cases(2, 4));
    tcase_add_test(t, depots_that_are_busy_save_the_head_of_the_line);
    tcase_add_test(t,
                   the_first_byte_takes_two_round_trips_of_the_nearest_depot);
    tcase_add_loop_test(
        t, a_first_depot_that_is_slow_or_silent_does_not_hold_up_the_start, 0,
        3);
    tcase_add_test(t, a_full_buffer_leaves_depots_alone);
    return run_suite("sim.player", t);
}
