/* SPDX-License-Identifier: MIT */
/* lib/base/array: arrays that grow, and a place in a sorted one. */
#include "base/array.h"

#include "base/alloc.h"
#include "suite.h"

struct run {
    char name;
    uint64_t end;
};

START_TEST(an_array_grows_with_room_for_one_more_and_keeps_what_it_has)
{
    unsigned *array = NULL;
    size_t capacity = 0;

    for (unsigned n = 0; n < 1000; n++) {
        array = xd_grow(array, n, &capacity, sizeof *array);
        ck_assert_ptr_nonnull(array);
        ck_assert_uint_gt(capacity, n);
        array[n] = n;
    }
    for (unsigned n = 0; n < 1000; n++)
        ck_assert_uint_eq(array[n], n);
    capacity = 1000;
    ck_assert_ptr_null(xd_grow(array, 1000, &capacity, SIZE_MAX / 2));
    ck_assert_uint_eq(capacity, 1000);
    ck_assert_uint_eq(array[999], 999);
    xd_free(array);
}
END_TEST

START_TEST(the_place_behind_the_last_that_is_not_more_is_found)
{
    const uint64_t keys[] = {3, 5, 5, UINT64_MAX};

    ck_assert_uint_eq(xd_count_up_to(2, keys, 4, sizeof *keys, 0), 0);
    ck_assert_uint_eq(xd_count_up_to(3, keys, 4, sizeof *keys, 0), 1);
    ck_assert_uint_eq(xd_count_up_to(4, keys, 4, sizeof *keys, 0), 1);
    ck_assert_uint_eq(xd_count_up_to(5, keys, 4, sizeof *keys, 0), 3);
    ck_assert_uint_eq(xd_count_up_to(UINT64_MAX, keys, 4, sizeof *keys, 0), 4);
}
END_TEST

START_TEST(a_key_may_stand_anywhere_in_an_element)
{
    const struct run runs[] = {{'a', 10}, {'b', 20}, {'c', 30}};

    for (uint64_t at = 0; at < 40; at++)
        ck_assert_uint_eq(xd_count_up_to(at, runs, 3, sizeof *runs,
                                         offsetof(struct run, end)),
                          at / 10 < 3 ? at / 10 : 3);
}
END_TEST

START_TEST(an_array_that_is_not_there_has_none)
{
    ck_assert_uint_eq(xd_count_up_to(7, NULL, 0, sizeof(uint64_t), 0), 0);
}
END_TEST

START_TEST(what_makes_an_array_longer_is_zero)
{
    unsigned *array = NULL;

    ck_assert_int_eq(xd_lengthen(&array, 0, 3, sizeof *array), 0);
    for (unsigned i = 0; i < 3; i++)
        ck_assert_uint_eq(array[i], 0);
    array[2] = 7;
    ck_assert_int_eq(xd_lengthen(&array, 3, 500, sizeof *array), 0);
    ck_assert_uint_eq(array[2], 7);
    for (unsigned i = 3; i < 500; i++)
        ck_assert_uint_eq(array[i], 0);
    ck_assert_int_lt(xd_lengthen(&array, 500, SIZE_MAX / 2, sizeof *array), 0);
    ck_assert_uint_eq(array[2], 7);
    xd_free(array);
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("array");

    tcase_add_test(t,
                   an_array_grows_with_room_for_one_more_and_keeps_what_it_has);
    tcase_add_test(t, the_place_behind_the_last_that_is_not_more_is_found);
    tcase_add_test(t, a_key_may_stand_anywhere_in_an_element);
    tcase_add_test(t, an_array_that_is_not_there_has_none);
    tcase_add_test(t, what_makes_an_array_longer_is_zero);
    return run_suite("base.array", t);
}
