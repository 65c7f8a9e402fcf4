/* SPDX-License-Identifier: MIT */
/* Who is in use, who rests, and who is given up. */
#include "base/governor.h"
#include "play.h"

static struct xd_range stripes[8];

/* Depot i holds only these bytes. */
static void holds_only(struct play *p, unsigned i, uint64_t begin, uint64_t end)
{
    stripes[i] = (struct xd_range){begin, end};
    p->holdings[i] = (struct xd_holding){.held = &stripes[i], .n_held = 1};
}

START_TEST(the_first_depots_by_preference_are_opened)
{
    struct play p;

    play_init(&p, &xd_policy_basic, 5, 100);
    p.o.max_open = 3;
    play_start(&p);
    expect_opened(&p, 3);
    expect_block(&p, 0, 0);
    play_fini(&p);
}
END_TEST

START_TEST(one_that_alone_holds_missing_bytes_comes_first)
{
    struct play p;

    play_init(&p, &xd_policy_basic, 4, 100);
    for (unsigned i = 0; i < 3; i++)
        holds_only(&p, i, 0, 50);
    holds_only(&p, 3, 50, 100);
    p.o.max_open = 2;
    play_start(&p);
    expect_depot(&p, XD_DO_OPEN, 0);
    expect_depot(&p, XD_DO_OPEN, 3);
    expect_block(&p, 0, 0);
    expect_block(&p, 3, 5);
    play_fini(&p);
}
END_TEST

START_TEST(a_byte_whose_holder_rests_in_reserve_is_passed_over)
{
    static struct xd_range held[] = {{0, 100}, {0, 50}, {110, 120}, {100, 110}};
    struct play p;

    play_init(&p, &xd_policy_basic, 4, 120);
    for (unsigned i = 0; i < 4; i++)
        p.holdings[i] = (struct xd_holding){.held = &held[i], .n_held = 1};
    p.o.max_open = 1;
    play_start(&p);
    expect_opened(&p, 1);
    play_failed(&p, expect_block(&p, 0, 0));
    expect_depot(&p, XD_DO_PARK, 0);
    expect_depot(&p, XD_DO_OPEN, 1);
    for (uint64_t block = 0; block < 5; block++)
        play_done(&p, expect_block(&p, 1, block));
    expect_depot(&p, XD_DO_PARK, 1);
    expect_depot(&p, XD_DO_OPEN, 3);
    play_fini(&p);
}
END_TEST

START_TEST(what_was_lost_can_be_held_again)
{
    struct play p;

    play_init(&p, &xd_policy_basic, 2, 100);
    play_start(&p);
    expect_opened(&p, 2);
    play_lost(&p, 0, 0, 20);
    expect_block(&p, 0, 2);
    expect_block(&p, 1, 0);
    play_event(&p, (struct xd_sched_event){
                       .kind = XD_EV_HOLDS, .depot = 0, .range = {0, 20}});
    play_done(&p, 0);
    expect_block(&p, 0, 1);
    play_fini(&p);
}
END_TEST

START_TEST(one_that_holds_nothing_wanted_is_never_opened)
{
    struct play p;

    play_init(&p, &xd_policy_basic, 2, 100);
    holds_only(&p, 0, 0, 50);
    p.wanted = (struct xd_range){50, 100};
    play_start(&p);
    expect_depot(&p, XD_DO_OPEN, 1);
    expect_fetch(&p, 1, 50, 60);
    expect_wait(&p);
    play_fini(&p);
}
END_TEST

START_TEST(one_that_can_do_no_more_makes_room_for_the_next)
{
    struct play p;

    play_init(&p, &xd_policy_basic, 3, 30);
    holds_only(&p, 0, 0, 10);
    holds_only(&p, 1, 10, 20);
    holds_only(&p, 2, 20, 30);
    p.o.max_open = 1;
    play_start(&p);
    for (unsigned i = 0; i < 3; i++) {
        expect_depot(&p, XD_DO_OPEN, i);
        play_done(&p, expect_block(&p, i, i));
        if (i < 2)
            expect_depot(&p, XD_DO_PARK, i);
    }
    expect_kind(&p, XD_DO_FINISH);
    play_fini(&p);
}
END_TEST

START_TEST(depots_rest_while_all_that_arrived_is_being_checked)
{
    struct play p;
    unsigned fetch;

    play_init(&p, &xd_policy_basic, 1, 10);
    play_start(&p);
    expect_opened(&p, 1);
    fetch = expect_block(&p, 0, 0);
    play_bytes(&p, fetch, 10);
    expect_wait(&p); /* something still runs there */
    play_event(&p, (struct xd_sched_event){.kind = XD_EV_DONE, .fetch = fetch});
    expect_depot(&p, XD_DO_PARK, 0);
    expect_wait(&p);
    play_range(&p, XD_EV_REJECTED, 0, 10);
    expect_depot(&p, XD_DO_OPEN, 0);
    expect_block(&p, 0, 0);
    play_fini(&p);
}
END_TEST

START_TEST(failed_depot_rests_as_long_as_the_event_says)
{
    static const xd_usec pauses[] = {1, 90 * XD_SECOND, 40 * XD_MS};
    struct play p;

    play_init(&p, &xd_policy_basic, 1, 10);
    p.o.max_failures = 4;
    play_start(&p);
    expect_opened(&p, 1);
    for (unsigned i = 0; i < 3; i++) {
        p.now += 3;
        p.pause = pauses[i];
        play_failed(&p, expect_block(&p, 0, 0));
        expect_wait_until(&p, p.now + pauses[i]);
        p.now += pauses[i];
    }
    play_failed(&p, expect_block(&p, 0, 0));
    expect_kind(&p, XD_DO_FAIL);
    play_fini(&p);
}
END_TEST

START_TEST(failed_depot_rests_twice_as_long_each_time_if_the_event_says_nothing)
{
    struct play p;
    xd_usec rest = 250 * XD_MS;

    play_init(&p, &xd_policy_basic, 1, 10);
    p.o.max_failures = 12;
    play_start(&p);
    expect_opened(&p, 1);
    for (unsigned i = 0; i < 10; i++) {
        unsigned fetch = expect_block(&p, 0, 0);

        play_event(
            &p, (struct xd_sched_event){.kind = XD_EV_FAILED, .fetch = fetch});
        expect_wait_until(&p, p.now + rest);
        p.now += rest;
        rest = rest * 2 < 30 * XD_SECOND ? rest * 2 : 30 * XD_SECOND;
    }
    play_fini(&p);
}
END_TEST

START_TEST(a_depot_is_dropped_after_max_failures_in_a_row)
{
    struct play p;
    struct xd_sched_action a;

    play_init(&p, &xd_policy_basic, 2, 1000);
    p.o.max_open = 1;
    p.o.max_failures = 1;
    play_start(&p);
    expect_opened(&p, 1);
    play_failed(&p, expect_block(&p, 0, 0));
    expect_depot(&p, XD_DO_PARK, 0);
    expect_depot(&p, XD_DO_OPEN, 1);
    expect_block(&p, 1, 0);
    p.now += 3600 * XD_SECOND;
    a = play_next(&p);
    ck_assert_int_eq(a.kind, XD_DO_WAIT);
    play_fini(&p);
}
END_TEST

/* Its n-th failure in a row; returns when it is asked again. */
static xd_usec rest_after(struct play *p, unsigned depot)
{
    struct xd_sched_action a = play_next(p);

    ck_assert_int_eq(a.kind, XD_DO_FETCH);
    ck_assert_uint_eq(a.depot, depot);
    play_failed(p, a.fetch);
    a = play_next(p);
    if (a.kind != XD_DO_WAIT)
        return XD_NEVER;
    return a.until;
}

START_TEST(the_only_holder_of_a_byte_is_asked_until_patience_is_at_its_end)
{
    struct play p;
    unsigned n = 0;

    play_init(&p, &xd_policy_basic, 1, 1000);
    p.o.max_failures = 2;
    p.o.patience = 120 * XD_SECOND;
    p.pause = 50 * XD_SECOND;
    play_start(&p);
    expect_opened(&p, 1);
    p.now = 7 * XD_SECOND;
    for (xd_usec until = p.now; until != XD_NEVER; n++) {
        p.now = until;
        until = rest_after(&p, 0);
        ck_assert(until == XD_NEVER || until <= 127 * XD_SECOND);
    }
    ck_assert_uint_eq(p.now, 127 * XD_SECOND);
    ck_assert_uint_eq(n, 4); /* at 7, 57, 107 and 127 s */
    play_fini(&p);
}
END_TEST

START_TEST(progress_of_anyone_renews_the_patience_with_the_only_holder)
{
    static struct xd_range front = {0, 50000}, rear = {50000, 100000};
    struct play p;

    play_init(&p, &xd_policy_basic, 2, 100000);
    p.o.block_bytes = 1000;
    p.holdings[0] = (struct xd_holding){.held = &front, .n_held = 1};
    p.holdings[1] = (struct xd_holding){.held = &rear, .n_held = 1};
    p.o.max_failures = 1;
    p.o.patience = 10 * XD_SECOND;
    play_start(&p);
    expect_opened(&p, 2);
    play_failed(&p, expect_block(&p, 0, 0));
    expect_block(&p, 1, 50);
    p.now = 9 * XD_SECOND;
    play_bytes(&p, 1, 50000 + XD_PROGRESS_BYTES);
    p.now = 18 * XD_SECOND;
    play_failed(&p, expect_block(&p, 0, 0));
    expect_wait_until(&p, p.now + 500 * XD_MS);
    play_fini(&p);
}
END_TEST

START_TEST(patience_is_for_those_whom_nobody_can_replace)
{
    struct play p;

    play_init(&p, &xd_policy_basic, 2, 1000);
    p.o.max_open = 1;
    p.o.max_failures = 1;
    p.o.patience = 120 * XD_SECOND;
    play_start(&p);
    expect_opened(&p, 1);
    play_failed(&p, expect_block(&p, 0, 0));
    expect_depot(&p, XD_DO_PARK, 0);
    expect_depot(&p, XD_DO_OPEN, 1);
    play_failed(&p, expect_block(&p, 1, 0));
    expect_wait_until(&p, p.now + 250 * XD_MS);
    play_fini(&p);
}
END_TEST

/* Depot 0 of three was given up, and depot 1 has begun; 2 holds nothing. */
static void give_up_the_first(struct play *p)
{
    play_init(p, &xd_policy_basic, 3, 1000);
    p->holdings[2].n_held = 0;
    p->o.max_open = 1;
    p->o.max_failures = 1;
    p->o.patience = 120 * XD_SECOND;
    play_start(p);
    expect_opened(p, 1);
    play_failed(p, expect_block(p, 0, 0));
    expect_depot(p, XD_DO_PARK, 0);
    expect_depot(p, XD_DO_OPEN, 1);
}

/* One open depot and one in reserve, both with all of the file. */
static void begin_with_two(struct play *p)
{
    play_init(p, &xd_policy_basic, 2, 1000);
    p->o.max_failures = 1;
    p->o.max_open = 1;
    p->o.patience = 120 * XD_SECOND;
    play_start(p);
    expect_opened(p, 1);
}

START_TEST(depot_is_the_last_hope_when_the_others_have_failed)
{
    struct play p;

    begin_with_two(&p);
    ck_assert(!xd_sched_is_last_hope(p.s, 0, XD_SECOND, p.now));
    play_failed(&p, expect_block(&p, 0, 0));
    expect_depot(&p, XD_DO_PARK, 0);
    ck_assert(xd_sched_is_last_hope(p.s, 1, XD_SECOND, p.now));
    play_fini(&p);
}
END_TEST

START_TEST(only_holder_that_was_silent_for_all_the_patience_is_given_up)
{
    struct play p;
    unsigned fetch;

    play_init(&p, &xd_policy_basic, 1, 1000);
    p.o.patience = 20 * XD_SECOND;
    play_start(&p);
    expect_opened(&p, 1);
    fetch = expect_block(&p, 0, 0);
    ck_assert(xd_sched_is_last_hope(p.s, 0, XD_SECOND, p.now));
    p.now += 20 * XD_SECOND;
    play_event(&p, (struct xd_sched_event){.kind = XD_EV_FAILED,
                                           .fetch = fetch,
                                           .is_refusal = true,
                                           .is_unanswered = true});
    expect_kind(&p, XD_DO_FAIL);
    play_fini(&p);
}
END_TEST

START_TEST(who_was_given_up_is_asked_again_when_the_others_are_banned)
{
    struct play p;

    give_up_the_first(&p);
    play_depot(&p, XD_EV_BANNED, 1);
    expect_depot(&p, XD_DO_PARK, 1);
    expect_depot(&p, XD_DO_OPEN, 0);
    play_failed(&p, expect_block(&p, 0, 0));
    expect_wait_until(&p, p.now + 250 * XD_MS);
    play_depot(&p, XD_EV_BANNED, 0);
    expect_kind(&p, XD_DO_FAIL);
    play_fini(&p);
}
END_TEST

START_TEST(who_was_given_up_is_asked_again_when_the_others_have_lost_it)
{
    struct play p;

    give_up_the_first(&p);
    play_lost(&p, 1, 500, 1000);
    expect_block(&p, 1, 0);
    play_lost(&p, 1, 0, 500);
    play_canceled(&p, 0);
    expect_depot(&p, XD_DO_PARK, 1);
    expect_depot(&p, XD_DO_OPEN, 0);
    play_fini(&p);
}
END_TEST

START_TEST(who_was_given_up_is_asked_again_when_bytes_prove_wrong)
{
    struct play p;

    give_up_the_first(&p);
    play_range(&p, XD_EV_HELD, 0, 1000);
    play_depot(&p, XD_EV_BANNED, 1);
    expect_depot(&p, XD_DO_PARK, 1);
    play_range(&p, XD_EV_REJECTED, 0, 10);
    expect_depot(&p, XD_DO_OPEN, 0);
    expect_block(&p, 0, 0);
    play_fini(&p);
}
END_TEST

START_TEST(who_was_given_up_is_not_asked_again_when_patience_is_at_its_end)
{
    struct play p;

    give_up_the_first(&p);
    p.now += 120 * XD_SECOND;
    play_depot(&p, XD_EV_BANNED, 1);
    expect_kind(&p, XD_DO_FAIL);
    play_fini(&p);
}
END_TEST

START_TEST(a_stream_of_unknown_size_is_not_begun_for_ever)
{
    struct play p;

    play_init(&p, &xd_policy_basic, 1, UINT64_MAX);
    p.o.max_failures = 1;
    p.o.patience = 120 * XD_SECOND;
    play_start(&p);
    expect_opened(&p, 1);
    play_failed_at(&p, play_next(&p).fetch, 9);
    ck_assert_int_eq(play_next(&p).kind, XD_DO_FAIL);
    play_fini(&p);
}
END_TEST

START_TEST(progress_ends_a_row_of_failures)
{
    struct play p;

    play_init(&p, &xd_policy_basic, 1, 100000);
    p.o.block_bytes = 10000;
    p.o.max_failures = 2;
    play_start(&p);
    expect_opened(&p, 1);
    for (uint64_t i = 0; i < 9; i++) {
        const uint64_t at = i * XD_PROGRESS_BYTES;

        play_failed_at(&p, expect_fetch(&p, 0, at, 10000),
                       at + XD_PROGRESS_BYTES);
        expect_wait_until(&p, p.now + 250 * XD_MS);
        p.now += 250 * XD_MS;
    }
    play_fini(&p);
}
END_TEST

START_TEST(lanes_that_break_off_together_are_one_failure)
{
    struct play p;

    play_init(&p, &xd_policy_basic, 1, 1000);
    p.o.lanes_per_depot = 4;
    p.o.max_failures = 2;
    play_start(&p);
    expect_opened(&p, 1);
    for (uint64_t i = 0; i < 4; i++)
        expect_block(&p, 0, i);
    p.now = XD_SECOND;
    for (unsigned i = 0; i < 4; i++)
        play_failed(&p, i);
    expect_wait_until(&p, p.now + 250 * XD_MS);
    p.now += 250 * XD_MS;
    play_failed(&p, expect_block(&p, 0, 0));
    expect_kind(&p, XD_DO_FAIL);
    play_fini(&p);
}
END_TEST

/* Depot 1 brings the next block before depot 0 has brought a byte of it. */
static void overtake(struct play *p, uint64_t block)
{
    expect_block(p, 0, block);
    expect_block(p, 1, block);
    play_done(p, 1);
    expect_cancel(p, 0);
    play_canceled(p, 0);
}

/* Depot 1 goes on by itself until it is `until`; the next block. */
static uint64_t go_on_alone(struct play *p, uint64_t block, xd_usec until)
{
    for (; p->now < until; p->now++) {
        expect_block(p, 1, block++);
        expect_wait_until(p, until);
        play_done(p, 1);
        p->now = until - 1;
    }
    return block;
}

/* Nine in a row; the next block. */
static uint64_t overtake_nine_times(struct play *p)
{
    xd_usec pause = 250 * XD_MS;
    uint64_t block = 0;

    for (; block < 3; block++)
        overtake(p, block);
    for (unsigned n = 4; n < 10; n++, pause *= 2) {
        overtake(p, block);
        block = go_on_alone(p, block + 1, p->now + pause);
    }
    return block;
}

START_TEST(a_depot_that_is_always_preempted_rests_ever_longer_and_is_given_up)
{
    struct play p;
    uint64_t block;

    play_init(&p, &xd_policy_aggressive, 2, 1000);
    play_start(&p);
    expect_opened(&p, 2);
    block = overtake_nine_times(&p);
    overtake(&p, block++);
    expect_depot(&p, XD_DO_PARK, 0);
    expect_block(&p, 1, block);
    expect_wait(&p);
    play_fini(&p);
}
END_TEST

START_TEST(a_failure_can_be_the_last_of_ten_requests_in_vain)
{
    struct play p;
    uint64_t block;

    play_init(&p, &xd_policy_aggressive, 2, 1000);
    play_start(&p);
    expect_opened(&p, 2);
    block = overtake_nine_times(&p);
    play_failed(&p, expect_block(&p, 0, block));
    expect_depot(&p, XD_DO_PARK, 0);
    play_fini(&p);
}
END_TEST

START_TEST(progress_ends_a_row_of_being_preempted)
{
    struct play p;

    play_init(&p, &xd_policy_aggressive, 2, 100000);
    p.o.block_bytes = 1000;
    play_start(&p);
    expect_opened(&p, 2);
    for (uint64_t block = 0; block < 50; block++) {
        expect_block(&p, 0, block);
        expect_block(&p, 1, block);
        if (block % 3 == 0)
            play_bytes(&p, 0, block * 1000 + XD_PROGRESS_BYTES);
        play_done(&p, 1);
        expect_cancel(&p, 0);
        play_canceled(&p, 0);
    }
    play_fini(&p);
}
END_TEST

START_TEST(a_fetch_that_no_reader_wants_any_longer_was_not_preempted)
{
    struct play p;

    play_init(&p, &xd_policy_basic, 1, 1000);
    p.o.window_bytes = 40;
    p.o.lanes_per_depot = 2;
    play_start(&p);
    expect_opened(&p, 1);
    expect_block(&p, 0, 0);
    expect_block(&p, 0, 1);
    play_demand(&p, 0, 500, 540, 0);
    expect_cancel(&p, 0);
    expect_cancel(&p, 1);
    play_canceled(&p, 0);
    play_canceled(&p, 1);
    expect_block(&p, 0, 50);
    expect_block(&p, 0, 51);
    play_fini(&p);
}
END_TEST

START_TEST(lanes_that_are_preempted_together_count_once)
{
    struct play p;

    play_init(&p, &xd_policy_aggressive, 2, 1000);
    p.o.lanes_per_depot = 5;
    play_start(&p);
    expect_opened(&p, 2);
    for (unsigned i = 0; i < 10; i++)
        expect_kind(&p, XD_DO_FETCH);
    play_range(&p, XD_EV_VERIFIED, 0, 50);
    for (unsigned i = 0; i < 10; i++)
        expect_kind(&p, XD_DO_CANCEL);
    for (unsigned i = 0; i < 10; i++)
        play_canceled(&p, i);
    expect_block(&p, 0, 5);
    play_fini(&p);
}
END_TEST

START_TEST(after_a_request_in_vain_they_come_one_by_one_until_one_has_progress)
{
    struct play p;

    play_init(&p, &xd_policy_basic, 1, 100000);
    p.o.block_bytes = 2000;
    p.o.lanes_per_depot = 3;
    play_start(&p);
    expect_opened(&p, 1);
    for (uint64_t i = 0; i < 3; i++)
        expect_block(&p, 0, i);
    for (unsigned i = 0; i < 3; i++)
        play_failed(&p, i);
    p.now = XD_SECOND;
    expect_block(&p, 0, 0);
    expect_wait(&p);
    play_bytes(&p, 0, XD_PROGRESS_BYTES - 1);
    expect_wait(&p);
    play_bytes(&p, 0, XD_PROGRESS_BYTES);
    expect_block(&p, 0, 1);
    expect_block(&p, 0, 2);
    play_fini(&p);
}
END_TEST

START_TEST(finding_out_that_it_knows_no_ranges_ends_a_row_of_being_preempted)
{
    struct play p;
    uint64_t block = 0;

    play_init(&p, &xd_policy_aggressive, 2, 1000);
    play_start(&p);
    expect_opened(&p, 2);
    for (; block < 3; block++)
        overtake(&p, block);
    overtake(&p, block);
    block = go_on_alone(&p, block + 1, 250 * XD_MS);
    play_failed(&p, expect_block(&p, 0, block));
    play_depot(&p, XD_EV_NORANGES, 0);
    play_depot(&p, XD_EV_BANNED, 1);
    expect_depot(&p, XD_DO_PARK, 1);
    play_failed(&p, expect_fetch(&p, 0, 50, 1000));
    expect_wait_until(&p, p.now + 250 * XD_MS);
    play_fini(&p);
}
END_TEST

START_TEST(a_dropped_depot_is_parked_when_its_last_fetch_has_ended)
{
    struct play p;

    play_init(&p, &xd_policy_basic, 2, 1000);
    p.o.max_open = 1;
    p.o.lanes_per_depot = 2;
    p.o.max_failures = 1;
    play_start(&p);
    expect_opened(&p, 1);
    expect_block(&p, 0, 0);
    expect_block(&p, 0, 1);
    play_failed(&p, 0);
    expect_wait(&p);
    play_done(&p, 1);
    expect_depot(&p, XD_DO_PARK, 0);
    expect_depot(&p, XD_DO_OPEN, 1);
    expect_block(&p, 1, 0);
    play_fini(&p);
}
END_TEST

START_TEST(a_banned_depot_is_dropped_at_once)
{
    struct play p;

    play_init(&p, &xd_policy_basic, 3, 1000);
    p.o.max_open = 2;
    play_start(&p);
    expect_opened(&p, 2);
    play_depot(&p, XD_EV_BANNED, 0);
    expect_depot(&p, XD_DO_PARK, 0);
    expect_depot(&p, XD_DO_OPEN, 2);
    play_depot(&p, XD_EV_BANNED, 1);
    expect_depot(&p, XD_DO_PARK, 1);
    play_depot(&p, XD_EV_BANNED, 2);
    expect_kind(&p, XD_DO_FAIL);
    play_fini(&p);
}
END_TEST

START_TEST(a_depot_banned_in_reserve_is_never_opened)
{
    struct play p;

    play_init(&p, &xd_policy_basic, 3, 1000);
    play_start(&p);
    play_depot(&p, XD_EV_BANNED, 1);
    expect_depot(&p, XD_DO_OPEN, 0);
    expect_depot(&p, XD_DO_OPEN, 2);
    expect_block(&p, 0, 0);
    play_fini(&p);
}
END_TEST

START_TEST(bytes_that_a_depot_lost_come_from_another)
{
    struct play p;

    play_init(&p, &xd_policy_basic, 2, 40);
    play_start(&p);
    expect_opened(&p, 2);
    play_lost(&p, 0, 0, 20);
    expect_block(&p, 0, 2);
    expect_block(&p, 1, 0);
    play_fini(&p);
}
END_TEST

/* What is in flight when it is lost may still come, or not. */
START_TEST(what_nobody_holds_fails_when_the_last_request_for_it_ends)
{
    struct play p;

    play_init(&p, &xd_policy_basic, 2, 40);
    play_start(&p);
    expect_opened(&p, 2);
    expect_block(&p, 0, 0);
    expect_block(&p, 1, 1);
    play_lost(&p, 0, 0, 10);
    play_lost(&p, 1, 0, 10);
    expect_wait(&p);
    play_canceled(&p, 0);
    expect_kind(&p, XD_DO_FAIL);
    play_fini(&p);
}
END_TEST

START_TEST(one_that_rests_makes_room_if_only_others_could_go_on)
{
    struct play p;

    play_init(&p, &xd_policy_basic, 2, 40);
    p.o.max_open = 1;
    p.o.max_failures = 9;
    play_start(&p);
    expect_opened(&p, 1);
    play_failed(&p, expect_block(&p, 0, 0));
    expect_depot(&p, XD_DO_PARK, 0);
    expect_depot(&p, XD_DO_OPEN, 1);
    play_failed(&p, expect_block(&p, 1, 0));
    expect_wait_until(&p, 250 * XD_MS); /* both rest: nobody could */
    p.now = 250 * XD_MS;
    expect_block(&p, 1, 0);
    play_fini(&p);
}
END_TEST

/* Depot 0 has more to do behind the window, depot 1 rests, and only depots 1
 * and 2 hold the next bytes. */
START_TEST(one_that_rests_makes_room_before_one_that_is_awake)
{
    struct play p;
    struct xd_range first[] = {{0, 10}, {20, 60}};

    play_init(&p, &xd_policy_basic, 3, 60);
    p.holdings[0] = (struct xd_holding){.held = first, .n_held = 2};
    holds_only(&p, 1, 10, 20);
    holds_only(&p, 2, 10, 20);
    p.o.max_open = 2;
    p.o.block_bytes = 5;
    p.o.window_bytes = 20;
    play_start(&p);
    expect_opened(&p, 2);
    expect_fetch(&p, 0, 0, 5);
    expect_fetch(&p, 1, 10, 15);
    play_failed(&p, 1);
    play_done(&p, 0);
    play_done(&p, expect_fetch(&p, 0, 5, 10));
    expect_depot(&p, XD_DO_PARK, 1);
    expect_depot(&p, XD_DO_OPEN, 2);
    expect_fetch(&p, 2, 10, 15);
    play_fini(&p);
}
END_TEST

START_TEST(one_that_the_window_stops_makes_room_for_the_next_bytes_holder)
{
    struct play p;
    struct xd_range first[] = {{0, 10}, {20, 40}};

    play_init(&p, &xd_policy_basic, 2, 40);
    p.holdings[0] = (struct xd_holding){.held = first, .n_held = 2};
    holds_only(&p, 1, 10, 20);
    p.o.max_open = 1;
    p.o.block_bytes = 5;
    p.o.window_bytes = 20;
    play_start(&p);
    expect_opened(&p, 1);
    play_done(&p, expect_fetch(&p, 0, 0, 5));
    play_done(&p, expect_fetch(&p, 0, 5, 10));
    expect_depot(&p, XD_DO_PARK, 0);
    expect_depot(&p, XD_DO_OPEN, 1);
    play_done(&p, expect_fetch(&p, 1, 10, 15));
    play_done(&p, expect_fetch(&p, 1, 15, 20));
    expect_depot(&p, XD_DO_PARK, 1);
    expect_depot(&p, XD_DO_OPEN, 0);
    expect_wait(&p);
    play_reader(&p, 5);
    expect_fetch(&p, 0, 20, 25);
    play_fini(&p);
}
END_TEST

START_TEST(one_without_ranges_is_not_used_while_another_delivers)
{
    struct play p;

    play_init(&p, &xd_policy_basic, 2, 40);
    play_start(&p);
    expect_opened(&p, 2);
    expect_block(&p, 0, 0);
    play_done(&p, expect_block(&p, 1, 1));
    play_depot(&p, XD_EV_NORANGES, 0);
    play_failed(&p, 0);
    expect_depot(&p, XD_DO_PARK, 0);
    play_done(&p, expect_block(&p, 1, 0));
    for (uint64_t i = 2; i < 4; i++)
        play_done(&p, expect_block(&p, 1, i));
    expect_kind(&p, XD_DO_FINISH);
    play_fini(&p);
}
END_TEST

/* It is asked for all, also for what a silent one was asked for. */
START_TEST(one_without_ranges_is_asked_before_others_have_delivered)
{
    for (int refuse = 0; refuse < 2; refuse++) {
        struct play p;

        play_init(&p, &xd_policy_basic, 3, 40);
        play_start(&p);
        expect_opened(&p, 3);
        for (unsigned i = 0; i < 3; i++)
            expect_block(&p, i, i);
        for (unsigned i = 1; i < 3 && refuse; i++)
            play_failed(&p, i);
        play_depot(&p, XD_EV_NORANGES, 0);
        play_failed(&p, 0);
        play_done(&p, expect_fetch(&p, 0, 0, 40));
        for (unsigned i = 1; i < 3 && !refuse; i++)
            expect_cancel(&p, i);
        expect_kind(&p, XD_DO_FINISH);
        play_fini(&p);
    }
}
END_TEST

START_TEST(a_last_resort_is_asked_when_no_other_is_left)
{
    struct play p;

    play_init(&p, &xd_policy_basic, 3, 40);
    p.o.max_failures = 1;
    play_start(&p);
    expect_opened(&p, 3);
    for (unsigned i = 0; i < 3; i++)
        expect_block(&p, i, i);
    play_event(&p, (struct xd_sched_event){.kind = XD_EV_NORANGES,
                                           .depot = 0,
                                           .is_last_resort = true});
    play_failed(&p, 0);
    play_failed(&p, 1);
    expect_depot(&p, XD_DO_PARK, 0);
    expect_depot(&p, XD_DO_PARK, 1);
    expect_wait(&p); /* for the third, which has delivered nothing */
    play_failed(&p, 2);
    expect_depot(&p, XD_DO_PARK, 2);
    expect_depot(&p, XD_DO_OPEN, 0);
    play_done(&p, expect_fetch(&p, 0, 0, 40));
    expect_kind(&p, XD_DO_FINISH);
    play_fini(&p);
}
END_TEST

START_TEST(one_without_ranges_gives_way_to_the_first_that_delivers)
{
    struct play p;
    unsigned stopgap;

    play_init(&p, &xd_policy_basic, 3, 40);
    play_start(&p);
    expect_opened(&p, 3);
    play_depot(&p, XD_EV_NORANGES, 0);
    stopgap = expect_fetch(&p, 0, 0, 40);
    expect_block(&p, 1, 0);
    expect_block(&p, 2, 1);
    play_bytes(&p, stopgap, 10);
    expect_cancel(&p, 1);
    play_canceled(&p, 1);
    expect_block(&p, 1, 2);
    play_bytes(&p, 2, 11);
    expect_cancel(&p, stopgap);
    play_canceled(&p, stopgap);
    expect_depot(&p, XD_DO_PARK, 0);
    play_done(&p, 2);
    play_done(&p, 1);
    play_range(&p, XD_EV_VERIFIED, 0, 10);
    play_done(&p, expect_block(&p, 1, 3));
    expect_kind(&p, XD_DO_FINISH);
    play_fini(&p);
}
END_TEST

START_TEST(one_without_ranges_stays_when_that_one_fails_at_once)
{
    struct play p;
    unsigned stopgap;

    play_init(&p, &xd_policy_basic, 2, 40);
    p.o.max_failures = 1;
    play_start(&p);
    expect_opened(&p, 2);
    play_depot(&p, XD_EV_NORANGES, 0);
    stopgap = expect_fetch(&p, 0, 0, 40);
    play_failed_at(&p, expect_block(&p, 1, 0), 5);
    expect_depot(&p, XD_DO_PARK, 1);
    expect_wait(&p);
    play_done(&p, stopgap);
    expect_kind(&p, XD_DO_FINISH);
    play_fini(&p);
}
END_TEST

/* Two depots: the first, without ranges, is asked for all until the second has
 * delivered, of which something else is reported before the next decision. */
static unsigned begin_stopgap(struct play *p)
{
    unsigned stopgap;

    play_init(p, &xd_policy_basic, 2, 40);
    play_start(p);
    expect_opened(p, 2);
    play_depot(p, XD_EV_NORANGES, 0);
    stopgap = expect_fetch(p, 0, 0, 40);
    play_bytes(p, expect_block(p, 1, 0), 5);
    return stopgap;
}

START_TEST(one_without_ranges_stays_when_that_one_knows_none_either)
{
    struct play p;
    unsigned stopgap = begin_stopgap(&p);

    play_depot(&p, XD_EV_NORANGES, 1);
    expect_wait(&p);
    play_done(&p, stopgap);
    play_fini(&p);
}
END_TEST

START_TEST(one_without_ranges_stays_when_that_one_loses_the_rest)
{
    struct play p;
    unsigned stopgap = begin_stopgap(&p);

    play_lost(&p, 1, 10, 40);
    expect_wait(&p);
    play_done(&p, stopgap);
    play_fini(&p);
}
END_TEST

/* What it alone holds it goes on to deliver. */
START_TEST(one_without_ranges_that_is_needed_does_not_give_way)
{
    struct play p;
    unsigned stopgap;

    play_init(&p, &xd_policy_basic, 2, 100);
    holds_only(&p, 1, 0, 50);
    play_start(&p);
    expect_opened(&p, 2);
    play_depot(&p, XD_EV_NORANGES, 0);
    stopgap = expect_fetch(&p, 0, 0, 100);
    play_done(&p, expect_block(&p, 1, 0));
    play_done(&p, expect_block(&p, 1, 1));
    expect_block(&p, 1, 2);
    play_done(&p, stopgap);
    expect_cancel(&p, 1);
    expect_kind(&p, XD_DO_FINISH);
    play_fini(&p);
}
END_TEST

START_TEST(one_without_ranges_is_asked_once_from_first_missing_to_last)
{
    struct play p;
    unsigned fetch;

    play_init(&p, &xd_policy_progress, 2, 100);
    p.o.lanes_per_depot = 2;
    play_start(&p);
    expect_opened(&p, 2);
    play_range(&p, XD_EV_VERIFIED, 0, 13);
    play_range(&p, XD_EV_VERIFIED, 40, 50);
    play_range(&p, XD_EV_VERIFIED, 90, 100);
    play_depot(&p, XD_EV_NORANGES, 0);
    play_depot(&p, XD_EV_BANNED, 1);
    expect_depot(&p, XD_DO_PARK, 1);
    fetch = expect_fetch(&p, 0, 13, 90);
    expect_wait(&p);
    play_bytes(&p, fetch, 40);
    play_range(&p, XD_EV_VERIFIED, 13, 40);
    play_done(&p, fetch);
    expect_kind(&p, XD_DO_FINISH);
    play_fini(&p);
}
END_TEST

START_TEST(a_fetch_without_ranges_goes_up_to_the_next_cut)
{
    struct play p;
    uint64_t cut = 60;

    play_init(&p, &xd_policy_basic, 1, 100);
    p.layout.cuts = &cut;
    p.layout.n_cuts = 1;
    play_start(&p);
    expect_opened(&p, 1);
    play_depot(&p, XD_EV_NORANGES, 0);
    play_done(&p, expect_fetch(&p, 0, 0, 60));
    play_done(&p, expect_fetch(&p, 0, 60, 100));
    expect_kind(&p, XD_DO_FINISH);
    play_fini(&p);
}
END_TEST

START_TEST(one_without_ranges_brings_only_what_no_other_could)
{
    struct play p;

    play_init(&p, &xd_policy_basic, 2, 100);
    holds_only(&p, 1, 50, 100);
    play_start(&p);
    expect_opened(&p, 2);
    expect_block(&p, 0, 0);
    play_done(&p, expect_block(&p, 1, 5));
    play_depot(&p, XD_EV_NORANGES, 0);
    play_failed(&p, 0);
    expect_fetch(&p, 0, 0, 50);
    expect_block(&p, 1, 6);
    play_fini(&p);
}
END_TEST

START_TEST(the_window_does_not_shorten_a_fetch_without_ranges)
{
    struct play p;

    play_init(&p, &xd_policy_basic, 1, 100);
    p.o.window_bytes = 40;
    play_start(&p);
    expect_opened(&p, 1);
    play_depot(&p, XD_EV_NORANGES, 0);
    expect_fetch(&p, 0, 0, 100);
    play_fini(&p);
}
END_TEST

START_TEST(finding_out_that_it_knows_no_ranges_is_no_failure)
{
    for (int order = 0; order < 2; order++) {
        struct play p;
        unsigned fetch;

        play_init(&p, &xd_policy_basic, 1, 100);
        p.o.max_failures = 2;
        play_start(&p);
        expect_opened(&p, 1);
        fetch = expect_block(&p, 0, 0);
        p.now += XD_SECOND;
        if (order == 0)
            play_failed(&p, fetch);
        play_depot(&p, XD_EV_NORANGES, 0);
        if (order == 1)
            play_failed(&p, fetch);
        fetch = expect_fetch(&p, 0, 0, 100);
        p.now += XD_SECOND;
        play_failed(&p, fetch);
        expect_wait_until(&p, p.now + 250 * XD_MS);
        play_fini(&p);
    }
}
END_TEST

/* The second request of a depot that has not answered yet ends like this. */
static const struct {
    bool is_refusal, is_unanswered, shares;
    unsigned ceiling; /* learned of it */
} seconds[] = {
    {true, false, false, 1},  /* its second connection is one too many */
    {false, false, false, 0}, /* it failed */
    {true, true, false, 0},   /* no connection was made at all */
    {true, false, true, 0},   /* one connection is what requests share */
};

START_TEST(a_depot_that_refuses_its_second_request_is_asked_for_one_at_a_time)
{
    struct play p;
    unsigned second;

    play_init(&p, &xd_policy_basic, 1, 10000);
    p.o.block_bytes = 1000;
    p.o.lanes_per_depot = 2;
    play_start(&p);
    expect_opened(&p, 1);
    expect_block(&p, 0, 0);
    second = expect_block(&p, 0, 1);
    play_event(&p, (struct xd_sched_event){.kind = XD_EV_FAILED,
                                           .fetch = second,
                                           .range = {1000, 1000},
                                           .is_refusal = seconds[_i].is_refusal,
                                           .is_unanswered =
                                               seconds[_i].is_unanswered});
    if (seconds[_i].shares)
        play_depot(&p, XD_EV_SHARES, 0);
    ck_assert_uint_eq(xd_sched_learned(p.s, 0).ceiling, seconds[_i].ceiling);
    p.now += XD_SECOND;
    play_bytes(&p, 0, 600);
    ck_assert_int_eq(play_next(&p).kind,
                     seconds[_i].ceiling == 1 ? XD_DO_WAIT : XD_DO_FETCH);
    play_fini(&p);
}
END_TEST

static void refuse(struct play *p, unsigned fetch, uint64_t begin)
{
    play_event(p, (struct xd_sched_event){.kind = XD_EV_FAILED,
                                          .fetch = fetch,
                                          .range = {begin, begin},
                                          .is_refusal = true});
}

/* When it refuses them all it has failed; and it had served the first two until
 * the third came if they lasted longer than that, by more than a quarter. */
static const struct {
    unsigned first_ms, third_ms;
    unsigned ceiling;
} thirds[] = {{80, 40, 2}, {51, 40, 2}, {50, 40, 1}, {40, 40, 1}};

START_TEST(
    of_several_requests_that_are_refused_the_second_or_third_was_too_many)
{
    struct play p;
    unsigned fetches[3], first, ceiling = thirds[_i].ceiling;
    xd_usec between = (thirds[_i].first_ms - thirds[_i].third_ms) * XD_MS;

    play_init(&p, &xd_policy_basic, 1, 10000);
    p.o.block_bytes = 1000;
    p.o.lanes_per_depot = 3;
    play_start(&p);
    expect_opened(&p, 1);
    for (unsigned i = 0; i < 3; i++) {
        if (i == 2)
            p.now += between;
        fetches[i] = expect_block(&p, 0, i);
    }
    p.now += thirds[_i].third_ms * XD_MS;
    for (unsigned i = 3; i-- > 0;)
        refuse(&p, fetches[i], 1000 * i);
    ck_assert_uint_eq(xd_sched_learned(p.s, 0).ceiling, ceiling);
    p.now += XD_SECOND;
    first = expect_block(&p, 0, 0);
    expect_wait(&p);
    play_bytes(&p, first, XD_PROGRESS_BYTES);
    if (ceiling == 2) {
        fetches[1] = expect_block(&p, 0, 1);
        expect_wait(&p);
        refuse(&p, fetches[1], 1000); /* nor does it serve two */
        ck_assert_uint_eq(xd_sched_learned(p.s, 0).ceiling, 1);
    }
    expect_wait(&p);
    play_fini(&p);
}
END_TEST

/* One of which bytes come after it refused another was served at the same time as
 * those that delivered then, though they have ended; not so a later one. */
START_TEST(what_was_served_beside_the_refused_one_counts_when_it_is_answered)
{
    struct play p;
    unsigned fetches[4];

    play_init(&p, &xd_policy_basic, 1, 100);
    p.o.lanes_per_depot = 4;
    play_start(&p);
    expect_opened(&p, 1);
    for (unsigned i = 0; i < 4; i++)
        fetches[i] = expect_block(&p, 0, i);
    for (unsigned i = 0; i < 2; i++)
        play_bytes(&p, fetches[i], 10 * i + 5);
    refuse(&p, fetches[3], 30);
    ck_assert_uint_eq(xd_sched_learned(p.s, 0).ceiling, 2);
    play_done(&p, fetches[0]);
    play_bytes(&p, fetches[2], 25);
    ck_assert_uint_eq(xd_sched_learned(p.s, 0).ceiling, 3);
    play_bytes(&p, expect_block(&p, 0, 3), 35);
    ck_assert_uint_eq(xd_sched_learned(p.s, 0).ceiling, 3);
    play_fini(&p);
}
END_TEST

/* Though all began before it delivered anything. */
START_TEST(a_depot_that_refuses_some_while_others_flow_has_not_failed)
{
    struct play p;
    unsigned fetches[4];

    play_init(&p, &xd_policy_basic, 1, 100);
    p.o.lanes_per_depot = 4;
    play_start(&p);
    expect_opened(&p, 1);
    for (unsigned i = 0; i < 4; i++)
        fetches[i] = expect_block(&p, 0, i);
    for (unsigned i = 0; i < 2; i++)
        play_bytes(&p, fetches[i], 10 * i + 5);
    for (unsigned i = 2; i < 4; i++)
        refuse(&p, fetches[i], 10 * i);
    ck_assert_uint_eq(xd_sched_learned(p.s, 0).ceiling, 2);
    expect_wait(&p);
    play_done(&p, fetches[0]);
    expect_block(&p, 0, 2); /* it does not back off */
    expect_wait(&p);
    play_fini(&p);
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("holders");

    tcase_add_test(t, the_first_depots_by_preference_are_opened);
    tcase_add_loop_test(
        t, a_depot_that_refuses_its_second_request_is_asked_for_one_at_a_time,
        0, sizeof seconds / sizeof *seconds);
    tcase_add_test(t, one_that_alone_holds_missing_bytes_comes_first);
    tcase_add_test(t, a_byte_whose_holder_rests_in_reserve_is_passed_over);
    tcase_add_test(t, what_was_lost_can_be_held_again);
    tcase_add_test(t, one_that_holds_nothing_wanted_is_never_opened);
    tcase_add_test(t, one_that_can_do_no_more_makes_room_for_the_next);
    tcase_add_test(t, depots_rest_while_all_that_arrived_is_being_checked);
    tcase_add_test(t, failed_depot_rests_as_long_as_the_event_says);
    tcase_add_test(
        t,
        failed_depot_rests_twice_as_long_each_time_if_the_event_says_nothing);
    tcase_add_test(t, a_depot_is_dropped_after_max_failures_in_a_row);
    tcase_add_test(
        t, the_only_holder_of_a_byte_is_asked_until_patience_is_at_its_end);
    tcase_add_test(t,
                   progress_of_anyone_renews_the_patience_with_the_only_holder);
    tcase_add_test(t, patience_is_for_those_whom_nobody_can_replace);
    tcase_add_test(t, depot_is_the_last_hope_when_the_others_have_failed);
    tcase_add_test(
        t, only_holder_that_was_silent_for_all_the_patience_is_given_up);
    tcase_add_test(t,
                   who_was_given_up_is_asked_again_when_the_others_are_banned);
    tcase_add_test(
        t, who_was_given_up_is_asked_again_when_the_others_have_lost_it);
    tcase_add_test(t, who_was_given_up_is_asked_again_when_bytes_prove_wrong);
    tcase_add_test(
        t, who_was_given_up_is_not_asked_again_when_patience_is_at_its_end);
    tcase_add_test(t, a_stream_of_unknown_size_is_not_begun_for_ever);
    tcase_add_test(t, progress_ends_a_row_of_failures);
    tcase_add_test(t, lanes_that_break_off_together_are_one_failure);
    tcase_add_test(
        t, a_depot_that_is_always_preempted_rests_ever_longer_and_is_given_up);
    tcase_add_test(t, a_failure_can_be_the_last_of_ten_requests_in_vain);
    tcase_add_test(t, progress_ends_a_row_of_being_preempted);
    tcase_add_test(t,
                   a_fetch_that_no_reader_wants_any_longer_was_not_preempted);
    tcase_add_test(t, lanes_that_are_preempted_together_count_once);
    tcase_add_test(
        t, after_a_request_in_vain_they_come_one_by_one_until_one_has_progress);
    tcase_add_test(
        t, finding_out_that_it_knows_no_ranges_ends_a_row_of_being_preempted);
    tcase_add_test(t, a_dropped_depot_is_parked_when_its_last_fetch_has_ended);
    tcase_add_test(t, a_banned_depot_is_dropped_at_once);
    tcase_add_test(t, a_depot_banned_in_reserve_is_never_opened);
    tcase_add_test(t, bytes_that_a_depot_lost_come_from_another);
    tcase_add_test(t,
                   what_nobody_holds_fails_when_the_last_request_for_it_ends);
    tcase_add_test(t, one_that_rests_makes_room_if_only_others_could_go_on);
    tcase_add_test(t, one_that_rests_makes_room_before_one_that_is_awake);
    tcase_add_test(
        t, one_that_the_window_stops_makes_room_for_the_next_bytes_holder);
    tcase_add_test(t, one_without_ranges_is_not_used_while_another_delivers);
    tcase_add_test(t, one_without_ranges_is_asked_before_others_have_delivered);
    tcase_add_test(t, a_last_resort_is_asked_when_no_other_is_left);
    tcase_add_test(t, one_without_ranges_gives_way_to_the_first_that_delivers);
    tcase_add_test(t, one_without_ranges_stays_when_that_one_fails_at_once);
    tcase_add_test(t, one_without_ranges_stays_when_that_one_knows_none_either);
    tcase_add_test(t, one_without_ranges_stays_when_that_one_loses_the_rest);
    tcase_add_test(t, one_without_ranges_that_is_needed_does_not_give_way);
    tcase_add_test(t,
                   one_without_ranges_is_asked_once_from_first_missing_to_last);
    tcase_add_test(t, a_fetch_without_ranges_goes_up_to_the_next_cut);
    tcase_add_test(t, one_without_ranges_brings_only_what_no_other_could);
    tcase_add_test(t, the_window_does_not_shorten_a_fetch_without_ranges);
    tcase_add_test(t, finding_out_that_it_knows_no_ranges_is_no_failure);
    tcase_add_loop_test(
        t,
        of_several_requests_that_are_refused_the_second_or_third_was_too_many,
        0, sizeof thirds / sizeof *thirds);
    tcase_add_test(
        t, what_was_served_beside_the_refused_one_counts_when_it_is_answered);
    tcase_add_test(t,
                   a_depot_that_refuses_some_while_others_flow_has_not_failed);
    return run_suite("sched.holders", t);
}
