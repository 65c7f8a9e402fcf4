/* SPDX-License-Identifier: MIT */
/* What a depot would be asked for next, as it says, under the adaptive policy. */
#include "play.h"

#define BLOCK UINT64_C(1000000)

static struct play p;
static struct xd_guess guesses[2];

/* Of each depot it is known that it delivers a block per second: each request is
 * for one. */
static void begin(unsigned n_depots, uint64_t size)
{
    play_init(&p, &xd_policy_adaptive, n_depots, size);
    p.o.block_bytes = BLOCK;
    p.layout.guesses = guesses;
    for (unsigned i = 0; i < 2; i++)
        guesses[i] = (struct xd_guess){.rate = BLOCK, .latency = 10 * XD_MS};
    p.now = XD_SECOND;
}

static void setup(void)
{
    begin(1, 100 * BLOCK);
}

static void teardown(void)
{
    play_fini(&p);
}

static void hint(unsigned depot, uint64_t from, uint64_t to)
{
    play_event(&p, (struct xd_sched_event){.kind = XD_EV_HINT,
                                           .depot = depot,
                                           .range = {from, to}});
}

/* The next request of the depot, and its number. */
static unsigned expect_request(unsigned depot, uint64_t from, uint64_t to)
{
    for (;;) {
        struct xd_sched_action a = play_next(&p);

        ck_assert_int_ne(a.kind, XD_DO_WAIT);
        if (a.kind != XD_DO_FETCH || a.depot != depot)
            continue;
        ck_assert_uint_eq(a.range.begin, from);
        ck_assert_uint_eq(a.range.end, to);
        return a.fetch;
    }
}

/* Likewise, and it delivers. */
static void expect_delivered(uint64_t from, uint64_t to)
{
    unsigned fetch = expect_request(0, from, to);

    p.now += XD_SECOND * (to - from) / BLOCK;
    play_done(&p, fetch);
}

START_TEST(a_request_begins_with_what_its_depot_says)
{
    play_start(&p);
    hint(0, 50 * BLOCK, 50 * BLOCK + 10);
    expect_request(0, 50 * BLOCK, 51 * BLOCK);
}
END_TEST

START_TEST(once_it_was_asked_for_all_is_in_order)
{
    play_start(&p);
    hint(0, 50 * BLOCK, 51 * BLOCK);
    expect_delivered(50 * BLOCK, 51 * BLOCK);
    expect_delivered(0, BLOCK);
}
END_TEST

START_TEST(the_rest_of_it_is_next)
{
    play_start(&p);
    hint(0, 50 * BLOCK, 51 * BLOCK + 1);
    expect_delivered(50 * BLOCK, 51 * BLOCK);
    expect_delivered(51 * BLOCK, 52 * BLOCK);
    expect_delivered(0, BLOCK);
}
END_TEST

START_TEST(what_did_not_come_of_it_is_asked_for_in_order)
{
    unsigned fetch;

    play_start(&p);
    hint(0, 50 * BLOCK, 51 * BLOCK);
    fetch = expect_request(0, 50 * BLOCK, 51 * BLOCK);
    play_canceled(&p, fetch);
    expect_request(0, 0, BLOCK);
}
END_TEST

START_TEST(the_last_one_counts)
{
    play_start(&p);
    hint(0, 50 * BLOCK, 60 * BLOCK);
    hint(0, 70 * BLOCK, 71 * BLOCK);
    expect_delivered(70 * BLOCK, 71 * BLOCK);
    expect_delivered(0, BLOCK);
}
END_TEST

START_TEST(an_empty_one_ends_it)
{
    play_start(&p);
    hint(0, 50 * BLOCK, 60 * BLOCK);
    hint(0, 0, 0);
    expect_delivered(0, BLOCK);
}
END_TEST

START_TEST(what_is_here_of_it_is_not_asked_for)
{
    play_start(&p);
    play_range(&p, XD_EV_VERIFIED, 50 * BLOCK, 51 * BLOCK);
    hint(0, 50 * BLOCK, 51 * BLOCK + 1);
    expect_delivered(51 * BLOCK, 52 * BLOCK);
    hint(0, 50 * BLOCK, 51 * BLOCK);
    expect_delivered(0, BLOCK);
}
END_TEST

START_TEST(less_than_a_block_before_it_comes_along)
{
    play_start(&p);
    hint(0, BLOCK - 1, 2 * BLOCK);
    expect_delivered(0, BLOCK);
}
END_TEST

START_TEST(a_block_before_it_is_left)
{
    play_start(&p);
    hint(0, BLOCK, 2 * BLOCK);
    expect_delivered(BLOCK, 2 * BLOCK);
}
END_TEST

START_TEST(so_it_is_behind_what_is_here)
{
    play_start(&p);
    play_range(&p, XD_EV_VERIFIED, 10 * BLOCK, 11 * BLOCK);
    hint(0, 12 * BLOCK - 1, 13 * BLOCK);
    expect_delivered(11 * BLOCK, 12 * BLOCK);
    hint(0, 13 * BLOCK, 14 * BLOCK);
    expect_delivered(13 * BLOCK, 14 * BLOCK);
}
END_TEST

START_TEST(what_is_not_of_the_file_says_nothing)
{
    play_start(&p);
    hint(0, 100 * BLOCK, 101 * BLOCK);
    expect_delivered(0, BLOCK);
    hint(0, 50 * BLOCK, 49 * BLOCK);
    expect_delivered(BLOCK, 2 * BLOCK);
    hint(0, 99 * BLOCK, UINT64_MAX);
    expect_delivered(99 * BLOCK, 100 * BLOCK);
}
END_TEST

START_TEST(nor_does_what_its_depot_does_not_hold)
{
    struct xd_range part = {0, 40 * BLOCK};

    teardown();
    begin(2, 100 * BLOCK);
    p.holdings[0].held = &part;
    play_start(&p);
    hint(0, 50 * BLOCK, 60 * BLOCK);
    expect_request(0, 0, BLOCK);
}
END_TEST

START_TEST(other_depots_go_on_in_order)
{
    teardown();
    begin(2, 100 * BLOCK);
    play_start(&p);
    hint(1, 50 * BLOCK, 51 * BLOCK);
    expect_request(0, 0, BLOCK);
    expect_request(1, 50 * BLOCK, 51 * BLOCK);
}
END_TEST

/* Half of what the depot will still deliver is what one request asks for, when its
 * connection is made. */
#define AT_LEAST (2 * BLOCK + 3 * BLOCK / 100)

START_TEST(it_counts_as_long_as_requests_are_long)
{
    teardown();
    begin(1, AT_LEAST + 2);
    play_start(&p);
    hint(0, BLOCK, 2 * BLOCK);
    expect_request(0, BLOCK, AT_LEAST + 2);
}
END_TEST

START_TEST(the_end_is_in_order)
{
    teardown();
    begin(1, AT_LEAST - 100);
    play_start(&p);
    hint(0, BLOCK, 2 * BLOCK);
    expect_request(0, 0, BLOCK - 50);
}
END_TEST

START_TEST(a_request_begins_with_a_block)
{
    play_start(&p);
    hint(0, 6 * BLOCK - 1, 7 * BLOCK);
    expect_delivered(5 * BLOCK, 6 * BLOCK);
}
END_TEST

START_TEST(a_request_ends_with_a_block)
{
    guesses[0].rate = 2.5 * BLOCK;
    play_start(&p);
    hint(0, 50 * BLOCK, 51 * BLOCK);
    expect_request(0, 50 * BLOCK, 53 * BLOCK);
}
END_TEST

START_TEST(where_little_is_left_it_begins_sooner)
{
    guesses[0].rate = 3.0 * BLOCK;
    play_start(&p);
    hint(0, 99 * BLOCK, 100 * BLOCK);
    expect_delivered(97 * BLOCK, 100 * BLOCK);
    hint(0, 94 * BLOCK, 95 * BLOCK);
    expect_request(0, 94 * BLOCK, 97 * BLOCK);
}
END_TEST

START_TEST(less_than_a_block_behind_it_comes_along)
{
    teardown();
    begin(1, 100 * BLOCK - 1);
    play_start(&p);
    hint(0, 97 * BLOCK, 98 * BLOCK);
    expect_delivered(97 * BLOCK, 98 * BLOCK);
    play_range(&p, XD_EV_REJECTED, 97 * BLOCK, 98 * BLOCK);
    hint(0, 98 * BLOCK, 99 * BLOCK);
    expect_request(0, 98 * BLOCK, 100 * BLOCK - 1);
}
END_TEST

START_TEST(a_block_behind_it_is_left)
{
    play_start(&p);
    hint(0, 98 * BLOCK, 99 * BLOCK);
    expect_request(0, 98 * BLOCK, 99 * BLOCK);
}
END_TEST

START_TEST(readers_have_their_own_order)
{
    p.o.window_bytes = 50 * BLOCK;
    play_start(&p);
    play_reader(&p, 0);
    hint(0, 20 * BLOCK, 21 * BLOCK);
    for (struct xd_sched_action a; a = play_next(&p), a.kind != XD_DO_WAIT;)
        if (a.kind == XD_DO_FETCH)
            ck_assert_uint_eq(a.range.begin, 0);
}
END_TEST

START_TEST(the_algorithms_of_the_paper_do_not_heed_it)
{
    p.o.policy = &xd_policy_progress;
    play_start(&p);
    hint(0, 20 * BLOCK, 21 * BLOCK);
    expect_request(0, 0, BLOCK);
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("hint");

    tcase_add_checked_fixture(t, setup, teardown);
    tcase_add_test(t, a_request_begins_with_what_its_depot_says);
    tcase_add_test(t, once_it_was_asked_for_all_is_in_order);
    tcase_add_test(t, the_rest_of_it_is_next);
    tcase_add_test(t, what_did_not_come_of_it_is_asked_for_in_order);
    tcase_add_test(t, the_last_one_counts);
    tcase_add_test(t, an_empty_one_ends_it);
    tcase_add_test(t, what_is_here_of_it_is_not_asked_for);
    tcase_add_test(t, less_than_a_block_before_it_comes_along);
    tcase_add_test(t, a_block_before_it_is_left);
    tcase_add_test(t, so_it_is_behind_what_is_here);
    tcase_add_test(t, what_is_not_of_the_file_says_nothing);
    tcase_add_test(t, nor_does_what_its_depot_does_not_hold);
    tcase_add_test(t, other_depots_go_on_in_order);
    tcase_add_test(t, it_counts_as_long_as_requests_are_long);
    tcase_add_test(t, the_end_is_in_order);
    tcase_add_test(t, a_request_begins_with_a_block);
    tcase_add_test(t, a_request_ends_with_a_block);
    tcase_add_test(t, where_little_is_left_it_begins_sooner);
    tcase_add_test(t, less_than_a_block_behind_it_comes_along);
    tcase_add_test(t, a_block_behind_it_is_left);
    tcase_add_test(t, readers_have_their_own_order);
    tcase_add_test(t, the_algorithms_of_the_paper_do_not_heed_it);
    return run_suite("sched.hint", t);
}
