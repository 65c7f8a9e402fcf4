/* SPDX-License-Identifier: MIT */
/*
 * How many connections the adaptive policy opens to depots that bound them, to
 * depots that refuse them, and to those where more are of no use; against what
 * as many connections bring that never idle.
 */
#include "plain.h"
#include "random.h"
#include "sched/policy.h"
#include "sim/run.h"
#include "suite.h"

#define MIB ((uint64_t)1 << 20)

static struct xd_sim_options o;
static struct xd_sim_result result;

static void set_up(void)
{
    o = (struct xd_sim_options){.sched = {.policy = &xd_policy_adaptive,
                                          .redundancy = 1,
                                          .progress = XD_AUTO,
                                          .max_open = 64,
                                          .block_bytes = MIB,
                                          .max_failures = 5,
                                          .patience = 120 * XD_SECOND},
                                .size = 50 * MIB,
                                .piece_bytes = MIB,
                                .seed = 1,
                                .silence = 5 * XD_SECOND};
}

static void tear_down(void)
{
    xd_sim_result_fini(&result);
}

/* Times the limit with `bound` connections.  `given`: as many as its user wants,
 * or 0. */
static double run(const char *text, unsigned given, unsigned bound)
{
    struct xd_error err = {0};
    struct xd_scenario s;
    xd_usec plain, unused;
    double limit;

    xd_sim_result_fini(&result);
    ck_assert_msg(xd_scenario_parse(&s, text, &err) == 0, "%s", err.msg);
    o.sched.lanes_per_depot = bound;
    ck_assert_int_eq(xd_sim_plain(&s, &o, &plain, &unused), 0);
    ck_assert_int_eq(xd_scenario_limit(&s, bound, o.size, &limit), 0);
    if (limit < (double)plain / 1e6)
        limit = (double)plain / 1e6;
    o.sched.lanes_per_depot = given > 0 ? given : 6;
    o.sched.first_lanes = given > 0 ? 0 : 2;
    ck_assert_int_eq(xd_sim_run(&s, &o, &result), 0);
    ck_assert(result.is_complete);
    ck_assert_msg(result.broken == XD_RULE_NONE, "%s",
                  xd_rule_text(result.broken));
    xd_scenario_fini(&s);
    return (double)result.took / 1e6 / limit;
}

#define FAR_SEEDS suite_cases(6, 20)
static const double most_far[] = {1.25, 1.25}; /* CUBIC, BBR */

#define LINE "rate=200mbit rtt=40ms"
#define ONE "depot a 1.1.1.1 " LINE
#define THREE(words)                       \
    "depot a 1.1.1.1 " LINE " " words "\n" \
    "depot b 1.1.1.2 " LINE " " words "\n" \
    "depot c 1.1.1.3 " LINE " " words "\n"

/* The depots of Plank et al. (2003), section 4. */
#define TENNESSEE(words)                                                  \
    "client rate=100mbit queue=512k\n"                                    \
    "depot texas 1.1.1.1 rate=12mbit rtt=30ms queue=128k" words "\n"      \
    "depot california 1.1.1.2 rate=10mbit rtt=70ms queue=128k" words "\n" \
    "depot harvard 1.1.1.3 rate=10mbit rtt=35ms queue=128k" words "\n"    \
    "depot singapore 1.1.1.4 rate=6mbit rtt=250ms queue=128k" words "\n"  \
    "depot tennessee 1.1.1.5 rate=75mbit rtt=1ms queue=256k" words "\n"   \
    "depot amsterdam 1.1.1.6 rate=1500kbit rtt=115ms queue=64k "          \
    "loss=0.2%" words

static const struct {
    const char *text;
    unsigned given, bound; /* connections */
    double most;           /* times their limit */
} rows[] = {
    {ONE " cap=1m", 0, 6, 1.04},
    {ONE " cap=1m", 2, 2, 1.02},
    {ONE " cap=1m", 8, 8, 1.02},
    {ONE " cap=1m", 16, 16, 1.01},
    {THREE("cap=1m"), 0, 6, 1.1},
    {THREE("cap=1m"), 8, 8, 1.02},
    {THREE("cap=1m"), 16, 16, 1.01},
    {ONE " window=64k", 0, 6, 1.07},
    {ONE " window=64k", 16, 16, 1.03},
    {TENNESSEE(" window=64k"), 0, 6, 1.02},
    {ONE " cap=1m\nat 2s a cap=0", 0, 6, 1.2},
    {"depot a 1.1.1.1 rate=200mbit rtt=40ms cap=1m\n"
     "depot b 1.1.1.2 rate=20mbit rtt=40ms\n"
     "depot c 1.1.1.3 rate=40mbit rtt=80ms",
     0, 6, 1.13},
};

START_TEST(connections_are_opened_where_they_are_capped)
{
    double times = run(rows[_i].text, rows[_i].given, rows[_i].bound);

    ck_assert_msg(times <= rows[_i].most, "%.3f times the limit", times);
    ck_assert_uint_eq(result.depots[0].failures, 0);
}
END_TEST

/* Over HTTP/2, where a depot caps each request of one connection. */
static const struct {
    const char *text;
    unsigned given, bound; /* requests at a time */
    double most;           /* times their limit */
} streams[] = {
    {ONE " cap=1m per=request", 0, 6, 1.08},
    {THREE("cap=1m per=request"), 0, 6, 1.3},
};

START_TEST(requests_that_are_capped_share_a_connection)
{
    o.has_http2 = true;
    for (unsigned i = 0; i < 2; i++) {
        double times;

        o.has_bbr = i;
        times = run(streams[_i].text, streams[_i].given, streams[_i].bound);
        ck_assert_msg(times <= streams[_i].most, "%.3f times the limit", times);
        for (size_t d = 0; d < result.n_depots; d++)
            ck_assert_uint_eq(result.depots[d].connections, 1);
    }
}
END_TEST

/* Where it caps each connection, more requests on one are of no use. */
static const struct {
    const char *text;
    unsigned given, bound; /* connections */
    double most;           /* times their limit */
} shared[] = {
    {ONE " cap=1m", 0, 6, 1.09},
    {ONE " cap=1m", 16, 16, 1.03},
    {ONE " cap=1m per=request", 16, 16, 1.23}, /* bursts fill its queue */
    {THREE("cap=1m"), 0, 6, 1.28},
    {THREE("cap=1m"), 8, 8, 1.04},
    {ONE " window=64k", 0, 6, 1.15},
    {ONE " window=64k", 16, 16, 1.07},
};

START_TEST(a_connection_that_is_capped_is_not_shared)
{
    o.has_http2 = true;
    for (int i = _i % 2; i < suite_cases(_i % 2 + 1, 2); i++) {
        double times;

        o.has_bbr = o.has_tls = i;
        times = run(shared[_i].text, shared[_i].given, shared[_i].bound);
        ck_assert_msg(times <= shared[_i].most, "%.3f times the limit", times);
        for (size_t d = 0; d < result.n_depots; d++) {
            ck_assert_uint_ge(result.depots[d].connections, shared[_i].bound);
            ck_assert_uint_eq(result.depots[d].failures, 0);
        }
    }
}
END_TEST

/* A connection that was tried to a depot whose line is the limit is of no use, and
 * slow to end; the others deliver its tail. */
START_TEST(a_connection_of_no_use_delays_nothing_where_another_depot_is_capped)
{
    o.has_http2 = true;
    for (o.seed = 1; o.seed <= (uint64_t)suite_cases(2, 4); o.seed++) {
        double times = run("depot a 1.1.1.1 rate=200mbit rtt=40ms cap=1m\n"
                           "depot b 1.1.1.2 rate=20mbit rtt=40ms\n"
                           "depot c 1.1.1.3 rate=40mbit rtt=80ms",
                           0, 6);

        ck_assert_msg(times <= 1.18, "%.3f times the limit", times);
    }
}
END_TEST

#define LOSSY_SEEDS suite_cases(8, 24)

/* Each loss halves one connection, so that several are of use to those depots
 * where it limits them; one depot fills its line and is probed in vain at once,
 * which delays no other.  The limit is what two connections deliver. */
START_TEST(lines_that_lose_packets_get_connections_over_http2)
{
    double sum = 0;

    o.has_http2 = true;
    for (o.seed = 1; o.seed <= (uint64_t)LOSSY_SEEDS; o.seed++)
        sum += run("client rate=100mbit queue=512k\n"
                   "depot a 1.1.1.1 rate=50mbit rtt=20ms loss=0.5%\n"
                   "depot b 1.1.1.2 rate=50mbit rtt=60ms loss=0.2%\n"
                   "depot c 1.1.1.3 rate=30mbit rtt=40ms loss=1% jitter=5ms\n"
                   "depot d 1.1.1.4 rate=20mbit rtt=120ms loss=2%\n"
                   "depot e 1.1.1.5 rate=10mbit rtt=30ms",
                   0, 6);
    ck_assert_msg(sum / LOSSY_SEEDS <= 0.56, "%.3f times in the mean",
                  sum / LOSSY_SEEDS);
}
END_TEST

/* It refuses once what is one connection too many, and then is asked over those
 * that it serves, or over one. */
START_TEST(
    a_depot_that_refuses_another_connection_is_asked_over_those_it_serves)
{
    static const char *const refusals[] = {"503", "reset", "429", "close"};

    o.has_http2 = true;
    for (unsigned most = 1; most <= 3; most += 2) {
        char text[128];
        double times;

        snprintf(text, sizeof text, ONE " cap=1m most=%u answer=%s", most,
                 refusals[_i]);
        times = run(text, 0, most);
        ck_assert_msg(times <= 1.25, "%.3f times the limit of %u", times, most);
        ck_assert_uint_le(result.depots[0].failures, 5);
    }
}
END_TEST

START_TEST(what_was_learned_of_http2_is_of_use_to_the_next_run)
{
    static const char *const texts[] = {ONE " cap=1m",
                                        ONE " cap=1m per=request"};
    struct xd_guess guess = {.rate = 0};
    double times;

    o.has_http2 = true;
    run(texts[_i], 0, 6);
    guess.learned = result.depots[0].learned;
    ck_assert_uint_eq(guess.learned.useful, 6);
    ck_assert_int_eq(guess.learned.spreads, _i == 0);
    o.guesses = &guess;
    times = run(texts[_i], 0, 6);
    ck_assert_msg(times <= 1.06, "%.3f times the limit", times);
}
END_TEST

/* The second run opens as many as the first has found. */
START_TEST(what_was_learned_is_of_use_to_the_next_run)
{
    struct xd_guess guess = {.rate = 0};
    double times;

    run(ONE " cap=1m", 0, 6);
    guess.learned = result.depots[0].learned;
    ck_assert_uint_eq(guess.learned.useful, 6);
    o.guesses = &guess;
    times = run(ONE " cap=1m", 0, 6);
    ck_assert_msg(times <= 1.03, "%.3f times the limit", times);
}
END_TEST

/* The three depots could bring more than the client's line, so that of more
 * connections only a probe or two is made; where requests shared one, a trial
 * may be. */
static const char *const lines[] = {
    "client rate=40mbit\n" THREE(""),
    "client rate=20mbit\n" THREE("cap=1m"),
    "depot a 1.1.1.1 rate=25mbit rtt=40ms",
    "depot a 1.1.1.1 rate=25mbit rtt=40ms\n"
    "depot b 1.1.1.2 rate=25mbit rtt=40ms",
    "link l rate=30mbit\n"
    "depot a 1.1.1.1 rate=100mbit rtt=20ms via=l\n"
    "depot b 1.1.1.2 rate=100mbit rtt=20ms via=l",
};

static void run_on_line(const char *text, unsigned most_connections)
{
    double times = run(text, 0, 1);
    unsigned connections = 0;

    for (size_t i = 0; i < result.n_depots; i++)
        connections += result.depots[i].connections;
    ck_assert_msg(times <= 1.04, "%.3f times the limit", times);
    ck_assert_msg(connections <= most_connections * result.n_depots + 4,
                  "%u connections", connections);
}

START_TEST(none_is_opened_where_a_line_is_the_limit)
{
    for (o.seed = 1; o.seed <= (uint64_t)suite_cases(2, 4); o.seed++) {
        o.has_bbr = o.seed % 2;
        run_on_line(lines[_i], 3);
    }
}
END_TEST

START_TEST(nor_do_requests_that_share_a_connection_take_longer_there)
{
    o.has_http2 = true;
    for (o.seed = 1; o.seed <= (uint64_t)suite_cases(2, 4); o.seed++) {
        o.has_bbr = o.seed % 2;
        run_on_line(lines[_i], 3);
    }
}
END_TEST

static const char *const refusals[] = {"503", "reset", "429", "close"};

/* It refuses once, and loses nothing by that. */
START_TEST(a_depot_that_refuses_more_has_not_failed)
{
    char text[128];
    double times;

    snprintf(text, sizeof text, ONE " cap=1m most=2 answer=%s", refusals[_i]);
    times = run(text, 0, 2);
    ck_assert_msg(times <= 1.02, "%.3f times the limit", times);
    ck_assert_uint_le(result.depots[0].failures, 1);
    snprintf(text, sizeof text, ONE " cap=1m most=4 answer=%s", refusals[_i]);
    times = run(text, 0, 4);
    ck_assert_msg(times <= 1.1, "%.3f times the limit", times);
    ck_assert_uint_le(result.depots[0].failures, 3);
}
END_TEST

/* Connections to a depot that serves `most`, and bans a client that opens more
 * for 10 s.  Where many are given, and opened at once, none was served for longer
 * than the others, and it is thought to serve one. */
static const struct {
    unsigned given, most; /* given: 0 is the default */
    unsigned n;           /* bans */
    unsigned seconds;
} bans[] = {{0, 1, 1, 70},  {8, 1, 1, 70},  {16, 1, 1, 70}, {0, 2, 1, 44},
            {0, 4, 1, 38},  {8, 2, 1, 70},  {8, 4, 1, 70},  {16, 2, 1, 70},
            {16, 4, 1, 70}, {16, 8, 1, 70}, {16, 16, 0, 5}};

static const char *const banning[] = {"503", "reset", "close"};

/* Its second connection is one too many, and it bans a client for that: once, and
 * the next download does not open it. */
START_TEST(a_depot_that_bans_at_the_second_connection_does_so_once)
{
    struct xd_guess guess = {.rate = 0};
    char text[128];

    o.has_http2 = _i % 2;
    o.size = 10 * MIB;
    snprintf(text, sizeof text, ONE " cap=1m most=1 answer=%s ban=10s",
             banning[_i / 2]);
    run(text, 0, 1);
    ck_assert_uint_eq(result.depots[0].bans, 1);
    ck_assert_uint_le(result.took, 30 * XD_SECOND);
    guess.learned = result.depots[0].learned;
    if (o.has_http2)
        return; /* one connection is what its requests share */
    ck_assert_uint_eq(guess.learned.ceiling, 1);
    o.guesses = &guess;
    run(text, 0, 1);
    ck_assert_uint_eq(result.depots[0].bans, 0);
    ck_assert_uint_eq(result.depots[0].failures, 0);
}
END_TEST

/* The ban, and the pauses after failures, pass once; from then on the depot is
 * asked over as many connections as it has served before: two, or one. */
START_TEST(a_depot_that_bans_does_so_once)
{
    char text[128];

    snprintf(text, sizeof text, ONE " cap=1m most=%u answer=reset ban=10s",
             bans[_i].most);
    run(text, bans[_i].given, bans[_i].most);
    ck_assert_uint_eq(result.depots[0].bans, bans[_i].n);
    ck_assert_uint_le(result.took, bans[_i].seconds * XD_SECOND);
    /* The requests that a ban ends, and those after its pauses. */
    ck_assert_uint_le(result.depots[0].failures,
                      (bans[_i].given ? bans[_i].given : 6) + 6 * bans[_i].n);
}
END_TEST

/* A film of 10 Mbit/s, of which one connection brings 4. */
static const char *const cinemas[] = {
    ONE " cap=500k",
    THREE("cap=500k"),
};

START_TEST(a_film_gets_the_connections_that_it_needs)
{
    o.size = 30 * MIB;
    o.sched.window_bytes = (_i / 4 ? 32 : 12) * MIB;
    o.player = (struct xd_sim_player){.bytes_per_s = 1250000,
                                      .prebuffer = 5 * XD_SECOND};
    o.piece_bytes = _i / 2 % 2 ? MIB : 64 * 1024;
    run(cinemas[_i % 2], 0, 6);
    ck_assert_uint_eq(result.stalled, 0);
}
END_TEST

/* Over round trips of 300 to 800 ms the time until TCP has found its speed counts
 * for more than all else: the mean of several scenarios is bounded. */
START_TEST(depots_that_are_far_are_asked_over_more)
{
    double sum = 0;

    o.has_bbr = _i;
    o.sched.max_pings = 64;
    for (o.seed = 1; o.seed <= (uint64_t)FAR_SEEDS; o.seed++) {
        struct xd_text text = {.s = NULL};

        o.size = xd_random_far_scenario(&text, o.seed);
        sum += run(text.s, 0, 1);
        xd_text_fini(&text);
    }
    ck_assert_msg(sum / FAR_SEEDS <= most_far[_i], "%.3f times in the mean",
                  sum / FAR_SEEDS);
}
END_TEST

/* Three depots before a line that is far slower than they are. */
static const unsigned slow_lines[] = {56, 128, 256, 512};
static const unsigned queues[] = {16, 64, 256};

/* What a line of so many kbit/s brings at best: packets of 1500 bytes carry
 * 1448. */
static double least_time(double kbit)
{
    return (double)o.size * 1500 / 1448 * 8 / (1000 * kbit);
}

/* Two to four depots. */
static double run_slow(unsigned line, unsigned queue, unsigned n_depots)
{
    char text[400];
    size_t n = (size_t)snprintf(text, sizeof text,
                                "client rate=%ukbit queue=%uk\n", line, queue);

    for (unsigned i = 1; i <= n_depots; i++)
        n += (size_t)snprintf(text + n, sizeof text - n,
                              "depot d%u 1.1.1.%u rate=50mbit rtt=%ums\n", i, i,
                              20 * i);
    run(text, 0, 6);
    for (size_t i = 0; i < result.n_depots; i++)
        ck_assert_uint_eq(result.depots[i].failures, 0);
    return (double)result.took / 1e6 / least_time(line);
}

/* With CUBIC, and with BBR, which has to find out that it is alone. */
START_TEST(a_slow_line_is_shared_by_no_more_than_it_takes)
{
    unsigned line = slow_lines[_i / 3 % 4], queue = queues[_i % 3];
    double sum = 0;

    o.size = MIB;
    o.has_bbr = _i >= 12;
    for (unsigned n = 2; n <= 4; n++) {
        double times = run_slow(line, queue, n);

        ck_assert_msg(times <= 1.12, "%.3f times with %u", times, n);
        ck_assert_uint_le(result.wire, o.size + o.size / 20);
        sum += times;
    }
    ck_assert_msg(sum / 3 <= 1.07, "%.3f times in the mean", sum / 3);
}
END_TEST

/* Whatever the policy, and however long a packet that was lost is waited for. */
START_TEST(no_depot_fails_since_others_fill_a_slow_line)
{
    static const struct xd_policy *const policies[] = {
        &xd_policy_basic, &xd_policy_aggressive, &xd_policy_progress};

    o.size = MIB;
    o.sched.block_bytes = MIB / 8;
    o.sched.policy = policies[_i];
    for (unsigned line = 0; line < 4; line++)
        for (unsigned queue = 0; queue < 3; queue++)
            run_slow(slow_lines[line], queues[queue], 3);
}
END_TEST

/* Depots that are slow themselves are all of use. */
START_TEST(slow_depots_are_all_asked)
{
    double times;

    o.size = 4 * MIB;
    times = run("depot a 1.1.1.1 rate=300kbit rtt=40ms\n"
                "depot b 1.1.1.2 rate=300kbit rtt=40ms\n"
                "depot c 1.1.1.3 rate=300kbit rtt=40ms",
                0, 6);
    ck_assert_msg(times <= 1.1, "%.3f times the limit", times);
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("capped");

    tcase_set_timeout(t, 0);
    tcase_add_checked_fixture(t, set_up, tear_down);
    tcase_add_loop_test(t, connections_are_opened_where_they_are_capped, 0,
                        sizeof rows / sizeof *rows);
    tcase_add_test(t, what_was_learned_is_of_use_to_the_next_run);
    tcase_add_loop_test(t, requests_that_are_capped_share_a_connection, 0,
                        sizeof streams / sizeof *streams);
    tcase_add_loop_test(t, a_connection_that_is_capped_is_not_shared, 0,
                        sizeof shared / sizeof *shared);
    tcase_add_loop_test(
        t,
        a_depot_that_refuses_another_connection_is_asked_over_those_it_serves,
        0, suite_cases(2, 4));
    tcase_add_test(
        t, a_connection_of_no_use_delays_nothing_where_another_depot_is_capped);
    tcase_add_test(t, lines_that_lose_packets_get_connections_over_http2);
    tcase_add_loop_test(t, what_was_learned_of_http2_is_of_use_to_the_next_run,
                        0, 2);
    tcase_add_loop_test(
        t, nor_do_requests_that_share_a_connection_take_longer_there, 0,
        sizeof lines / sizeof *lines);
    tcase_add_loop_test(t, none_is_opened_where_a_line_is_the_limit, 0,
                        sizeof lines / sizeof *lines);
    tcase_add_loop_test(t, a_depot_that_refuses_more_has_not_failed, 0,
                        suite_cases(2, sizeof refusals / sizeof *refusals));
    tcase_add_loop_test(t,
                        a_depot_that_bans_at_the_second_connection_does_so_once,
                        0, 2 * sizeof banning / sizeof *banning);
    tcase_add_loop_test(t, a_depot_that_bans_does_so_once, 0,
                        sizeof bans / sizeof *bans);
    tcase_add_loop_test(t, a_film_gets_the_connections_that_it_needs, 0,
                        suite_cases(4, 8));
    tcase_add_loop_test(t, a_slow_line_is_shared_by_no_more_than_it_takes, 0,
                        24);
    tcase_add_loop_test(t, no_depot_fails_since_others_fill_a_slow_line, 0, 3);
    tcase_add_test(t, slow_depots_are_all_asked);
    tcase_add_loop_test(t, depots_that_are_far_are_asked_over_more, 0, 2);
    return run_suite("sim.capped", t);
}
