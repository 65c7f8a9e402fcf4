/* SPDX-License-Identifier: MIT */
/* The forecast, the planner and the controller of adaptive2, as functions of
 * its records. */
#include <check.h>
#include <math.h>

#include "sched/adaptive2/adaptive2.h"
#include "suite.h"

#define LANES 3
#define DEPOTS 2
#define MIB ((uint64_t)1 << 20)
#define SIZE (32 * MIB)

static struct xd_ledger ledger;
static struct xd_holder holders[DEPOTS];
static unsigned slots[DEPOTS];
static struct xd_range assigned[DEPOTS * LANES];
static struct xd_window window;
static struct xd_conn conns[DEPOTS * LANES];
static struct xd_depot_record depots[DEPOTS];
static struct xd_book book;
static struct xd_adaptive2 p;

/* Two depots that hold all, and have been heard: 20 ms to connect and as long
 * to answer. */
static void setup(void)
{
    window.range = (struct xd_range){0, SIZE};
    book = (struct xd_book){.n_depots = DEPOTS,
                            .n_slots = DEPOTS,
                            .n_fetches = DEPOTS * LANES,
                            .wanted = window.range,
                            .depots = holders,
                            .slots = slots,
                            .ledger = &ledger,
                            .assigned = assigned,
                            .windows = &window,
                            .n_windows = 1,
                            .o = {.lanes_per_depot = LANES,
                                  .connections_per_depot = LANES,
                                  .first_lanes = 2}};
    for (unsigned i = 0; i < DEPOTS; i++) {
        holders[i] = (struct xd_holder){
            .state = XD_HOLDER_OPEN, .slot = i, .most_flowing = LANES};
        ck_assert_int_eq(xd_rangeset_add(&holders[i].held, window.range), 0);
        slots[i] = i;
        depots[i] = (struct xd_depot_record){.rtt = 0.02,
                                             .wait = 0.02,
                                             .wait_deviation = 0.002,
                                             .n_answers = 3,
                                             .width = LANES,
                                             .gain = 1,
                                             .pause = 1};
    }
    for (unsigned i = 0; i < DEPOTS * LANES; i++) {
        conns[i] = (struct xd_conn){.depot = i / LANES};
        assigned[i] = (struct xd_range){0, 0};
    }
    p = (struct xd_adaptive2){.book = &book,
                              .conns = conns,
                              .depots = depots,
                              .now = 10 * XD_SECOND,
                              .n_open = DEPOTS,
                              .price = XD_PRICE_S};
}

static void teardown(void)
{
    for (unsigned i = 0; i < DEPOTS; i++)
        xd_rangeset_fini(&holders[i].held);
    xd_ledger_fini(&ledger);
}

/* A connection that is known, and brings these bytes. */
static void run(unsigned fetch, double rate, uint64_t begin, uint64_t end)
{
    conns[fetch] = (struct xd_conn){.depot = fetch / LANES,
                                    .is_open = true,
                                    .opened_at = p.now - XD_SECOND,
                                    .n_requests = 1,
                                    .rate = rate,
                                    .deviation = rate / 20,
                                    .best = rate,
                                    .n_samples = 10,
                                    .is_running = true,
                                    .has_begun = true,
                                    .range = {begin, end},
                                    .asked_end = end,
                                    .got = begin,
                                    .asked_at = p.now - XD_SECOND,
                                    .heard_at = p.now};
    assigned[fetch] = (struct xd_range){begin, end};
    ck_assert_int_eq(xd_ledger_change(&ledger, XD_ASSIGN, assigned[fetch]), 0);
    depots[fetch / LANES].n_running++;
    holders[fetch / LANES].running++;
    depots[fetch / LANES].rate = p.rate = rate;
}

static void look(void)
{
    p.left = (double)(SIZE - xd_ledger_bytes(&ledger, XD_BYTES_RECEIVED));
    p.time_left = xd_horizon(&p, p.left, &p.total);
}

/* ---- the forecast ---- */

START_TEST(longer_silence_than_usual_is_expected_to_last_as_long_again)
{
    run(0, 1e6, 0, MIB);
    conns[0].has_begun = false;
    conns[0].heard_at = p.now - 10 * XD_MS;
    ck_assert_double_le(xd_byte_in(&p, &conns[0]), 0.031);
    conns[0].heard_at = p.now - 700 * XD_MS;
    ck_assert_double_eq_tol(xd_byte_in(&p, &conns[0]), 0.7, 1e-6);
}
END_TEST

START_TEST(silence_within_an_answer_is_expected_to_last_as_long_again)
{
    run(0, 1e6, 0, MIB);
    ck_assert_double_eq(xd_byte_in(&p, &conns[0]), 0);
    conns[0].heard_at = p.now - 300 * XD_MS;
    ck_assert_double_eq_tol(xd_byte_in(&p, &conns[0]), 0.3, 1e-6);
    conns[0].heard_at = p.now - 30 * XD_MS; /* a round trip takes 20 ms */
    ck_assert_double_eq_tol(xd_byte_in(&p, &conns[0]), 0.03, 1e-6);
}
END_TEST

START_TEST(change_is_believed_when_it_is_seen_twice)
{
    const uint64_t step = 10000;
    uint64_t to = 0;

    run(0, 1e6, 0, SIZE);
    conns[0].sample_at = p.now;
    for (unsigned i = 0; i < 10; i++)
        xd_told_received(&p, 0, to += step, p.now + 10 * XD_MS);
    ck_assert_double_eq_tol(conns[0].rate, 1e6, 1e4);
    for (unsigned i = 0; i < 120; i++)
        xd_told_received(&p, 0, to += step, p.now + XD_MS);
    ck_assert_double_gt(conns[0].rate, 5e6);
}
END_TEST

START_TEST(response_shorter_than_a_sample_corrects_a_low_estimate)
{
    run(0, 1e5, 0, 65536);
    conns[0].has_begun = false;
    xd_told_received(&p, 0, 65536, p.now);
    xd_told_ended(&p, 0, false);
    ck_assert_double_gt(conns[0].rate, 3e5);
    ck_assert_double_lt(conns[0].rate, 65536 / XD_SAMPLE_S);
}
END_TEST

START_TEST(fresh_connection_is_expected_to_be_as_the_last_ones)
{
    p.time_left = 10;
    ck_assert_double_eq(xd_fresh_rate(&p, 0), 0);
    run(0, 1e6, 0, MIB);
    ck_assert_double_eq_tol(xd_fresh_rate(&p, 0), 1e6, 1e4);
    run(1, 3e6, MIB, 2 * MIB);
    ck_assert_double_gt(xd_fresh_rate(&p, 0), 2e6);
}
END_TEST

START_TEST(end_is_when_all_connections_have_brought_all)
{
    double total;

    run(0, 1e6, 0, SIZE / 2);
    run(3, 3e6, SIZE / 2, SIZE);
    depots[0].width = depots[1].width = 1;
    ck_assert_double_eq_tol(xd_horizon(&p, 8e6, &total), 2, 0.05);
    ck_assert_double_eq_tol(total, 4e6, 1);
}
END_TEST

START_TEST(request_is_as_long_as_its_depot_is_fast)
{
    double rate;

    run(0, 1e7, 0, MIB);
    for (unsigned i = 0; i < XD_BINS; i++)
        depots[0].later.s_per_byte[i] = depots[0].first.s_per_byte[i] = 1e-7;
    ck_assert_double_eq(xd_best_length(&p, &conns[0], 16.0 * MIB, &rate),
                        16.0 * MIB);
    for (unsigned i = 10; i < XD_BINS; i++)
        depots[0].later.s_per_byte[i] = depots[0].first.s_per_byte[i] = 1e-5;
    ck_assert_double_le(xd_best_length(&p, &conns[0], 16.0 * MIB, &rate),
                        3.0 * MIB);
    ck_assert_double_gt(rate, 1e6);
}
END_TEST

/* ---- the planner ---- */

START_TEST(idle_connection_is_asked_for_its_share)
{
    struct xd_sched_plan plan;

    run(0, 1e6, 0, 4 * MIB);
    run(3, 1e6, 4 * MIB, 8 * MIB);
    depots[0].width = 2;
    depots[1].width = 1;
    look();
    plan = xd_next_action(&p);
    ck_assert_int_eq(plan.kind, XD_PLAN_ASK);
    ck_assert_uint_lt(plan.fetch, LANES);
    ck_assert_uint_eq(plan.range.begin, 8 * MIB);
    ck_assert_uint_gt(xd_range_length(plan.range), 3 * MIB);
    ck_assert_uint_lt(xd_range_length(plan.range), 11 * MIB);
}
END_TEST

START_TEST(planner_changes_nothing)
{
    struct xd_adaptive2 before;
    struct xd_sched_plan a, b;

    run(0, 1e6, 0, 4 * MIB);
    look();
    before = p;
    a = xd_next_action(&p);
    b = xd_next_action(&p);
    ck_assert_mem_eq(&before, &p, sizeof p);
    ck_assert_int_eq(a.kind, b.kind);
    ck_assert_uint_eq(a.range.begin, b.range.begin);
    ck_assert_uint_eq(a.range.end, b.range.end);
}
END_TEST

START_TEST(latest_request_offers_its_end_to_another_depot)
{
    struct xd_sched_plan plan;

    run(0, 1e6, 0, SIZE);
    depots[0].width = depots[1].width = 1;
    look();
    plan = xd_next_action(&p);
    ck_assert_int_eq(plan.kind, XD_PLAN_OFFER);
    ck_assert_uint_eq(plan.fetch, 0);
    ck_assert_uint_eq(plan.range.end, SIZE);
    ck_assert_uint_gt(plan.range.begin, SIZE * 4 / 10);
    ck_assert_uint_lt(plan.range.begin, SIZE * 6 / 10);
}
END_TEST

START_TEST(latest_request_is_shortened_for_its_own_depot)
{
    struct xd_sched_plan plan;

    slots[1] = DEPOTS;
    holders[1].slot = XD_NO_SLOT;
    run(0, 1e6, 0, SIZE);
    depots[0].width = 2;
    look();
    plan = xd_next_action(&p);
    ck_assert_int_eq(plan.kind, XD_PLAN_SHORTEN);
    ck_assert_uint_eq(plan.fetch, 0);
}
END_TEST

START_TEST(only_answer_that_a_depot_accepted_is_not_shortened)
{
    slots[1] = DEPOTS;
    holders[1].slot = XD_NO_SLOT;
    run(0, 1e6, 0, SIZE);
    depots[0].width = 2;
    holders[0].most_flowing = 1;
    look();
    ck_assert_int_eq(xd_next_action(&p).kind, XD_PLAN_WAIT);
}
END_TEST

START_TEST(object_of_unknown_size_is_one_request)
{
    struct xd_sched_plan plan;

    p.rate = p.time_left = 0;
    look();
    plan = xd_next_action(&p);
    ck_assert_int_eq(plan.kind, XD_PLAN_ASK);
    ck_assert_uint_lt(plan.range.end, SIZE);
    ck_assert_int_eq(xd_rangeset_add(&book.unsized, window.range), 0);
    plan = xd_next_action(&p);
    ck_assert_int_eq(plan.kind, XD_PLAN_ASK);
    ck_assert_uint_eq(plan.range.begin, 0);
    ck_assert_uint_eq(plan.range.end, SIZE);
    xd_rangeset_fini(&book.unsized);
}
END_TEST

START_TEST(request_that_is_nearly_done_is_left_alone)
{
    run(0, 1e6, SIZE - 65536, SIZE);
    ck_assert_int_eq(xd_ledger_change(&ledger, XD_RECEIVE,
                                      (struct xd_range){0, SIZE - 65536}),
                     0);
    look();
    ck_assert_int_eq(xd_next_action(&p).kind, XD_PLAN_WAIT);
}
END_TEST

static void one_slow_of_three(void)
{
    run(0, 8e6, 0, 10 * MIB);
    run(1, 5e5, 10 * MIB, 11 * MIB);
    run(2, 8e6, 11 * MIB, SIZE);
    slots[1] = DEPOTS;
    holders[1].slot = XD_NO_SLOT;
    look();
}

START_TEST(slow_connection_is_replaced)
{
    struct xd_sched_plan plan;

    one_slow_of_three();
    plan = xd_next_action(&p);
    ck_assert_int_eq(plan.kind, XD_PLAN_RENEW);
    ck_assert_uint_eq(plan.fetch, 1);
}
END_TEST

START_TEST(connection_that_loses_packets_is_not_replaced)
{
    one_slow_of_three();
    conns[1].disordered_at = p.now - XD_MS;
    ck_assert_int_ne(xd_next_action(&p).kind, XD_PLAN_RENEW);
}
END_TEST

START_TEST(mute_connection_is_replaced)
{
    struct xd_sched_plan plan;

    one_slow_of_three();
    conns[1].has_begun = false;
    conns[1].disordered_at = p.now;
    conns[1].heard_at = conns[1].asked_at = p.now - 2 * XD_SECOND;
    look();
    plan = xd_next_action(&p);
    ck_assert_int_eq(plan.kind, XD_PLAN_RENEW);
    ck_assert_uint_eq(plan.fetch, 1);
}
END_TEST

START_TEST(connection_silent_in_a_long_queue_is_replaced_later)
{
    struct xd_sched_plan plan;

    one_slow_of_three();
    conns[1].rtt_now = 1;
    conns[1].heard_at = p.now - 700 * XD_MS;
    look();
    ck_assert_int_ne(xd_next_action(&p).kind, XD_PLAN_RENEW);
    conns[1].heard_at = p.now - 2 * XD_SECOND;
    look();
    plan = xd_next_action(&p);
    ck_assert_int_eq(plan.kind, XD_PLAN_RENEW);
    ck_assert_uint_eq(plan.fetch, 1);
}
END_TEST

/* One depot is left, with one idle connection that is not reliable. */
static void idle_alone(void)
{
    run(0, 1e6, 0, MIB);
    conns[0].is_running = false;
    conns[0].deviation = 0.5e6;
    ck_assert_int_eq(
        xd_ledger_change(&ledger, XD_RECEIVE, (struct xd_range){0, MIB}), 0);
    depots[0].n_running = holders[0].running = 0;
    depots[0].width = 1;
    slots[1] = DEPOTS;
    holders[1].slot = XD_NO_SLOT;
    look();
}

START_TEST(sole_connection_is_asked_for_all_that_is_left)
{
    struct xd_sched_plan plan;

    idle_alone();
    plan = xd_next_action(&p);
    ck_assert_int_eq(plan.kind, XD_PLAN_ASK);
    ck_assert_uint_eq(plan.range.begin, MIB);
    ck_assert_uint_eq(plan.range.end, SIZE);
}
END_TEST

START_TEST(second_connection_to_silent_depot_is_no_sooner)
{
    depots[0] = (struct xd_depot_record){.asked_at = p.now - XD_SECOND};
    ck_assert_double_ge(xd_setup_of(&p, 0), 1);
}
END_TEST

START_TEST(connection_is_not_replaced_if_tcp_cannot_find_its_speed_in_time)
{
    one_slow_of_three();
    p.time_left = 2 * xd_settles_in(&p, 0) - 0.01;
    ck_assert_int_ne(xd_next_action(&p).kind, XD_PLAN_RENEW);
}
END_TEST

/* All but the last bytes are here. */
static void leave(uint64_t bytes)
{
    ck_assert_int_eq(xd_ledger_change(&ledger, XD_RECEIVE,
                                      (struct xd_range){0, SIZE - bytes}),
                     0);
    look();
}

/* A request that has had no answer. */
static void be_silent(unsigned fetch, xd_usec since)
{
    conns[fetch].has_begun = false;
    conns[fetch].heard_at = conns[fetch].asked_at = since;
}

START_TEST(idle_connection_takes_what_is_late_beside_its_bytes)
{
    struct xd_sched_plan plan;

    run(0, 1e6, 0, MIB);
    conns[0].is_running = false;
    depots[0].n_running = holders[0].running = 0;
    depots[0].width = depots[1].width = 1;
    run(3, 1e6, SIZE - 65536, SIZE);
    be_silent(3, p.now - 2 * XD_SECOND);
    leave(2 * 65536);
    plan = xd_next_action(&p);
    ck_assert_int_eq(plan.kind, XD_PLAN_OFFER);
    ck_assert_uint_eq(plan.fetch, 3);
    ck_assert_uint_eq(plan.range.begin, SIZE - 65536);
    ck_assert_uint_eq(plan.range.end, SIZE);
}
END_TEST

START_TEST(request_is_left_alone_if_joining_it_gains_less_than_the_price)
{
    struct xd_sched_plan plan;

    run(0, 1e6, 0, MIB);
    conns[0].is_running = false;
    depots[0].n_running = holders[0].running = 0;
    depots[0].width = depots[1].width = 1;
    run(3, 1e6, SIZE - 16384, SIZE);
    be_silent(3, p.now);
    leave(24576);
    /* 56 ms against 45 ms */
    plan = xd_next_action(&p);
    ck_assert_int_eq(plan.kind, XD_PLAN_ASK);
    ck_assert_uint_eq(plan.range.begin, SIZE - 24576);
    ck_assert_uint_eq(plan.range.end, SIZE - 16384);
}
END_TEST

START_TEST(offered_bytes_of_a_silent_request_are_asked_for)
{
    struct xd_sched_plan plan;

    run(0, 1e6, SIZE - 65536, SIZE);
    be_silent(0, p.now - XD_MS);
    ck_assert_int_eq(xd_ledger_change(&ledger, XD_RELEASE, assigned[0]), 0);
    assigned[0].end = assigned[0].begin;
    leave(65536);
    p.time_left = 0.001;
    plan = xd_next_action(&p);
    ck_assert_int_eq(plan.kind, XD_PLAN_ASK);
    ck_assert_uint_ge(plan.fetch, LANES);
    ck_assert_uint_eq(plan.range.begin, SIZE - 65536);
}
END_TEST

/* The bytes may not be in flight twice from the same depot. */
START_TEST(stalled_request_whose_bytes_nobody_took_is_canceled)
{
    struct xd_sched_plan plan;

    run(0, 1e6, SIZE - 65536, SIZE);
    be_silent(0, p.now - 2 * XD_SECOND);
    ck_assert_int_eq(xd_ledger_change(&ledger, XD_RELEASE, assigned[0]), 0);
    assigned[0].end = assigned[0].begin;
    slots[1] = DEPOTS;
    holders[1].slot = XD_NO_SLOT;
    leave(65536);
    p.time_left = 0.001;
    plan = xd_next_action(&p);
    ck_assert_int_eq(plan.kind, XD_PLAN_CANCEL);
    ck_assert_uint_eq(plan.fetch, 0);
}
END_TEST

START_TEST(stalled_request_is_repeated_by_another_connection_of_its_depot)
{
    struct xd_sched_plan plan;

    slots[1] = DEPOTS;
    holders[1].slot = XD_NO_SLOT;
    run(1, 1e6, 0, MIB);
    conns[1].is_running = false;
    depots[0].n_running = holders[0].running = 0;
    run(0, 1e6, SIZE - MIB, SIZE);
    be_silent(0, p.now - 2 * XD_SECOND);
    depots[0].width = 2;
    leave(MIB);
    p.time_left = 0.001;
    plan = xd_next_action(&p);
    ck_assert_int_eq(plan.kind, XD_PLAN_CANCEL);
    ck_assert_uint_eq(plan.fetch, 0);
}
END_TEST

START_TEST(loser_of_a_race_is_canceled_before_its_first_byte)
{
    struct xd_sched_plan plan;

    run(3, 1e6, 0, MIB);
    run(0, 1e6, MIB, MIB);
    conns[0].range = (struct xd_range){0, MIB};
    conns[0].got = 0;
    assigned[0] = (struct xd_range){0, 0};
    be_silent(0, p.now - XD_MS);
    look();
    plan = xd_next_action(&p);
    ck_assert_int_eq(plan.kind, XD_PLAN_CANCEL);
    ck_assert_uint_eq(plan.fetch, 0);
}
END_TEST

START_TEST(refused_depot_is_asked_for_no_more_than_it_served)
{
    run(0, 1e6, 0, MIB);
    ck_assert_uint_eq(xd_room_of(&p, 0), LANES - 1);
    holders[0].ceiling = 2;
    ck_assert_uint_eq(xd_room_of(&p, 0), 1);
    holders[0].is_backing_off = true;
    ck_assert_uint_eq(xd_room_of(&p, 0), 0);
}
END_TEST

START_TEST(depot_that_may_refuse_gets_one_request_at_a_time)
{
    run(0, 1e6, 0, MIB);
    ck_assert_uint_eq(xd_room_of(&p, 0), LANES - 1);
    holders[0].is_spared = true;
    ck_assert_uint_eq(xd_room_of(&p, 0), 1);
    run(1, 1e6, MIB, 2 * MIB);
    be_silent(1, p.now);
    ck_assert_uint_eq(xd_room_of(&p, 0), 0);
    be_silent(1, p.now - 2 * XD_SECOND); /* this one does not count */
    ck_assert_uint_eq(xd_room_of(&p, 0), 1);
}
END_TEST

START_TEST(depot_that_allows_one_request_is_asked_for_everything)
{
    struct xd_sched_plan plan;

    slots[1] = DEPOTS;
    holders[1].slot = XD_NO_SLOT;
    p.n_open = 1;
    p.left = SIZE;
    p.time_left = HUGE_VAL;
    plan = xd_next_action(&p);
    ck_assert_int_eq(plan.kind, XD_PLAN_ASK);
    ck_assert_uint_lt(plan.range.end, SIZE);
    holders[0].governed = 1;
    plan = xd_next_action(&p);
    ck_assert_int_eq(plan.kind, XD_PLAN_ASK);
    ck_assert_uint_eq(plan.range.end, SIZE);
}
END_TEST

/* ---- readers ---- */

START_TEST(request_that_is_in_time_for_its_reader_is_not_helped)
{
    run(0, 1e6, 0, SIZE);
    depots[0].width = depots[1].width = 1;
    book.o.window_bytes = SIZE;
    window.due = p.now + 40 * XD_SECOND;
    look();
    ck_assert_int_eq(xd_next_action(&p).kind, XD_PLAN_WAIT);
    window.due = p.now + 20 * XD_SECOND;
    ck_assert_int_eq(xd_next_action(&p).kind, XD_PLAN_OFFER);
}
END_TEST

START_TEST(request_in_front_of_what_a_reader_awaits_is_left_alone)
{
    struct xd_sched_plan plan;

    run(0, 1e5, 0, MIB);
    depots[0].width = depots[1].width = 1;
    book.o.window_bytes = SIZE;
    window.range.begin = window.jumped_to = SIZE / 2;
    window.due = p.now;
    p.rate = 1e7;
    look();
    plan = xd_next_action(&p);
    ck_assert_int_eq(plan.kind, XD_PLAN_ASK);
    ck_assert_uint_eq(plan.range.begin, SIZE / 2);
}
END_TEST

START_TEST(request_that_is_in_time_for_its_reader_is_not_joined)
{
    run(0, 1e6, 0, MIB);
    conns[0].is_running = false;
    depots[0].n_running = holders[0].running = 0;
    depots[0].width = depots[1].width = 1;
    run(3, 1e6, SIZE - 65536, SIZE);
    be_silent(3, p.now - 2 * XD_SECOND);
    book.o.window_bytes = SIZE;
    leave(2 * 65536);
    window.due = p.now + 20 * XD_SECOND;
    ck_assert_int_eq(xd_next_action(&p).kind, XD_PLAN_ASK);
}
END_TEST

START_TEST(reader_that_waits_gets_short_requests)
{
    struct xd_sched_plan plan;

    book.o.window_bytes = SIZE;
    window.due = p.now;
    window.bytes_per_s = 1000000;
    run(0, 1e6, 0, MIB / 4);
    depots[0].width = 2;
    depots[1].width = 0;
    look();
    plan = xd_next_action(&p);
    ck_assert_int_eq(plan.kind, XD_PLAN_ASK);
    ck_assert_uint_eq(plan.range.begin, MIB / 4);
    ck_assert_uint_le(xd_range_length(plan.range), MIB / 2);
}
END_TEST

/* ---- the controller ---- */

/* One connection of depot 0 is known, and two may be opened. */
static void begin_trial(void)
{
    depots[0].width = 1;
    slots[1] = DEPOTS;
    holders[1].slot = XD_NO_SLOT;
    run(0, 1e6, 0, SIZE);
    look();
    xd_control(&p);
}

/* So many bytes per second come over `seconds`. */
static void receive(double rate, double seconds)
{
    for (double t = 0; t < seconds; t += 0.02) {
        p.now += 20 * XD_MS;
        p.bytes += rate * 0.02;
        depots[0].bytes += rate * 0.02;
        xd_control(&p);
    }
}

START_TEST(more_connections_are_tried)
{
    begin_trial();
    ck_assert(depots[0].trial.is_on);
    ck_assert_uint_eq(depots[0].width, 2);
}
END_TEST

START_TEST(trial_that_gains_is_kept)
{
    depots[0].bytes = p.bytes = 1;
    begin_trial();
    depots[0].trial.own = depots[0].trial.all = 1e6;
    receive(2e6, 0.5);
    ck_assert(!depots[0].trial.is_on);
    ck_assert_uint_ge(depots[0].width, 2);
    ck_assert_double_eq_tol(depots[0].pause, 1, 1e-9);
}
END_TEST

START_TEST(trial_that_loses_is_undone_and_waits_longer_each_time)
{
    depots[0].bytes = p.bytes = 1;
    begin_trial();
    depots[0].trial.own = depots[0].trial.all = 1e6;
    receive(0.8e6, 0.5);
    ck_assert(!depots[0].trial.is_on);
    ck_assert_uint_eq(depots[0].width, 1);
    ck_assert_double_eq_tol(depots[0].pause, 2, 1e-9);
    ck_assert_uint_gt(depots[0].next_trial, p.now);
}
END_TEST

int main(void)
{
    TCase *tcase = tcase_create("records");

    tcase_add_checked_fixture(tcase, setup, teardown);
    tcase_add_test(tcase,
                   longer_silence_than_usual_is_expected_to_last_as_long_again);
    tcase_add_test(tcase,
                   silence_within_an_answer_is_expected_to_last_as_long_again);
    tcase_add_test(tcase, change_is_believed_when_it_is_seen_twice);
    tcase_add_test(tcase,
                   response_shorter_than_a_sample_corrects_a_low_estimate);
    tcase_add_test(tcase, fresh_connection_is_expected_to_be_as_the_last_ones);
    tcase_add_test(tcase, end_is_when_all_connections_have_brought_all);
    tcase_add_test(tcase, request_is_as_long_as_its_depot_is_fast);
    tcase_add_test(tcase, idle_connection_is_asked_for_its_share);
    tcase_add_test(tcase, planner_changes_nothing);
    tcase_add_test(tcase, latest_request_offers_its_end_to_another_depot);
    tcase_add_test(tcase, latest_request_is_shortened_for_its_own_depot);
    tcase_add_test(tcase, only_answer_that_a_depot_accepted_is_not_shortened);
    tcase_add_test(tcase, object_of_unknown_size_is_one_request);
    tcase_add_test(tcase, request_that_is_nearly_done_is_left_alone);
    tcase_add_test(tcase, slow_connection_is_replaced);
    tcase_add_test(tcase, connection_that_loses_packets_is_not_replaced);
    tcase_add_test(tcase, mute_connection_is_replaced);
    tcase_add_test(tcase, connection_silent_in_a_long_queue_is_replaced_later);
    tcase_add_test(tcase, refused_depot_is_asked_for_no_more_than_it_served);
    tcase_add_test(tcase, sole_connection_is_asked_for_all_that_is_left);
    tcase_add_test(tcase, second_connection_to_silent_depot_is_no_sooner);
    tcase_add_test(
        tcase, connection_is_not_replaced_if_tcp_cannot_find_its_speed_in_time);
    tcase_add_test(tcase, idle_connection_takes_what_is_late_beside_its_bytes);
    tcase_add_test(
        tcase, request_is_left_alone_if_joining_it_gains_less_than_the_price);
    tcase_add_test(tcase, offered_bytes_of_a_silent_request_are_asked_for);
    tcase_add_test(tcase, stalled_request_whose_bytes_nobody_took_is_canceled);
    tcase_add_test(
        tcase, stalled_request_is_repeated_by_another_connection_of_its_depot);
    tcase_add_test(tcase, loser_of_a_race_is_canceled_before_its_first_byte);
    tcase_add_test(tcase, depot_that_may_refuse_gets_one_request_at_a_time);
    tcase_add_test(tcase,
                   depot_that_allows_one_request_is_asked_for_everything);
    tcase_add_test(tcase, request_that_is_in_time_for_its_reader_is_not_helped);
    tcase_add_test(tcase,
                   request_in_front_of_what_a_reader_awaits_is_left_alone);
    tcase_add_test(tcase, request_that_is_in_time_for_its_reader_is_not_joined);
    tcase_add_test(tcase, reader_that_waits_gets_short_requests);
    tcase_add_test(tcase, more_connections_are_tried);
    tcase_add_test(tcase, trial_that_gains_is_kept);
    tcase_add_test(tcase,
                   trial_that_loses_is_undone_and_waits_longer_each_time);
    return run_suite("sched.adaptive2", tcase);
}
