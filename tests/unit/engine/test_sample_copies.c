/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "engine/trust/sample_copies.h"
#include "suite.h"

#define MIB ((uint64_t)1 << 20)

static const struct xd_range range = {100, 104};
static struct xd_sample_copies sample_copies;

static void set_up(void)
{
    xd_sample_copies_init(&sample_copies, range);
}

static void tear_down(void)
{
    xd_sample_copies_fini(&sample_copies);
}

static void hear_of(unsigned depot, unsigned origin, uint64_t at,
                    const char *bytes)
{
    struct xd_range r = {at, at + strlen(bytes)};

    ck_assert_int_eq(
        xd_sample_copies_add(&sample_copies, depot, origin, r, bytes), 0);
}

static void hear(unsigned depot, uint64_t at, const char *bytes)
{
    hear_of(depot, depot, at, bytes);
}

START_TEST(samples_are_a_thousandth_at_most_and_64_kib)
{
    for (uint64_t size = MIB; size < MIB << 20; size = size * 3 / 2 + 7) {
        struct xd_range wanted = {13, 13 + size}, out[XD_SAMPLES_MAX];
        size_t n = xd_sample_ranges(wanted, out);
        uint64_t bytes = 0, end = wanted.begin;

        ck_assert_uint_ge(n, 1);
        for (size_t i = 0; i < n; i++) {
            ck_assert_uint_ge(out[i].begin, end);
            ck_assert_uint_le(xd_range_length(out[i]), XD_SAMPLE_BYTES);
            end = out[i].end;
            bytes += xd_range_length(out[i]);
        }
        ck_assert_uint_le(end, wanted.end);
        ck_assert_uint_le(bytes, size / 1000);
        ck_assert_uint_le(bytes, 64 << 10);
        if (size > 100 * MIB)
            ck_assert_uint_eq(bytes, 64 << 10);
    }
}
END_TEST

START_TEST(samples_of_a_file_are_the_same_each_time_and_not_those_of_another)
{
    struct xd_range one[XD_SAMPLES_MAX], other[XD_SAMPLES_MAX];
    size_t n = xd_sample_ranges((struct xd_range){0, 10 * MIB}, one);

    ck_assert_uint_eq(xd_sample_ranges((struct xd_range){0, 10 * MIB}, other),
                      n);
    ck_assert_int_eq(memcmp(one, other, n * sizeof *one), 0);
    xd_sample_ranges((struct xd_range){0, 10 * MIB + 1}, other);
    ck_assert_uint_ne(one[0].begin, other[0].begin);
}
END_TEST

START_TEST(small_files_and_those_of_unknown_size_have_no_samples)
{
    struct xd_range out[XD_SAMPLES_MAX];

    ck_assert_uint_eq(xd_sample_ranges((struct xd_range){0, 0}, out), 0);
    ck_assert_uint_eq(xd_sample_ranges((struct xd_range){0, MIB - 1}, out), 0);
    ck_assert_uint_eq(
        xd_sample_ranges((struct xd_range){0, XD_SIZE_UNKNOWN}, out), 0);
}
END_TEST

START_TEST(opinion_is_put_together_of_what_comes)
{
    hear(7, 98, "xx");
    hear(7, 101, "yyy"); /* its beginning is missing */
    ck_assert_uint_eq(xd_sample_copies_count(&sample_copies), 0);
    hear(7, 98, "..ab");
    ck_assert_ptr_null(xd_sample_copies_of(&sample_copies, 7));
    hear(7, 101, "bcd....");
    ck_assert_ptr_nonnull(xd_sample_copies_of(&sample_copies, 7));
    ck_assert_int_eq(
        memcmp(xd_sample_copies_of(&sample_copies, 7)->bytes, "abcd", 4), 0);
    hear(7, 100, "zzzz");
    ck_assert_int_eq(
        memcmp(xd_sample_copies_of(&sample_copies, 7)->bytes, "abcd", 4), 0);
}
END_TEST

START_TEST(those_who_agree_have_no_dispute)
{
    ck_assert(!xd_sample_copies_differ(&sample_copies));
    hear(0, 100, "abcd");
    ck_assert(!xd_sample_copies_differ(&sample_copies));
    ck_assert_ptr_null(xd_sample_copies_majority(&sample_copies));
    hear(1, 100, "abcd");
    hear(2, 100, "xy"); /* has not told all of it */
    ck_assert(!xd_sample_copies_differ(&sample_copies));
    ck_assert_ptr_nonnull(xd_sample_copies_majority(&sample_copies));
}
END_TEST

START_TEST(of_two_who_differ_neither_is_right)
{
    hear(0, 100, "abcd");
    hear(1, 100, "abce");
    ck_assert(xd_sample_copies_differ(&sample_copies));
    ck_assert_ptr_null(xd_sample_copies_majority(&sample_copies));
}
END_TEST

START_TEST(third_one_decides_whom_it_agrees_with)
{
    hear(0, 100, "abcd");
    hear(1, 100, "abce");
    hear(2, 100, "abce");
    const struct xd_sample_copy *right =
        xd_sample_copies_majority(&sample_copies);

    ck_assert_ptr_nonnull(right);
    ck_assert(xd_sample_copy_differs(
        &sample_copies, xd_sample_copies_of(&sample_copies, 0), right));
    ck_assert(!xd_sample_copy_differs(
        &sample_copies, xd_sample_copies_of(&sample_copies, 1), right));
    ck_assert(!xd_sample_copy_differs(
        &sample_copies, xd_sample_copies_of(&sample_copies, 2), right));
}
END_TEST

START_TEST(two_against_two_need_a_fifth)
{
    hear(0, 100, "abcd");
    hear(1, 100, "abce");
    hear(2, 100, "abce");
    hear(3, 100, "abcd");
    ck_assert_ptr_null(xd_sample_copies_majority(&sample_copies));
    hear(4, 100, "abcd");
    const struct xd_sample_copy *right =
        xd_sample_copies_majority(&sample_copies);

    ck_assert_ptr_nonnull(right);
    ck_assert_int_eq(memcmp(right->bytes, "abcd", 4), 0);
}
END_TEST

#define ORIGIN 9

START_TEST(caches_of_one_origin_are_one_witness)
{
    const struct xd_sample_copy *right;

    hear_of(0, ORIGIN, 100, "abcd");
    hear_of(1, ORIGIN, 100, "abcd");
    ck_assert_uint_eq(xd_sample_copies_count(&sample_copies), 1);
    ck_assert_ptr_null(xd_sample_copies_majority(&sample_copies));
    hear(2, 100, "abce");
    ck_assert(xd_sample_copies_differ(&sample_copies));
    ck_assert_ptr_null(xd_sample_copies_majority(&sample_copies));
    hear(3, 100, "abce");
    right = xd_sample_copies_majority(&sample_copies);
    ck_assert_ptr_nonnull(right);
    ck_assert_int_eq(memcmp(right->bytes, "abce", 4), 0);
    ck_assert_ptr_null(xd_sample_copies_contradicted(&sample_copies, &right));
}
END_TEST

START_TEST(cache_that_differs_from_its_origin_is_wrong)
{
    const struct xd_sample_copy *right, *wrong;

    hear_of(0, ORIGIN, 100, "abcd");
    hear_of(1, ORIGIN, 100, "abce");
    hear(ORIGIN, 100, "abcd");
    ck_assert_uint_eq(xd_sample_copies_count(&sample_copies), 2);
    wrong = xd_sample_copies_contradicted(&sample_copies, &right);
    ck_assert_ptr_nonnull(wrong);
    ck_assert_uint_eq(wrong->depot, 1);
    ck_assert_uint_eq(right->depot, ORIGIN);
    xd_sample_copies_forget(&sample_copies, 1);
    ck_assert_ptr_null(xd_sample_copies_contradicted(&sample_copies, &right));
    ck_assert(!xd_sample_copies_differ(&sample_copies));
}
END_TEST

START_TEST(caches_of_an_origin_that_speaks_have_no_voice)
{
    hear_of(0, ORIGIN, 100, "abcd");
    hear(ORIGIN, 100, "abcd");
    hear(2, 100, "abce");
    ck_assert_ptr_null(xd_sample_copies_majority(&sample_copies));
    hear(3, 100, "abce");
    ck_assert_int_eq(
        memcmp(xd_sample_copies_majority(&sample_copies)->bytes, "abce", 4), 0);
}
END_TEST

START_TEST(who_is_forgotten_has_no_voice)
{
    hear(0, 100, "abcd");
    hear(1, 100, "abce");
    xd_sample_copies_forget(&sample_copies, 0);
    xd_sample_copies_forget(&sample_copies, 5);
    ck_assert(!xd_sample_copies_differ(&sample_copies));
    ck_assert_uint_eq(xd_sample_copies_count(&sample_copies), 1);
    ck_assert_ptr_null(xd_sample_copies_of(&sample_copies, 0));
}
END_TEST

int main(void)
{
    TCase *tcase = tcase_create("sample_copies");

    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_add_test(tcase, samples_are_a_thousandth_at_most_and_64_kib);
    tcase_add_test(
        tcase,
        samples_of_a_file_are_the_same_each_time_and_not_those_of_another);
    tcase_add_test(tcase,
                   small_files_and_those_of_unknown_size_have_no_samples);
    tcase_add_test(tcase, opinion_is_put_together_of_what_comes);
    tcase_add_test(tcase, those_who_agree_have_no_dispute);
    tcase_add_test(tcase, of_two_who_differ_neither_is_right);
    tcase_add_test(tcase, third_one_decides_whom_it_agrees_with);
    tcase_add_test(tcase, two_against_two_need_a_fifth);
    tcase_add_test(tcase, caches_of_one_origin_are_one_witness);
    tcase_add_test(tcase, cache_that_differs_from_its_origin_is_wrong);
    tcase_add_test(tcase, caches_of_an_origin_that_speaks_have_no_voice);
    tcase_add_test(tcase, who_is_forgotten_has_no_voice);
    return run_suite("sample_copies", tcase);
}
