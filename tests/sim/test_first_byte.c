/* SPDX-License-Identifier: MIT */
/* How soon a client has its first byte, at the start and elsewhere. */
#include "plain.h"
#include "sched/policy.h"
#include "sim/run.h"
#include "suite.h"

#define MIB ((uint64_t)1 << 20)

#define EQUAL                                   \
    "depot a 198.18.1.1 rate=25mbit rtt=40ms\n" \
    "depot b 198.18.1.2 rate=25mbit rtt=40ms\n" \
    "depot c 198.18.1.3 rate=25mbit rtt=40ms\n" \
    "depot d 198.18.1.4 rate=25mbit rtt=40ms\n"
#define NEAREST_LAST                             \
    "depot a 198.18.1.1 rate=12mbit rtt=30ms\n"  \
    "depot b 198.18.1.2 rate=10mbit rtt=70ms\n"  \
    "depot c 198.18.1.3 rate=6mbit  rtt=250ms\n" \
    "depot d 198.18.1.4 rate=75mbit rtt=1ms\n"
#define MIRRORS                                   \
    "depot a 198.18.1.1 rate=120mbit rtt=12ms\n"  \
    "depot b 198.18.1.2 rate=80mbit  rtt=20ms\n"  \
    "depot c 198.18.1.3 rate=25mbit  rtt=140ms\n" \
    "depot d 198.18.1.4 rate=10mbit  rtt=90ms down\n"

static const struct {
    const char *text;
    double rtt;
} cases[] = {{EQUAL, 0.040}, {NEAREST_LAST, 0.001}, {MIRRORS, 0.012}};
#define N_CASES 3

static struct xd_sim_options o;
static struct xd_sim_result result;

static void set_up(void)
{
    o = (struct xd_sim_options){.sched = {.policy = &xd_policy_adaptive,
                                          .redundancy = 1,
                                          .lanes_per_depot = 2,
                                          .max_open = 64,
                                          .block_bytes = MIB,
                                          .window_bytes = 24 * MIB,
                                          .max_failures = 5,
                                          .patience = 120 * XD_SECOND},
                                .size = 32 * MIB,
                                .seed = 1,
                                .silence = 5 * XD_SECOND,
                                .client = {.is_there = true,
                                           .leaves_at = 4 * MIB,
                                           .goes_to = 28 * MIB}};
}

static void tear_down(void)
{
    xd_sim_result_fini(&result);
}

static void read_with(const char *text)
{
    struct xd_scenario s;

    ck_assert_int_eq(xd_scenario_parse(&s, text, NULL), 0);
    ck_assert_int_eq(xd_sim_run(&s, &o, &result), 0);
    ck_assert_msg(result.broken == XD_RULE_NONE, "broken: %s",
                  xd_rule_text(result.broken));
    ck_assert(result.is_complete);
    xd_scenario_fini(&s);
}

/* In which one TCP to each depot brings so much. */
static double least_for(const char *text, uint64_t bytes)
{
    struct xd_sim_options plain = o;
    xd_usec took, unused;
    struct xd_scenario s;

    plain.size = bytes;
    ck_assert_int_eq(xd_scenario_parse(&s, text, NULL), 0);
    ck_assert_int_eq(xd_sim_plain(&s, &plain, &took, &unused), 0);
    xd_scenario_fini(&s);
    return (double)took / 1e6;
}

static void expect_at_most(xd_usec took, double most)
{
    ck_assert_msg((double)took / 1e6 <= most, "%.3f s is more than %.3f s",
                  (double)took / 1e6, most);
}

START_TEST(a_first_byte_takes_two_round_trips_of_the_nearest_depot)
{
    read_with(cases[_i].text);
    expect_at_most(result.first_byte, 2 * cases[_i].rtt + 0.02);
}
END_TEST

/* The nearest is asked again after its part, which takes it a round trip. */
START_TEST(a_first_piece_is_brought_by_all_depots_together)
{
    o.piece_bytes = MIB;
    o.has_bbr = _i >= N_CASES;
    _i %= N_CASES;
    read_with(cases[_i].text);
    expect_at_most(result.first_byte,
                   least_for(cases[_i].text, MIB) + 3 * cases[_i].rtt + 0.02);
}
END_TEST

/* What was asked for before stands in the queues. */
START_TEST(after_a_jump_it_takes_no_longer_than_the_queues)
{
    o.has_bbr = true;
    read_with(cases[_i].text);
    expect_at_most(result.jump, 2 * cases[_i].rtt + 0.12);
    o.piece_bytes = MIB;
    xd_sim_result_fini(&result);
    read_with(cases[_i].text);
    expect_at_most(result.jump,
                   least_for(cases[_i].text, MIB) + 2 * cases[_i].rtt + 0.12);
}
END_TEST

/* There all comes that a server has written, so it must not be asked for much. */
START_TEST(after_a_jump_over_http2_it_takes_no_longer_either)
{
    o.has_bbr = o.has_tls = o.has_http2 = true;
    read_with(cases[_i].text);
    expect_at_most(result.jump, 3 * cases[_i].rtt + 0.02);
}
END_TEST

START_TEST(a_client_that_stays_has_all)
{
    o.client.leaves_at = 0;
    read_with(EQUAL);
    ck_assert_uint_eq(result.jump, XD_NEVER);
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("first_byte");

    tcase_set_timeout(t, 0);
    tcase_add_checked_fixture(t, set_up, tear_down);
    tcase_add_loop_test(
        t, a_first_byte_takes_two_round_trips_of_the_nearest_depot, 0, N_CASES);
    tcase_add_loop_test(t, a_first_piece_is_brought_by_all_depots_together, 0,
                        2 * N_CASES);
    tcase_add_loop_test(t, after_a_jump_it_takes_no_longer_than_the_queues, 0,
                        N_CASES);
    tcase_add_loop_test(t, after_a_jump_over_http2_it_takes_no_longer_either, 0,
                        N_CASES);
    tcase_add_test(t, a_client_that_stays_has_all);
    return run_suite("sim.first_byte", t);
}
