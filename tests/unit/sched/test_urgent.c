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

START_TEST(the_first_bytes_are_asked_of_the_fastest_depot)
{
    guesses[0].rate = (double)BLOCK / 2;
    play_start(&p);
    play_from(0, 0, 4);
    ask();
    ck_assert_uint_eq(askings(1, 0), 1);
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
    ck_assert_uint_eq(hedges_of_silence(600 * XD_MS), 1);
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
    static const uint64_t rates[] = {40, 4}; /* 16 is all that comes */
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

int main(void)
{
    TCase *t = tcase_create("urgent");

    tcase_add_checked_fixture(t, setup, teardown);
    tcase_add_test(t, the_first_bytes_are_asked_of_the_fastest_depot);
    tcase_add_test(t, a_silent_depot_is_hedged_before_the_picture_stands_still);
    tcase_add_test(t, a_silent_depot_is_left_alone_while_there_is_time);
    tcase_add_test(t, nothing_is_asked_for_while_the_window_is_full);
    tcase_add_loop_test(t, a_tail_waits_for_a_player_that_is_going_to_be_late,
                        0, 2);
    tcase_add_test(t, what_is_not_on_the_wire_is_cut);
    tcase_add_test(t, what_is_on_the_wire_is_cut_when_nothing_is_left_to_do);
    return run_suite("sched.urgent", t);
}
