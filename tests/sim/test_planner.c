/* SPDX-License-Identifier: MIT */
/* What the adaptive2 policy does where it once did badly. */
#include <inttypes.h>
#include <stdio.h>

#include "plain.h"
#include "sched/policy.h"
#include "sim/run.h"
#include "suite.h"

#define MIB ((uint64_t)1 << 20)

static struct xd_sim_options o;
static struct xd_sim_result result;

static void set_up(void)
{
    o = (struct xd_sim_options){.sched = {.policy = &xd_policy_adaptive2,
                                          .lanes_per_depot = 6,
                                          .first_lanes = 2,
                                          .max_open = 64,
                                          .block_bytes = MIB,
                                          .max_failures = 5,
                                          .patience = 120 * XD_SECOND},
                                .size = MIB,
                                .seed = 1,
                                .silence = 5 * XD_SECOND};
}

static void tear_down(void)
{
    xd_sim_result_fini(&result);
}

/* Returns the duration in seconds. */
static double run(const char *text)
{
    struct xd_error err = {0};
    struct xd_scenario s;

    xd_sim_result_fini(&result);
    ck_assert_msg(xd_scenario_parse(&s, text, &err) == 0, "%s", err.msg);
    ck_assert_int_eq(xd_sim_run(&s, &o, &result), 0);
    ck_assert_msg(result.broken == XD_RULE_NONE, "broken: %s",
                  xd_rule_text(result.broken));
    ck_assert(result.is_complete);
    xd_scenario_fini(&s);
    return (double)result.took / 1e6;
}

static void expect_at_most(double value, double most)
{
    ck_assert_msg(value <= most, "%.3f is more than %.3f", value, most);
}

/* ---- slow lines of the client ---- */

/* Runs with two to four depots that are much faster than the line.  Adds the
 * duration divided by what the line allows to *sum. */
static void run_slow(unsigned line, unsigned queue, unsigned n_depots,
                     double *sum)
{
    /* 1448 of 1500 bytes belong to the file. */
    double least = (double)o.size * 1500 / 1448 * 8 / (1000 * (double)line);
    char text[400];
    size_t n = (size_t)snprintf(text, sizeof text,
                                "client rate=%ukbit queue=%uk\n", line, queue);
    double times;

    for (unsigned i = 1; i <= n_depots; i++)
        n += (size_t)snprintf(text + n, sizeof text - n,
                              "depot d%u 1.1.1.%u rate=50mbit rtt=%ums\n", i, i,
                              20 * i);
    times = run(text) / least;
    for (size_t i = 0; i < result.n_depots; i++)
        ck_assert_uint_eq(result.depots[i].failures, 0);
    expect_at_most(times, 1.3);
    *sum += times;
}

/* The loop runs with CUBIC and then with BBR. */
START_TEST(slow_line_is_not_filled_with_duplicates)
{
    static const unsigned lines[] = {56, 128, 256, 512},
                          queues[] = {16, 64, 256};
    double sum = 0;

    o.has_bbr = _i > 0;
    for (unsigned l = 0; l < 4; l++)
        for (unsigned q = 0; q < 3; q++)
            for (unsigned n = 2; n <= 4; n++)
                run_slow(lines[l], queues[q], n, &sum);
    expect_at_most(sum / 36, 1.12);
}
END_TEST

START_TEST(slow_depots_are_all_used)
{
    double times;

    o.size = 4 * MIB;
    times = run("depot a 1.1.1.1 rate=300kbit rtt=40ms\n"
                "depot b 1.1.1.2 rate=300kbit rtt=40ms\n"
                "depot c 1.1.1.3 rate=300kbit rtt=40ms") /
            ((double)o.size * 1500 / 1448 * 8 / 900e3);
    expect_at_most(times, 1.3);
}
END_TEST

/* ---- readers ---- */

#define UNEQUAL                                  \
    "depot a 198.18.1.1 rate=12mbit rtt=30ms\n"  \
    "depot b 198.18.1.2 rate=10mbit rtt=70ms\n"  \
    "depot c 198.18.1.3 rate=6mbit  rtt=250ms\n" \
    "depot d 198.18.1.4 rate=75mbit rtt=1ms\n"
#define MIRRORS                                   \
    "depot a 198.18.1.1 rate=120mbit rtt=12ms\n"  \
    "depot b 198.18.1.2 rate=80mbit  rtt=20ms\n"  \
    "depot c 198.18.1.3 rate=25mbit  rtt=140ms\n" \
    "depot d 198.18.1.4 rate=10mbit  rtt=90ms down\n"

/* The nearest depot needs 0.13 and 0.12 s for the first piece of 1 MiB.
 * Requests to far depots once made the reader wait for 0.38 and 0.50 s. */
START_TEST(first_piece_does_not_wait_for_far_depots)
{
    static const char *const texts[] = {UNEQUAL, MIRRORS};

    o.size = 32 * MIB;
    o.piece_bytes = MIB;
    o.sched.lanes_per_depot = 2;
    o.sched.window_bytes = 24 * MIB;
    o.client.is_there = true;
    run(texts[_i]);
    expect_at_most((double)result.first_byte / 1e6, 0.27);
}
END_TEST

/* Answers of 16 KiB arrive at once, so they seem to be limited to one in each
 * round trip, and the requests stayed that short. */
START_TEST(film_from_a_far_depot_does_not_stall)
{
    o.size = 32 * MIB;
    o.piece_bytes = MIB;
    o.sched.block_bytes = MIB / 4;
    o.sched.window_bytes = 32 * MIB;
    o.player = (struct xd_sim_player){.bytes_per_s = 2 * MIB,
                                      .prebuffer = 2 * XD_SECOND};
    run("client rate=140mbit queue=1754k\n"
        "depot a 198.18.1.1 rate=63mbit rtt=142ms queue=1125k\n");
    ck_assert_uint_eq(result.stalled, 0);
}
END_TEST

/* The line carries less than the film needs, so 5.2 s are the least. */
START_TEST(film_on_a_slow_line_stalls_little_more_than_it_must)
{
    o.size = 50 * MIB;
    o.sched.window_bytes = 32 * MIB;
    o.player = (struct xd_sim_player){.bytes_per_s = 15000000 / 8 * 1048 / 1000,
                                      .prebuffer = 5 * XD_SECOND};
    run("client rate=100mbit queue=512k\n"
        "depot a 1.1.1.1 rate=12mbit rtt=32ms queue=128k\n");
    expect_at_most((double)result.stalled / 1e6, 6.0);
}
END_TEST

/* Its bytes are requested elsewhere before the player needs them.  It once
 * stalled for 3.8 s. */
START_TEST(film_survives_a_depot_that_falls_silent)
{
    o.size = 30 * MIB;
    o.sched.window_bytes = 24 * MIB;
    o.player = (struct xd_sim_player){.bytes_per_s = 15 * MIB / 8,
                                      .prebuffer = 2 * XD_SECOND};
    run("depot a 1.1.1.1 rate=10mbit rtt=20ms\n"
        "depot b 1.1.1.2 rate=10mbit rtt=20ms\n"
        "depot c 1.1.1.3 rate=10mbit rtt=20ms\n"
        "at 2s c down\n");
    expect_at_most((double)result.stalled / 1e6, 0.7);
}
END_TEST

/* ---- silent depots ---- */

/* Two caches that alone own some objects fall silent.  Requests to them are
 * replaced in vain, which must not restart the 2 s after which the next tier is
 * asked.  It took 8.3 s. */
START_TEST(objects_of_silent_caches_come_from_others_after_two_seconds)
{
    o.size = 64 * MIB;
    o.object_bytes = 4 * MIB;
    o.sched.lanes_per_depot = 2;
    expect_at_most(run("client rate=250mbit queue=1m\n"
                       "depot n0 1.1.1.0 rate=50mbit rtt=5ms owners=2\n"
                       "depot n1 1.1.1.1 rate=50mbit rtt=5ms owners=2\n"
                       "depot n2 1.1.1.2 rate=50mbit rtt=5ms owners=2\n"
                       "depot n3 1.1.1.3 rate=50mbit rtt=5ms owners=2\n"
                       "depot n4 1.1.1.4 rate=50mbit rtt=5ms owners=2\n"
                       "depot o 1.1.1.9 rate=100mbit rtt=40ms tier=2\n"
                       "at 500ms n0 down\n"
                       "at 500ms n1 down\n"),
                   4.6);
}
END_TEST

/* ---- the first request ---- */

/* Counts the requests that began before the first byte arrived. */
struct first_requests {
    xd_usec first_byte;
    xd_usec began[512];
    unsigned n;
};

static void note_request(void *user, const struct xd_sim_record *r)
{
    struct first_requests *f = user;

    if (r->first_byte < f->first_byte)
        f->first_byte = r->first_byte;
    ck_assert_uint_lt(f->n, 512);
    f->began[f->n++] = r->began;
}

/* If it gives no ranges, each request would deliver the whole file. */
START_TEST(only_depot_gets_one_request_until_it_answers)
{
    struct first_requests f = {.first_byte = XD_NEVER};
    unsigned n_before = 0;

    o.size = 8 * MIB;
    o.record = note_request;
    o.record_user = &f;
    run("depot a 1.1.1.1 rate=100mbit rtt=18ms\n");
    for (unsigned i = 0; i < f.n; i++)
        n_before += f.began[i] < f.first_byte;
    ck_assert_uint_eq(n_before, 1);
    ck_assert_uint_ge(result.depots[0].connections, 6);
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("planner");

    tcase_set_timeout(t, 0);
    tcase_add_checked_fixture(t, set_up, tear_down);
    tcase_add_loop_test(t, slow_line_is_not_filled_with_duplicates, 0, 2);
    tcase_add_test(t, slow_depots_are_all_used);
    tcase_add_loop_test(t, first_piece_does_not_wait_for_far_depots, 0, 2);
    tcase_add_test(t, film_from_a_far_depot_does_not_stall);
    tcase_add_test(t, film_on_a_slow_line_stalls_little_more_than_it_must);
    tcase_add_test(t, film_survives_a_depot_that_falls_silent);
    tcase_add_test(t,
                   objects_of_silent_caches_come_from_others_after_two_seconds);
    tcase_add_test(t, only_depot_gets_one_request_until_it_answers);
    return run_suite("sim.planner", t);
}
