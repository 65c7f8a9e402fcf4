/* SPDX-License-Identifier: MIT */
/* Depots that join while others are in use. */
#include "play.h"

static const struct xd_policy *const policies[] = {
    &xd_policy_adaptive, &xd_policy_basic, &xd_policy_aggressive,
    &xd_policy_progress};

static void join(struct play *p, unsigned depot, uint64_t begin, uint64_t end)
{
    play_event(p, (struct xd_sched_event){.kind = XD_EV_JOINED,
                                          .depot = depot,
                                          .range = {begin, end}});
}

/* As many as a set of depots has bits in its words, and more. */
START_TEST(any_number_joins_and_each_is_opened_and_asked)
{
    struct play p;
    bool was_asked[100] = {false};
    unsigned n_asked = 0;

    play_init(&p, policies[_i], 1, 100000);
    play_start(&p);
    for (unsigned i = 1; i < 100; i++)
        join(&p, i, 0, 100000);
    for (;;) {
        struct xd_sched_action a = play_next(&p);

        if (a.kind == XD_DO_FETCH) {
            n_asked += !was_asked[a.depot];
            was_asked[a.depot] = true;
            play_bytes(&p, a.fetch, a.range.begin + 1);
        } else if (a.kind != XD_DO_OPEN) {
            break;
        }
        p.now += XD_SECOND; /* the adaptive one opens more as it learns */
        play_depot(&p, XD_EV_TICK, 0);
    }
    ck_assert_uint_gt(n_asked, 3);
    if (policies[_i] != &xd_policy_adaptive)
        ck_assert_uint_eq(n_asked, 100);
    play_fini(&p);
}
END_TEST

START_TEST(no_more_are_open_than_may_be)
{
    struct play p;

    play_init(&p, &xd_policy_basic, 1, 1000);
    p.o.max_open = 2;
    play_start(&p);
    expect_opened(&p, 1);
    expect_block(&p, 0, 0);
    join(&p, 1, 0, 1000);
    join(&p, 2, 0, 1000);
    expect_depot(&p, XD_DO_OPEN, 1);
    expect_block(&p, 1, 1);
    expect_wait(&p);
    play_fini(&p);
}
END_TEST

START_TEST(one_that_joins_is_asked_for_what_it_holds_alone)
{
    struct play p;

    play_init(&p, policies[_i], 1, 100);
    play_start(&p);
    expect_opened(&p, 1);
    play_next(&p);
    join(&p, 1, 30, 35);
    expect_depot(&p, XD_DO_OPEN, 1);
    expect_fetch(&p, 1, 30, 35);
    play_fini(&p);
}
END_TEST

/* Two objects of one depot, and a request has to be for one of them. */
START_TEST(no_request_goes_over_the_ends_of_what_joined)
{
    struct play p;

    play_init(&p, policies[_i], 1, 100);
    p.holdings[0].held = &(struct xd_range){0, 100};
    play_start(&p);
    join(&p, 0, 15, 25);
    expect_opened(&p, 1);
    for (uint64_t at = 0; at < 100;) {
        struct xd_sched_action a = play_next(&p);
        uint64_t end = a.range.end;

        ck_assert_int_eq(a.kind, XD_DO_FETCH);
        ck_assert_uint_eq(a.range.begin, at);
        ck_assert(!(at < 15 && end > 15) && !(at < 25 && end > 25));
        play_done(&p, a.fetch);
        at = end;
    }
    expect_kind(&p, XD_DO_FINISH);
    play_fini(&p);
}
END_TEST

START_TEST(one_that_was_given_up_or_banned_is_used_again_when_it_joins)
{
    struct play p;
    unsigned fetch;

    play_init(&p, policies[_i % 4], 2, 1000);
    p.o.max_failures = 1;
    play_start(&p);
    expect_opened(&p, 2);
    do
        fetch = play_next(&p).fetch;
    while (fetch != 0);
    play_failed(&p, fetch);
    if (_i >= 4)
        play_depot(&p, XD_EV_BANNED, 0);
    expect_depot(&p, XD_DO_PARK, 0);
    join(&p, 0, 0, 1000);
    expect_depot(&p, XD_DO_OPEN, 0);
    do
        fetch = play_next(&p).fetch;
    while (fetch != 0);
    play_fini(&p);
}
END_TEST

START_TEST(bytes_that_nobody_had_are_asked_for_when_somebody_joins)
{
    struct xd_range first = {0, 50};
    struct play p;
    unsigned fetch;

    play_init(&p, policies[_i], 1, 100);
    p.holdings[0].held = &first;
    p.o.window_bytes = 100;
    p.o.has_gaps = true;
    play_start(&p);
    expect_kind(&p, XD_DO_FAIL);
    join(&p, 1, 50, 100);
    do
        fetch = play_next(&p).depot;
    while (fetch != 1);
    play_fini(&p);
}
END_TEST

START_TEST(one_that_joins_a_stream_takes_it_over_when_it_fails)
{
    struct play p;

    play_init(&p, &xd_policy_basic, 1, UINT64_MAX);
    play_start(&p);
    expect_opened(&p, 1);
    expect_fetch(&p, 0, 0, UINT64_MAX);
    join(&p, 1, 0, UINT64_MAX);
    expect_wait(&p);
    play_failed(&p, 0);
    play_depot(&p, XD_EV_BANNED, 0);
    expect_depot(&p, XD_DO_PARK, 0);
    expect_depot(&p, XD_DO_OPEN, 1);
    expect_fetch(&p, 1, 0, UINT64_MAX);
    play_fini(&p);
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("join");

    tcase_add_loop_test(t, any_number_joins_and_each_is_opened_and_asked, 0, 4);
    tcase_add_test(t, no_more_are_open_than_may_be);
    tcase_add_loop_test(t, one_that_joins_is_asked_for_what_it_holds_alone, 1,
                        4);
    tcase_add_loop_test(t, no_request_goes_over_the_ends_of_what_joined, 0, 4);
    tcase_add_loop_test(
        t, one_that_was_given_up_or_banned_is_used_again_when_it_joins, 0, 8);
    tcase_add_loop_test(
        t, bytes_that_nobody_had_are_asked_for_when_somebody_joins, 0, 4);
    tcase_add_test(t, one_that_joins_a_stream_takes_it_over_when_it_fails);
    return run_suite("sched.join", t);
}
