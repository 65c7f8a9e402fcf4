/* SPDX-License-Identifier: MIT */
#include "base/bucket.h"
#include "suite.h"

#define START (1000 * XD_SECOND)
#define RATE 1000000
#define PIECE 10000

START_TEST(without_a_rate_nobody_waits)
{
    struct xd_bucket b = {.rate = 0};

    ck_assert_uint_eq(xd_bucket_pay(&b, START, UINT64_MAX), 0);
    ck_assert_uint_eq(xd_bucket_pay(&b, START, UINT64_MAX), 0);
}
END_TEST

START_TEST(who_comes_waits_for_all_before_him)
{
    struct xd_bucket b = {.rate = RATE};
    xd_usec first = xd_bucket_pay(&b, START, RATE);

    ck_assert_uint_eq(first, 0);
    ck_assert_uint_eq(xd_bucket_pay(&b, START, RATE), 950 * XD_MS);
    ck_assert_uint_eq(xd_bucket_pay(&b, START, 1), 1950 * XD_MS);
    ck_assert_uint_eq(xd_bucket_pay(&b, START + XD_SECOND, 1), 950 * XD_MS + 1);
}
END_TEST

/* Many who come again as soon as they may, each late by up to `late`. */
static uint64_t run(xd_usec late, xd_usec time, uint64_t *out_most_per_s)
{
    struct xd_bucket b = {.rate = RATE};
    xd_usec turn[16], taken_at[2000];
    uint64_t n = 0, since = 0;

    for (int i = 0; i < 16; i++)
        turn[i] = START + xd_bucket_pay(&b, START, PIECE);
    *out_most_per_s = 0;
    for (;;) {
        int next = 0;

        for (int i = 1; i < 16; i++)
            next = turn[i] < turn[next] ? i : next;
        if (turn[next] >= START + time)
            return n * PIECE;
        taken_at[n++] = turn[next];
        while (taken_at[since] + XD_SECOND <= turn[next])
            since++;
        if ((n - since) * PIECE > *out_most_per_s)
            *out_most_per_s = (n - since) * PIECE;
        turn[next] += xd_bucket_pay(&b, turn[next], PIECE) + late * n % 7 / 7;
    }
}

START_TEST(a_rate_is_kept_in_every_second_and_reached)
{
    uint64_t most, all = run(0, 10 * XD_SECOND, &most);

    ck_assert_uint_le(most, RATE + RATE / 20 + PIECE);
    ck_assert_uint_ge(all, 10 * RATE - 16 * PIECE);
    ck_assert_uint_le(all, 10 * RATE + RATE / 20 + PIECE);
}
END_TEST

START_TEST(who_is_late_costs_nothing)
{
    uint64_t most, all = run(20 * XD_MS, 10 * XD_SECOND, &most);

    ck_assert_uint_ge(all, 10 * RATE - 32 * PIECE);
    ck_assert_uint_le(most, RATE + RATE / 10);
}
END_TEST

START_TEST(time_in_which_nobody_came_is_not_saved_up)
{
    struct xd_bucket b = {.rate = RATE};

    xd_bucket_pay(&b, START, RATE);
    ck_assert_uint_eq(xd_bucket_pay(&b, 2 * START, RATE / 20), 0);
    ck_assert_uint_eq(xd_bucket_pay(&b, 2 * START, RATE), 0);
    ck_assert_uint_eq(xd_bucket_pay(&b, 2 * START, 1), XD_SECOND);
}
END_TEST

START_TEST(what_is_not_taken_is_paid_back)
{
    struct xd_bucket b = {.rate = RATE};

    xd_bucket_pay(&b, START, RATE);
    xd_bucket_pay(&b, START, RATE);
    xd_bucket_refund(&b, RATE);
    ck_assert_uint_eq(xd_bucket_pay(&b, START, 1), 950 * XD_MS);
}
END_TEST

int main(void)
{
    TCase *tcase = tcase_create("bucket");

    tcase_add_test(tcase, without_a_rate_nobody_waits);
    tcase_add_test(tcase, who_comes_waits_for_all_before_him);
    tcase_add_test(tcase, a_rate_is_kept_in_every_second_and_reached);
    tcase_add_test(tcase, who_is_late_costs_nothing);
    tcase_add_test(tcase, time_in_which_nobody_came_is_not_saved_up);
    tcase_add_test(tcase, what_is_not_taken_is_paid_back);
    return run_suite("bucket", tcase);
}
