/* SPDX-License-Identifier: MIT */
#include "engine/trust/places.h"

#include "suite.h"

#define MIB ((uint64_t)1 << 20)

static struct xd_places places;

static void teardown(void)
{
    xd_places_fini(&places);
}

static void make(uint64_t begin, uint64_t end, size_t n, uint64_t bytes)
{
    ck_assert_int_eq(
        xd_places_init(&places, (struct xd_range){begin, end}, n, bytes, 7), 0);
}

START_TEST(both_ends_are_places_and_each_part_between_has_one)
{
    const uint64_t begin = 5 * MIB, end = 105 * MIB, bytes = MIB / 16;
    const uint64_t part = (end - begin - 2 * bytes) / 8;

    make(begin, end, 10, bytes);
    ck_assert_uint_eq(places.n, 10);
    ck_assert_uint_eq(places.list[0].begin, begin);
    ck_assert_uint_eq(places.list[9].end, end);
    for (size_t i = 0; i < 10; i++)
        ck_assert_uint_eq(xd_range_length(places.list[i]), bytes);
    for (size_t i = 1; i < 9; i++) {
        uint64_t first = begin + bytes + (i - 1) * part;

        ck_assert_uint_ge(places.list[i].begin, first);
        ck_assert_uint_le(places.list[i].end, first + part);
    }
}
END_TEST

START_TEST(the_places_between_the_ends_depend_on_the_seed)
{
    struct xd_places other;

    make(0, 100 * MIB, 5, 4096);
    ck_assert_int_eq(
        xd_places_init(&other, (struct xd_range){0, 100 * MIB}, 5, 4096, 8), 0);
    ck_assert_uint_ne(places.list[2].begin, other.list[2].begin);
    xd_places_fini(&other);
}
END_TEST

static const struct {
    uint64_t length, bytes;
    size_t n, expected;
} whole[] = {
    {0, 4096, 8, 0},
    {1, 4096, 8, 1},
    {4096, 4096, 8, 1},
    {4097, 4096, 8, 2},
    {MIB - 1, MIB / 16, 2, 16}, /* one byte too short for places */
    {MIB, MIB / 16, 2, 2},      /* no more */
    {7 * MIB, MIB, 8, 7},       /* shorter than its places */
};

START_TEST(a_short_file_is_compared_as_a_whole)
{
    uint64_t at = 10;

    make(10, 10 + whole[_i].length, whole[_i].n, whole[_i].bytes);
    ck_assert_uint_eq(places.n, whole[_i].expected);
    if (places.n == whole[_i].n)
        return;
    for (size_t i = 0; i < places.n; i++) {
        ck_assert_uint_eq(places.list[i].begin, at);
        at = places.list[i].end;
    }
    ck_assert_uint_eq(at, 10 + whole[_i].length);
}
END_TEST

int main(void)
{
    TCase *tests = tcase_create("places");

    tcase_add_checked_fixture(tests, NULL, teardown);
    tcase_add_test(tests, both_ends_are_places_and_each_part_between_has_one);
    tcase_add_test(tests, the_places_between_the_ends_depend_on_the_seed);
    tcase_add_loop_test(tests, a_short_file_is_compared_as_a_whole, 0,
                        sizeof whole / sizeof *whole);
    return run_suite("places", tests);
}
