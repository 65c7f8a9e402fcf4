/* SPDX-License-Identifier: MIT */
/* Downloads over the simulated network: does it behave as one? */
#include <inttypes.h>
#include <string.h>

#include "random.h"
#include "sched/policy.h"
#include "sim/net.h"
#include "sim/run.h"
#include "suite.h"

#define MIB ((uint64_t)1 << 20)

static struct xd_sim_options o;
static struct xd_sim_result result;

static void set_up(void)
{
    o = (struct xd_sim_options){.sched = {.policy = &xd_policy_progress,
                                          .redundancy = 2,
                                          .progress = XD_AUTO,
                                          .lanes_per_depot = 1,
                                          .max_open = 16,
                                          .block_bytes = MIB,
                                          .max_failures = 5,
                                          .patience = 120 * XD_SECOND},
                                .size = 8 * MIB,
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
    ck_assert_msg(result.broken == XD_RULE_NONE, "seed %" PRIu64 " broke: %s",
                  o.seed, xd_rule_text(result.broken));
    ck_assert_msg(result.is_complete, "seed %" PRIu64 " came to no end",
                  o.seed);
    xd_scenario_fini(&s);
    return (double)result.took / 1e6;
}

static double limit(const char *text, uint64_t size)
{
    struct xd_scenario s;
    double seconds = 0;

    ck_assert_int_eq(xd_scenario_parse(&s, text, NULL), 0);
    ck_assert_int_eq(xd_scenario_limit(&s, 1, size, &seconds), 0);
    xd_scenario_fini(&s);
    return seconds;
}

static void expect_within(double value, double least, double most)
{
    ck_assert_msg(value >= least && value <= most, "%.4f is not in %.4f..%.4f",
                  value, least, most);
}

#define PATH "rate=20mbit rtt=40ms"
#define PATH_AT(address) "depot d" address " 1.1.1." address " "

/* 20 Mbit/s carry 2.413 MB/s of a file. */
START_TEST(a_depot_is_as_fast_as_its_line)
{
    o.has_bbr = _i;
    o.sched.block_bytes = o.size;
    expect_within(run(PATH_AT("1") PATH), 3.475 + 0.08, 3.75);
}
END_TEST

START_TEST(the_clients_line_bounds_all_depots)
{
    expect_within(run("client rate=20mbit queue=512k\n" PATH_AT("1") PATH
                      "\n" PATH_AT("2") PATH),
                  3.5, 4.3);
}
END_TEST

START_TEST(depots_behind_one_link_share_it)
{
    expect_within(run("link l rate=20mbit\n" PATH_AT("1") PATH
                      " via=l\n" PATH_AT("2") PATH " via=l"),
                  3.5, 4.3);
}
END_TEST

START_TEST(the_first_byte_takes_two_round_trips_and_with_tls_three)
{
    o.size = 1;
    expect_within(run(PATH_AT("1") PATH), 0.0802, 0.0815);
    o.has_tls = true;
    expect_within(run(PATH_AT("1") PATH), 0.1202, 0.1215);
}
END_TEST

START_TEST(the_next_request_takes_one_round_trip)
{
    o.size = 2;
    o.sched.block_bytes = 1;
    expect_within(run(PATH_AT("1") PATH), 0.1204, 0.1225);
}
END_TEST

/* Ten segments, twenty, forty: 100 kB take three rounds. */
START_TEST(a_new_connection_starts_slowly)
{
    o.size = 100000;
    expect_within(run(PATH_AT("1") "rate=1gbit rtt=100ms"), 0.4, 0.41);
    o.size = 10000;
    expect_within(run(PATH_AT("1") "rate=1gbit rtt=100ms"), 0.2, 0.21);
}
END_TEST

START_TEST(loss_slows_cubic_and_hardly_bbr)
{
    const char *lossy = PATH_AT("1") "rate=50mbit rtt=20ms loss=1%";

    o.sched.block_bytes = o.size;
    expect_within(run(lossy), 5, 14);
    o.has_bbr = true;
    expect_within(run(lossy), 1.4, 2.2);
}
END_TEST

START_TEST(a_rate_that_changes_is_heeded)
{
    o.sched.block_bytes = o.size;
    expect_within(run(PATH_AT("1") "rate=40mbit rtt=20ms\n"
                                   "at 1s d1 rate=4mbit\n"
                                   "at 3s d1 rate=40mbit"),
                  3.6, 4.4);
}
END_TEST

/* 64 KiB wait at 1 s, for which the slow line would need another half a second. */
START_TEST(a_queue_is_emptied_at_the_rate_of_the_line_as_it_is_now)
{
    o.size = MIB;
    o.sched.block_bytes = o.size;
    expect_within(run(PATH_AT("1") "rate=1mbit rtt=20ms queue=64k\n"
                                   "at 1s d1 rate=100mbit"),
                  1.05, 1.3);
    expect_within(run("client rate=1mbit queue=64k\n" PATH_AT("1") PATH
                      "\nat 1s client rate=100mbit"),
                  1.3, 1.6);
}
END_TEST

START_TEST(a_depot_that_falls_silent_fails_after_the_silence)
{
    o.sched.policy = &xd_policy_basic;
    expect_within(run(PATH_AT("1") PATH "\n" PATH_AT("2") PATH "\n"
                                                               "at 1s d2 down"),
                  6.0, 6.9);
    ck_assert_uint_ge(result.depots[1].failures, 1);
    ck_assert_uint_eq(result.depots[0].failures, 0);
}
END_TEST

START_TEST(a_path_that_was_down_goes_on_where_it_was)
{
    o.sched.block_bytes = o.size;
    expect_within(run(PATH_AT("1") PATH "\nat 1s d1 down\nat 2s d1 up"), 4.5,
                  6.5);
    ck_assert_uint_eq(result.depots[0].requests, 1);
}
END_TEST

START_TEST(a_refusal_is_noticed_after_a_round_trip)
{
    run(PATH_AT("1") PATH "\n" PATH_AT("2") PATH " refuses");
    /* After pauses of 250, 500, 1000 ms and 2 s it is over. */
    ck_assert_uint_eq(result.depots[1].failures, 4);
    ck_assert_uint_eq(result.depots[1].bytes, 0);
}
END_TEST

START_TEST(what_a_liar_brought_is_fetched_again)
{
    o.piece_bytes = MIB;
    run(PATH_AT("1") PATH "\n" PATH_AT("2") PATH " lies");
    expect_within((double)result.depots[0].bytes, 8.0 * MIB, 8.0 * MIB);
    ck_assert_uint_gt(result.depots[1].bytes, 0);
    expect_within((double)result.wire, 9.0 * MIB, 11.0 * MIB);
}
END_TEST

/* Nothing of a depot that lies is in the file at the end: all of it has come
 * from the others. */
static void expect_right(unsigned bad)
{
    uint64_t bytes = 0;

    for (unsigned i = 0; i < result.n_depots; i++)
        bytes += i == bad ? 0 : result.depots[i].bytes;
    ck_assert_uint_ge(bytes, o.size);
    ck_assert_uint_gt(result.depots[bad].bytes, 0);
}

#define SEVERAL \
    PATH_AT("1") PATH "\n" PATH_AT("2") PATH " lies\n" PATH_AT("3") PATH

START_TEST(a_bad_depot_among_several_is_found_by_asking_each_alone)
{
    const struct xd_policy *const policies[] = {
        &xd_policy_progress, &xd_policy_adaptive, &xd_policy_basic};

    o.piece_bytes = 2 * MIB;
    o.sched.block_bytes = MIB / 8;
    o.sched.policy = policies[_i % 3];
    o.seed += (uint64_t)_i;
    run(SEVERAL);
    expect_right(1);
    /* It is asked alone for one piece at most, and then it is known. */
    ck_assert_uint_le(result.depots[1].bytes, 5 * MIB);
}
END_TEST

START_TEST(where_all_lie_it_fails)
{
    struct xd_scenario s;

    o.piece_bytes = 2 * MIB;
    o.sched.block_bytes = MIB / 8;
    ck_assert_int_eq(
        xd_scenario_parse(
            &s, PATH_AT("1") PATH " lies\n" PATH_AT("2") PATH " lies", NULL),
        0);
    ck_assert_int_eq(xd_sim_run(&s, &o, &result), 0);
    ck_assert_int_eq(result.broken, XD_RULE_NONE);
    ck_assert(!result.is_complete && !result.is_endless);
    xd_scenario_fini(&s);
}
END_TEST

/* One that fails when it is asked alone does not hold up the end, whichever of
 * them that is. */
START_TEST(where_one_asked_alone_fails_another_is_asked)
{
#define FAILS(d) \
    SEVERAL "\nat 3s " d " down\nat 8s " d " up\nat 8s " d " refuses"
    static const char *const failing[] = {FAILS("d1"), FAILS("d2"),
                                          FAILS("d3")};

    o.piece_bytes = 8 * MIB; /* all of it: 2 s from three */
    o.sched.block_bytes = MIB / 8;
    run(failing[_i]);
    expect_right(1);
}
END_TEST

/* What was on its way when a request was broken off has crossed the wire. */
START_TEST(bytes_of_broken_requests_count_on_the_wire)
{
    uint64_t redundant = 0;

    o.sched.policy = &xd_policy_aggressive;
    run(PATH_AT("1") PATH "\n" PATH_AT("2") "rate=19mbit rtt=40ms");
    for (size_t i = 0; i < result.n_depots; i++)
        redundant += result.depots[i].redundant;
    ck_assert_uint_gt(redundant, 0);
    ck_assert_uint_gt(result.wire, o.size + redundant);
    ck_assert_uint_gt(
        result.depots[0].connections + result.depots[1].connections, 2);
}
END_TEST

START_TEST(lanes_have_connections_and_with_http2_share_one)
{
    o.sched.lanes_per_depot = 3;
    o.sched.policy = &xd_policy_basic;
    run(PATH_AT("1") PATH);
    ck_assert_uint_eq(result.depots[0].connections, 3);
    o.has_http2 = true;
    run(PATH_AT("1") PATH);
    ck_assert_uint_eq(result.depots[0].connections, 1);
}
END_TEST

START_TEST(a_reader_that_is_slow_slows_the_download)
{
    o.sched.window_bytes = 4 * MIB;
    o.reader_bytes_per_s = MIB;
    expect_within(run(PATH_AT("1") PATH "\n" PATH_AT("2") PATH), 3.9, 6.0);
}
END_TEST

START_TEST(the_same_seed_gives_the_same_run)
{
    const char *lossy = PATH_AT("1") PATH " loss=2% jitter=5ms";
    xd_usec took;

    run(lossy);
    took = result.took;
    run(lossy);
    ck_assert_uint_eq(took, result.took);
    o.seed++;
    run(lossy);
    ck_assert_uint_ne(took, result.took);
}
END_TEST

/* The same as the lab's, which was computed elsewhere. */
static unsigned millionths(uint64_t *random)
{
    return (unsigned)(1e6 * xd_sim_uniform(random));
}

/* The same figures are in tests/wan/test_gate.py. */
START_TEST(a_depot_of_the_lab_has_the_same_luck)
{
    static const unsigned draws[] = {833727, 883416, 346004},
                          thoughts[] = {328400, 164669, 772645};
    struct xd_scenario s;
    struct xd_net n;

    ck_assert_int_eq(xd_scenario_parse(&s, "depot a 1.1.1.1", NULL), 0);
    ck_assert_int_eq(xd_net_init(&n, &s, 7), 0);
    for (unsigned i = 0; i < 3; i++) {
        ck_assert_uint_eq(millionths(&xd_net_wire(&n, 0)->draw_random),
                          draws[i]);
        ck_assert_uint_eq(millionths(&xd_net_wire(&n, 0)->think_random),
                          thoughts[i]);
    }
    xd_net_fini(&n);
    xd_scenario_fini(&s);
}
END_TEST

START_TEST(the_limit_is_that_of_a_fluid)
{
    expect_within(limit("client rate=1gbit\n"
                        "depot a 1.1.1.1 rate=25mbit rtt=40ms\n"
                        "depot b 1.1.1.2 rate=25mbit rtt=40ms\n"
                        "depot c 1.1.1.3 rate=25mbit rtt=40ms\n"
                        "depot d 1.1.1.4 rate=25mbit rtt=40ms\n",
                        50 * MIB),
                  4.495, 4.499);
    expect_within(limit("client rate=200mbit\n"
                        "link campus rate=30mbit\n"
                        "depot a 1.1.1.1 rate=100mbit rtt=20ms via=campus\n"
                        "depot b 1.1.1.2 rate=100mbit rtt=20ms via=campus\n"
                        "depot c 1.1.1.3 rate=20mbit rtt=70ms\n",
                        50 * MIB),
                  8.837, 8.841);
}
END_TEST

struct mistake {
    const char *text, *says;
};

static const struct mistake mistakes[] = {
    {"", "the scenario names no depot"},
    {"# one\n\ndepot a", "line 3 of the scenario: a name and an address"},
    {"depot a 1.1.1.1 rate=9", "line 1 of the scenario: cannot be"},
    {"depot a 1.1.1.1 rate=9furlongs", "cannot be understood: 'rate'"},
    {"depot a 1.1.1.1 colour=red", "cannot be understood: 'colour'"},
    {"depot a 1.1.1.1\ndepot a 1.1.1.2", "a second line has the name 'a'"},
    {"depot a 1.1.1.1 via=x", "no link before it has the name 'x'"},
    {"depot a 1.1.1.1\nat 1s b down", "no line before it has the name 'b'"},
    {"depot a 1.1.1.1\nat soon a down", "a time and a name belong behind"},
    {"depot a 1.1.1.1\nat 1s a loss=red", "cannot be understood: 'loss'"},
    {"depot a 1.1.1.1 joins=1", "joins needs a time"},
    {"depot a 1.1.1.1 joins=1s", "joins before the depots above it: 'a'"},
    {"depot a 1.1.1.1\ndepot b 1.1.1.2 joins=2s\ndepot c 1.1.1.3 joins=1s",
     "line 3 of the scenario: joins before"},
    {"depot aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa 1.1.1.1", "too long"},
};

#define SLOW "depot a 1.1.1.1 rate=8mbit rtt=20ms\n"
#define FAST "depot b 1.1.1.2 rate=80mbit rtt=20ms"

/* Eight seconds of the slow one, or one of it and less than one of the fast; the
 * paper's policies wait for the slow one's last block. */
static double sim_limit(const char *text)
{
    struct xd_scenario s;
    double seconds = 0;

    ck_assert_int_eq(xd_scenario_parse(&s, text, NULL), 0);
    ck_assert_int_eq(xd_sim_limit(&s, &o, &seconds), 0);
    xd_scenario_fini(&s);
    return seconds;
}

#define ORIGIN "depot o 1.1.1.9 rate=200mbit rtt=40ms tier=2\n"

/* Caches of 20 Mbit/s; of two each owns some of the eight objects. */
START_TEST(the_limit_with_tiers_is_that_of_the_lowest_that_is_up)
{
    double both;

    o.object_bytes = MIB;
    both = sim_limit(ORIGIN PATH_AT("1") PATH " owners=1\n" PATH_AT("2") PATH
                     " owners=1\n");
    ck_assert_double_ge(both, 8.39 / 2.413 / 2);
    ck_assert_double_le(both, 8.39 / 2.413);
    expect_within(sim_limit(ORIGIN PATH_AT("1") PATH), 3.5, 3.7);
    expect_within(sim_limit(ORIGIN PATH_AT("1") PATH " down"), 0.5, 0.7);
}
END_TEST

START_TEST(a_depot_that_joins_later_is_used_from_then_on)
{
    static const struct xd_policy *const all[] = {
        &xd_policy_adaptive, &xd_policy_basic, &xd_policy_aggressive,
        &xd_policy_progress};

    o.sched.policy = all[_i];
    o.sched.block_bytes = MIB / 8;
    ck_assert_double_gt(run(SLOW), 8);
    ck_assert_double_lt(run(SLOW FAST " joins=1s"), _i == 0 ? 2.3 : 4);
    ck_assert_uint_gt(result.depots[1].bytes, 4 * MIB);
    ck_assert_uint_le(result.depots[0].first_byte, 100 * XD_MS);
    ck_assert_double_gt(run(SLOW FAST " joins=12s"), 8);
    ck_assert_uint_eq(result.depots[1].requests, 0);
}
END_TEST

START_TEST(a_mistake_is_told_with_its_line)
{
    struct xd_error err = {0};
    struct xd_scenario s;

    ck_assert_int_eq(xd_scenario_parse(&s, mistakes[_i].text, &err),
                     XD_E_INVAL);
    ck_assert_msg(strstr(err.msg, mistakes[_i].says) != NULL, "%s", err.msg);
}
END_TEST

static const struct xd_policy *const policies[] = {
    &xd_policy_basic, &xd_policy_aggressive, &xd_policy_progress};

/* simulate --random --seed N --print --timeline shows one that fails. */
START_TEST(every_rule_is_kept_on_any_network)
{
    /* 14 have each kind of bad depot twice. */
    uint64_t seeds = (uint64_t)suite_cases(14, 60);

    o.sched.policy = policies[_i];
    for (o.seed = 1; o.seed <= seeds; o.seed++) {
        struct xd_text text = {.s = NULL};

        o.size = xd_random_scenario(&text, o.seed);
        xd_random_bad_depot(&text, (enum xd_bad_kind)(o.seed % XD_N_BAD_KINDS),
                            o.seed);
        o.piece_bytes = o.seed % 2 ? MIB : 300000;
        o.has_bbr = o.seed % 3 == 0;
        o.has_http2 = o.seed % 5 == 0;
        o.sched.lanes_per_depot = 1 + (unsigned)(o.seed % 4);
        o.sched.window_bytes = o.seed % 7 == 0 ? 12 * MIB : 0;
        run(text.s);
        xd_text_fini(&text);
    }
}
END_TEST

/* Against a list that is searched from its beginning. */
START_TEST(events_come_in_order_of_time_and_then_as_they_were_put_in)
{
    static xd_nsec at[3000];
    static bool is_taken[3000];
    struct xd_events events = {.n = 0};
    struct xd_sim_event e;
    uint64_t random = (uint64_t)_i;
    unsigned n = 0, n_taken = 0, n_late = 0;

    for (xd_nsec now = 0; n_taken < 3000; now++) {
        for (uint64_t k = xd_sim_random(&random) % 6; k > 0 && n < 3000; k--) {
            const uint64_t kind = xd_sim_random(&random) % 13;
            const uint64_t number = xd_sim_random(&random) % 20;

            at[n] = now + (xd_nsec)(xd_sim_random(&random) % 40);
            xd_events_put(&events, (enum xd_sim_kind)kind, (unsigned)number,
                          at[n])
                ->life = n;
            n++;
        }
        while (xd_events_take(&events, now, &e)) {
            unsigned first = 0;

            while (is_taken[first])
                first++;
            for (unsigned i = first; i < n; i++)
                if (!is_taken[i] && at[i] < at[first])
                    first = i;
            ck_assert_uint_eq(e.life, first);
            ck_assert(e.at == at[first] && e.at <= now);
            is_taken[first] = true;
            n_taken++;
        }
        for (unsigned i = 0; i < n; i++)
            n_late += !is_taken[i] && at[i] <= now;
        ck_assert_uint_eq(n_late, 0);
    }
    xd_events_fini(&events);
    memset(is_taken, 0, sizeof is_taken);
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("network");

    tcase_set_timeout(t, 0);
    tcase_add_checked_fixture(t, set_up, tear_down);
    tcase_add_loop_test(t, a_depot_is_as_fast_as_its_line, 0, 2);
    tcase_add_test(t, the_clients_line_bounds_all_depots);
    tcase_add_test(t, depots_behind_one_link_share_it);
    tcase_add_test(t, the_first_byte_takes_two_round_trips_and_with_tls_three);
    tcase_add_test(t, the_next_request_takes_one_round_trip);
    tcase_add_test(t, a_new_connection_starts_slowly);
    tcase_add_test(t, loss_slows_cubic_and_hardly_bbr);
    tcase_add_test(t, a_rate_that_changes_is_heeded);
    tcase_add_test(t, the_limit_with_tiers_is_that_of_the_lowest_that_is_up);
    tcase_add_test(t, a_queue_is_emptied_at_the_rate_of_the_line_as_it_is_now);
    tcase_add_test(t, a_depot_that_falls_silent_fails_after_the_silence);
    tcase_add_test(t, a_path_that_was_down_goes_on_where_it_was);
    tcase_add_test(t, a_refusal_is_noticed_after_a_round_trip);
    tcase_add_test(t, what_a_liar_brought_is_fetched_again);
    tcase_add_loop_test(
        t, a_bad_depot_among_several_is_found_by_asking_each_alone, 0, 18);
    tcase_add_test(t, where_all_lie_it_fails);
    tcase_add_loop_test(t, where_one_asked_alone_fails_another_is_asked, 0, 3);
    tcase_add_test(t, bytes_of_broken_requests_count_on_the_wire);
    tcase_add_test(t, lanes_have_connections_and_with_http2_share_one);
    tcase_add_test(t, a_reader_that_is_slow_slows_the_download);
    tcase_add_test(t, the_same_seed_gives_the_same_run);
    tcase_add_test(t, a_depot_of_the_lab_has_the_same_luck);
    tcase_add_test(t, the_limit_is_that_of_a_fluid);
    tcase_add_loop_test(t, a_depot_that_joins_later_is_used_from_then_on, 0, 4);
    tcase_add_loop_test(t, a_mistake_is_told_with_its_line, 0,
                        sizeof mistakes / sizeof *mistakes);
    tcase_add_loop_test(t, every_rule_is_kept_on_any_network, 0, 3);
    tcase_add_loop_test(
        t, events_come_in_order_of_time_and_then_as_they_were_put_in, 0, 4);
    return run_suite("sim.network", t);
}
