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
    return run_suite("guesses", tcase);
}
