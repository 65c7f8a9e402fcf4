/* SPDX-License-Identifier: MIT */
/* What the adaptive policy does for a player: the rules, not the figures. */
#include "play.h"

#define BLOCK UINT64_C(1000000)
#define SIZE (200 * BLOCK)
#define WINDOW (20 * BLOCK)
#define MOST 16

static struct play p;
static struct xd_guess guesses[2];
static struct xd_sched_action asked[MOST];
static unsigned n_asked;

static void setup(void)
{
    play_init(&p, &xd_policy_adaptive, 2, SIZE);
    p.o.block_bytes = BLOCK;
    p.o.window_bytes = WINDOW;
    p.layout.guesses = guesses;
    p.now = XD_SECOND;
    for (unsigned i = 0; i < 2; i++)
        guesses[i] =
            (struct xd_guess){.rate = 8.0 * BLOCK, .latency = 40 * XD_MS};
}

static void teardown(void)
{
    play_fini(&p);
}

/* A player that shows byte `at` after so long, and then so many blocks a
 * second. */
static void play_from(uint64_t at, xd_usec in, uint64_t blocks_per_s)
{
    play_event(&p,
               (struct xd_sched_event){.kind = XD_EV_DEMAND,
                                       .range = {at, at + WINDOW},
                                       .due = p.now + in,
                                       .bytes_per_s = blocks_per_s * BLOCK});
}

/* What is asked for now. */
static void ask(void)
{
    struct xd_sched_action a;

    n_asked = 0;
    while ((a = play_next(&p)).kind != XD_DO_WAIT)
        if (a.kind == XD_DO_FETCH) {
            ck_assert_uint_lt(n_asked, MOST);
            asked[n_asked++] = a;
        }
}

/* How many of them, of a depot, hold a byte. */
static unsigned askings(unsigned depot, uint64_t byte)
{
    unsigned n = 0;

    for (unsigned i = 0; i < n_asked; i++)
        n += asked[i].depot == depot && asked[i].range.begin <= byte &&
             byte < asked[i].range.end;
    return n;
}

static void bring(uint64_t end)
{
    play_range(&p, XD_EV_HELD, 0, end);
    play_range(&p, XD_EV_VERIFIED, 0, end);
}

START_TEST(a_slow_depot_is_asked_for_what_is_needed_later)
{
    guesses[0].rate = (double)BLOCK / 2;
    play_start(&p);
    play_from(0, 0, 4);
    ask();
    ck_assert_uint_eq(askings(1, 0), 1);
    for (unsigned i = 0; i < n_asked; i++)
        ck_assert(asked[i].depot == 1 || asked[i].range.begin > BLOCK);
}
END_TEST

START_TEST(depots_that_are_not_known_race_for_the_first_bytes)
{
    guesses[0] = guesses[1] = (struct xd_guess){.rate = 0};
    p.o.lanes_per_depot = 2;
    play_start(&p);
    play_from(0, 0, 4);
    ask();
    ck_assert_uint_eq(askings(0, 0), 1);
    ck_assert_uint_eq(askings(1, 0), 1);
}
END_TEST

START_TEST(of_the_first_block_who_brings_takes_what_silent_depots_have)
{
    guesses[0] = guesses[1] = (struct xd_guess){.rate = 0};
    play_start(&p);
    play_from(0, 0, 4);
    play_range(&p, XD_EV_HELD, BLOCK / 4, BLOCK);
    ask();
    ck_assert_uint_eq(askings(1, BLOCK / 8 + 1), 1);
    p.now += 30 * XD_MS;
    play_done(&p, asked[0].fetch);
    ask();
    ck_assert_uint_eq(askings(0, BLOCK / 8 + 1), 1);
}
END_TEST

START_TEST(
    a_depot_that_begins_to_bring_leaves_the_rest_to_after_the_first_block)
{
    guesses[0] = guesses[1] = (struct xd_guess){.rate = 0};
    p.o.lanes_per_depot = 2;
    play_start(&p);
    play_from(0, 0, 4);
    ask();
    ck_assert_uint_eq(askings(0, 0), 1);
    play_range(&p, XD_EV_HELD, BLOCK / 4 + 2, BLOCK);
    p.now += 30 * XD_MS;
    play_bytes(&p, asked[0].fetch, asked[0].range.end);
    ask();
    for (unsigned i = 0; i < n_asked; i++)
        ck_assert(asked[i].depot == 1 || asked[i].range.begin < BLOCK);
}
END_TEST

/* The first depot says nothing for longer than it ever needs, and the other is
 * free: how often is that asked for the first block, which is needed so late? */
static unsigned hedges_of_silence(xd_usec needed_in)
{
    play_start(&p);
    play_from(0, needed_in, 1);
    ask();
    ck_assert_uint_eq(askings(0, 0), 1);
    for (unsigned i = 0; i < n_asked; i++)
        if (asked[i].depot == 1)
            play_done(&p, asked[i].fetch);
    p.now += 500 * XD_MS;
    ask();
    return askings(1, 0);
}

START_TEST(a_silent_depot_is_hedged_before_the_picture_stands_still)
{
    ck_assert_uint_eq(hedges_of_silence(2 * XD_SECOND), 1);
}
END_TEST

START_TEST(a_silent_depot_is_left_alone_while_there_is_time)
{
    ck_assert_uint_eq(hedges_of_silence(20 * XD_SECOND), 0);
}
END_TEST

START_TEST(nothing_is_asked_for_while_the_window_is_full)
{
    play_start(&p);
    bring(WINDOW);
    play_from(0, 0, 1);
    ask();
    ck_assert_uint_eq(n_asked, 0);
    play_from(BLOCK, 0, 1);
    ask();
    ck_assert_uint_gt(n_asked, 0);
}
END_TEST

/* What nobody has asked for yet comes after what a player will miss. */
START_TEST(a_tail_waits_for_a_player_that_is_going_to_be_late)
{
    static const uint64_t rates[] = {40, 15, 4}; /* 16 is all that comes */
    bool has_tail = false;

    p.o.lanes_per_depot = 2;
    play_start(&p);
    bring(18 * BLOCK);
    play_from(0, 0, rates[_i]);
    play_demand(&p, 1, SIZE - BLOCK, SIZE, p.now + XD_SECOND / 2);
    ask();
    for (unsigned i = 0; i < n_asked; i++)
        has_tail |= asked[i].range.begin >= SIZE - BLOCK;
    ck_assert_uint_gt(n_asked, 0);
    ck_assert(has_tail == (rates[_i] == 4));
}
END_TEST

START_TEST(a_depot_that_is_alone_has_one_long_request)
{
    if (_i == 0)
        guesses[0] = (struct xd_guess){.rate = 0};
    p.layout.n_depots = 1;
    p.o.lanes_per_depot = 2;
    play_start(&p);
    play_from(0, 0, 4);
    ask();
    ck_assert_uint_eq(n_asked, 1);
    ck_assert_uint_eq(asked[0].range.begin, 0);
    ck_assert_uint_ge(asked[0].range.end, 4 * BLOCK);
    bring(BLOCK);
    play_from(BLOCK, 0, 4);
    ask();
    ck_assert_uint_eq(n_asked, 0);
}
END_TEST

/* A depot has so many bytes left to bring when others have brought them, and
 * perhaps all else: how many requests are cut? */
static unsigned cuts_of_preempted(uint64_t left, bool is_all)
{
    struct xd_sched_action a;
    unsigned n = 0;

    play_start(&p);
    play_from(0, XD_SECOND / 2, 4);
    ask();
    ck_assert_uint_eq(asked[0].range.begin, 0);
    p.now += 100 * XD_MS;
    play_bytes(&p, asked[0].fetch, asked[0].range.end - left);
    play_range(&p, XD_EV_HELD, 0, asked[0].range.end);
    for (unsigned i = 1; is_all && i < n_asked; i++)
        play_done(&p, asked[i].fetch);
    if (is_all)
        play_range(&p, XD_EV_HELD, 0, WINDOW);
    while ((a = play_next(&p)).kind != XD_DO_WAIT)
        n += a.kind == XD_DO_CANCEL;
    return n;
}

/* Of 8 MB/s and 40 ms, 320 kB are on the wire. */
START_TEST(what_is_on_the_wire_is_not_cut_while_there_is_more_to_do)
{
    ck_assert_uint_eq(cuts_of_preempted(200000, false), 0);
}
END_TEST

START_TEST(what_is_not_on_the_wire_is_cut)
{
    ck_assert_uint_eq(cuts_of_preempted(600000, false), 1);
}
END_TEST

START_TEST(what_is_on_the_wire_is_cut_when_nothing_is_left_to_do)
{
    ck_assert_uint_eq(cuts_of_preempted(200000, true), 1);
}
END_TEST

/* So long after both were asked for a second's work, of which the first brings
 * so much in a step and the other what was expected, the second is asked for
 * what at the head? */
static unsigned rescues(uint64_t bytes)
{
    struct xd_range first, other;

    p.o.lanes_per_depot = 2;
    play_start(&p);
    play_from(0, 5 * XD_SECOND, 4);
    ask();
    ck_assert_uint_eq(n_asked, 2);
    first = asked[0].range;
    other = asked[1].range;
    for (unsigned i = 1; i <= 8; i++) {
        p.now += 50 * XD_MS;
        play_bytes(&p, 0, first.begin + i * bytes);
        play_bytes(&p, 2, other.begin + i * 4 * BLOCK / 10);
    }
    ask();
    for (unsigned i = 0; i < n_asked; i++)
        if (asked[i].depot == 1 && asked[i].range.begin < first.end)
            return 1;
    return 0;
}

START_TEST(a_busy_depot_saves_the_head_from_one_that_became_slow)
{
    ck_assert_uint_eq(rescues(BLOCK / 100), 1);
}
END_TEST

START_TEST(a_busy_depot_leaves_the_head_to_one_that_is_in_time)
{
    ck_assert_uint_eq(rescues(4 * BLOCK / 10), 0);
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("urgent");

    tcase_add_checked_fixture(t, setup, teardown);
    tcase_add_test(t, a_slow_depot_is_asked_for_what_is_needed_later);
    tcase_add_test(t, depots_that_are_not_known_race_for_the_first_bytes);
    tcase_add_test(t,
                   of_the_first_block_who_brings_takes_what_silent_depots_have);
    tcase_add_test(
        t,
        a_depot_that_begins_to_bring_leaves_the_rest_to_after_the_first_block);
    tcase_add_test(t, a_silent_depot_is_hedged_before_the_picture_stands_still);
    tcase_add_test(t, a_silent_depot_is_left_alone_while_there_is_time);
    tcase_add_test(t, nothing_is_asked_for_while_the_window_is_full);
    tcase_add_loop_test(t, a_tail_waits_for_a_player_that_is_going_to_be_late,
                        0, 3);
    tcase_add_loop_test(t, a_depot_that_is_alone_has_one_long_request, 0, 2);
    tcase_add_test(t, what_is_on_the_wire_is_not_cut_while_there_is_more_to_do);
    tcase_add_test(t, what_is_not_on_the_wire_is_cut);
    tcase_add_test(t, what_is_on_the_wire_is_cut_when_nothing_is_left_to_do);
    tcase_add_test(t, a_busy_depot_saves_the_head_from_one_that_became_slow);
    tcase_add_test(t, a_busy_depot_leaves_the_head_to_one_that_is_in_time);
    return run_suite("sched.urgent", t);
}
