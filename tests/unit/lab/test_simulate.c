/* SPDX-License-Identifier: MIT */
/* lab/simulate.h, as the command sees it. */
#include "lab/simulate.h"

#include <string.h>

#include "command/records.h"
#include "suite.h"

static const char scenario[] = "client rate=100mbit\n"
                               "depot near 198.18.1.1 rate=20mbit rtt=10ms\n"
                               "depot far  198.18.1.2 rate=10mbit rtt=90ms\n";

static struct xd_simulate_what what;
static struct xd_simulation *simulation;
static struct xd_error error;

static void set_up(void)
{
    what = (struct xd_simulate_what){
        .scenario = scenario, .size = 4 << 20, .seed = 1};
}

static void tear_down(void)
{
    xd_simulation_free(simulation);
    simulation = NULL;
}

static struct xd_simulated simulated(const struct xd_options *o)
{
    struct xd_simulated out;

    xd_simulation_free(simulation);
    ck_assert_msg(xd_simulate(&simulation, &what, o, &error) == 0, "%s",
                  error.msg);
    xd_simulation_get(simulation, &out);
    return out;
}

START_TEST(a_simulation_tells_how_long_it_took_and_who_brought_what)
{
    struct xd_simulated_depot near;
    struct xd_simulated_depot far;
    struct xd_simulated s = simulated(NULL);

    ck_assert(s.is_complete);
    ck_assert(s.seconds > s.limit_s && s.seconds < 2 * s.limit_s);
    ck_assert_ptr_null(s.broken_rule);
    ck_assert_uint_eq(s.n_depots, 2);
    ck_assert_int_eq(xd_simulation_depot(simulation, 0, &near), 0);
    ck_assert_int_eq(xd_simulation_depot(simulation, 1, &far), 0);
    ck_assert_str_eq(near.name, "near");
    ck_assert_str_eq(far.name, "far");
    ck_assert_uint_eq(near.bytes + far.bytes, what.size);
    ck_assert_uint_eq(near.requests + far.requests, s.requests);
    ck_assert_uint_ge(near.bytes_received + far.bytes_received, what.size);
    ck_assert_uint_eq(near.bytes_received + far.bytes_received,
                      s.bytes_received);
    ck_assert_int_eq(xd_simulation_depot(simulation, 2, &far), XD_E_INVAL);
}
END_TEST

START_TEST(a_simulation_has_a_record_of_each_request)
{
    struct xd_fetch_record r = {.struct_size = sizeof r};
    struct xd_simulated s = simulated(NULL);
    size_t n = 0;

    for (; xd_simulation_record(simulation, n, &r) == 0; n++) {
        ck_assert(r.start_s <= r.end_s && r.end_s <= s.seconds);
        ck_assert_uint_lt(r.depot, 2);
        ck_assert_uint_le(r.received, r.end - r.begin);
    }
    ck_assert_uint_eq(n, s.requests);
}
END_TEST

START_TEST(options_decide_as_they_do_for_downloads)
{
    struct xd_options *o;
    unsigned requests = simulated(NULL).requests;

    ck_assert_int_eq(xd_options_new(&o, NULL), 0);
    ck_assert_int_eq(xd_options_set(o, "block-size", "64k", NULL), 0);
    ck_assert_int_eq(xd_options_set(o, "algorithm", "basic", NULL), 0);
    ck_assert_uint_gt(simulated(o).requests, 4 * requests);
    xd_options_free(o);
}
END_TEST

START_TEST(https_and_order_take_their_time)
{
    struct xd_options *o;
    double plain;

    ck_assert_int_eq(xd_options_new(&o, NULL), 0);
    ck_assert_int_eq(xd_options_set(o, "algorithm", "basic", NULL), 0);
    plain = simulated(o).seconds;
    what.https = 1;
    ck_assert(simulated(o).seconds > plain);
    xd_options_free(o);
    what.https = 0;
    what.in_order = 1;
    ck_assert(simulated(NULL).is_complete);
}
END_TEST

/* 30 Mbit/s come. */
static struct xd_simulated played(double bytes_per_s, double prebuffer_s)
{
    what.size = 16 << 20;
    what.play_bytes_per_s = bytes_per_s;
    what.prebuffer_s = prebuffer_s;
    return simulated(NULL);
}

START_TEST(a_player_that_is_slower_than_the_depots_does_not_stall)
{
    struct xd_simulated s = played(2e6, 2);

    ck_assert(s.is_complete);
    ck_assert(s.first_byte_s > 0 && s.first_byte_s < 1);
    ck_assert_uint_eq(s.n_stalls, 0);
    ck_assert(s.stall_s == 0 && s.stall_longest_s == 0 && s.stall_least_s == 0);
}
END_TEST

START_TEST(a_player_that_is_faster_stalls_hardly_more_than_it_has_to)
{
    struct xd_simulated s = played(5e6, 1);

    ck_assert(s.is_complete);
    ck_assert_uint_ge(s.n_stalls, 1);
    ck_assert(s.stall_least_s > 0.3);
    ck_assert(s.stall_s >= s.stall_least_s);
    ck_assert(s.stall_s < s.stall_least_s + 1);
    ck_assert(s.stall_longest_s > 0 && s.stall_longest_s <= s.stall_s);
    ck_assert(played(5e6, 3).stall_s < s.stall_s);
}
END_TEST

START_TEST(without_a_player_nothing_stalls)
{
    struct xd_simulated s = simulated(NULL);

    ck_assert(s.first_byte_s > 0);
    ck_assert_uint_eq(s.n_stalls, 0);
    ck_assert(s.stall_s == 0 && s.stall_least_s == 0);
}
END_TEST

START_TEST(a_player_looks_ahead_for_as_many_seconds_as_it_may)
{
    struct xd_options *o;
    double unbounded = played(1e6, 1).seconds, bounded;

    ck_assert_int_eq(xd_options_new(&o, NULL), 0);
    ck_assert_int_eq(xd_options_set(o, "lookahead", "5s", NULL), 0);
    bounded = simulated(o).seconds;
    /* The last byte is asked for five seconds, and a quarter more at most,
     * before it is shown. */
    ck_assert(unbounded < 8);
    ck_assert(bounded > (double)what.size / 1e6 - 6);
    tear_down();
    what.play_bytes_per_s = 0;
    what.in_order = 1;
    ck_assert_int_eq(xd_simulate(&simulation, &what, o, &error), XD_E_INVAL);
    ck_assert_ptr_nonnull(strstr(error.msg, "lookahead"));
    xd_options_free(o);
}
END_TEST

START_TEST(a_run_whose_rules_are_not_checked_is_the_same)
{
    struct xd_simulated checked = simulated(NULL), s;

    what.unchecked = true;
    s = simulated(NULL);
    ck_assert(s.is_complete && s.broken_rule == NULL);
    ck_assert(s.seconds == checked.seconds);
    ck_assert_uint_eq(s.bytes_received, checked.bytes_received);
    ck_assert_uint_eq(s.requests, checked.requests);
}
END_TEST

START_TEST(what_makes_no_sense_is_refused_with_a_sentence)
{
    what.scenario = "depot a 198.18.1.1 rate=red";
    ck_assert_int_eq(xd_simulate(&simulation, &what, NULL, &error), XD_E_INVAL);
    ck_assert_ptr_nonnull(strstr(error.msg, "line 1"));
    what.scenario = scenario;
    what.size = 0;
    ck_assert_int_eq(xd_simulate(&simulation, &what, NULL, &error), XD_E_INVAL);
    ck_assert_ptr_nonnull(strstr(error.msg, "0 bytes"));
    what.size = 1;
    what.play_bytes_per_s = -1;
    ck_assert_int_eq(xd_simulate(&simulation, &what, NULL, &error), XD_E_INVAL);
    ck_assert_ptr_nonnull(strstr(error.msg, "-1 bytes per second"));
    what.play_bytes_per_s = 1;
    what.prebuffer_s = -2;
    ck_assert_int_eq(xd_simulate(&simulation, &what, NULL, &error), XD_E_INVAL);
    ck_assert_ptr_nonnull(strstr(error.msg, "-2 s"));
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("simulate");

    tcase_add_checked_fixture(t, set_up, tear_down);
    tcase_add_test(t, a_simulation_tells_how_long_it_took_and_who_brought_what);
    tcase_add_test(t, a_simulation_has_a_record_of_each_request);
    tcase_add_test(t, options_decide_as_they_do_for_downloads);
    tcase_add_test(t, https_and_order_take_their_time);
    tcase_add_test(t, a_player_that_is_slower_than_the_depots_does_not_stall);
    tcase_add_test(t,
                   a_player_that_is_faster_stalls_hardly_more_than_it_has_to);
    tcase_add_test(t, without_a_player_nothing_stalls);
    tcase_add_test(t, a_run_whose_rules_are_not_checked_is_the_same);
    tcase_add_test(t, a_player_looks_ahead_for_as_many_seconds_as_it_may);
    tcase_add_test(t, what_makes_no_sense_is_refused_with_a_sentence);
    return run_suite("simulate", t);
}
