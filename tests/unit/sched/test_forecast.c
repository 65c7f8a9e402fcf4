/* SPDX-License-Identifier: MIT */
#include <check.h>
#include <string.h>

#include "sched/adaptive/forecast.h"
#include "suite.h"

/* `bytes` each 10 ms, from *now on, for so long. */
static void flow(struct xd_forecast *f, xd_usec *now, uint64_t bytes,
                 xd_usec duration)
{
    for (xd_usec end = *now + duration; *now < end; *now += 10 * XD_MS)
        xd_forecast_heard(f, *now, bytes);
}

static void assert_near(double x, double wanted, double part)
{
    ck_assert_double_ge(x, wanted * (1 - part));
    ck_assert_double_le(x, wanted * (1 + part));
}

START_TEST(a_zeroed_one_knows_nothing)
{
    struct xd_forecast f = {.rate = 0};

    ck_assert_double_eq(f.rate, 0);
    ck_assert_uint_eq(xd_forecast_patience(&f), 400 * XD_MS);
}
END_TEST

START_TEST(the_first_answer_had_to_connect_as_well)
{
    struct xd_forecast f = {.rate = 0};

    xd_forecast_answered(&f, 200 * XD_MS, 2);
    ck_assert_uint_eq(f.latency, 100 * XD_MS);
}
END_TEST

START_TEST(later_answers_are_smoothed)
{
    struct xd_forecast f = {.latency = 100 * XD_MS};

    xd_forecast_answered(&f, 500 * XD_MS, 2);
    ck_assert_uint_eq(f.latency, 200 * XD_MS);
    for (int i = 0; i < 30; i++)
        xd_forecast_answered(&f, 500 * XD_MS, 2);
    assert_near((double)f.latency, 500e3, 0.01);
}
END_TEST

START_TEST(an_answer_at_once_is_known_all_the_same)
{
    struct xd_forecast f = {.rate = 0};

    xd_forecast_answered(&f, 0, 2);
    ck_assert_uint_gt(f.latency, 0);
}
END_TEST

START_TEST(a_guess_holds_while_tcp_finds_its_speed)
{
    struct xd_forecast f;
    xd_usec now = XD_SECOND;

    xd_forecast_guess(&f, 1e6, 100 * XD_MS);
    ck_assert_double_eq(f.rate, 1e6);
    xd_forecast_answered(&f, 100 * XD_MS, 1);
    for (uint64_t bytes = 10; bytes <= 160; bytes *= 2)
        flow(&f, &now, bytes, 100 * XD_MS);
    ck_assert_double_eq(f.rate, 1e6);
    flow(&f, &now, 160, 500 * XD_MS);
    assert_near(f.rate, 1.6e4, 0.2);
}
END_TEST

START_TEST(a_guess_does_not_hold_for_ever)
{
    struct xd_forecast f;
    xd_usec now = XD_SECOND;

    xd_forecast_guess(&f, 1e6, 10 * XD_MS);
    flow(&f, &now, 10, 100 * XD_MS);
    flow(&f, &now, 100, 100 * XD_MS); /* it grows still */
    ck_assert_double_gt(f.rate, 0);
    ck_assert_double_lt(f.rate, 1e5);
}
END_TEST

START_TEST(a_guess_does_not_hold_where_nothing_grows)
{
    struct xd_forecast f;
    xd_usec now = XD_SECOND;

    xd_forecast_guess(&f, 1e6, 100 * XD_MS);
    xd_forecast_answered(&f, 100 * XD_MS, 1);
    flow(&f, &now, 100, 200 * XD_MS);
    assert_near(f.rate, 1e4, 0.01);
}
END_TEST

START_TEST(who_brings_more_than_was_guessed_is_believed_at_once)
{
    struct xd_forecast f;
    xd_usec now = XD_SECOND;

    xd_forecast_guess(&f, 1e4, 100 * XD_MS);
    xd_forecast_answered(&f, 100 * XD_MS, 1);
    flow(&f, &now, 10000, 100 * XD_MS);
    assert_near(f.rate, 1e6, 0.01);
}
END_TEST

START_TEST(who_failed_is_not_taken_for_what_was_guessed)
{
    struct xd_forecast f;

    xd_forecast_guess(&f, 1e6, 100 * XD_MS);
    xd_forecast_forget(&f);
    xd_forecast_gulped(&f, 100 * XD_MS, 1000);
    assert_near(f.rate, 1e4, 0.01);
}
END_TEST

START_TEST(patience_is_three_latencies_but_never_short)
{
    struct xd_forecast f = {.latency = 10 * XD_MS};

    ck_assert_uint_eq(xd_forecast_patience(&f), 400 * XD_MS);
    f.latency = 300 * XD_MS;
    ck_assert_uint_eq(xd_forecast_patience(&f), 900 * XD_MS);
}
END_TEST

START_TEST(one_gulp_tells_no_rate)
{
    struct xd_forecast f = {.rate = 0};
    xd_usec now = XD_SECOND;

    flow(&f, &now, 100000, 50 * XD_MS);
    ck_assert_double_eq(f.rate, 0);
    flow(&f, &now, 100000, 50 * XD_MS);
    ck_assert_double_gt(f.rate, 0);
}
END_TEST

START_TEST(a_steady_rate_is_found)
{
    struct xd_forecast f = {.rate = 0};
    xd_usec now = XD_SECOND;

    flow(&f, &now, 10000, XD_SECOND);
    assert_near(f.rate, 1e6, 0.02);
}
END_TEST

START_TEST(a_collapse_is_believed_within_a_second)
{
    struct xd_forecast f = {.rate = 0};
    xd_usec now = XD_SECOND;

    flow(&f, &now, 10000, 10 * XD_SECOND);
    flow(&f, &now, 100, 200 * XD_MS);
    ck_assert_double_gt(f.rate, 3e5); /* but not at once */
    flow(&f, &now, 100, 800 * XD_MS);
    ck_assert_double_lt(f.rate, 2e5);
}
END_TEST

START_TEST(who_is_far_away_is_judged_by_some_round_trips)
{
    struct xd_forecast near = {.latency = 10 * XD_MS};
    struct xd_forecast far = {.latency = 300 * XD_MS};
    xd_usec now = XD_SECOND, then = XD_SECOND;

    flow(&near, &now, 10000, 10 * XD_SECOND);
    flow(&near, &now, 100, 400 * XD_MS);
    flow(&far, &then, 10000, 10 * XD_SECOND);
    flow(&far, &then, 100, 400 * XD_MS);
    ck_assert_double_lt(near.rate, 4e5);
    ck_assert_double_gt(far.rate, 6e5);
}
END_TEST

START_TEST(the_time_of_a_pause_is_not_counted)
{
    struct xd_forecast f = {.rate = 0};
    xd_usec now = XD_SECOND;

    flow(&f, &now, 10000, XD_SECOND);
    for (int i = 0; i < 10; i++) {
        xd_forecast_paused(&f, now - 10 * XD_MS);
        now += XD_SECOND;
        flow(&f, &now, 10000, 200 * XD_MS);
    }
    assert_near(f.rate, 1e6, 0.02);
}
END_TEST

START_TEST(the_gulp_before_a_pause_tells_no_rate)
{
    struct xd_forecast f = {.rate = 0};

    xd_forecast_heard(&f, XD_SECOND, 1000);
    xd_forecast_heard(&f, XD_SECOND + 50, 10000);
    xd_forecast_paused(&f, XD_SECOND + 50);
    ck_assert_double_eq(f.rate, 0); /* 200 MB/s it would be */
}
END_TEST

START_TEST(short_requests_together_tell_the_rate)
{
    struct xd_forecast f = {.rate = 1};
    xd_usec now = XD_SECOND;

    for (int i = 0; i < 40; i++) {
        flow(&f, &now, 10000, 40 * XD_MS);
        xd_forecast_paused(&f, now - 10 * XD_MS);
        now += XD_SECOND;
    }
    assert_near(f.rate, 1e6, 0.02);
}
END_TEST

START_TEST(a_silence_between_bytes_is_counted)
{
    struct xd_forecast f = {.rate = 0};
    xd_usec now = XD_SECOND;

    flow(&f, &now, 10000, XD_SECOND);
    now += XD_SECOND;
    xd_forecast_heard(&f, now, 10000);
    ck_assert_double_lt(f.rate, 1e5);
}
END_TEST

START_TEST(a_request_in_one_gulp_tells_the_least_rate)
{
    struct xd_forecast f = {.rate = 0};
    xd_usec now = XD_SECOND;

    xd_forecast_gulped(&f, 100 * XD_MS, 100000);
    assert_near(f.rate, 1e6, 0.001);
    xd_forecast_gulped(&f, 200 * XD_MS, 100000);
    xd_forecast_gulped(&f, 0, 100000);
    assert_near(f.rate, 1e6, 0.001);
    flow(&f, &now, 1000, 200 * XD_MS); /* a sample knows better */
    assert_near(f.rate, 1e5, 0.02);
}
END_TEST

/* As flow(); whether it was seen to have risen. */
static bool rises(struct xd_forecast *f, xd_usec *now, uint64_t bytes,
                  xd_usec duration)
{
    bool has_risen = false;

    for (xd_usec end = *now + duration; *now < end;) {
        flow(f, now, bytes, 10 * XD_MS);
        has_risen |= f->has_risen;
    }
    return has_risen;
}

/* Each 100 ms 1.3 times what it was. */
static bool rises_slowly(struct xd_forecast *f, xd_usec *now, double bytes,
                         unsigned steps)
{
    bool has_risen = false;

    for (unsigned i = 0; i < steps; i++, bytes *= 1.3)
        has_risen |= rises(f, now, (uint64_t)bytes, 100 * XD_MS);
    return has_risen;
}

START_TEST(who_was_calm_and_doubles_has_risen)
{
    struct xd_forecast f = {.latency = 40 * XD_MS};
    xd_usec now = XD_SECOND;

    ck_assert(!rises(&f, &now, 1000, 2 * XD_SECOND));
    ck_assert(!rises_slowly(&f, &now, 1000, 3));
    ck_assert(rises_slowly(&f, &now, 2200, 4));
    /* It is not calm now. */
    ck_assert(!rises_slowly(&f, &now, 6300, 8));
}
END_TEST

START_TEST(who_finds_its_speed_has_not_risen)
{
    struct xd_forecast f = {.latency = 40 * XD_MS};
    xd_usec now = XD_SECOND;

    ck_assert(!rises_slowly(&f, &now, 1000, 20));
}
END_TEST

START_TEST(who_is_far_away_has_to_be_calm_for_longer)
{
    struct xd_forecast f = {.latency = 300 * XD_MS};
    xd_usec now = XD_SECOND;

    ck_assert(!rises(&f, &now, 1000, 1500 * XD_MS));
    ck_assert(!rises_slowly(&f, &now, 1000, 10));
}
END_TEST

START_TEST(who_jumps_has_not_risen)
{
    struct xd_forecast f = {.latency = 40 * XD_MS};
    xd_usec now = XD_SECOND;

    ck_assert(!rises(&f, &now, 1000, 2 * XD_SECOND));
    ck_assert(!rises(&f, &now, 50000, 3 * XD_SECOND));
}
END_TEST

START_TEST(who_failed_is_forgotten_but_not_how_far_away_he_is)
{
    struct xd_forecast f = {.rate = 0};
    xd_usec now = XD_SECOND;

    xd_forecast_answered(&f, 300 * XD_MS, 2);
    flow(&f, &now, 10000, XD_SECOND);
    xd_forecast_forget(&f);
    ck_assert_double_eq(f.rate, 0);
    ck_assert_uint_eq(f.watched, 0);
    ck_assert(!f.is_flowing);
    ck_assert_uint_eq(f.latency, 150 * XD_MS);
}
END_TEST

START_TEST(who_had_to_wait_for_others_tells_no_more_than_a_bound)
{
    struct xd_forecast f = {.latency = 100 * XD_MS};

    xd_forecast_queued(&f, 500 * XD_MS);
    ck_assert_uint_eq(f.latency, 100 * XD_MS);
    xd_forecast_queued(&f, 60 * XD_MS);
    ck_assert_uint_eq(f.latency, 60 * XD_MS);
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("forecast");

    tcase_add_test(t, a_zeroed_one_knows_nothing);
    tcase_add_test(t, the_first_answer_had_to_connect_as_well);
    tcase_add_test(t, later_answers_are_smoothed);
    tcase_add_test(t, an_answer_at_once_is_known_all_the_same);
    tcase_add_test(t, a_guess_holds_while_tcp_finds_its_speed);
    tcase_add_test(t, a_guess_does_not_hold_for_ever);
    tcase_add_test(t, a_guess_does_not_hold_where_nothing_grows);
    tcase_add_test(t, who_brings_more_than_was_guessed_is_believed_at_once);
    tcase_add_test(t, who_failed_is_not_taken_for_what_was_guessed);
    tcase_add_test(t, patience_is_three_latencies_but_never_short);
    tcase_add_test(t, one_gulp_tells_no_rate);
    tcase_add_test(t, a_steady_rate_is_found);
    tcase_add_test(t, a_collapse_is_believed_within_a_second);
    tcase_add_test(t, who_is_far_away_is_judged_by_some_round_trips);
    tcase_add_test(t, the_time_of_a_pause_is_not_counted);
    tcase_add_test(t, the_gulp_before_a_pause_tells_no_rate);
    tcase_add_test(t, short_requests_together_tell_the_rate);
    tcase_add_test(t, a_silence_between_bytes_is_counted);
    tcase_add_test(t, a_request_in_one_gulp_tells_the_least_rate);
    tcase_add_test(t, who_was_calm_and_doubles_has_risen);
    tcase_add_test(t, who_finds_its_speed_has_not_risen);
    tcase_add_test(t, who_is_far_away_has_to_be_calm_for_longer);
    tcase_add_test(t, who_jumps_has_not_risen);
    tcase_add_test(t, who_failed_is_forgotten_but_not_how_far_away_he_is);
    tcase_add_test(t, who_had_to_wait_for_others_tells_no_more_than_a_bound);
    return run_suite("sched.forecast", t);
}
