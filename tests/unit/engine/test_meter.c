/* SPDX-License-Identifier: MIT */
/* What a viewer suffers, in virtual time. */
#include <math.h>

#include "engine/readers/meter.h"
#include "suite.h"

#define RATE 1000.0 /* bytes per second */
#define END 100000

static struct xd_meter m;
static xd_usec now;

static void setup(void)
{
    xd_meter_init(&m);
    now = 77 * XD_SECOND;
}

static void teardown(void)
{
    xd_meter_fini(&m);
}

static void pass_ms(xd_usec ms)
{
    now += ms * XD_MS;
}

/* All before `end` is here from now on. */
static void have(uint64_t end)
{
    uint64_t byte;

    xd_meter_pass(&m, now, &byte);
    xd_meter_here(&m, end > byte ? end : byte, END);
}

static void play(uint64_t byte, enum xd_play_state state)
{
    xd_meter_play(&m, now, byte, RATE, state);
}

static struct xd_playback got(void)
{
    struct xd_playback p;
    uint64_t byte;

    xd_meter_pass(&m, now, &byte);
    xd_meter_get(&m, &p);
    return p;
}

static void expect(double is, double should_be)
{
    ck_assert_msg(fabs(is - should_be) < 1e-6, "%f is not %f", is, should_be);
}

/* A second until the first picture, from byte 0. */
static void start(void)
{
    play(0, XD_PLAY_WAITING);
    pass_ms(400);
    have(1);
    pass_ms(600);
    play(0, XD_PLAY_RUNNING);
}

START_TEST(the_start_is_no_stall)
{
    start();
    have(END);
    pass_ms(5000);
    expect(got().startup_s, 1);
    expect(got().startup_least_s, 0.4);
    ck_assert_uint_eq(got().n_stalls, 0);
    expect(got().stall_s, 0);
    expect(got().played_s, 5);
    expect(got().watched_s, 6);
}
END_TEST

START_TEST(nothing_was_seen_yet)
{
    expect(got().startup_s, -1);
    play(0, XD_PLAY_WAITING);
    pass_ms(300);
    expect(got().startup_s, -1);
    expect(got().startup_least_s, -1);
    expect(got().quality, 0);
}
END_TEST

START_TEST(stalls_are_counted_summed_and_listed)
{
    start();
    pass_ms(2000);
    play(2000, XD_PLAY_WAITING);
    pass_ms(500);
    play(2000, XD_PLAY_RUNNING);
    pass_ms(1000);
    play(3000, XD_PLAY_WAITING);
    pass_ms(1500);
    play(3000, XD_PLAY_RUNNING);
    pass_ms(1000);
    ck_assert_uint_eq(got().n_stalls, 2);
    expect(got().stall_s, 2);
    expect(got().stall_longest_s, 1.5);
    expect(got().rebuffer_ratio, 2.0 / 6);
    ck_assert_uint_eq(m.stalls.n, 2);
    expect(m.stalls.list[1].media_s, 3);
    expect(m.stalls.list[1].seconds, 1.5);
}
END_TEST

START_TEST(a_stall_that_lasts_is_counted)
{
    start();
    play(0, XD_PLAY_WAITING);
    pass_ms(700);
    ck_assert_uint_eq(got().n_stalls, 1);
    expect(got().stall_s, 0.7);
    expect(got().stall_longest_s, 0.7);
    ck_assert_uint_eq(m.stalls.n, 0);
}
END_TEST

START_TEST(a_pause_ends_a_stall_and_is_none)
{
    start();
    play(0, XD_PLAY_WAITING);
    pass_ms(700);
    play(0, XD_PLAY_PAUSED);
    pass_ms(9000);
    play(0, XD_PLAY_RUNNING);
    expect(got().stall_s, 0.7);
    expect(got().watched_s, 1.7);
    expect(got().stall_least_s, 0.699); /* but for the byte that was here */
}
END_TEST

START_TEST(the_wait_after_a_seek_is_no_stall)
{
    start();
    pass_ms(1000);
    play(50000, XD_PLAY_SEEKING);
    pass_ms(300);
    play(50000, XD_PLAY_WAITING);
    pass_ms(200);
    play(50000, XD_PLAY_RUNNING);
    pass_ms(100);
    ck_assert_uint_eq(got().n_stalls, 0);
    ck_assert_uint_eq(got().n_seeks, 1);
    expect(got().restart_s, 0.5);
    expect(got().restart_longest_s, 0.5);
    ck_assert_uint_eq(m.restarts.n, 1);
    expect(m.restarts.list[0].media_s, 1);
}
END_TEST

START_TEST(the_least_wait_after_a_seek_is_that_for_its_first_byte)
{
    start();
    pass_ms(1000);
    play(50000, XD_PLAY_SEEKING);
    pass_ms(300);
    expect(got().restart_least_s, 0.3);
    play(60000, XD_PLAY_SEEKING); /* it goes elsewhere yet */
    pass_ms(200);
    have(60001);
    pass_ms(400);
    expect(got().restart_least_s, 0.5);
    play(60000, XD_PLAY_RUNNING);
    expect(got().restart_s, 0.9);
    pass_ms(1);
    play(0, XD_PLAY_SEEKING);
    have(END);
    pass_ms(100);
    play(0, XD_PLAY_RUNNING);
    expect(got().restart_s, 1);
    expect(got().restart_least_s, 0.5); /* all was here */
    play(70000, XD_PLAY_SEEKING);
    pass_ms(100);
    play(70000, XD_PLAY_RUNNING); /* and its picture was another */
    expect(got().restart_least_s, 0.6);
}
END_TEST

/* The player waits for more than it needs; one that does not had to wait for
 * the bytes alone. */
START_TEST(the_least_is_what_the_bytes_allowed)
{
    start();
    have(2000);
    pass_ms(2000);
    play(2000, XD_PLAY_WAITING);
    pass_ms(300);
    have(3000);
    pass_ms(700); /* an ideal player shows these meanwhile */
    play(2000, XD_PLAY_RUNNING);
    expect(got().stall_s, 1);
    expect(got().stall_least_s, 0.3);
    pass_ms(400);
    expect(got().stall_least_s, 0.4); /* and is at its end before the other */
    expect(got().rebuffer_ratio, 1 / 3.4);
    expect(got().rebuffer_least, 0.4 / 2.8);
}
END_TEST

START_TEST(the_least_begins_anew_after_a_seek)
{
    start();
    pass_ms(1001);
    expect(got().stall_least_s, 1);
    play(50000, XD_PLAY_SEEKING);
    pass_ms(2000);
    expect(got().stall_least_s, 1);
    have(51000);
    play(50000, XD_PLAY_RUNNING);
    pass_ms(1000);
    expect(got().stall_least_s, 1);
    pass_ms(250);
    expect(got().stall_least_s, 1.25);
}
END_TEST

/* Plank: a block must be complete when its play-out begins. */
START_TEST(a_block_counts_when_all_of_it_is_here)
{
    xd_meter_blocks(&m, 1000);
    start();
    have(1000);
    pass_ms(1000);
    have(1900);
    pass_ms(500);
    expect(got().stall_least_s, 0);
    expect(got().stall_blocks_s, 0.5);
    have(2000);
    pass_ms(400);
    expect(got().stall_blocks_s, 0.5);
}
END_TEST

START_TEST(the_last_block_may_be_short)
{
    xd_meter_blocks(&m, 70000);
    start();
    have(END);
    pass_ms(100000);
    expect(got().stall_blocks_s, 0);
    pass_ms(5000); /* there is nothing more to show */
    expect(got().stall_blocks_s, 0);
    expect(got().stall_least_s, 0);
}
END_TEST

START_TEST(after_its_end_nothing_counts_any_more)
{
    struct xd_playback p;

    start();
    pass_ms(1000);
    play(1000, XD_PLAY_WAITING);
    pass_ms(500);
    play(1000, XD_PLAY_ENDED);
    p = got();
    pass_ms(9000);
    have(END);
    ck_assert_uint_eq(got().n_stalls, 1);
    expect(got().stall_s, 0.5);
    expect(got().stall_least_s, p.stall_least_s);
    expect(got().watched_s, p.watched_s);
    expect(got().played_s, 1);
}
END_TEST

/* By hand, of the formula in P.1203.3: a start of 1 s and one stall of 2 s at
 * 30 s of 60 s. */
START_TEST(the_quality_is_that_of_p1203)
{
    double length =
        1 * (0.484 + 0.516 * exp2(-6.0)) + 2 * (0.484 + 0.516 * exp2(-3.0));

    start();
    have(END);
    pass_ms(30000);
    play(30000, XD_PLAY_WAITING);
    pass_ms(2000);
    play(30000, XD_PLAY_RUNNING);
    pass_ms(30000);
    expect(got().quality, 1 + 4 * exp(-2 / 9.3516) *
                                  exp(-length / 60 / 0.91891) *
                                  exp(-30.0 / 60 / 11.0568));
}
END_TEST

START_TEST(undisturbed_play_has_the_best_quality)
{
    play(0, XD_PLAY_RUNNING);
    have(END);
    pass_ms(10000);
    expect(got().quality, 5);
}
END_TEST

START_TEST(levels_are_few_however_long_it_lasts)
{
    start();
    for (int i = 0; i < 20000; i++) {
        pass_ms(100);
        have(END);
    }
    ck_assert_uint_le(m.n_levels, XD_METER_LEVELS);
    ck_assert_uint_ge(m.n_levels, XD_METER_LEVELS / 2);
    for (size_t i = 1; i < m.n_levels; i++)
        ck_assert(m.levels[i].at_s > m.levels[i - 1].at_s);
    ck_assert(m.levels[m.n_levels - 1].at_s > 1900);
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("meter");

    tcase_add_checked_fixture(t, setup, teardown);
    tcase_add_test(t, the_start_is_no_stall);
    tcase_add_test(t, nothing_was_seen_yet);
    tcase_add_test(t, stalls_are_counted_summed_and_listed);
    tcase_add_test(t, a_stall_that_lasts_is_counted);
    tcase_add_test(t, a_pause_ends_a_stall_and_is_none);
    tcase_add_test(t, the_wait_after_a_seek_is_no_stall);
    tcase_add_test(t, the_least_wait_after_a_seek_is_that_for_its_first_byte);
    tcase_add_test(t, the_least_is_what_the_bytes_allowed);
    tcase_add_test(t, the_least_begins_anew_after_a_seek);
    tcase_add_test(t, a_block_counts_when_all_of_it_is_here);
    tcase_add_test(t, the_last_block_may_be_short);
    tcase_add_test(t, after_its_end_nothing_counts_any_more);
    tcase_add_test(t, the_quality_is_that_of_p1203);
    tcase_add_test(t, undisturbed_play_has_the_best_quality);
    tcase_add_test(t, levels_are_few_however_long_it_lasts);
    return run_suite("engine.meter", t);
}
