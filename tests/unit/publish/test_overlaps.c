/* SPDX-License-Identifier: MIT */
/* Which extents have bytes of ranges that come in order. */
#include "publish/overlaps.h"

#include "suite.h"

/*  0    5    10   15   20
 *  0------------------       18 bytes
 *  1----                     5
 *       3----                5; and 2, of none
 *                 4----      5
 */
static struct xd_model_extent extents[] = {{.offset = 0, .length = 18},
                                           {.offset = 0, .length = 5},
                                           {.offset = 5, .length = 0},
                                           {.offset = 5, .length = 5},
                                           {.offset = 15, .length = 5}};
static const struct xd_model_file file = {
    .size = 20, .n_extents = 5, .extents = extents, .rare = &xd_model_plain};

static struct xd_overlaps of;

static void move(uint64_t begin, uint64_t end)
{
    xd_overlaps_move(&of, (struct xd_range){begin, end});
}

static bool has(size_t n, const size_t *list)
{
    for (size_t i = 0; i < n && i < of.n; i++)
        if (of.list[i] != list[i])
            return false;
    return of.n == n;
}

#define HAS(...)                                        \
    has(sizeof(size_t[]){__VA_ARGS__} / sizeof(size_t), \
        (const size_t[]){__VA_ARGS__})

static void setup(void)
{
    struct xd_error err;

    ck_assert_int_eq(xd_overlaps_init(&of, &file, &err), 0);
}

static void teardown(void)
{
    xd_overlaps_fini(&of);
}

START_TEST(extents_are_those_that_have_bytes_of_a_range)
{
    move(0, 5);
    ck_assert(HAS(0, 1));
    move(4, 6);
    ck_assert(HAS(0, 1, 3));
    move(5, 15);
    ck_assert(HAS(0, 3));
    move(10, 16);
    ck_assert(HAS(0, 4));
    move(17, 18);
    ck_assert(HAS(0, 4));
    move(18, 20);
    ck_assert(HAS(4));
    move(20, 30);
    ck_assert_uint_eq(of.n, 0);
}
END_TEST

START_TEST(what_lies_between_two_ranges_is_passed_over)
{
    move(0, 1);
    ck_assert(HAS(0, 1));
    move(10, 15);
    ck_assert(HAS(0));
}
END_TEST

START_TEST(all_are_there_for_one_range)
{
    move(0, 20);
    ck_assert(HAS(0, 1, 3, 4));
}
END_TEST

int main(void)
{
    TCase *tcase = tcase_create("overlaps");

    tcase_add_checked_fixture(tcase, setup, teardown);
    tcase_add_test(tcase, extents_are_those_that_have_bytes_of_a_range);
    tcase_add_test(tcase, what_lies_between_two_ranges_is_passed_over);
    tcase_add_test(tcase, all_are_there_for_one_range);
    return run_suite("overlaps", tcase);
}
