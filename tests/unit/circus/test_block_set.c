/* SPDX-License-Identifier: MIT */
#include "circus/block_set.h"

#include "suite.h"

static uint64_t bits[4];

/* 200 blocks of 10 bytes, the last one of 4. */
static struct xd_block_set file_of_1994(void)
{
    bits[0] = bits[1] = bits[2] = bits[3] = 0;
    return (struct xd_block_set){
        .size = 1994, .block = 10, .n = 200, .bits = bits};
}

START_TEST(a_file_has_so_many_blocks)
{
    ck_assert_uint_eq(xd_block_set_n(1, 10), 1);
    ck_assert_uint_eq(xd_block_set_n(10, 10), 1);
    ck_assert_uint_eq(xd_block_set_n(11, 10), 2);
    ck_assert_uint_eq(xd_block_set_n(INT64_MAX, INT64_MAX), 1);
    ck_assert_uint_eq(xd_block_set_words(64), 1);
    ck_assert_uint_eq(xd_block_set_words(65), 2);
}
END_TEST

START_TEST(a_block_counts_with_its_middle_byte)
{
    struct xd_block_set b = file_of_1994();

    xd_block_set_add(&b, 0, 5);
    ck_assert_uint_eq(b.n_set, 0);
    xd_block_set_add(&b, 5, 6);
    ck_assert_uint_eq(b.n_set, 1);
    xd_block_set_add(&b, 6, 15);
    ck_assert_uint_eq(b.n_set, 1);
    xd_block_set_add(&b, 15, 16);
    ck_assert_uint_eq(b.n_set, 2);
}
END_TEST

START_TEST(the_middle_of_a_short_last_block_is_its_own)
{
    struct xd_block_set b = file_of_1994();

    xd_block_set_add(&b, 1990, 1992);
    ck_assert_uint_eq(b.n_set, 0);
    xd_block_set_add(&b, 1992, UINT64_MAX);
    ck_assert_uint_eq(b.n_set, 1);
}
END_TEST

START_TEST(ranges_of_any_edges_set_each_block_once)
{
    for (uint64_t step = 1; step < 45; step++) {
        struct xd_block_set b = file_of_1994();
        size_t n = 0;

        for (uint64_t at = 0; at < 1994; at += step) {
            xd_block_set_add(&b, at, at + step);
            ck_assert_uint_ge(b.n_set, n);
            n = b.n_set;
        }
        ck_assert_uint_eq(n, 200);
    }
}
END_TEST

START_TEST(what_is_set_twice_counts_once_and_clears_once)
{
    struct xd_block_set b = file_of_1994();

    xd_block_set_add(&b, 100, 200);
    xd_block_set_add(&b, 100, 200);
    ck_assert_uint_eq(b.n_set, 10);
    xd_block_set_remove(&b, 150, 160);
    xd_block_set_remove(&b, 150, 160);
    ck_assert_uint_eq(b.n_set, 9);
    ck_assert_uint_eq(xd_block_set_next_missing(&b, 10), 15);
    xd_block_set_remove(&b, 500, 300);
    xd_block_set_remove(&b, 5000, 6000);
    ck_assert_uint_eq(b.n_set, 9);
}
END_TEST

START_TEST(the_next_that_is_clear_is_looked_for_round_the_file)
{
    struct xd_block_set b = file_of_1994();

    ck_assert_uint_eq(xd_block_set_next_missing(&b, 199), 199);
    xd_block_set_add(&b, 20, 1994);
    ck_assert_uint_eq(xd_block_set_next_missing(&b, 1), 1);
    ck_assert_uint_eq(xd_block_set_next_missing(&b, 2), 0);
    xd_block_set_add(&b, 0, 10);
    ck_assert_uint_eq(xd_block_set_next_missing(&b, 199), 1);
    xd_block_set_add(&b, 10, 20);
    ck_assert_uint_eq(xd_block_set_next_missing(&b, 7), 200);
}
END_TEST

START_TEST(the_next_that_is_set_is_looked_for_up_to_an_end)
{
    struct xd_block_set b = file_of_1994();

    xd_block_set_add(&b, 1500, 1510);
    ck_assert_uint_eq(xd_block_set_next(&b, 0, 200), 150);
    ck_assert_uint_eq(xd_block_set_next(&b, 150, 200), 150);
    ck_assert_uint_eq(xd_block_set_next(&b, 151, 200), 200);
    ck_assert_uint_eq(xd_block_set_next(&b, 0, 150), 150);
    ck_assert_uint_eq(xd_block_set_next(&b, 0, 149), 149);
    ck_assert_uint_eq(xd_block_set_next(&b, 0, 100), 100);
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("block_set");

    tcase_add_test(t, a_file_has_so_many_blocks);
    tcase_add_test(t, a_block_counts_with_its_middle_byte);
    tcase_add_test(t, the_middle_of_a_short_last_block_is_its_own);
    tcase_add_test(t, ranges_of_any_edges_set_each_block_once);
    tcase_add_test(t, what_is_set_twice_counts_once_and_clears_once);
    tcase_add_test(t, the_next_that_is_clear_is_looked_for_round_the_file);
    tcase_add_test(t, the_next_that_is_set_is_looked_for_up_to_an_end);
    return run_suite("block_set", t);
}
