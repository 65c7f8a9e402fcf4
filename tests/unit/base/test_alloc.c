/* SPDX-License-Identifier: MIT */
/* lib/base/alloc: zeroed memory, and no overflow of n * size. */
#include <stdint.h>
#include <string.h>

#include "base/alloc.h"
#include "suite.h"

START_TEST(new_memory_is_zeroed)
{
    unsigned char *p = xd_alloc(1000, 3);

    ck_assert_ptr_nonnull(p);
    for (size_t i = 0; i < 3000; i++)
        ck_assert_uint_eq(p[i], 0);
    xd_free(p);
}
END_TEST

START_TEST(nothing_at_all_is_not_out_of_memory)
{
    void *none = xd_alloc(0, 8), *empty = xd_alloc(8, 0);

    ck_assert_ptr_nonnull(none);
    ck_assert_ptr_nonnull(empty);
    none = xd_realloc(none, 0, 8);
    ck_assert_ptr_nonnull(none);
    xd_free(none);
    xd_free(empty);
    xd_free(NULL);
}
END_TEST

START_TEST(a_product_that_overflows_is_out_of_memory)
{
    /* Each of these is small, or fits, once it has wrapped around. */
    ck_assert_ptr_null(xd_alloc(SIZE_MAX / 2 + 1, 2));
    ck_assert_ptr_null(xd_alloc(2, SIZE_MAX / 2 + 1));
    ck_assert_ptr_null(xd_alloc(SIZE_MAX / 4 + 2, 4));
    ck_assert_ptr_null(xd_alloc(SIZE_MAX, 1));
}
END_TEST

START_TEST(a_failed_realloc_leaves_the_memory_as_before)
{
    char *p = xd_alloc(4, 1);

    ck_assert_ptr_nonnull(p);
    memcpy(p, "abc", 4);
    ck_assert_ptr_null(xd_realloc(p, SIZE_MAX / 4 + 2, 4));
    ck_assert_str_eq(p, "abc");
    p = xd_realloc(p, 1000, 4);
    ck_assert_ptr_nonnull(p);
    ck_assert_str_eq(p, "abc");
    xd_free(p);
}
END_TEST

START_TEST(a_copy_ends_at_its_length_or_at_the_nul)
{
    const char unterminated[3] = {'x', 'y', 'z'};
    char *all = xd_strdup("depot"), *three = xd_strndup(unterminated, 3);
    char *shorter = xd_strndup("ab", 100);

    ck_assert_str_eq(all, "depot");
    ck_assert_str_eq(three, "xyz");
    ck_assert_str_eq(shorter, "ab");
    xd_free(all);
    xd_free(three);
    xd_free(shorter);
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("alloc");

    tcase_add_test(t, new_memory_is_zeroed);
    tcase_add_test(t, nothing_at_all_is_not_out_of_memory);
    tcase_add_test(t, a_product_that_overflows_is_out_of_memory);
    tcase_add_test(t, a_failed_realloc_leaves_the_memory_as_before);
    tcase_add_test(t, a_copy_ends_at_its_length_or_at_the_nul);
    return run_suite("base.alloc", t);
}
