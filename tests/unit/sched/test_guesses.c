/* SPDX-License-Identifier: MIT */
/* What is known of a depot before it is asked, under the adaptive policy. */
#include "play.h"

#define BLOCK UINT64_C(1000000)

static struct play p;
static struct xd_guess guesses[2];

static void setup(void)
{
    play_init(&p, &xd_policy_adaptive, 2, 100 * BLOCK);
    p.o.block_bytes = BLOCK;
    p.layout.guesses = guesses;
    guesses[0] = guesses[1] = (struct xd_guess){.rate = 0};
}

static void teardown(void)
{
    play_fini(&p);
}

/* How much the first request of a depot asks for. */
static uint64_t first_of(unsigned depot)
{
    for (;;) {
        struct xd_sched_action a = play_next(&p);

        ck_assert_int_ne(a.kind, XD_DO_WAIT);
        if (a.kind == XD_DO_FETCH && a.depot == depot)
            return xd_range_length(a.range);
    }
}

START_TEST(a_depot_that_is_known_is_asked_for_a_seconds_worth)
{
    guesses[0] = (struct xd_guess){.rate = 3.0 * BLOCK, .latency = 10 * XD_MS};
    play_start(&p);
    ck_assert_uint_eq(first_of(0), 3 * BLOCK);
}
END_TEST

START_TEST(a_depot_that_is_not_known_is_asked_for_a_block)
{
    guesses[1] = (struct xd_guess){.rate = 3.0 * BLOCK, .latency = 10 * XD_MS};
    play_start(&p);
    ck_assert_uint_eq(first_of(0), BLOCK);
}
END_TEST

START_TEST(until_it_answers_its_second_request_is_for_two_round_trips)
{
    p.o.lanes_per_depot = 2;
    guesses[0] = (struct xd_guess){.rate = 3.0 * BLOCK, .latency = 50 * XD_MS};
    play_start(&p);
    ck_assert_uint_eq(first_of(0), 3 * BLOCK);
    ck_assert_uint_eq(first_of(0), 3 * BLOCK / 10);
}
END_TEST

START_TEST(that_second_request_is_no_smaller_than_one_of_an_unknown_depot)
{
    p.o.lanes_per_depot = 2;
    guesses[0] =
        (struct xd_guess){.rate = BLOCK / 100.0, .latency = 50 * XD_MS};
    play_start(&p);
    ck_assert_uint_eq(first_of(0), BLOCK);
    ck_assert_uint_eq(first_of(0), BLOCK / 16 + 1);
}
END_TEST

/* ---- a request that was made before ---- */

START_TEST(a_request_that_was_made_is_gone_on_with)
{
    guesses[0].begun_to = BLOCK / 2;
    play_start(&p);
    ck_assert_uint_eq(first_of(0), BLOCK / 2);
    ck_assert_uint_eq(p.asked[0].begin, 0);
}
END_TEST

START_TEST(that_is_the_first_of_its_depot_alone)
{
    p.o.lanes_per_depot = 2;
    guesses[0].rate = 3.0 * BLOCK;
    guesses[0].latency = 50 * XD_MS;
    guesses[0].begun_to = 2 * BLOCK;
    play_start(&p);
    ck_assert_uint_eq(first_of(0), 2 * BLOCK);
    ck_assert_uint_ne(first_of(0), 2 * BLOCK);
}
END_TEST

START_TEST(no_more_of_it_than_is_wanted)
{
    p.wanted.end = BLOCK / 4;
    guesses[0].begun_to = BLOCK / 2;
    play_start(&p);
    ck_assert_uint_eq(first_of(0), BLOCK / 4);
}
END_TEST

START_TEST(nothing_of_it_if_what_is_wanted_begins_elsewhere)
{
    p.wanted.begin = BLOCK / 4;
    guesses[0].begun_to = BLOCK / 2;
    play_start(&p);
    ck_assert_uint_eq(first_of(0), BLOCK);
}
END_TEST

START_TEST(nor_if_its_depot_does_not_hold_it)
{
    struct xd_range end = {BLOCK, 100 * BLOCK};

    p.holdings[0].held = &end;
    guesses[0].begun_to = BLOCK / 2;
    play_start(&p);
    ck_assert_uint_eq(first_of(0), BLOCK);
}
END_TEST

START_TEST(as_far_as_its_depot_holds_it)
{
    struct xd_range beginning = {0, BLOCK / 4};

    p.holdings[0].held = &beginning;
    guesses[0].begun_to = BLOCK / 2;
    play_start(&p);
    ck_assert_uint_eq(first_of(0), BLOCK / 4);
}
END_TEST

START_TEST(nor_if_its_beginning_is_here)
{
    guesses[0].begun_to = BLOCK / 2;
    play_start(&p);
    play_range(&p, XD_EV_HELD, 0, 10);
    ck_assert_uint_eq(first_of(0), BLOCK);
}
END_TEST

START_TEST(once)
{
    p.layout.n_depots = 1;
    guesses[0].begun_to = BLOCK / 2;
    play_start(&p);
    ck_assert_uint_eq(first_of(0), BLOCK / 2);
    play_canceled(&p, 0);
    ck_assert_uint_eq(first_of(0), BLOCK);
}
END_TEST

START_TEST(it_was_asked_for_when_it_was)
{
    struct xd_sched_action a;

    guesses[0].begun_to = BLOCK / 2;
    guesses[0].begun_for = 200 * XD_MS;
    p.now = XD_SECOND;
    play_start(&p);
    do
        a = play_next(&p);
    while (a.kind != XD_DO_FETCH || a.depot != 0);
    play_bytes(&p, a.fetch, 1);
    /* Half of it was for a connection. */
    ck_assert_uint_eq(xd_sched_learned(p.s, 0).latency, 100 * XD_MS);
}
END_TEST

int main(void)
{
    TCase *tcase = tcase_create("guesses");

    tcase_add_checked_fixture(tcase, setup, teardown);
    tcase_add_test(tcase, a_depot_that_is_known_is_asked_for_a_seconds_worth);
    tcase_add_test(tcase, a_depot_that_is_not_known_is_asked_for_a_block);
    tcase_add_test(tcase,
                   until_it_answers_its_second_request_is_for_two_round_trips);
    tcase_add_test(
        tcase, that_second_request_is_no_smaller_than_one_of_an_unknown_depot);
    tcase_add_test(tcase, a_request_that_was_made_is_gone_on_with);
    tcase_add_test(tcase, that_is_the_first_of_its_depot_alone);
    tcase_add_test(tcase, no_more_of_it_than_is_wanted);
    tcase_add_test(tcase, nothing_of_it_if_what_is_wanted_begins_elsewhere);
    tcase_add_test(tcase, nor_if_its_depot_does_not_hold_it);
    tcase_add_test(tcase, as_far_as_its_depot_holds_it);
    tcase_add_test(tcase, nor_if_its_beginning_is_here);
    tcase_add_test(tcase, once);
    tcase_add_test(tcase, it_was_asked_for_when_it_was);
    return run_suite("guesses", tcase);
}
