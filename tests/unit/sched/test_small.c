/* SPDX-License-Identifier: MIT */
/* A file that may come twice, under the adaptive policy. */
#include "play.h"

#define N 4
#define SIZE UINT64_C(80000)
#define SLICE UINT64_C(14000)
#define NEAR (5 * XD_MS)

static struct play p;
static struct xd_guess guesses[N];

static void setup(void)
{
    play_init(&p, &xd_policy_adaptive, N, SIZE);
    p.o.block_bytes = UINT64_C(1) << 20;
    p.o.lanes_per_depot = 2;
    p.now = XD_SECOND;
    p.layout.guesses = guesses;
    memset(guesses, 0, sizeof guesses);
}

static void teardown(void)
{
    play_fini(&p);
}

/* Begin without knowing anything; the fetch of depot i is *fetches + i. */
static void ask_all(unsigned *fetches)
{
    play_start(&p);
    expect_opened(&p, N);
    for (unsigned i = 0; i < N; i++)
        fetches[i] =
            expect_fetch(&p, i, SIZE - (i + 1) * SLICE, SIZE - i * SLICE);
}

START_TEST(each_depot_is_asked_for_one_slice_first)
{
    unsigned fetches[N];

    ask_all(fetches);
    expect_kind(&p, XD_DO_WAIT);
}
END_TEST

START_TEST(the_first_to_answer_is_asked_for_all_that_is_missing)
{
    unsigned fetches[N];

    ask_all(fetches);
    p.now += 2 * NEAR;
    play_done(&p, fetches[2]);
    expect_fetch(&p, 2, 0, SIZE);
    expect_kind(&p, XD_DO_WAIT);
}
END_TEST

START_TEST(who_answers_later_takes_the_end_of_a_long_request)
{
    struct xd_sched_action a;
    uint64_t end = 1000000 - N * SLICE;

    p.whole.end = p.wanted.end = p.layout.size = 1000000;
    play_start(&p);
    expect_opened(&p, N);
    for (unsigned i = 0; i < N; i++)
        expect_kind(&p, XD_DO_FETCH);
    p.now += 2 * NEAR;
    for (unsigned i = 0; i < N; i++)
        play_bytes(&p, 2 * i, p.asked[2 * i].begin + 1000);
    p.now += XD_MS;
    play_done(&p, 0);
    expect_fetch(&p, 0, 0, end);
    play_done(&p, 2);
    a = play_next(&p);
    ck_assert_int_eq(a.kind, XD_DO_FETCH);
    ck_assert_uint_eq(a.depot, 1);
    ck_assert_uint_eq(a.range.end, end);
    ck_assert_uint_gt(a.range.begin, end / 4);
    ck_assert_uint_lt(a.range.begin, end);
}
END_TEST

START_TEST(who_gave_the_end_and_falls_silent_gives_the_rest)
{
    struct xd_sched_action a;

    p.whole.end = p.wanted.end = p.layout.size = 1000000;
    play_start(&p);
    expect_opened(&p, N);
    for (unsigned i = 0; i < N; i++)
        expect_kind(&p, XD_DO_FETCH);
    p.now += 2 * NEAR;
    for (unsigned i = 0; i < N; i++)
        play_bytes(&p, 2 * i, p.asked[2 * i].begin + 1000);
    p.now += XD_MS;
    play_done(&p, 0);
    expect_kind(&p, XD_DO_FETCH);
    play_done(&p, 2);
    a = play_next(&p);
    ck_assert_uint_eq(a.depot, 1);
    p.now += XD_SECOND;
    play_done(&p, a.fetch);
    expect_fetch(&p, 1, 0, a.range.begin);
}
END_TEST

START_TEST(a_few_bytes_are_asked_of_few)
{
    p.whole.end = p.wanted.end = p.layout.size = 1500;
    play_start(&p);
    expect_opened(&p, N);
    expect_fetch(&p, 0, 1500 - 1024, 1500);
    expect_fetch(&p, 1, 0, 1500 - 1024);
    expect_kind(&p, XD_DO_WAIT);
}
END_TEST

START_TEST(the_depot_that_is_known_to_be_nearest_is_asked_for_all)
{
    guesses[1] = (struct xd_guess){.latency = 2 * NEAR};
    guesses[2] = (struct xd_guess){.latency = NEAR};
    play_start(&p);
    expect_opened(&p, N);
    expect_fetch(&p, 2, 0, SIZE);
    expect_kind(&p, XD_DO_WAIT);
}
END_TEST

START_TEST(a_near_depot_that_is_known_to_be_slow_is_not)
{
    guesses[1] = (struct xd_guess){.latency = 2 * NEAR};
    guesses[2] = (struct xd_guess){.rate = 1e6, .latency = NEAR};
    play_start(&p);
    expect_opened(&p, N);
    expect_fetch(&p, 1, 0, SIZE);
}
END_TEST

START_TEST(when_it_says_nothing_others_are_asked_soon)
{
    guesses[0] = (struct xd_guess){.latency = NEAR};
    play_start(&p);
    expect_opened(&p, N);
    expect_fetch(&p, 0, 0, SIZE);
    p.now += 2 * NEAR;
    expect_kind(&p, XD_DO_WAIT);
    p.now += 30 * XD_MS;
    for (unsigned i = 1; i < N; i++)
        expect_fetch(&p, i, SIZE - i * SLICE, SIZE - (i - 1) * SLICE);
    expect_kind(&p, XD_DO_WAIT);
}
END_TEST

START_TEST(when_it_falls_silent_others_are_asked_soon)
{
    guesses[0] = (struct xd_guess){.latency = NEAR};
    play_start(&p);
    expect_opened(&p, N);
    expect_fetch(&p, 0, 0, SIZE);
    p.now += 2 * NEAR;
    play_bytes(&p, 0, SLICE);
    expect_kind(&p, XD_DO_WAIT);
    p.now += 80 * XD_MS;
    expect_fetch(&p, 1, SIZE - SLICE, SIZE);
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("small");

    tcase_add_checked_fixture(t, setup, teardown);
    tcase_add_test(t, each_depot_is_asked_for_one_slice_first);
    tcase_add_test(t, the_first_to_answer_is_asked_for_all_that_is_missing);
    tcase_add_test(t, who_answers_later_takes_the_end_of_a_long_request);
    tcase_add_test(t, who_gave_the_end_and_falls_silent_gives_the_rest);
    tcase_add_test(t, a_few_bytes_are_asked_of_few);
    tcase_add_test(t, the_depot_that_is_known_to_be_nearest_is_asked_for_all);
    tcase_add_test(t, a_near_depot_that_is_known_to_be_slow_is_not);
    tcase_add_test(t, when_it_says_nothing_others_are_asked_soon);
    tcase_add_test(t, when_it_falls_silent_others_are_asked_soon);
    return run_suite("sched.small", t);
}
