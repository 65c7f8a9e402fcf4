/* SPDX-License-Identifier: MIT */
/* How many connections a depot is worth: trials, and what ends them. */
#include "sched/adaptive/connections.h"
#include "suite.h"

#define KIB 1024.0
#define MIB (1024 * KIB)
#define DEPOTS 2
#define LANES 6 /* of each */
#define STEP (20 * XD_MS)

static struct xd_connections c;
static struct xd_connections_facts facts;
static xd_usec now;
static double rates[DEPOTS * LANES]; /* of lanes, bytes per second */
static unsigned given;               /* connections, at most */
static unsigned usual;               /* as many as there always are */

static void set_up(void)
{
    ck_assert_int_eq(xd_connections_init(&c, DEPOTS, DEPOTS * LANES, LANES, 2),
                     0);
    facts = (struct xd_connections_facts){
        .latency = 40 * XD_MS, .time_left = 20, .bytes_left = 40 * MIB};
    now = XD_SECOND;
    given = LANES;
    usual = 2;
    for (unsigned i = 0; i < DEPOTS * LANES; i++)
        rates[i] = 0;
    for (unsigned i = 0; i < DEPOTS; i++)
        xd_connections_answered(&c, i, 80 * XD_MS);
}

static void tear_down(void)
{
    xd_connections_fini(&c);
}

static xd_usec decide(unsigned depot)
{
    facts.now = now;
    facts.first_lane = depot * LANES;
    facts.n_running = xd_connections_allowed(&c, depot);
    if (facts.n_running > given)
        facts.n_running = given;
    facts.n_usual = usual;
    return xd_connections_decide(&c, depot, &facts);
}

/* Each depot's lanes that may be used bring what they bring. */
static void pass(xd_usec time)
{
    for (xd_usec end = now + time; now < end; now += STEP)
        for (unsigned depot = 0; depot < DEPOTS; depot++) {
            for (unsigned i = 0; i < xd_connections_allowed(&c, depot); i++) {
                unsigned lane = depot * LANES + i;
                uint64_t bytes = (uint64_t)(rates[lane] * (double)STEP / 1e6);

                if (bytes > 0)
                    xd_connections_heard(&c, depot, lane, facts.latency, now,
                                         bytes);
            }
            decide(depot);
        }
}

static void set_rates(unsigned depot, double each)
{
    for (unsigned i = 0; i < LANES; i++)
        rates[depot * LANES + i] = each;
}

static void expect(unsigned depot, unsigned allowed)
{
    ck_assert_uint_eq(xd_connections_allowed(&c, depot), allowed);
}

static void expect_why(enum xd_lanes_reason why)
{
    ck_assert_int_eq(xd_connections_why(&c, 0), why);
}

/* Whether the depot is probed within that time. */
static bool is_probed(xd_usec time)
{
    for (xd_usec end = now + time;
         now < end && xd_connections_allowed(&c, 0) == 2;)
        pass(STEP);
    return xd_connections_allowed(&c, 0) == 3;
}

/* Two that are equal and steady, and a probe. */
static void begin_probe(void)
{
    set_rates(0, MIB);
    ck_assert(is_probed(400 * XD_MS));
    ck_assert(xd_connections_are_tried(&c, 0));
}

START_TEST(a_depot_begins_with_the_first_lanes)
{
    expect(0, 2);
    expect_why(XD_LANES_USUAL);
    ck_assert(!xd_connections_are_bound(&c, 0));
    ck_assert(!xd_connections_are_tried(&c, 0));
}
END_TEST

START_TEST(a_depot_that_is_far_begins_with_all)
{
    facts.is_far = true;
    decide(0);
    expect(0, 6);
    expect_why(XD_LANES_FAR);
    ck_assert(!xd_connections_are_bound(&c, 0));
    ck_assert(!xd_connections_are_tried(&c, 0));
}
END_TEST

START_TEST(a_depot_of_short_objects_has_as_many_as_keep_it_busy)
{
    facts.n_short = 2;
    decide(0);
    expect(0, 2);
    expect_why(XD_LANES_USUAL);
    facts.n_short = 3;
    decide(0);
    expect(0, 3);
    expect_why(XD_LANES_SHORT);
    facts.n_short = 50;
    decide(0);
    expect(0, 6);
    ck_assert(!xd_connections_are_bound(&c, 0));
}
END_TEST

START_TEST(it_keeps_them_as_long_as_objects_are_short)
{
    facts.n_short = 5;
    decide(0);
    facts.n_short = 1;
    decide(0);
    expect(0, 5);
    expect_why(XD_LANES_SHORT);
    facts.n_short = 0;
    decide(0);
    expect(0, 2);
    expect_why(XD_LANES_USUAL);
}
END_TEST

START_TEST(requests_for_short_objects_that_share_a_connection_are_enough)
{
    facts.n_short = 3;
    facts.can_share = true;
    facts.n_streams = 50;
    set_rates(0, MIB);
    for (xd_usec end = now + XD_SECOND; now < end;) {
        pass(STEP);
        expect(0, 3);
    }
    facts.n_short = 0;
    decide(0);
    expect(0, 2);
}
END_TEST

START_TEST(short_objects_that_share_a_connection_have_more_requests)
{
    facts.n_short = 50;
    facts.can_share = true;
    facts.n_streams = 50;
    decide(0);
    expect(0, 50);
    expect_why(XD_LANES_SHORT);
    facts.ceiling = 20;
    facts.ceiling_spreads = true;
    decide(0);
    expect(0, 50);
    facts.n_short = 0;
    decide(0);
    expect(0, 2);
    facts.can_share = false;
    facts.n_short = 50;
    facts.ceiling_spreads = false;
    decide(1);
    expect(1, 6);
}
END_TEST

START_TEST(short_objects_need_no_more_than_are_served_or_a_limit_allows)
{
    facts.n_short = 50;
    facts.ceiling = 3;
    decide(0);
    expect(0, 3);
    facts.is_held_back = true;
    decide(1);
    expect(1, 2);
}
END_TEST

START_TEST(it_has_no_more_than_it_serves)
{
    facts.is_far = true;
    facts.ceiling = 3;
    decide(0);
    expect(0, 3);
}
END_TEST

/* One connection finds its speed for all that share it. */
START_TEST(requests_that_can_share_a_connection_are_no_more_for_that)
{
    facts.is_far = true;
    decide(0);
    facts.can_share = true;
    decide(0);
    expect(0, 2);
    expect_why(XD_LANES_USUAL);
}
END_TEST

START_TEST(a_depot_whose_connections_are_capped_gets_all)
{
    begin_probe();
    expect_why(XD_LANES_PROBE);
    xd_connections_answered(&c, 0, 82 * XD_MS);
    pass(STEP);
    expect(0, 6);
    expect_why(XD_LANES_TRIAL);
    pass(XD_SECOND);
    expect(0, 6);
    expect_why(XD_LANES_USEFUL);
    ck_assert(xd_connections_are_bound(&c, 0));
    ck_assert(!xd_connections_are_tried(&c, 0));
    expect(1, 2);
}
END_TEST

static const struct {
    double second, later; /* of the other lane; of both after 100 ms */
    bool is_probed;
} pairs[] = {{1.0, 1.0, true},   {1.3, 1.0, true},  {1.7, 1.0, false},
             {0.55, 1.0, false}, {1.0, 1.6, false}, {1.15, 0.5, false}};

/* For 240 ms, in which two turns end. */
START_TEST(only_connections_that_are_steady_and_equal_are_probed)
{
    rates[0] = MIB;
    rates[1] = MIB * pairs[_i].second;
    pass(100 * XD_MS);
    rates[0] *= pairs[_i].later;
    rates[1] *= pairs[_i].later;
    ck_assert_int_eq(is_probed(140 * XD_MS), pairs[_i].is_probed);
}
END_TEST

static const struct {
    xd_usec latency; /* of the depot; a round trip is 40 ms at most */
    xd_usec turn;
} turns[] = {{20 * XD_MS, 100 * XD_MS},
             {39 * XD_MS, 100 * XD_MS},
             {40 * XD_MS, 80 * XD_MS},
             {120 * XD_MS, 80 * XD_MS}};

START_TEST(two_round_trips_are_a_turn_if_they_last)
{
    facts.latency = turns[_i].latency;
    set_rates(0, MIB);
    ck_assert(!is_probed(2 * turns[_i].turn));
    ck_assert(is_probed(STEP));
}
END_TEST

static const struct {
    double first, second; /* of the two lanes before their rates fall, */
    double later;         /* and of the second then */
    bool is_probed;
} bursts[] = {{2.0, 2.0, 1.0, true},   {2.0, 2.0, 1.08, true},
              {2.0, 2.0, 1.15, false}, {2.0, 2.8, 1.0, true},
              {2.0, 3.2, 1.0, false},  {2.0, 1.0, 1.0, false},
              {0.7, 0.7, 1.0, false}};

START_TEST(so_are_those_whose_burst_is_over_if_they_are_exact)
{
    rates[0] = MIB * bursts[_i].first;
    rates[1] = MIB * bursts[_i].second;
    pass(100 * XD_MS);
    rates[0] = MIB;
    rates[1] = MIB * bursts[_i].later;
    ck_assert_int_eq(is_probed(140 * XD_MS), bursts[_i].is_probed);
}
END_TEST

static const struct {
    double time_left, bytes_left;
    bool is_held_back;
    unsigned ceiling;
    bool is_needed;
    bool is_probed;
} cases[] = {{2.1, 3.1 * MIB, false, 0, false, true},
             {1.9, 3.1 * MIB, false, 0, false, false},
             {2.1, 2.9 * MIB, false, 0, false, false},
             {2.1, 3.1 * MIB, true, 0, false, false},
             {2.1, 3.1 * MIB, false, 3, false, true},
             {2.1, 3.1 * MIB, false, 2, false, false},
             {0.1, 0.1 * MIB, false, 0, true, true},
             {0.1, 0.1 * MIB, true, 0, true, false}};

START_TEST(a_probe_has_to_be_worth_it)
{
    set_rates(0, MIB);
    facts.time_left = cases[_i].time_left;
    facts.bytes_left = cases[_i].bytes_left;
    facts.is_held_back = cases[_i].is_held_back;
    facts.ceiling = cases[_i].ceiling;
    facts.is_needed = cases[_i].is_needed;
    ck_assert_int_eq(is_probed(400 * XD_MS), cases[_i].is_probed);
}
END_TEST

/* A connection of 50 KiB/s brings 1 MiB in 20.5 s. */
START_TEST(a_connection_has_to_bring_enough)
{
    set_rates(0, 50 * KIB);
    ck_assert(!is_probed(400 * XD_MS));
    facts.time_left = 21;
    ck_assert(is_probed(100 * XD_MS));
}
END_TEST

/* 80 ms, a quarter more, and 15 ms. */
START_TEST(a_probe_that_waits_in_a_queue_ends_the_trial)
{
    begin_probe();
    xd_connections_answered(&c, 0, (_i ? 114 : 116) * XD_MS);
    pass(STEP);
    expect(0, _i ? 6 : 2);
}
END_TEST

START_TEST(a_probe_that_is_not_answered_ends_the_trial)
{
    begin_probe();
    pass(100 * XD_MS);
    expect(0, 3);
    pass(40 * XD_MS);
    expect(0, 2);
}
END_TEST

/* A probe, or a trial, is refused, when so many were served. */
START_TEST(a_refusal_ends_the_trial_and_those_that_were_served_are_used)
{
    unsigned served = 2 + (unsigned)_i;

    begin_probe();
    if (_i > 0) {
        xd_connections_answered(&c, 0, 82 * XD_MS);
        pass(STEP);
        expect(0, 6);
    }
    facts.ceiling = served;
    decide(0);
    expect(0, served);
    expect_why(XD_LANES_REFUSED);
    ck_assert(xd_connections_are_bound(&c, 0));
    pass(10 * XD_SECOND);
    expect(0, served);
}
END_TEST

/* How long until it is probed again. */
static double time_to_probe(void)
{
    xd_usec began = now;

    ck_assert(is_probed(60 * XD_SECOND));
    return (double)(now - began) / 1e6;
}

START_TEST(the_pause_after_trials_in_vain_doubles)
{
    static const double pauses[] = {2, 4, 8, 16, 32, 32};

    set_rates(0, MIB);
    facts.time_left = 1000;
    time_to_probe();
    for (unsigned i = 0; i < 6; i++) {
        double passed;

        xd_connections_answered(&c, 0, 200 * XD_MS);
        pass(STEP);
        expect(0, 2);
        passed = time_to_probe();
        ck_assert_double_ge(passed, pauses[i] - 0.1);
        ck_assert_double_le(passed, pauses[i] + 0.1);
    }
}
END_TEST

/* The probe was answered, but when all are tried the server serves no more than
 * before; or it does not serve the probe either. */
START_TEST(a_trial_without_a_new_connection_has_no_verdict)
{
    begin_probe();
    given = 2;
    if (_i) {
        xd_connections_answered(&c, 0, 82 * XD_MS);
        pass(STEP);
        expect(0, 6);
    }
    set_rates(0, 0);
    rates[0] = rates[1] = MIB;
    pass(450 * XD_MS);
    expect(0, 2);
    expect_why(XD_LANES_NO_WORK);
    ck_assert(!xd_connections_are_tried(&c, 0));

    /* No pause of two seconds follows, as it does after a trial of no use. */
    given = LANES;
    ck_assert(is_probed(700 * XD_MS));
}
END_TEST

/* What all six bring together, in connections of before; and how many are
 * kept. */
static const struct {
    double together;
    unsigned kept;
} gains[] = {{2, 2}, {2.9, 2}, {3.2, 4}, {4.3, 5}, {4.5, 6}, {6, 6}};

START_TEST(as_many_are_kept_as_are_of_use)
{
    begin_probe();
    xd_connections_answered(&c, 0, 82 * XD_MS);
    pass(STEP);
    set_rates(0, MIB * gains[_i].together / LANES);
    pass(XD_SECOND);
    expect(0, gains[_i].kept);
    expect_why(gains[_i].kept > 2 ? XD_LANES_USEFUL : XD_LANES_USELESS);
    ck_assert_int_eq(xd_connections_are_bound(&c, 0), gains[_i].kept > 2);
}
END_TEST

/* Bursts of a tenth of a second, and silence. */
START_TEST(a_depot_that_rations_is_probed_while_it_is_silent)
{
    set_rates(0, 10 * MIB);
    rates[1] = 7 * MIB;
    pass(140 * XD_MS);
    set_rates(0, 0);
    pass(140 * XD_MS);
    expect(0, 2);
    ck_assert_uint_gt(decide(0), now);
    ck_assert_uint_le(decide(0), now + 100 * XD_MS);
    pass(100 * XD_MS);
    expect(0, 3);
}
END_TEST

START_TEST(a_depot_that_was_silent_from_the_start_is_not)
{
    set_rates(0, 100 * KIB);
    pass(100 * XD_MS);
    set_rates(0, 0);
    pass(XD_SECOND);
    expect(0, 2);
    ck_assert_uint_eq(decide(0), XD_NEVER);
}
END_TEST

START_TEST(a_user_who_asks_for_connections_gets_them)
{
    xd_connections_fini(&c);
    ck_assert_int_eq(xd_connections_init(&c, DEPOTS, DEPOTS * LANES, LANES, 0),
                     0);
    set_rates(0, MIB);
    pass(XD_SECOND);
    expect(0, 6);
    ck_assert(xd_connections_are_bound(&c, 0));
    ck_assert(!xd_connections_are_tried(&c, 0));
}
END_TEST

/* The depot's requests can share a connection, which was made in 120 ms; two do,
 * and one more is tried. */
static void begin_shared(double each)
{
    facts.can_share = true;
    usual = 1;
    xd_connections_connected(&c, 0, 120 * XD_MS);
    set_rates(0, each);
    ck_assert(is_probed(400 * XD_MS));
    ck_assert(!xd_connections_spread(&c, 0));
    expect_why(XD_LANES_PROBE);
}

START_TEST(requests_that_share_a_connection_are_tried_first)
{
    begin_shared(MIB);
    xd_connections_answered(&c, 0, 82 * XD_MS);
    pass(200 * XD_MS);
    expect(0, 6);
    pass(XD_SECOND);
    expect(0, 6);
    expect_why(XD_LANES_USEFUL);
    ck_assert(!xd_connections_spread(&c, 0));
    ck_assert(!xd_connections_learned(&c, 0, facts.latency).spreads);
}
END_TEST

START_TEST(a_trial_goes_on_when_objects_are_short_no_longer)
{
    begin_shared(MIB);
    facts.n_short = facts.n_streams = 50;
    xd_connections_answered(&c, 0, 82 * XD_MS);
    for (; xd_connections_allowed(&c, 0) == 3; now += STEP) {
        for (unsigned lane = 0; lane < 3; lane++)
            xd_connections_heard(&c, 0, lane, facts.latency, now,
                                 (uint64_t)MIB * STEP / XD_SECOND);
        decide(0);
    }
    expect(0, 50); /* one more was of use */
    facts.n_short = 0;
    decide(0);
    expect(0, 50);
    ck_assert(xd_connections_are_tried(&c, 0));
}
END_TEST

/* Though their server gives one of them more: together they are steady, for five
 * turns after the first. */
START_TEST(requests_that_share_a_connection_need_not_be_equal)
{
    facts.can_share = _i > 0;
    usual = 1;
    xd_connections_connected(&c, 0, 120 * XD_MS);
    rates[0] = 1.2 * MIB;
    rates[1] = 0.3 * MIB;
    ck_assert(!is_probed(460 * XD_MS));
    ck_assert_int_eq(is_probed(60 * XD_MS), _i > 0);
}
END_TEST

START_TEST(but_together_they_have_to_be_steady)
{
    facts.can_share = true;
    usual = 1;
    xd_connections_connected(&c, 0, 120 * XD_MS);
    for (unsigned i = 0; i < 10; i++) {
        rates[0] = (i % 2 ? 1.2 : 1.6) * MIB;
        rates[1] = 0.1 * MIB;
        ck_assert(!is_probed(200 * XD_MS));
    }
}
END_TEST

/* Two that share what their connection delivers; one more on it delivers no more,
 * and is answered at once, or waits behind what the depot has written.  Then
 * another connection is probed. */
static void probe_spread(bool is_answered)
{
    begin_shared(MIB / 2);
    set_rates(0, MIB / 3);
    if (is_answered)
        xd_connections_answered(&c, 0, 82 * XD_MS);
    pass(200 * XD_MS);
    ck_assert(xd_connections_spread(&c, 0));
    expect_why(XD_LANES_SPREAD);
    expect(0, 2);
    xd_connections_answered(&c, 0, 40 * XD_MS); /* over one that was there */
    pass(STEP);
    expect(0, 2);
    xd_connections_connected(&c, 0, 125 * XD_MS);
    xd_connections_ended(&c, 1);
    pass(STEP);
    expect(0, 2);
}

/* Its TCP looks for its speed, and the first one keeps what it had. */
static void begin_spread(bool is_answered)
{
    probe_spread(is_answered);
    ck_assert(!xd_connections_are_bound(&c, 0));
    rates[0] = MIB;
    rates[1] = MIB / 4;
    pass(150 * XD_MS);
    expect(0, 6);
    ck_assert(xd_connections_are_bound(&c, 0));
}

/* The other connection takes from the first one what it delivers: no third is
 * opened. */
START_TEST(two_connections_that_share_a_line_are_enough)
{
    probe_spread(_i == 0);
    ck_assert(xd_connections_want_probe(&c, 0, 1)); /* till it is counted */
    ck_assert(!xd_connections_want_probe(&c, 0, 2));
    rates[0] = 3 * MIB / 4;
    rates[1] = MIB / 4;
    pass(200 * XD_MS);
    expect(0, 2);
    expect_why(XD_LANES_USELESS);
    ck_assert(!xd_connections_spread(&c, 0));
    ck_assert(!xd_connections_are_tried(&c, 0));
    ck_assert(!xd_connections_are_bound(&c, 0));
}
END_TEST

START_TEST(then_each_request_gets_a_connection_of_its_own)
{
    begin_spread(_i == 0);
    set_rates(0, MIB);
    pass(XD_SECOND);
    expect(0, 6);
    expect_why(XD_LANES_USEFUL);
    ck_assert(xd_connections_spread(&c, 0));
    ck_assert(xd_connections_learned(&c, 0, facts.latency).spreads);
}
END_TEST

/* They bring less than two would, or more than each could if it were capped. */
START_TEST(unless_that_is_of_no_use)
{
    static const double each[] = {MIB / 6, 3 * MIB};

    begin_spread(_i % 2);
    set_rates(0, each[_i / 2]);
    pass(XD_SECOND);
    expect(0, 2);
    expect_why(XD_LANES_USELESS);
    ck_assert(!xd_connections_spread(&c, 0));
}
END_TEST

/* Of connections; of requests that share one it takes as many as before. */
START_TEST(a_depot_that_refuses_another_connection_keeps_one)
{
    begin_spread(_i == 0);
    facts.ceiling = 1;
    facts.ceiling_spreads = true;
    decide(0);
    expect(0, 2);
    expect_why(XD_LANES_REFUSED);
    ck_assert(!xd_connections_spread(&c, 0));
    ck_assert(!xd_connections_are_tried(&c, 0));
}
END_TEST

/* From the first request on, and whether requests could share one or not; of one
 * connection there is nothing to spread. */
START_TEST(who_says_how_many_connections_gets_them)
{
    ck_assert(!xd_connections_spread(&c, 0));
    for (unsigned lanes = 1; lanes <= LANES; lanes++) {
        xd_connections_fini(&c);
        ck_assert_int_eq(
            xd_connections_init(&c, DEPOTS, DEPOTS * lanes, lanes, 0), 0);
        ck_assert_int_eq(xd_connections_spread(&c, 0), lanes > 1);
        facts.can_share = true;
        decide(0);
        expect(0, lanes);
        ck_assert_int_eq(xd_connections_spread(&c, 0), lanes > 1);
        ck_assert_int_eq(
            xd_connections_grow(&c, DEPOTS + 1, (DEPOTS + 1) * lanes), 0);
        expect(DEPOTS, lanes);
        ck_assert_int_eq(xd_connections_spread(&c, DEPOTS), lanes > 1);
    }
}
END_TEST

/* Connections that look capped may share a line with those of other depots;
 * requests that share a connection are equal whatever limits them. */
/* While one of them has nothing to deliver, the other one does what it did. */
START_TEST(two_that_their_user_wants_are_bound_if_one_alone_is_no_faster)
{
    const double alone[] = {1, 1.05, 1.2, 2};
    const double rate = alone[_i] * MIB;

    xd_connections_fini(&c);
    ck_assert_int_eq(xd_connections_init(&c, DEPOTS, DEPOTS * LANES, 2, 0), 0);
    set_rates(0, MIB);
    pass(500 * XD_MS);
    ck_assert(!xd_connections_are_bound(&c, 0));
    xd_connections_ended(&c, 1);
    given = 1;
    rates[0] = rate;
    rates[1] = 0;
    pass(300 * XD_MS);
    ck_assert(!xd_connections_are_bound(&c, 0));
    pass(100 * XD_MS);
    ck_assert_int_eq(xd_connections_are_bound(&c, 0), _i < 2);
}
END_TEST

START_TEST(a_trial_of_no_use_delays_other_depots_unless_requests_share)
{
    facts.can_share = _i;
    usual = facts.can_share ? 1 : 2;
    facts.time_left = 1000;
    xd_connections_connected(&c, 0, 120 * XD_MS);
    set_rates(0, MIB);
    ck_assert(is_probed(400 * XD_MS));
    pass(400 * XD_MS); /* it is not answered */
    expect(0, 2);
    expect_why(XD_LANES_USELESS);
    set_rates(1, MIB);
    pass(400 * XD_MS);
    ck_assert_int_eq(xd_connections_why(&c, 1) != XD_LANES_USUAL, _i);
    pass(2 * XD_SECOND);
    ck_assert_int_ne(xd_connections_why(&c, 1), XD_LANES_USUAL);
}
END_TEST

static void remember(xd_usec latency)
{
    const struct xd_learned learned = {
        .useful = 5, .cap = MIB, .latency = latency};

    xd_connections_remember(&c, 0, &learned);
}

START_TEST(what_an_earlier_download_found_useful_is_opened_at_once)
{
    struct xd_learned learned;

    remember(30 * XD_MS);
    pass(200 * XD_MS);
    expect(0, 2);
    set_rates(0, MIB);
    pass(STEP);
    expect(0, 5);
    expect_why(XD_LANES_KNOWN);
    pass(3 * XD_SECOND);
    expect(0, 5);
    ck_assert(xd_connections_are_bound(&c, 0));
    learned = xd_connections_learned(&c, 0, facts.latency);
    ck_assert_uint_eq(learned.useful, 5);
    ck_assert_double_eq(learned.cap, MIB);
    ck_assert_uint_eq(learned.latency, 30 * XD_MS);
}
END_TEST

/* The cap of each is lower by far, or there is none. */
START_TEST(what_is_wrong_is_unlearned)
{
    remember(30 * XD_MS);
    set_rates(0, (_i ? 2 : 0.5) * MIB);
    pass(STEP);
    expect(0, 5);
    facts.time_left = 0; /* nothing is tried after it */
    pass(3 * XD_SECOND);
    expect(0, 2);
    expect_why(XD_LANES_OUTDATED);
    ck_assert_uint_eq(xd_connections_learned(&c, 0, 1).useful, 0);
}
END_TEST

static const struct {
    xd_usec then;
    unsigned ceiling;
    double bytes_left;
    bool is_held_back;
    unsigned allowed;
} known[] = {
    {40 * XD_MS, 0, 40 * MIB, false, 5}, {21 * XD_MS, 0, 40 * MIB, false, 5},
    {19 * XD_MS, 0, 40 * MIB, false, 2}, /* it has doubled */
    {40 * XD_MS, 4, 40 * MIB, false, 4}, {40 * XD_MS, 0, 3.5 * MIB, false, 3},
    {40 * XD_MS, 0, 40 * MIB, true, 2}};

START_TEST(as_many_as_are_known_and_of_use_now_are_opened)
{
    remember(known[_i].then);
    facts.ceiling = known[_i].ceiling;
    facts.bytes_left = known[_i].bytes_left;
    facts.is_held_back = known[_i].is_held_back;
    set_rates(0, MIB);
    pass(2 * STEP);
    expect(0, known[_i].allowed);
}
END_TEST

START_TEST(what_a_trial_has_found_is_learned)
{
    struct xd_learned learned;

    begin_probe();
    xd_connections_answered(&c, 0, 82 * XD_MS);
    pass(2 * XD_SECOND);
    learned = xd_connections_learned(&c, 0, facts.latency);
    ck_assert_uint_eq(learned.useful, 6);
    ck_assert_double_eq_tol(learned.cap, MIB, MIB / 10);
    ck_assert_uint_eq(learned.latency, facts.latency);
}
END_TEST

/* It never was before: its line has become slow. */
START_TEST(a_depot_that_falls_silent_after_a_while_does_not_ration)
{
    set_rates(0, 10 * MIB);
    rates[1] = 7 * MIB;
    pass(1200 * XD_MS);
    set_rates(0, 0);
    pass(XD_SECOND);
    expect(0, 2);
    set_rates(0, 10 * MIB);
    rates[1] = 7 * MIB;
    pass(140 * XD_MS);
    set_rates(0, 0);
    pass(300 * XD_MS);
    expect(0, 3);
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("connections");

    tcase_add_checked_fixture(t, set_up, tear_down);
    tcase_add_test(t, a_depot_begins_with_the_first_lanes);
    tcase_add_test(t, a_depot_that_is_far_begins_with_all);
    tcase_add_test(t, a_depot_of_short_objects_has_as_many_as_keep_it_busy);
    tcase_add_test(t, it_keeps_them_as_long_as_objects_are_short);
    tcase_add_test(
        t, requests_for_short_objects_that_share_a_connection_are_enough);
    tcase_add_test(t, short_objects_that_share_a_connection_have_more_requests);
    tcase_add_test(
        t, short_objects_need_no_more_than_are_served_or_a_limit_allows);
    tcase_add_test(t, it_has_no_more_than_it_serves);
    tcase_add_test(t,
                   requests_that_can_share_a_connection_are_no_more_for_that);
    tcase_add_test(t, a_depot_whose_connections_are_capped_gets_all);
    tcase_add_loop_test(t,
                        only_connections_that_are_steady_and_equal_are_probed,
                        0, sizeof pairs / sizeof *pairs);
    tcase_add_loop_test(t, two_round_trips_are_a_turn_if_they_last, 0,
                        sizeof turns / sizeof *turns);
    tcase_add_loop_test(t, so_are_those_whose_burst_is_over_if_they_are_exact,
                        0, sizeof bursts / sizeof *bursts);
    tcase_add_loop_test(t, a_probe_has_to_be_worth_it, 0,
                        sizeof cases / sizeof *cases);
    tcase_add_test(t, a_connection_has_to_bring_enough);
    tcase_add_loop_test(t, a_probe_that_waits_in_a_queue_ends_the_trial, 0, 2);
    tcase_add_test(t, a_probe_that_is_not_answered_ends_the_trial);
    tcase_add_loop_test(
        t, a_refusal_ends_the_trial_and_those_that_were_served_are_used, 0, 3);
    tcase_add_test(t, the_pause_after_trials_in_vain_doubles);
    tcase_add_loop_test(t, a_trial_without_a_new_connection_has_no_verdict, 0,
                        2);
    tcase_add_loop_test(t, as_many_are_kept_as_are_of_use, 0,
                        sizeof gains / sizeof *gains);
    tcase_add_test(t, a_depot_that_rations_is_probed_while_it_is_silent);
    tcase_add_test(t, a_depot_that_was_silent_from_the_start_is_not);
    tcase_add_test(t, a_depot_that_falls_silent_after_a_while_does_not_ration);
    tcase_add_test(t, what_an_earlier_download_found_useful_is_opened_at_once);
    tcase_add_loop_test(t, what_is_wrong_is_unlearned, 0, 2);
    tcase_add_loop_test(t, as_many_as_are_known_and_of_use_now_are_opened, 0,
                        sizeof known / sizeof *known);
    tcase_add_test(t, what_a_trial_has_found_is_learned);
    tcase_add_test(t, requests_that_share_a_connection_are_tried_first);
    tcase_add_test(t, a_trial_goes_on_when_objects_are_short_no_longer);
    tcase_add_loop_test(t, requests_that_share_a_connection_need_not_be_equal,
                        0, 2);
    tcase_add_test(t, but_together_they_have_to_be_steady);
    tcase_add_loop_test(t, then_each_request_gets_a_connection_of_its_own, 0,
                        2);
    tcase_add_loop_test(t, unless_that_is_of_no_use, 0, 4);
    tcase_add_loop_test(t, two_connections_that_share_a_line_are_enough, 0, 2);
    tcase_add_loop_test(t, a_depot_that_refuses_another_connection_keeps_one, 0,
                        2);
    tcase_add_loop_test(
        t, two_that_their_user_wants_are_bound_if_one_alone_is_no_faster, 0, 4);
    tcase_add_test(t, who_says_how_many_connections_gets_them);
    tcase_add_loop_test(
        t, a_trial_of_no_use_delays_other_depots_unless_requests_share, 0, 2);
    tcase_add_test(t, a_user_who_asks_for_connections_gets_them);
    return run_suite("sched.connections", t);
}
