/* SPDX-License-Identifier: MIT */
/* What lies in many objects comes as soon as what lies in one: no request goes
 * beyond an object, and where those are short round trips count. */
#include <stdio.h>

#include "sched/policy.h"
#include "sim/run.h"
#include "suite.h"

#define KIB ((uint64_t)1 << 10)
#define MIB ((uint64_t)1 << 20)

static const char mirrors[] =
    "client rate=300mbit queue=1m\n"
    "depot near   1.1.1.1 rate=120mbit rtt=12ms  queue=512k\n"
    "depot nearby 1.1.1.2 rate=80mbit  rtt=20ms  queue=512k\n"
    "depot fair   1.1.1.3 rate=40mbit  rtt=45ms  queue=512k\n"
    "depot fairer 1.1.1.4 rate=40mbit  rtt=60ms  queue=512k\n"
    "depot far    1.1.1.5 rate=25mbit  rtt=140ms queue=512k\n"
    "depot lossy  1.1.1.6 rate=10mbit  rtt=180ms loss=0.1%\n"
    "depot poor   1.1.1.7 rate=1mbit   rtt=220ms queue=64k loss=1%\n"
    "depot dead   1.1.1.8 rate=10mbit  rtt=90ms down\n";

struct took {
    double seconds, limit;
    uint64_t in_vain; /* bytes on the wire */
};

/* How they are asked for. */
struct how {
    unsigned lanes;        /* 0: as many as there are by default */
    unsigned streams;      /* if a connection can have them */
    unsigned most_objects; /* at a time; 0: any number */
    bool has_http2;
};

static struct took fetch_so(const char *text, uint64_t size, uint64_t object,
                            struct how how)
{
    const struct xd_sim_options o = {
        .sched = {.policy = &xd_policy_adaptive,
                  .lanes_per_depot = how.streams > 0 ? how.streams
                                     : how.lanes > 0 ? how.lanes
                                                     : 6,
                  .connections_per_depot = how.lanes > 0 ? how.lanes : 6,
                  .first_lanes = how.lanes > 0 ? 0 : 2,
                  .max_open = 64,
                  .block_bytes = MIB,
                  .most_objects = how.most_objects,
                  .max_failures = 5,
                  .patience = 120 * XD_SECOND},
        .size = size,
        .object_bytes = object,
        .has_http2 = how.has_http2,
        .has_tls = how.has_http2,
        .seed = 1,
        .silence = 5 * XD_SECOND};
    struct xd_error err = {0};
    struct xd_sim_result result;
    struct xd_scenario s;
    struct took took;

    ck_assert_msg(xd_scenario_parse(&s, text, &err) == 0, "%s", err.msg);
    ck_assert_int_eq(xd_sim_run(&s, &o, &result), 0);
    ck_assert_int_eq(xd_scenario_limit(&s, 1, size, &took.limit), 0);
    ck_assert_msg(result.broken == XD_RULE_NONE, "broken: %s",
                  xd_rule_text(result.broken));
    ck_assert(result.is_complete);
    took.seconds = (double)result.took / 1e6;
    took.in_vain = result.wire - size;
    xd_sim_result_fini(&result);
    xd_scenario_fini(&s);
    return took;
}

static struct took fetch(const char *text, uint64_t size, uint64_t object,
                         unsigned lanes)
{
    return fetch_so(text, size, object, (struct how){.lanes = lanes});
}

START_TEST(sixty_objects_take_no_longer_than_one_that_is_as_long)
{
    struct took one = fetch(mirrors, 60 * MIB, 0, 0);
    struct took many = fetch(mirrors, 60 * MIB, MIB, 0);

    ck_assert_double_le(many.seconds, 1.05 * one.seconds);
    ck_assert_double_le(many.seconds, 1.1 * many.limit);
    ck_assert_uint_le(many.in_vain, 60 * MIB / 50);
}
END_TEST

START_TEST(a_few_megabytes_are_begun_on_two_connections_at_once)
{
    struct took t = fetch(mirrors, 5 * MIB, 0, 0);

    ck_assert_double_le(t.seconds, 1.26 * t.limit);
}
END_TEST

/* So many round trips have to pass; handshakes, and the turn in which the depot is
 * found out, come on top. */
static void check_round_trips(unsigned asked, unsigned lanes, double most)
{
    const unsigned n = 1000;
    struct took t = fetch("client rate=1000mbit queue=1m\n"
                          "depot a 1.1.1.1 rate=200mbit rtt=40ms queue=512k\n",
                          n * 10 * KIB, 10 * KIB, asked);

    ck_assert_double_le(t.seconds, most * n / lanes * 0.04);
}

START_TEST(short_objects_come_over_all_connections_that_there_may_be)
{
    check_round_trips(0, 6, 1.08);
    check_round_trips(6, 6, 1.08);
    check_round_trips(16, 16, 1.12);
}
END_TEST

/* Handshakes with TLS, and the answer by which it is seen that they share. */
START_TEST(short_objects_share_a_connection_fifty_at_a_time)
{
    const unsigned n = 2000;
    struct took t = fetch_so(
        "client rate=1000mbit queue=1m\n"
        "depot a 1.1.1.1 rate=200mbit rtt=40ms queue=512k\n",
        n * 10 * KIB, 10 * KIB, (struct how){.streams = 50, .has_http2 = true});

    ck_assert_double_le(t.seconds, 1.3 * n / 50 * 0.04);
}
END_TEST

/* The rules hold that there are no more connections than there may be. */
START_TEST(without_a_shared_connection_there_are_no_more_requests)
{
    struct took with =
        fetch_so(mirrors, 5 * MIB, 10 * KIB, (struct how){.streams = 50});
    struct took without = fetch(mirrors, 5 * MIB, 10 * KIB, 0);

    ck_assert_double_eq(with.seconds, without.seconds);
}
END_TEST

/* On a third connection TCP would look for its speed once more, and lose. */
START_TEST(a_mebibyte_is_not_short_however_far_it_comes)
{
    struct took t =
        fetch("client rate=500mbit queue=4m\n"
              "depot sydney   1.1.1.1 rate=150mbit rtt=280ms queue=4m\n"
              "depot tokyo    1.1.1.2 rate=120mbit rtt=240ms queue=4m\n"
              "depot saopaulo 1.1.1.3 rate=100mbit rtt=200ms queue=4m\n"
              "depot capetown 1.1.1.4 rate=100mbit rtt=300ms queue=4m\n",
              20 * MIB, MIB, 0);

    ck_assert_double_le(t.seconds, 1.3 * t.limit);
}
END_TEST

/* That it is so the rules hold; this is what it costs. */
START_TEST(few_long_objects_at_a_time_are_divided_as_if_they_were_all)
{
    static const struct {
        unsigned objects;
        double time;
    } most[] = {{1, 1.2}, {2, 1.1}, {8, 1}, {64, 1}};
    const struct took all = fetch(mirrors, 160 * MIB, 20 * MIB, 0);
    const struct took few =
        fetch_so(mirrors, 160 * MIB, 20 * MIB,
                 (struct how){.most_objects = most[_i].objects});

    ck_assert_double_le(few.seconds, most[_i].time * all.seconds);
    ck_assert_uint_le(few.in_vain, 160 * MIB / 50);
}
END_TEST

START_TEST(nothing_is_asked_for_twice_while_short_objects_may_not_be_begun)
{
    const unsigned lanes = _i == 0 ? 6 : 16;
    const struct took all = fetch(mirrors, 300 * 100 * KIB, 100 * KIB, lanes);
    const struct took few =
        fetch_so(mirrors, 300 * 100 * KIB, 100 * KIB,
                 (struct how){.lanes = lanes, .most_objects = 64});

    ck_assert_double_le(few.seconds, 1.05 * all.seconds);
    ck_assert_uint_le(few.in_vain, all.in_vain + 300 * KIB);
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("sets");

    tcase_add_test(t, sixty_objects_take_no_longer_than_one_that_is_as_long);
    tcase_add_test(t, a_few_megabytes_are_begun_on_two_connections_at_once);
    tcase_add_test(t,
                   short_objects_come_over_all_connections_that_there_may_be);
    tcase_add_test(t, short_objects_share_a_connection_fifty_at_a_time);
    tcase_add_test(t, without_a_shared_connection_there_are_no_more_requests);
    tcase_add_test(t, a_mebibyte_is_not_short_however_far_it_comes);
    tcase_add_loop_test(
        t, few_long_objects_at_a_time_are_divided_as_if_they_were_all, 0, 4);
    tcase_add_loop_test(
        t, nothing_is_asked_for_twice_while_short_objects_may_not_be_begun, 0,
        2);
    return run_suite("sim.sets", t);
}
