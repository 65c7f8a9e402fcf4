/* SPDX-License-Identifier: MIT */
/* A file whose size stays unknown. */
#include "play.h"

static void start(struct play *p, unsigned n_depots)
{
    play_init(p, &xd_policy_aggressive, n_depots, UINT64_MAX);
    p->o.window_bytes = 40;
    p->o.max_open = 9;
    play_start(p);
    expect_depot(p, XD_DO_OPEN, 0);
}

static void ended_at(struct play *p, unsigned fetch, uint64_t size)
{
    play_event(p, (struct xd_sched_event){
                      .kind = XD_EV_DONE, .fetch = fetch, .range = {0, size}});
}

START_TEST(it_comes_as_one_stream_from_one_depot)
{
    struct play p;
    unsigned fetch;

    start(&p, 3);
    fetch = expect_fetch(&p, 0, 0, UINT64_MAX);
    expect_wait(&p);
    play_bytes(&p, fetch, 1000);
    play_range(&p, XD_EV_VERIFIED, 0, 1000);
    expect_wait(&p);
    ended_at(&p, fetch, 1234);
    expect_depot(&p, XD_DO_PARK, 0);
    expect_wait(&p);
    play_range(&p, XD_EV_VERIFIED, 0, 1234);
    expect_kind(&p, XD_DO_FINISH);
    play_fini(&p);
}
END_TEST

START_TEST(it_may_be_empty)
{
    struct play p;

    start(&p, 1);
    ended_at(&p, expect_fetch(&p, 0, 0, UINT64_MAX), 0);
    expect_kind(&p, XD_DO_FINISH);
    play_fini(&p);
}
END_TEST

START_TEST(after_a_failure_the_next_depot_starts_anew)
{
    struct play p;
    unsigned fetch;

    start(&p, 3);
    fetch = expect_fetch(&p, 0, 0, UINT64_MAX);
    play_bytes(&p, fetch, 1000);
    play_range(&p, XD_EV_VERIFIED, 0, 1000);
    play_failed_at(&p, fetch, 1500);
    expect_depot(&p, XD_DO_PARK, 0);
    expect_depot(&p, XD_DO_OPEN, 1);
    fetch = expect_fetch(&p, 1, 0, UINT64_MAX);
    ended_at(&p, fetch, 900);
    play_range(&p, XD_EV_VERIFIED, 0, 900);
    expect_kind(&p, XD_DO_FINISH);
    play_fini(&p);
}
END_TEST

START_TEST(a_depot_that_breaks_off_each_time_is_dropped)
{
    struct play p;
    struct xd_sched_action a;
    int fetches = 0;

    start(&p, 1);
    while (a = play_next(&p), a.kind != XD_DO_FAIL) {
        if (a.kind == XD_DO_WAIT)
            p.now = a.until;
        if (a.kind != XD_DO_FETCH)
            continue;
        play_failed_at(&p, a.fetch, 1000);
        fetches++;
    }
    ck_assert_int_eq(fetches, 3);
    play_fini(&p);
}
END_TEST

START_TEST(a_depot_that_lost_a_part_is_not_asked_again)
{
    struct play p;

    start(&p, 2);
    play_failed(&p, expect_fetch(&p, 0, 0, UINT64_MAX));
    play_lost(&p, 0, 500, 1000);
    expect_depot(&p, XD_DO_PARK, 0);
    expect_depot(&p, XD_DO_OPEN, 1);
    play_failed(&p, expect_fetch(&p, 1, 0, UINT64_MAX));
    p.now += XD_SECOND;
    expect_fetch(&p, 1, 0, UINT64_MAX);
    play_fini(&p);
}
END_TEST

START_TEST(a_depot_that_lost_it_after_the_end_was_told_has_nothing_left)
{
    struct play p;

    start(&p, 2);
    ended_at(&p, expect_fetch(&p, 0, 0, UINT64_MAX), 900);
    play_lost(&p, 1, 0, 900);
    play_range(&p, XD_EV_REJECTED, 0, 900);
    play_failed(&p, expect_fetch(&p, 0, 0, UINT64_MAX));
    play_depot(&p, XD_EV_BANNED, 0);
    expect_kind(&p, XD_DO_FAIL);
    play_fini(&p);
}
END_TEST

/* A reader's window says what is wanted of a part, and there are no parts. */
START_TEST(from_a_depot_without_ranges_it_comes_from_the_start_too)
{
    struct play p;
    unsigned fetch;

    start(&p, 1);
    fetch = expect_fetch(&p, 0, 0, UINT64_MAX);
    play_bytes(&p, fetch, 40);
    play_range(&p, XD_EV_VERIFIED, 0, 40);
    play_range(&p, XD_EV_DEMAND, 40, 80);
    play_depot(&p, XD_EV_NORANGES, 0);
    play_range(&p, XD_EV_REJECTED, 10, 30);
    ended_at(&p, fetch, 60);
    expect_fetch(&p, 0, 0, UINT64_MAX);
    play_fini(&p);
}
END_TEST

START_TEST(what_is_rejected_begins_anew)
{
    struct play p;

    start(&p, 1);
    ended_at(&p, expect_fetch(&p, 0, 0, UINT64_MAX), 900);
    play_range(&p, XD_EV_VERIFIED, 0, 500);
    play_range(&p, XD_EV_REJECTED, 500, 900);
    expect_fetch(&p, 0, 0, UINT64_MAX);
    play_fini(&p);
}
END_TEST

START_TEST(a_stream_of_which_a_part_was_rejected_begins_anew_at_its_end)
{
    struct play p;
    unsigned fetch;

    start(&p, 1);
    fetch = expect_fetch(&p, 0, 0, UINT64_MAX);
    play_bytes(&p, fetch, 500);
    play_range(&p, XD_EV_REJECTED, 0, 500);
    expect_wait(&p);
    ended_at(&p, fetch, 900);
    ended_at(&p, expect_fetch(&p, 0, 0, UINT64_MAX), 900);
    play_range(&p, XD_EV_VERIFIED, 0, 900);
    expect_kind(&p, XD_DO_FINISH);
    play_fini(&p);
}
END_TEST

START_TEST(when_every_depot_is_dropped_it_fails_at_the_first_byte)
{
    struct play p;
    struct xd_sched_action a;
    int fetches = 0;

    start(&p, 2);
    while (a = play_next(&p), a.kind != XD_DO_FAIL) {
        if (a.kind == XD_DO_WAIT)
            p.now = a.until;
        if (a.kind != XD_DO_FETCH)
            continue;
        ck_assert_uint_eq(a.range.begin, 0);
        fetches++;
        play_failed(&p, a.fetch);
    }
    ck_assert_uint_eq(a.range.begin, 0);
    ck_assert_int_eq(fetches, 6);
    play_fini(&p);
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("whole");

    tcase_add_test(t, it_comes_as_one_stream_from_one_depot);
    tcase_add_test(t, it_may_be_empty);
    tcase_add_test(t, after_a_failure_the_next_depot_starts_anew);
    tcase_add_test(t, a_depot_that_breaks_off_each_time_is_dropped);
    tcase_add_test(t, a_depot_that_lost_a_part_is_not_asked_again);
    tcase_add_test(
        t, a_depot_that_lost_it_after_the_end_was_told_has_nothing_left);
    tcase_add_test(t, from_a_depot_without_ranges_it_comes_from_the_start_too);
    tcase_add_test(t, what_is_rejected_begins_anew);
    tcase_add_test(
        t, a_stream_of_which_a_part_was_rejected_begins_anew_at_its_end);
    tcase_add_test(t, when_every_depot_is_dropped_it_fails_at_the_first_byte);
    return run_suite("sched.whole", t);
}
