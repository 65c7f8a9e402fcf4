/* SPDX-License-Identifier: MIT */
/* Is it a depot, or the line to all of them? */
#include "base/line.h"

#include "suite.h"

#define MINUTE (60 * XD_SECOND)

static struct xd_line *l;
static xd_usec now, retry_at;

static void setup(void)
{
    l = xd_line_new(4, 5 * XD_SECOND, 2 * MINUTE);
    ck_assert_ptr_nonnull(l);
    now = 100 * XD_SECOND;
}

static void teardown(void)
{
    xd_line_free(l);
}

/* `n` requests that bring bytes, 0.1 s after they were made. */
static void flow(unsigned n)
{
    for (unsigned i = 0; i < n; i++)
        xd_line_begun(l, i, i, now);
    now += 100 * XD_MS;
    for (unsigned i = 0; i < n; i++)
        xd_line_received(l, i, now);
}

static bool fails(unsigned fetch, bool is_unanswered)
{
    const struct xd_line_failure failure = {.is_unanswered = is_unanswered,
                                            .is_depots_own = true};

    return xd_line_failed(l, fetch, &failure, now, &retry_at);
}

/* Request 0, of the only depot there is. */
static bool only_fails(void)
{
    const struct xd_line_failure failure = {.is_unanswered = true,
                                            .is_only = true};

    return xd_line_failed(l, 0, &failure, now, &retry_at);
}

static void expect_stops(const char *fetches)
{
    unsigned fetch;

    for (; *fetches != '\0'; fetches++) {
        ck_assert(xd_line_next_stop(l, now, &fetch));
        ck_assert_uint_eq(fetch, (unsigned)(*fetches - '0'));
        xd_line_ended(l, fetch);
    }
    ck_assert(!xd_line_next_stop(l, now, &fetch));
}

START_TEST(a_depot_that_falls_silent_beside_others_that_flow_has_failed)
{
    flow(2);
    for (int i = 0; i < 50; i++) {
        now += 100 * XD_MS;
        xd_line_received(l, 1, now);
    }
    ck_assert(!fails(0, true));
    ck_assert(!xd_line_is_down(l));
}
END_TEST

START_TEST(when_all_fall_silent_together_none_has_failed)
{
    flow(3);
    now += 5 * XD_SECOND;
    ck_assert(fails(0, true));
    ck_assert(xd_line_is_down(l));
    ck_assert_uint_eq(xd_line_outages(l), 1);
    ck_assert_uint_lt(now, retry_at);
    expect_stops("12");
}
END_TEST

START_TEST(while_one_depot_is_asked_the_others_are_tried_first)
{
    flow(1);
    now += 5 * XD_SECOND;
    ck_assert(!fails(0, true));
    ck_assert(!xd_line_is_down(l));
    xd_line_begun(l, 1, 1, now);
    xd_line_begun(l, 0, 0, now + 4500 * XD_MS);
    now += 5 * XD_SECOND;
    ck_assert(fails(1, true));
    ck_assert(xd_line_is_down(l));
}
END_TEST

START_TEST(two_requests_of_one_depot_are_one_depot)
{
    xd_line_begun(l, 0, 7, now);
    xd_line_begun(l, 1, 7, now);
    now += 100 * XD_MS;
    xd_line_received(l, 0, now);
    xd_line_received(l, 1, now);
    now += 5 * XD_SECOND;
    ck_assert(!fails(0, true));
    ck_assert(!fails(1, true));
    ck_assert(!xd_line_is_down(l));
}
END_TEST

START_TEST(a_depot_that_was_just_asked_is_not_silent_yet)
{
    flow(1);
    now += 5 * XD_SECOND - 100 * XD_MS;
    xd_line_begun(l, 1, 1, now);
    now += 100 * XD_MS;
    ck_assert(!fails(0, true));
}
END_TEST

START_TEST(the_only_depot_has_not_failed_if_nothing_is_heard)
{
    flow(1);
    now += 5 * XD_SECOND;
    ck_assert(only_fails());
    ck_assert(xd_line_is_down(l));
}
END_TEST

START_TEST(what_another_said_in_the_meantime_tells_that_the_line_is_up)
{
    flow(2);
    now += 2 * XD_SECOND;
    xd_line_received(l, 1, now);
    xd_line_ended(l, 1);
    now += 3 * XD_SECOND;
    ck_assert(!fails(0, true));
}
END_TEST

START_TEST(a_refusal_is_an_answer)
{
    flow(2);
    now += 5 * XD_SECOND;
    ck_assert(!fails(1, false));
    ck_assert(!fails(0, true));
    ck_assert(!xd_line_is_down(l));
}
END_TEST

START_TEST(before_the_first_byte_each_failure_is_its_depots)
{
    xd_line_begun(l, 0, 0, now);
    now += 5 * XD_SECOND;
    ck_assert(!fails(0, true));
    ck_assert(!only_fails());
    xd_line_changed(l, now);
    ck_assert(!xd_line_is_down(l));
}
END_TEST

/* Of a depot that is not the first that was asked, when all were. */
static bool fails_as_all_did(unsigned fetch)
{
    const struct xd_line_failure failure = {.is_unanswered = true};

    return xd_line_failed(l, fetch, &failure, now, &retry_at);
}

START_TEST(before_the_first_byte_it_is_the_line_when_all_were_asked)
{
    xd_line_begun(l, 0, 0, now);
    xd_line_begun(l, 1, 1, now);
    now += 10 * XD_MS;
    ck_assert(fails_as_all_did(0));
    ck_assert(xd_line_is_down(l));
    /* How long an answer takes is not known: the other one is not stopped. */
    expect_stops("");
    for (int i = 0; i < 10; i++) {
        ck_assert_uint_le(xd_line_wake(l), now + 2 * XD_SECOND);
        now = xd_line_wake(l);
        expect_stops("");
        ck_assert_uint_le(xd_line_pause(l, now), now);
        xd_line_begun(l, 0, 0, now);
        ck_assert(fails_as_all_did(0));
    }
    xd_line_changed(l, now);
    expect_stops("1");
    xd_line_begun(l, 1, 1, now);
    xd_line_received(l, 1, now);
    ck_assert(!xd_line_is_down(l));
}
END_TEST

START_TEST(before_the_first_byte_half_a_minute_is_enough)
{
    xd_usec silent, began = now;

    xd_line_begun(l, 0, 0, now);
    ck_assert(fails_as_all_did(0));
    while (!xd_line_is_lost(l, now, &silent)) {
        now = xd_line_wake(l);
        expect_stops("");
    }
    ck_assert(!xd_line_was_up(l));
    ck_assert_uint_eq(now, began + 30 * XD_SECOND);
    ck_assert_uint_eq(silent, 30 * XD_SECOND);
}
END_TEST

START_TEST(refusals_before_the_first_byte_tell_that_the_line_is_up)
{
    for (unsigned i = 0; i < 3; i++)
        xd_line_begun(l, i, i, now);
    ck_assert(!fails(2, false));
    ck_assert(xd_line_was_up(l));
    now += 5 * XD_SECOND;
    ck_assert(!fails_as_all_did(0));
    ck_assert(!fails_as_all_did(1));
    ck_assert(!xd_line_is_down(l));
}
END_TEST

START_TEST(when_all_that_are_asked_are_silent_one_that_is_not_tells)
{
    flow(2);
    ck_assert(!xd_line_is_in_doubt(l, now));
    ck_assert_uint_eq(xd_line_doubt_at(l), now + XD_SECOND);
    now += XD_SECOND;
    ck_assert(xd_line_is_in_doubt(l, now));
    ck_assert(!xd_line_is_in_doubt(l, now)); /* once */
    now += 50 * XD_MS;
    ck_assert_uint_gt(xd_line_doubt_at(l), now);
    for (int i = 0; i < 10; i++) {
        xd_line_answered(l, now);
        now += 500 * XD_MS;
    }
    ck_assert(!fails(0, true));
    ck_assert(!fails(1, true));
    ck_assert(!xd_line_is_down(l));
}
END_TEST

START_TEST(a_single_silent_depot_is_no_doubt)
{
    flow(1);
    now += XD_SECOND;
    ck_assert(!xd_line_is_in_doubt(l, now));
    xd_line_ended(l, 0);
    ck_assert_uint_eq(xd_line_doubt_at(l), XD_NEVER);
}
END_TEST

START_TEST(while_it_is_down_all_pause_and_are_asked_anew_each_round)
{
    flow(2);
    now += 5 * XD_SECOND;
    ck_assert(fails(0, true));
    expect_stops("1");
    ck_assert_uint_le(xd_line_pause(l, now), now);
    for (int i = 0; i < 10; i++) {
        xd_usec next = xd_line_wake(l);

        xd_line_begun(l, 0, 0, now);
        xd_line_begun(l, 1, 1, now);
        ck_assert_uint_le(next, now + 2 * XD_SECOND);
        now += XD_SECOND;
        ck_assert_uint_eq(xd_line_pause(l, now), next);
        ck_assert(fails(1, true));
        expect_stops("");
        now = next;
        expect_stops("0");
        ck_assert_uint_le(xd_line_pause(l, now), now);
    }
    ck_assert_uint_eq(xd_line_outages(l), 1);
}
END_TEST

START_TEST(the_first_byte_ends_it)
{
    flow(2);
    now += 5 * XD_SECOND;
    ck_assert(fails(0, true));
    expect_stops("1");
    xd_line_begun(l, 0, 0, now);
    now += XD_SECOND;
    xd_line_received(l, 0, now);
    ck_assert(!xd_line_is_down(l));
    ck_assert_uint_eq(xd_line_pause(l, now), 0);
    ck_assert_uint_eq(xd_line_wake(l), XD_NEVER);
    expect_stops("");
}
END_TEST

START_TEST(a_route_that_appears_ends_the_pause_at_once)
{
    flow(2);
    now += 5 * XD_SECOND;
    ck_assert(fails(0, true));
    expect_stops("1");
    xd_line_begun(l, 0, 0, now);
    now += XD_SECOND;
    xd_line_changed(l, now);
    ck_assert_uint_le(xd_line_pause(l, now), now);
    expect_stops("0");
}
END_TEST

START_TEST(a_route_that_appears_in_a_brief_silence_asks_all_anew)
{
    flow(2);
    now += 100 * XD_MS;
    xd_line_changed(l, now);
    expect_stops("");
    now += 900 * XD_MS;
    xd_line_changed(l, now);
    expect_stops("01");
}
END_TEST

START_TEST(who_waits_for_room_is_not_silent)
{
    flow(1);
    xd_line_held(l, 0, now);
    now += MINUTE;
    xd_line_changed(l, now);
    ck_assert(!xd_line_is_down(l));
    xd_line_released(l, 0, now);
    now += 5 * XD_SECOND;
    ck_assert(only_fails());
}
END_TEST

START_TEST(far_depots_are_given_time_to_answer)
{
    xd_line_begun(l, 0, 0, now);
    now += XD_SECOND;
    xd_line_received(l, 0, now);
    now += 5 * XD_SECOND;
    ck_assert(only_fails());
    ck_assert_uint_eq(xd_line_wake(l), now + 3 * XD_SECOND);
}
END_TEST

START_TEST(after_patience_it_is_lost)
{
    xd_usec silent;

    flow(2);
    now += 5 * XD_SECOND;
    ck_assert(fails(0, true));
    expect_stops("1");
    while (now < 100 * XD_SECOND + 2 * MINUTE) {
        ck_assert(!xd_line_is_lost(l, now, &silent));
        ck_assert_uint_gt(xd_line_wake(l), now);
        now = xd_line_wake(l);
        expect_stops("");
    }
    ck_assert(xd_line_is_lost(l, now, &silent));
    ck_assert_uint_eq(silent, 2 * MINUTE);
}
END_TEST

static const xd_usec silences[] = {200 * XD_MS, 500 * XD_MS, XD_SECOND,
                                   2 * XD_SECOND, 15 * XD_SECOND};

/* Two requests, the second of which has its last bytes `apart` after the first;
 * true: it was the line. */
static bool fall_silent(xd_usec silence, xd_usec apart)
{
    bool was_line;

    xd_line_free(l);
    l = xd_line_new(4, silence, 2 * MINUTE);
    ck_assert_ptr_nonnull(l);
    flow(2);
    now += apart;
    xd_line_received(l, 1, now);
    now += silence - apart;
    was_line = fails(0, true);
    ck_assert(was_line == xd_line_is_down(l));
    return was_line;
}

START_TEST(what_together_means_is_a_part_of_the_silence)
{
    const xd_usec silence = silences[_i];

    ck_assert(fall_silent(silence, 0));
    ck_assert(fall_silent(silence, silence / 50));
    ck_assert(fall_silent(silence, silence / 4 < 300 * XD_MS ? silence / 4
                                                             : 300 * XD_MS));
    ck_assert(!fall_silent(silence, silence / 2));
    ck_assert(!fall_silent(silence, silence - XD_MS));
}
END_TEST

START_TEST(depots_that_stop_a_fifth_of_a_second_apart_are_told_apart)
{
    ck_assert(!fall_silent(200 * XD_MS + XD_MS, 200 * XD_MS));
    ck_assert(!fall_silent(500 * XD_MS, 200 * XD_MS));
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("line");

    tcase_add_checked_fixture(t, setup, teardown);
    tcase_add_test(
        t, a_depot_that_falls_silent_beside_others_that_flow_has_failed);
    tcase_add_test(t, when_all_fall_silent_together_none_has_failed);
    tcase_add_test(t,
                   what_another_said_in_the_meantime_tells_that_the_line_is_up);
    tcase_add_test(t, while_one_depot_is_asked_the_others_are_tried_first);
    tcase_add_test(t, two_requests_of_one_depot_are_one_depot);
    tcase_add_test(t, a_depot_that_was_just_asked_is_not_silent_yet);
    tcase_add_test(t, the_only_depot_has_not_failed_if_nothing_is_heard);
    tcase_add_test(t, a_refusal_is_an_answer);
    tcase_add_test(t, before_the_first_byte_each_failure_is_its_depots);
    tcase_add_test(t, before_the_first_byte_it_is_the_line_when_all_were_asked);
    tcase_add_test(t, before_the_first_byte_half_a_minute_is_enough);
    tcase_add_test(t, refusals_before_the_first_byte_tell_that_the_line_is_up);
    tcase_add_test(t, when_all_that_are_asked_are_silent_one_that_is_not_tells);
    tcase_add_test(t, a_single_silent_depot_is_no_doubt);
    tcase_add_test(t, while_it_is_down_all_pause_and_are_asked_anew_each_round);
    tcase_add_test(t, the_first_byte_ends_it);
    tcase_add_test(t, a_route_that_appears_ends_the_pause_at_once);
    tcase_add_test(t, a_route_that_appears_in_a_brief_silence_asks_all_anew);
    tcase_add_test(t, who_waits_for_room_is_not_silent);
    tcase_add_test(t, far_depots_are_given_time_to_answer);
    tcase_add_test(t, after_patience_it_is_lost);
    tcase_add_loop_test(t, what_together_means_is_a_part_of_the_silence, 0,
                        sizeof silences / sizeof *silences);
    tcase_add_test(t,
                   depots_that_stop_a_fifth_of_a_second_apart_are_told_apart);
    return run_suite("line", t);
}
