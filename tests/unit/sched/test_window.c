/* SPDX-License-Identifier: MIT */
/* In-order output: how far ahead, and a silent depot at the head of the line. */
#include "play.h"

START_TEST(no_block_is_fetched_that_ends_behind_the_window)
{
    struct play p;

    play_init(&p, &xd_policy_basic, 1, 1000);
    p.o.lanes_per_depot = 9;
    p.o.window_bytes = 45;
    play_start(&p);
    expect_opened(&p, 1);
    for (uint64_t i = 0; i < 4; i++)
        expect_block(&p, 0, i);
    expect_wait(&p);
    play_done(&p, 0);
    expect_wait(&p);
    play_reader(&p, 4);
    expect_wait(&p);
    play_reader(&p, 5);
    expect_block(&p, 0, 4);
    expect_wait(&p);
    play_fini(&p);
}
END_TEST

START_TEST(a_block_is_at_most_a_quarter_of_the_window)
{
    struct play p;

    play_init(&p, &xd_policy_progress, 1, 1000);
    p.o.window_bytes = 30;
    play_start(&p);
    ck_assert_uint_eq(xd_sched_options(p.s)->block_bytes, 7);
    play_fini(&p);

    play_init(&p, &xd_policy_progress, 1, 1000);
    p.o.window_bytes = 40;
    play_start(&p);
    ck_assert_uint_eq(xd_sched_options(p.s)->block_bytes, 10);
    play_fini(&p);
}
END_TEST

START_TEST(p_is_at_most_the_blocks_in_the_window_less_two)
{
    struct play p;

    play_init(&p, &xd_policy_progress, 1, 1000);
    p.o.window_bytes = 79;
    p.o.progress = 100;
    play_start(&p);
    ck_assert_uint_eq(xd_sched_options(p.s)->progress, 5);
    play_fini(&p);

    play_init(&p, &xd_policy_progress, 1, 1000);
    p.o.window_bytes = 79;
    p.o.progress = 4;
    play_start(&p);
    ck_assert_uint_eq(xd_sched_options(p.s)->progress, 4);
    play_fini(&p);

    play_init(&p, &xd_policy_progress, 1, 1000);
    p.o.window_bytes = 1;
    p.o.progress = 4;
    play_start(&p);
    ck_assert_uint_eq(xd_sched_options(p.s)->progress, 0);
    play_fini(&p);
}
END_TEST

START_TEST(a_window_of_a_few_bytes_still_moves)
{
    for (uint64_t window = 1; window < 9; window++) {
        struct play p;

        play_init(&p, &xd_policy_progress, 1, 20);
        p.o.window_bytes = window;
        play_start(&p);
        expect_opened(&p, 1);
        for (;;) {
            struct xd_sched_action a = play_next(&p);

            if (a.kind == XD_DO_FINISH)
                break;
            ck_assert_int_eq(a.kind, XD_DO_FETCH);
            play_done(&p, a.fetch);
            play_reader(&p, a.range.end);
        }
        play_fini(&p);
    }
}
END_TEST

START_TEST(the_window_is_no_reason_to_double_blocks)
{
    struct play p;

    play_init(&p, &xd_policy_progress, 2, 1000);
    p.o.window_bytes = 40;
    p.o.lanes_per_depot = 2;
    play_start(&p);
    expect_opened(&p, 2);
    for (unsigned i = 0; i < 4; i++)
        play_next(&p);
    play_done(&p, 1);
    expect_wait(&p); /* one lane is free, and untouched blocks lie ahead */
    play_fini(&p);
}
END_TEST

/*
 * Depot 0 says nothing about block 0, and the others complete all else that
 * the window allows.  The silent fetch is that of lane 0.
 */
static void silent_head(struct play *p, const struct xd_policy *policy)
{
    play_init(p, policy, 3, 1000);
    p->o.window_bytes = 60;
    p->o.progress = XD_AUTO;
    play_start(p);
    expect_opened(p, 3);
    expect_block(p, 0, 0);
}

START_TEST(progress_gets_past_a_silent_head_without_waiting_for_its_failure)
{
    struct play p;

    silent_head(&p, &xd_policy_progress);
    expect_block(&p, 1, 1);
    expect_block(&p, 2, 2);
    play_done(&p, 1);
    play_done(&p, 2);
    expect_block(&p, 1, 3);
    expect_block(&p, 2, 4);
    play_done(&p, 1);
    play_done(&p, 2);
    expect_block(&p, 1, 5);
    expect_wait(&p); /* four later ones are complete, which is P */
    play_done(&p, 1);
    expect_block(&p, 1, 0);
    play_done(&p, 1);
    expect_cancel(&p, 0);
    play_reader(&p, 60);
    expect_block(&p, 1, 6);
    play_fini(&p);
}
END_TEST

START_TEST(aggressive_gets_past_a_silent_head_at_once)
{
    struct play p;

    silent_head(&p, &xd_policy_aggressive);
    expect_block(&p, 1, 0);
    play_done(&p, 1);
    expect_cancel(&p, 0);
    expect_block(&p, 1, 1);
    play_fini(&p);
}
END_TEST

START_TEST(basic_gets_past_a_silent_head_when_its_fetch_fails)
{
    struct play p;

    silent_head(&p, &xd_policy_basic);
    for (uint64_t i = 1; i < 6; i++)
        play_done(&p, expect_block(&p, 1, i));
    expect_wait(&p);
    p.now = 10 * XD_SECOND;
    expect_wait(&p);
    play_failed(&p, 0);
    play_done(&p, expect_block(&p, 1, 0));
    play_reader(&p, 60);
    expect_block(&p, 1, 6);
    play_fini(&p);
}
END_TEST

static void one_depot(struct play *p, unsigned lanes)
{
    play_init(p, &xd_policy_basic, 1, 1000);
    p->o.window_bytes = 40;
    p->o.lanes_per_depot = lanes;
    play_start(p);
    expect_opened(p, 1);
}

START_TEST(a_window_moves_back)
{
    struct play p;

    one_depot(&p, 1);
    play_reader(&p, 500);
    play_done(&p, expect_block(&p, 0, 50));
    play_reader(&p, 20);
    play_done(&p, expect_block(&p, 0, 2));
    play_reader(&p, 500);
    expect_block(&p, 0, 51);
    play_fini(&p);
}
END_TEST

START_TEST(what_is_needed_soonest_is_fetched_first)
{
    struct play p;

    one_depot(&p, 4);
    play_demand(&p, 0, 0, 40, 3 * XD_SECOND);
    play_demand(&p, 1, 500, 520, 1 * XD_SECOND);
    play_demand(&p, 2, 800, 810, XD_NEVER);
    expect_block(&p, 0, 50);
    expect_block(&p, 0, 51);
    expect_block(&p, 0, 0);
    play_demand(&p, 2, 800, 810, 0);
    expect_block(&p, 0, 80);
    play_fini(&p);
}
END_TEST

START_TEST(what_is_here_makes_a_window_less_urgent)
{
    struct play p;
    struct xd_sched_event soon = {.kind = XD_EV_DEMAND,
                                  .reader = 1,
                                  .range = {500, 540},
                                  .due = XD_SECOND,
                                  .bytes_per_s = 10};

    one_depot(&p, 4);
    play_demand(&p, 0, 0, 40, 3 * XD_SECOND);
    play_event(&p, soon);
    expect_block(&p, 0, 50); /* due in one second */
    play_range(&p, XD_EV_VERIFIED, 500, 530);
    expect_cancel(&p, 0);
    expect_block(&p, 0, 0); /* the other is due in four now */
    play_fini(&p);
}
END_TEST

START_TEST(a_reader_that_wants_nothing_has_nothing_fetched)
{
    struct play p;

    one_depot(&p, 4);
    play_demand(&p, 0, 0, 0, 0);
    expect_wait(&p);
    play_fini(&p);
}
END_TEST

START_TEST(a_window_within_a_block_begins_where_the_reader_is)
{
    struct play p;

    one_depot(&p, 9);
    play_demand(&p, 0, 505, 545, 0);
    expect_fetch(&p, 0, 505, 510);
    expect_block(&p, 0, 51);
    expect_block(&p, 0, 52);
    expect_block(&p, 0, 53);
    expect_wait(&p);
    play_done(&p, 0);
    play_demand(&p, 0, 500, 540, 0); /* and the first part when it is wanted */
    expect_fetch(&p, 0, 500, 505);
    expect_wait(&p);
    play_fini(&p);
}
END_TEST

START_TEST(a_window_shorter_than_a_block_is_fetched_exactly)
{
    struct play p;

    one_depot(&p, 9);
    play_demand(&p, 0, 0, 0, 0);
    play_demand(&p, 1, 503, 507, 0);
    expect_fetch(&p, 0, 503, 507);
    expect_wait(&p);
    play_fini(&p);
}
END_TEST

START_TEST(what_nobody_wants_any_more_is_canceled)
{
    struct play p;

    one_depot(&p, 2);
    expect_block(&p, 0, 0);
    expect_block(&p, 0, 1);
    play_bytes(&p, 0, 7);
    play_demand(&p, 1, 10, 20, XD_NEVER); /* another wants block 1 */
    play_reader(&p, 500);
    expect_cancel(&p, 0);
    expect_wait(&p);
    play_fini(&p);
}
END_TEST

START_TEST(what_is_nearly_done_is_let_run)
{
    struct play p;

    one_depot(&p, 1);
    expect_block(&p, 0, 0);
    play_bytes(&p, 0, 8);
    play_reader(&p, 500);
    expect_wait(&p);
    play_fini(&p);
}
END_TEST

START_TEST(what_is_nearly_done_by_the_next_decision_is_let_run)
{
    struct play p;

    one_depot(&p, 1);
    expect_block(&p, 0, 0);
    play_reader(&p, 500);
    play_bytes(&p, 0, 8);
    expect_wait(&p);
    play_fini(&p);
}
END_TEST

START_TEST(what_is_missing_again_by_the_next_decision_is_let_run)
{
    struct play p;

    one_depot(&p, 1);
    expect_block(&p, 0, 0);
    play_range(&p, XD_EV_VERIFIED, 5, 10);
    play_reader(&p, 5);
    play_range(&p, XD_EV_REJECTED, 5, 10);
    expect_wait(&p);
    play_fini(&p);
}
END_TEST

/* The window may come to the rest of it. */
START_TEST(what_others_deliver_cancels_nothing_until_a_window_moves)
{
    struct play p;

    one_depot(&p, 1);
    expect_block(&p, 0, 0);
    play_reader(&p, 5);
    play_range(&p, XD_EV_VERIFIED, 5, 10);
    expect_wait(&p);
    play_reader(&p, 6);
    expect_cancel(&p, 0);
    play_fini(&p);
}
END_TEST

/* It sends all from byte 0 on, and is held back at the end of the window. */
static void without_ranges(struct play *p)
{
    one_depot(p, 1);
    play_depot(p, XD_EV_NORANGES, 0);
    expect_fetch(p, 0, 0, 1000);
    play_bytes(p, 0, 40);
    expect_wait(p);
}

START_TEST(one_without_ranges_waits_for_the_window_to_move)
{
    struct play p;

    without_ranges(&p);
    play_reader(&p, 40);
    expect_wait(&p);
    play_bytes(&p, 0, 80);
    expect_wait(&p);
    play_fini(&p);
}
END_TEST

START_TEST(one_without_ranges_begins_anew_for_who_wants_something_else)
{
    struct play p;

    without_ranges(&p);
    play_demand(&p, 1, 900, 940, XD_NEVER); /* it has nothing else to bring */
    expect_cancel(&p, 0);
    play_canceled(&p, 0);
    expect_fetch(&p, 0, 900, 1000);
    play_reader(&p, 50);
    expect_wait(&p); /* it brings what one of them wants */
    play_bytes(&p, 0, 940);
    expect_cancel(&p, 0);
    play_fini(&p);
}
END_TEST

static void reads_ten_a_second(struct play *p, unsigned reader, uint64_t at)
{
    play_event(p, (struct xd_sched_event){.kind = XD_EV_DEMAND,
                                          .reader = reader,
                                          .range = {at, at + 40},
                                          .bytes_per_s = 10});
}

START_TEST(one_without_ranges_is_taken_from_who_has_much_for_who_waits)
{
    struct play p;

    without_ranges(&p);
    reads_ten_a_second(&p, 1, 900);
    expect_cancel(&p, 0);
    play_canceled(&p, 0);
    expect_fetch(&p, 0, 900, 1000);
    reads_ten_a_second(&p, 2, 100);
    play_bytes(&p, 0, 905);
    expect_wait(&p);
    play_bytes(&p, 0, 920); /* so much was worth the request */
    expect_cancel(&p, 0);
    play_canceled(&p, 0);
    expect_fetch(&p, 0, 100, 1000);
    play_fini(&p);
}
END_TEST

START_TEST(one_without_ranges_runs_on_to_who_waits_before_it)
{
    struct play p;

    play_init(&p, &xd_policy_basic, 1, 1000);
    p.o.window_bytes = 40;
    p.o.runs_on = true;
    play_start(&p);
    expect_opened(&p, 1);
    play_depot(&p, XD_EV_NORANGES, 0);
    expect_fetch(&p, 0, 0, 1000);
    play_bytes(&p, 0, 40);
    play_demand(&p, 1, 900, 940, 0);
    expect_wait(&p);
    play_bytes(&p, 0, 940);
    play_demand(&p, 1, 300, 340, 0);
    expect_wait(&p);
    play_fini(&p);
}
END_TEST

START_TEST(one_without_ranges_that_has_brought_all_ends_by_itself)
{
    struct play p;

    one_depot(&p, 1);
    play_depot(&p, XD_EV_NORANGES, 0);
    expect_fetch(&p, 0, 0, 1000);
    play_bytes(&p, 0, 20);
    play_range(&p, XD_EV_REJECTED, 0, 10);
    expect_wait(&p);
    play_bytes(&p, 0, 1000);
    expect_wait(&p);
    play_fini(&p);
}
END_TEST

START_TEST(complete_blocks_behind_a_window_make_none_late)
{
    struct play p;

    play_init(&p, &xd_policy_progress, 2, 1000);
    p.o.window_bytes = 60;
    p.o.progress = 2;
    play_start(&p);
    expect_opened(&p, 2);
    play_range(&p, XD_EV_VERIFIED, 500, 1000);
    expect_block(&p, 0, 0);
    expect_block(&p, 1, 1);
    play_done(&p, 1);
    expect_block(&p, 1, 2);
    play_fini(&p);
}
END_TEST

/* Bytes 500 to 600 are on no depot. */
static void with_gap(struct play *p, struct xd_range held[2])
{
    held[0] = (struct xd_range){0, 500};
    held[1] = (struct xd_range){600, 1000};
    play_init(p, &xd_policy_basic, 1, 1000);
    p->holdings[0] = (struct xd_holding){.held = held, .n_held = 2};
    p->o.window_bytes = 40;
    p->o.has_gaps = true;
    play_start(p);
    expect_opened(p, 1);
}

START_TEST(a_gap_is_told_once_when_a_window_holds_it)
{
    struct play p;
    struct xd_range held[2];
    struct xd_sched_action a;

    with_gap(&p, held);
    play_done(&p, expect_block(&p, 0, 0));
    play_reader(&p, 485);
    a = play_next(&p);
    ck_assert_int_eq(a.kind, XD_DO_FAIL);
    ck_assert_uint_eq(a.range.begin, 500);
    ck_assert_uint_eq(a.range.end, 525);
    play_done(&p, expect_fetch(&p, 0, 485, 490));
    play_done(&p, expect_block(&p, 0, 49));
    expect_wait(&p);
    play_reader(&p, 590);
    a = play_next(&p);
    ck_assert_int_eq(a.kind, XD_DO_FAIL);
    ck_assert_uint_eq(a.range.begin, 590);
    ck_assert_uint_eq(a.range.end, 600);
    expect_block(&p, 0, 60);
    play_fini(&p);
}
END_TEST

START_TEST(a_gap_that_a_depot_fills_is_none)
{
    struct play p;
    struct xd_range held[2];

    with_gap(&p, held);
    play_reader(&p, 500);
    expect_kind(&p, XD_DO_FAIL);
    expect_wait(&p);
    play_event(
        &p, (struct xd_sched_event){.kind = XD_EV_HOLDS, .range = {500, 600}});
    expect_block(&p, 0, 50);
    play_fini(&p);
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("window");

    tcase_add_test(t, no_block_is_fetched_that_ends_behind_the_window);
    tcase_add_test(t, a_block_is_at_most_a_quarter_of_the_window);
    tcase_add_test(t, p_is_at_most_the_blocks_in_the_window_less_two);
    tcase_add_test(t, a_window_of_a_few_bytes_still_moves);
    tcase_add_test(t, the_window_is_no_reason_to_double_blocks);
    tcase_add_test(
        t, progress_gets_past_a_silent_head_without_waiting_for_its_failure);
    tcase_add_test(t, aggressive_gets_past_a_silent_head_at_once);
    tcase_add_test(t, basic_gets_past_a_silent_head_when_its_fetch_fails);
    tcase_add_test(t, a_window_moves_back);
    tcase_add_test(t, what_is_needed_soonest_is_fetched_first);
    tcase_add_test(t, what_is_here_makes_a_window_less_urgent);
    tcase_add_test(t, a_reader_that_wants_nothing_has_nothing_fetched);
    tcase_add_test(t, a_window_within_a_block_begins_where_the_reader_is);
    tcase_add_test(t, a_window_shorter_than_a_block_is_fetched_exactly);
    tcase_add_test(t, what_nobody_wants_any_more_is_canceled);
    tcase_add_test(t, what_is_nearly_done_is_let_run);
    tcase_add_test(t, what_is_nearly_done_by_the_next_decision_is_let_run);
    tcase_add_test(t, what_is_missing_again_by_the_next_decision_is_let_run);
    tcase_add_test(t, what_others_deliver_cancels_nothing_until_a_window_moves);
    tcase_add_test(t, one_without_ranges_waits_for_the_window_to_move);
    tcase_add_test(t,
                   one_without_ranges_is_taken_from_who_has_much_for_who_waits);
    tcase_add_test(t, one_without_ranges_runs_on_to_who_waits_before_it);
    tcase_add_test(t,
                   one_without_ranges_begins_anew_for_who_wants_something_else);
    tcase_add_test(t, one_without_ranges_that_has_brought_all_ends_by_itself);
    tcase_add_test(t, complete_blocks_behind_a_window_make_none_late);
    tcase_add_test(t, a_gap_is_told_once_when_a_window_holds_it);
    tcase_add_test(t, a_gap_that_a_depot_fills_is_none);
    return run_suite("sched.window", t);
}
