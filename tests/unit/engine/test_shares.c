/* SPDX-License-Identifier: MIT */
/* How far ahead of each reader is held in memory. */
#include "engine/readers/shares.h"

#include "suite.h"

#define WINDOW 8000

static struct xd_share shares[8];

static void share(size_t n, const uint64_t *places)
{
    for (size_t i = 0; i < n; i++)
        shares[i] = (struct xd_share){.at = places[i]};
    xd_shares(shares, n, WINDOW);
}

/* The places are in order. */
static void expect(size_t i, uint64_t front, uint64_t ahead)
{
    ck_assert_uint_eq(shares[i].front, front);
    ck_assert_uint_eq(shares[i].ahead, ahead);
}

/* All that is held together. */
static uint64_t held(size_t n)
{
    uint64_t sum = 0, end = 0;

    for (size_t i = 0; i < n; i++) {
        uint64_t to = shares[i].front + shares[i].ahead;
        uint64_t from = shares[i].at > end ? shares[i].at : end;

        sum += to > from ? to - from : 0;
        end = to > end ? to : end;
    }
    return sum;
}

START_TEST(one_has_all)
{
    share(1, (uint64_t[]){5});
    expect(0, 5, WINDOW);
}
END_TEST

START_TEST(those_at_one_place_have_all_together)
{
    share(3, (uint64_t[]){7, 7, 7});
    for (size_t i = 0; i < 3; i++)
        expect(i, 7, WINDOW);
}
END_TEST

START_TEST(those_who_follow_have_what_lies_between)
{
    share(3, (uint64_t[]){4000, 0, 1000});
    for (size_t i = 0; i < 3; i++)
        expect(i, 4000, 4000);
}
END_TEST

START_TEST(a_gap_of_seven_eighths_is_held_and_no_larger_one)
{
    share(2, (uint64_t[]){0, 7000});
    expect(0, 7000, 1000);
    share(2, (uint64_t[]){0, 7001});
    expect(0, 0, WINDOW / 2);
    expect(1, 7001, WINDOW / 2);
}
END_TEST

START_TEST(the_smaller_gap_is_held_first)
{
    share(3, (uint64_t[]){0, 6000, 9000});
    expect(0, 0, 2500);
    expect(1, 9000, 2500);
    expect(2, 9000, 2500);
}
END_TEST

START_TEST(those_far_apart_have_as_much_each)
{
    share(4, (uint64_t[]){0, 1000000, 2000000, UINT64_MAX});
    for (size_t i = 0; i < 4; i++)
        expect(i, shares[i].at, WINDOW / 4);
}
END_TEST

START_TEST(all_that_is_held_is_never_more_than_the_lookahead)
{
    uint64_t places[8], state = (uint64_t)_i;

    for (unsigned i = 0; i < 8; i++) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        places[i] = (state >> 40) % (1u << (_i % 20));
    }
    share(8, places);
    ck_assert_uint_le(held(8), WINDOW);
    ck_assert_uint_ge(held(8), WINDOW - 8);
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("shares");

    tcase_add_test(t, one_has_all);
    tcase_add_test(t, those_at_one_place_have_all_together);
    tcase_add_test(t, those_who_follow_have_what_lies_between);
    tcase_add_test(t, a_gap_of_seven_eighths_is_held_and_no_larger_one);
    tcase_add_test(t, the_smaller_gap_is_held_first);
    tcase_add_test(t, those_far_apart_have_as_much_each);
    tcase_add_loop_test(t, all_that_is_held_is_never_more_than_the_lookahead, 0,
                        200);
    return run_suite("engine.shares", t);
}
