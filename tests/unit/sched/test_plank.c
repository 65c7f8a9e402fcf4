/* SPDX-License-Identifier: MIT */
/* The paper's section 3.2, sentence by sentence, and its Figure 3. */
#include <string.h>

#include "play.h"

/*
 * Figure 3, scenario 1: blocks 0-1 and 3-6 are complete; 2, 7 and 8 run once
 * each; block 9 is the next untouched.  Depot 3 has the free thread.
 */
static void scenario_1(struct play *p, const struct xd_policy *policy,
                       unsigned r, uint64_t progress)
{
    play_init(p, policy, 4, 200);
    p->o.redundancy = r;
    p->o.progress = progress;
    play_start(p);
    expect_opened(p, 4);
    play_range(p, XD_EV_VERIFIED, 0, 70);
    expect_block(p, 0, 7);
    if (policy == &xd_policy_aggressive)
        return;
    expect_block(p, 1, 8);
    play_range(p, XD_EV_REJECTED, 20, 30);
    expect_block(p, 2, 2);
}

START_TEST(figure_3_1_block_2_is_doubled_if_p_is_at_most_3_and_r_above_1)
{
    for (uint64_t progress = 1; progress <= 3; progress++)
        for (unsigned r = 2; r <= 4; r++) {
            struct play p;

            scenario_1(&p, &xd_policy_progress, r, progress);
            expect_block(&p, 3, 2);
            play_fini(&p);
        }
}
END_TEST

START_TEST(figure_3_1_block_9_is_next_if_p_is_above_3)
{
    for (uint64_t progress = 4; progress <= 12; progress++)
        for (unsigned r = 1; r <= 4; r++) {
            struct play p;

            scenario_1(&p, &xd_policy_progress, r, progress);
            expect_block(&p, 3, 9);
            play_fini(&p);
        }
}
END_TEST

START_TEST(figure_3_1_block_9_is_next_if_r_is_1)
{
    for (uint64_t progress = 1; progress <= 6; progress++) {
        struct play p;

        scenario_1(&p, &xd_policy_progress, 1, progress);
        expect_block(&p, 3, 9);
        play_fini(&p);
    }
}
END_TEST

START_TEST(figure_3_1_block_9_is_next_with_basic)
{
    struct play p;

    scenario_1(&p, &xd_policy_basic, 2, 3);
    expect_block(&p, 3, 9);
    play_fini(&p);
}
END_TEST

START_TEST(figure_3_1_cannot_occur_with_aggressive)
{
    struct play p;

    scenario_1(&p, &xd_policy_aggressive, 2, 3);
    expect_block(&p, 1, 7); /* where 8 would have to run with 7 only once */
    play_fini(&p);
}
END_TEST

/*
 * Scenario 2: blocks 0-1 and 3-7 are complete; 2 runs twice and 8 once; block
 * 9 is the next untouched.
 */
static void scenario_2(struct play *p, const struct xd_policy *policy,
                       unsigned r, uint64_t progress)
{
    play_init(p, policy, 4, 200);
    p->o.redundancy = r;
    p->o.progress = progress;
    play_start(p);
    expect_opened(p, 4);
    play_range(p, XD_EV_VERIFIED, 0, 80);
    play_range(p, XD_EV_VERIFIED, 90, 200);
    expect_block(p, 0, 8);
    play_range(p, XD_EV_REJECTED, 20, 30);
    expect_block(p, 1, 2);
    expect_block(p, 2, 2);
    play_range(p, XD_EV_REJECTED, 90, 200);
}

START_TEST(figure_3_2_block_9_is_next_if_r_is_2_and_p_above_0)
{
    for (uint64_t progress = 1; progress <= 8; progress++) {
        struct play p;

        scenario_2(&p, &xd_policy_progress, 2, progress);
        expect_block(&p, 3, 9);
        play_fini(&p);
    }
}
END_TEST

START_TEST(figure_3_2_block_2_runs_thrice_if_r_is_above_2_and_p_at_most_4)
{
    for (uint64_t progress = 1; progress <= 4; progress++)
        for (unsigned r = 3; r <= 5; r++) {
            struct play p;

            scenario_2(&p, &xd_policy_progress, r, progress);
            expect_block(&p, 3, 2);
            play_fini(&p);
        }
}
END_TEST

START_TEST(figure_3_2_block_9_is_next_if_p_is_above_4)
{
    struct play p;

    scenario_2(&p, &xd_policy_progress, 3, 5);
    expect_block(&p, 3, 9);
    play_fini(&p);
}
END_TEST

START_TEST(figure_3_2_block_8_is_doubled_by_aggressive_with_r_2)
{
    struct play p;

    scenario_2(&p, &xd_policy_aggressive, 2, 3);
    expect_block(&p, 3, 8);
    play_fini(&p);
}
END_TEST

/* 3.2.1 */

START_TEST(each_server_is_serviced_by_n_streams)
{
    struct play p;
    unsigned of_depot[3] = {0};

    play_init(&p, &xd_policy_basic, 3, 200);
    p.o.lanes_per_depot = 2;
    play_start(&p);
    expect_opened(&p, 3);
    for (int i = 0; i < 6; i++)
        of_depot[play_next(&p).depot]++;
    for (int i = 0; i < 3; i++)
        ck_assert_uint_eq(of_depot[i], 2);
    expect_wait(&p);
    play_fini(&p);
}
END_TEST

START_TEST(each_thread_selects_a_different_block)
{
    struct play p;

    play_init(&p, &xd_policy_basic, 3, 200);
    play_start(&p);
    expect_opened(&p, 3);
    for (unsigned i = 0; i < 3; i++)
        expect_block(&p, i, i);
    expect_wait(&p);
    play_fini(&p);
}
END_TEST

START_TEST(a_finished_thread_selects_a_block_that_no_other_downloads)
{
    struct play p;
    unsigned second;

    play_init(&p, &xd_policy_basic, 3, 200);
    play_start(&p);
    expect_opened(&p, 3);
    expect_block(&p, 0, 0);
    second = expect_block(&p, 1, 1);
    expect_block(&p, 2, 2);
    play_done(&p, second);
    play_done(&p, expect_block(&p, 1, 3));
    expect_block(&p, 1, 4);
    expect_wait(&p);
    play_fini(&p);
}
END_TEST

START_TEST(a_failed_block_becomes_free_for_a_thread_of_another_server)
{
    struct play p;
    unsigned first, second;

    play_init(&p, &xd_policy_basic, 2, 200);
    play_start(&p);
    expect_opened(&p, 2);
    first = expect_block(&p, 0, 0);
    second = expect_block(&p, 1, 1);
    play_failed(&p, first);
    play_done(&p, second);
    expect_block(&p, 1, 0);
    play_fini(&p);
}
END_TEST

START_TEST(basic_waits_for_the_slow_ones_when_no_block_is_left)
{
    struct play p;
    unsigned second;

    play_init(&p, &xd_policy_basic, 2, 20);
    play_start(&p);
    expect_opened(&p, 2);
    expect_block(&p, 0, 0);
    second = expect_block(&p, 1, 1);
    play_done(&p, second);
    expect_wait(&p);
    play_fini(&p);
}
END_TEST

/* 3.2.2 */

START_TEST(aggressive_downloads_each_block_from_r_threads_at_once)
{
    struct play p;

    play_init(&p, &xd_policy_aggressive, 6, 200);
    p.o.redundancy = 3;
    play_start(&p);
    expect_opened(&p, 6);
    for (unsigned i = 0; i < 6; i++)
        expect_block(&p, i, i / 3);
    play_fini(&p);
}
END_TEST

/* 3.2.3 */

START_TEST(a_block_is_late_when_more_than_p_later_blocks_are_complete)
{
    struct play p;
    unsigned fast;

    play_init(&p, &xd_policy_progress, 2, 200);
    p.o.progress = 3;
    play_start(&p);
    expect_opened(&p, 2);
    expect_block(&p, 0, 0);
    fast = expect_block(&p, 1, 1);
    for (uint64_t i = 2; i <= 4; i++) { /* as many as P are not enough */
        play_done(&p, fast);
        fast = expect_block(&p, 1, i);
    }
    play_done(&p, fast);
    expect_block(&p, 1, 0);
    play_fini(&p);
}
END_TEST

START_TEST(the_first_of_several_late_blocks_is_selected)
{
    struct play p;
    unsigned fast;

    play_init(&p, &xd_policy_progress, 3, 200);
    p.o.progress = 1;
    play_start(&p);
    expect_opened(&p, 3);
    expect_block(&p, 0, 0);
    expect_block(&p, 1, 1);
    fast = expect_block(&p, 2, 2);
    play_done(&p, fast);
    fast = expect_block(&p, 2, 3);
    play_done(&p, fast); /* now both 0 and 1 are late */
    fast = expect_block(&p, 2, 0);
    play_done(&p, fast);
    expect_cancel(&p, 0);
    expect_block(&p, 2, 1);
    play_fini(&p);
}
END_TEST

START_TEST(each_attempt_increments_the_download_number_up_to_r)
{
    struct play p;
    unsigned fast;

    play_init(&p, &xd_policy_progress, 4, 200);
    p.o.progress = 1;
    p.o.redundancy = 3;
    play_start(&p);
    expect_opened(&p, 4);
    expect_block(&p, 0, 0);
    fast = expect_block(&p, 1, 1);
    play_done(&p, fast);
    play_done(&p, expect_block(&p, 1, 2));
    expect_block(&p, 1, 0);
    expect_block(&p, 2, 0);
    expect_block(&p, 3, 3); /* 0 has been attempted three times */
    play_fini(&p);
}
END_TEST

START_TEST(a_failed_attempt_gives_its_download_number_back)
{
    struct play p;
    unsigned slow, fast;

    play_init(&p, &xd_policy_progress, 3, 200);
    p.o.progress = 1;
    play_start(&p);
    expect_opened(&p, 3);
    slow = expect_block(&p, 0, 0);
    fast = expect_block(&p, 1, 1);
    expect_block(&p, 2, 2);
    play_done(&p, fast);
    fast = expect_block(&p, 1, 3);
    play_done(&p, fast);
    fast = expect_block(&p, 1, 0); /* twice now, which is R */
    play_done(&p, 2);
    expect_block(&p, 2, 4);
    play_done(&p, 2);
    expect_block(&p, 2, 5);
    play_failed(&p, slow);
    play_done(&p, 2);
    expect_block(&p, 2, 0);
    (void)fast;
    play_fini(&p);
}
END_TEST

START_TEST(without_a_late_block_the_next_untouched_one_is_selected)
{
    struct play p;
    unsigned fast;

    play_init(&p, &xd_policy_progress, 2, 200);
    p.o.progress = 15;
    play_start(&p);
    expect_opened(&p, 2);
    expect_block(&p, 0, 0);
    fast = expect_block(&p, 1, 1);
    for (uint64_t i = 2; i < 16; i++) {
        play_done(&p, fast);
        fast = expect_block(&p, 1, i);
    }
    play_fini(&p);
}
END_TEST

START_TEST(when_all_are_touched_the_smallest_below_r_is_selected)
{
    struct play p;
    unsigned fast;

    play_init(&p, &xd_policy_progress, 3, 40);
    p.o.progress = 15;
    play_start(&p);
    expect_opened(&p, 3);
    expect_block(&p, 0, 0);
    expect_block(&p, 1, 1);
    fast = expect_block(&p, 2, 2);
    play_done(&p, fast);
    fast = expect_block(&p, 2, 3);
    play_done(&p, fast);
    fast = expect_block(&p, 2, 0);
    play_done(&p, fast);
    expect_cancel(&p, 0);
    expect_block(&p, 2, 1);
    play_fini(&p);
}
END_TEST

/* Play the same random download with two settings; they must not differ. */
static void expect_same_play(struct play *a, struct play *b)
{
    unsigned seed = 7;

    play_start(a);
    play_start(b);
    for (int step = 0; step < 2000; step++) {
        struct xd_sched_action x = play_next(a), y = play_next(b);
        unsigned live[64], n = 0, pick;

        ck_assert_int_eq(x.kind, y.kind);
        ck_assert_uint_eq(x.fetch, y.fetch);
        ck_assert_uint_eq(x.range.begin, y.range.begin);
        ck_assert_uint_eq(x.range.end, y.range.end);
        if (x.kind == XD_DO_FINISH)
            return;
        if (x.kind == XD_DO_CANCEL) {
            play_canceled(a, x.fetch);
            play_canceled(b, x.fetch);
            a->asked[x.fetch].end = 0;
        }
        if (x.kind != XD_DO_WAIT)
            continue;
        for (unsigned i = 0; i < 8; i++)
            if (a->asked[i].end > 0)
                live[n++] = i;
        seed = seed * 1103515245U + 12345U;
        pick = live[seed / 65536 % n];
        play_done(a, pick);
        play_done(b, pick);
        a->asked[pick].end = 0;
    }
    ck_abort_msg("the download does not end");
}

START_TEST(basic_is_progress_with_p_0_and_r_1)
{
    struct play a, b;

    play_init(&a, &xd_policy_basic, 4, 1000);
    play_init(&b, &xd_policy_progress, 4, 1000);
    a.o.lanes_per_depot = b.o.lanes_per_depot = 2;
    b.o.progress = 0;
    b.o.redundancy = 1;
    expect_same_play(&a, &b);
    play_fini(&a);
    play_fini(&b);
}
END_TEST

START_TEST(aggressive_is_progress_with_p_0)
{
    struct play a, b;

    play_init(&a, &xd_policy_aggressive, 4, 1000);
    play_init(&b, &xd_policy_progress, 4, 1000);
    a.o.lanes_per_depot = b.o.lanes_per_depot = 2;
    a.o.redundancy = b.o.redundancy = 3;
    b.o.progress = 0;
    expect_same_play(&a, &b);
    play_fini(&a);
    play_fini(&b);
}
END_TEST

/* What the issue of bounds and partial copies adds to the paper. */

START_TEST(a_block_never_runs_twice_at_once_at_one_depot)
{
    struct play p;

    play_init(&p, &xd_policy_aggressive, 1, 40);
    p.o.lanes_per_depot = 6;
    p.o.redundancy = 3;
    play_start(&p);
    expect_opened(&p, 1);
    for (uint64_t i = 0; i < 4; i++)
        expect_block(&p, 0, i);
    expect_wait(&p);
    play_fini(&p);
}
END_TEST

START_TEST(a_depot_gets_a_block_again_only_after_every_other_ready_holder)
{
    struct play p;
    unsigned first, second, third;

    play_init(&p, &xd_policy_basic, 3, 1000);
    p.o.max_failures = 9;
    play_start(&p);
    expect_opened(&p, 3);
    first = expect_block(&p, 0, 0);
    second = expect_block(&p, 1, 1);
    third = expect_block(&p, 2, 2);
    play_failed(&p, first);
    p.now += XD_SECOND;
    first = expect_block(&p, 0, 3);
    play_done(&p, second);
    second = expect_block(&p, 1, 0);
    play_failed(&p, second);
    play_done(&p, first);
    expect_block(&p, 0, 4); /* depot 2 has not tried block 0 */
    p.now += XD_SECOND;
    expect_block(&p, 1, 5);
    play_done(&p, third);
    third = expect_block(&p, 2, 0);
    play_failed(&p, third); /* now all have */
    play_done(&p, 1);
    expect_block(&p, 1, 0);
    play_fini(&p);
}
END_TEST

START_TEST(a_depot_that_rests_keeps_nobody_from_a_second_attempt)
{
    struct play p;
    unsigned first, second;

    play_init(&p, &xd_policy_basic, 2, 1000);
    p.o.max_failures = 9;
    play_start(&p);
    expect_opened(&p, 2);
    first = expect_block(&p, 0, 0);
    second = expect_block(&p, 1, 1);
    play_failed(&p, first);
    play_event(&p, (struct xd_sched_event){.kind = XD_EV_FAILED,
                                           .fetch = second,
                                           .retry_at = 3600 * XD_SECOND});
    p.now += XD_SECOND;
    expect_block(&p, 0, 0);
    play_fini(&p);
}
END_TEST

START_TEST(a_depot_that_lost_a_block_keeps_nobody_from_a_second_attempt)
{
    struct play p;
    unsigned first;

    play_init(&p, &xd_policy_basic, 2, 20);
    play_start(&p);
    expect_opened(&p, 2);
    first = expect_block(&p, 0, 0);
    expect_block(&p, 1, 1);
    play_failed(&p, first);
    p.now += XD_SECOND;
    expect_wait(&p); /* depot 1 has not tried block 0 */
    play_lost(&p, 1, 0, 10);
    expect_block(&p, 0, 0);
    play_fini(&p);
}
END_TEST

START_TEST(blocks_are_cut_at_the_edges_of_extents)
{
    struct play p;
    uint64_t cuts[] = {15, 20, 31};

    play_init(&p, &xd_policy_basic, 1, 45);
    p.layout.cuts = cuts;
    p.layout.n_cuts = 3;
    p.o.lanes_per_depot = 10;
    p.wanted = (struct xd_range){2, 45};
    play_start(&p);
    expect_opened(&p, 1);
    expect_fetch(&p, 0, 2, 12);
    expect_fetch(&p, 0, 12, 15);
    expect_fetch(&p, 0, 15, 20);
    expect_fetch(&p, 0, 20, 22);
    expect_fetch(&p, 0, 22, 31);
    expect_fetch(&p, 0, 31, 32);
    expect_fetch(&p, 0, 32, 42);
    expect_fetch(&p, 0, 42, 45);
    expect_wait(&p);
    play_fini(&p);
}
END_TEST

START_TEST(a_fresh_attempt_asks_only_for_what_has_not_arrived)
{
    struct play p;
    unsigned first, second;

    play_init(&p, &xd_policy_progress, 2, 20);
    play_start(&p);
    expect_opened(&p, 2);
    first = expect_block(&p, 0, 0);
    second = expect_block(&p, 1, 1);
    play_failed_at(&p, first, 6);
    play_done(&p, second);
    expect_fetch(&p, 1, 6, 10);
    play_fini(&p);
}
END_TEST

START_TEST(a_second_copy_asks_for_what_was_not_accepted)
{
    struct play p;

    play_init(&p, &xd_policy_aggressive, 3, 10);
    p.o.redundancy = 3;
    play_start(&p);
    expect_opened(&p, 3);
    expect_block(&p, 0, 0);
    play_bytes(&p, 0, 6);
    expect_block(&p, 1, 0);
    play_range(&p, XD_EV_VERIFIED, 0, 6);
    expect_fetch(&p, 2, 6, 10);
    play_fini(&p);
}
END_TEST

/* As while a request writes the rest of it, which it has not reported yet. */
START_TEST(no_copy_is_asked_for_of_what_is_claimed)
{
    struct play p;

    play_init(&p, &xd_policy_aggressive, 2, 10);
    play_start(&p);
    expect_opened(&p, 2);
    expect_block(&p, 0, 0);
    ck_assert_int_eq(xd_ledger_change(&p.ledger, XD_CLAIM, p.whole), 0);
    expect_depot(&p, XD_DO_PARK, 1);
    expect_wait(&p);
    play_fini(&p);
}
END_TEST

START_TEST(a_whole_copy_asks_for_accepted_bytes_too_and_runs_on)
{
    struct play p;
    unsigned first;

    play_init(&p, &xd_policy_aggressive, 2, 20);
    p.o.run_losers = p.o.whole_blocks = true;
    play_start(&p);
    expect_opened(&p, 2);
    first = expect_block(&p, 0, 0);
    play_bytes(&p, first, 4);
    play_range(&p, XD_EV_VERIFIED, 0, 4);
    expect_block(&p, 1, 0);
    play_done(&p, first);
    play_range(&p, XD_EV_VERIFIED, 4, 10);
    expect_block(&p, 0, 1);
    expect_wait(&p);
    play_fini(&p);
}
END_TEST

/* Or two depots that break off at the same byte would never come past it. */
START_TEST(after_a_failure_a_whole_copy_asks_for_what_is_missing)
{
    struct play p;
    unsigned second;

    play_init(&p, &xd_policy_aggressive, 2, 10);
    p.o.run_losers = p.o.whole_blocks = true;
    play_start(&p);
    expect_opened(&p, 2);
    expect_block(&p, 0, 0);
    second = expect_block(&p, 1, 0);
    play_bytes(&p, second, 4);
    play_range(&p, XD_EV_VERIFIED, 0, 4);
    play_failed(&p, second);
    p.now += XD_SECOND;
    expect_fetch(&p, 1, 4, 10);
    play_fini(&p);
}
END_TEST

START_TEST(a_late_block_is_copied_whole)
{
    struct play p;
    unsigned slow, fast;

    play_init(&p, &xd_policy_progress, 2, 200);
    p.o.run_losers = p.o.whole_blocks = true;
    p.o.progress = 1;
    play_start(&p);
    expect_opened(&p, 2);
    slow = expect_block(&p, 0, 0);
    fast = expect_block(&p, 1, 1);
    play_bytes(&p, slow, 7);
    play_range(&p, XD_EV_VERIFIED, 0, 7);
    play_done(&p, fast);
    play_done(&p, expect_block(&p, 1, 2));
    fast = expect_fetch(&p, 1, 0, 10);
    play_done(&p, fast);
    expect_block(&p, 1, 3); /* and the slow one runs on */
    play_fini(&p);
}
END_TEST

START_TEST(a_block_that_nobody_fetches_is_asked_for_without_what_is_here)
{
    struct play p;

    play_init(&p, &xd_policy_progress, 1, 10);
    p.o.run_losers = p.o.whole_blocks = true;
    play_start(&p);
    play_range(&p, XD_EV_VERIFIED, 0, 4);
    expect_opened(&p, 1);
    expect_fetch(&p, 0, 4, 10);
    play_fini(&p);
}
END_TEST

START_TEST(depots_that_lost_different_halves_complete_a_block_together)
{
    struct play p;
    unsigned fetch;

    play_init(&p, &xd_policy_basic, 2, 10);
    play_start(&p);
    play_lost(&p, 0, 0, 5);
    play_lost(&p, 1, 5, 10);
    expect_depot(&p, XD_DO_OPEN, 1);
    expect_depot(&p, XD_DO_OPEN, 0);
    fetch = expect_fetch(&p, 1, 0, 5);
    expect_wait(&p);
    play_done(&p, fetch);
    expect_depot(&p, XD_DO_PARK, 1);
    fetch = expect_fetch(&p, 0, 5, 10);
    play_done(&p, fetch);
    expect_kind(&p, XD_DO_FINISH);
    play_fini(&p);
}
END_TEST

START_TEST(policies_are_found_by_name)
{
    ck_assert_ptr_eq(xd_policy_find("basic"), &xd_policy_basic);
    ck_assert_ptr_eq(xd_policy_find("aggressive"), &xd_policy_aggressive);
    ck_assert_ptr_eq(xd_policy_find("progress"), &xd_policy_progress);
    ck_assert_ptr_null(xd_policy_find("whole"));
    ck_assert_ptr_null(xd_policy_find(""));
}
END_TEST

START_TEST(options_in_force_show_what_a_policy_uses)
{
    struct play p;

    play_init(&p, &xd_policy_basic, 4, 100);
    play_start(&p);
    ck_assert_uint_eq(xd_sched_options(p.s)->redundancy, 1);
    ck_assert_uint_eq(xd_sched_options(p.s)->progress, 0);
    play_fini(&p);

    play_init(&p, &xd_policy_aggressive, 4, 100);
    play_start(&p);
    ck_assert_uint_eq(xd_sched_options(p.s)->redundancy, 2);
    ck_assert_uint_eq(xd_sched_options(p.s)->progress, 0);
    play_fini(&p);
}
END_TEST

START_TEST(p_is_by_default_twice_the_number_of_lanes)
{
    struct play p;

    play_init(&p, &xd_policy_progress, 4, 100);
    p.o.progress = XD_AUTO;
    p.o.lanes_per_depot = 3;
    play_start(&p);
    ck_assert_uint_eq(xd_sched_options(p.s)->progress, 24);
    play_fini(&p);

    play_init(&p, &xd_policy_progress, 4, 100);
    p.o.progress = XD_AUTO;
    p.o.max_open = 2;
    play_start(&p);
    ck_assert_uint_eq(xd_sched_options(p.s)->progress, 4);
    play_fini(&p);
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("plank");

    tcase_add_test(
        t, figure_3_1_block_2_is_doubled_if_p_is_at_most_3_and_r_above_1);
    tcase_add_test(t, figure_3_1_block_9_is_next_if_p_is_above_3);
    tcase_add_test(t, figure_3_1_block_9_is_next_if_r_is_1);
    tcase_add_test(t, figure_3_1_block_9_is_next_with_basic);
    tcase_add_test(t, figure_3_1_cannot_occur_with_aggressive);
    tcase_add_test(t, figure_3_2_block_9_is_next_if_r_is_2_and_p_above_0);
    tcase_add_test(
        t, figure_3_2_block_2_runs_thrice_if_r_is_above_2_and_p_at_most_4);
    tcase_add_test(t, figure_3_2_block_9_is_next_if_p_is_above_4);
    tcase_add_test(t, figure_3_2_block_8_is_doubled_by_aggressive_with_r_2);
    tcase_add_test(t, each_server_is_serviced_by_n_streams);
    tcase_add_test(t, each_thread_selects_a_different_block);
    tcase_add_test(t,
                   a_finished_thread_selects_a_block_that_no_other_downloads);
    tcase_add_test(t,
                   a_failed_block_becomes_free_for_a_thread_of_another_server);
    tcase_add_test(t, basic_waits_for_the_slow_ones_when_no_block_is_left);
    tcase_add_test(t, aggressive_downloads_each_block_from_r_threads_at_once);
    tcase_add_test(t,
                   a_block_is_late_when_more_than_p_later_blocks_are_complete);
    tcase_add_test(t, the_first_of_several_late_blocks_is_selected);
    tcase_add_test(t, each_attempt_increments_the_download_number_up_to_r);
    tcase_add_test(t, a_failed_attempt_gives_its_download_number_back);
    tcase_add_test(t, without_a_late_block_the_next_untouched_one_is_selected);
    tcase_add_test(t, when_all_are_touched_the_smallest_below_r_is_selected);
    tcase_add_test(t, basic_is_progress_with_p_0_and_r_1);
    tcase_add_test(t, aggressive_is_progress_with_p_0);
    tcase_add_test(t, a_block_never_runs_twice_at_once_at_one_depot);
    tcase_add_test(
        t, a_depot_gets_a_block_again_only_after_every_other_ready_holder);
    tcase_add_test(t, a_depot_that_rests_keeps_nobody_from_a_second_attempt);
    tcase_add_test(
        t, a_depot_that_lost_a_block_keeps_nobody_from_a_second_attempt);
    tcase_add_test(t, blocks_are_cut_at_the_edges_of_extents);
    tcase_add_test(t, a_fresh_attempt_asks_only_for_what_has_not_arrived);
    tcase_add_test(t, a_second_copy_asks_for_what_was_not_accepted);
    tcase_add_test(t, no_copy_is_asked_for_of_what_is_claimed);
    tcase_add_test(t, a_whole_copy_asks_for_accepted_bytes_too_and_runs_on);
    tcase_add_test(t, after_a_failure_a_whole_copy_asks_for_what_is_missing);
    tcase_add_test(t, a_late_block_is_copied_whole);
    tcase_add_test(
        t, a_block_that_nobody_fetches_is_asked_for_without_what_is_here);
    tcase_add_test(t,
                   depots_that_lost_different_halves_complete_a_block_together);
    tcase_add_test(t, policies_are_found_by_name);
    tcase_add_test(t, options_in_force_show_what_a_policy_uses);
    tcase_add_test(t, p_is_by_default_twice_the_number_of_lanes);
    return run_suite("sched.plank", t);
}
