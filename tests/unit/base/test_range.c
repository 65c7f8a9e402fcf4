/* SPDX-License-Identifier: MIT */
/* lib/base/range: a set of byte ranges, held against a bitmap. */
#include <inttypes.h>
#include <string.h>

#include "base/range.h"
#include "suite.h"

#define R(b, e) ((struct xd_range){b, e})

static struct xd_rangeset set;

static void setup(void)
{
    xd_rangeset_init(&set);
}

static void teardown(void)
{
    xd_rangeset_fini(&set);
}

static void add(uint64_t begin, uint64_t end)
{
    ck_assert_int_eq(xd_rangeset_add(&set, R(begin, end)), 0);
}

static void take(uint64_t begin, uint64_t end)
{
    ck_assert_int_eq(xd_rangeset_remove(&set, R(begin, end)), 0);
}

static void holds(const struct xd_range *expected, size_t n)
{
    uint64_t bytes = 0;

    ck_assert_uint_eq(set.n, n);
    for (size_t i = 0; i < n; i++) {
        ck_assert_uint_eq(set.ranges[i].begin, expected[i].begin);
        ck_assert_uint_eq(set.ranges[i].end, expected[i].end);
        bytes += xd_range_length(expected[i]);
    }
    ck_assert_uint_eq(set.bytes, bytes);
}

#define HOLDS(...)                                           \
    do {                                                     \
        const struct xd_range expected[] = {__VA_ARGS__};    \
        holds(expected, sizeof expected / sizeof *expected); \
    } while (0)

static void is_range(struct xd_range r, uint64_t begin, uint64_t end)
{
    ck_assert_uint_eq(r.begin, begin);
    ck_assert_uint_eq(r.end, end);
}

START_TEST(ranges_that_touch_become_one)
{
    add(10, 20);
    add(30, 40);
    HOLDS(R(10, 20), R(30, 40));
    add(20, 30);
    HOLDS(R(10, 40));
}
END_TEST

START_TEST(a_range_swallows_those_that_it_covers)
{
    add(10, 20);
    add(30, 40);
    add(50, 60);
    add(5, 55);
    HOLDS(R(5, 60));
    add(10, 20);
    HOLDS(R(5, 60));
}
END_TEST

START_TEST(a_hole_in_the_middle_splits_a_range)
{
    add(0, 100);
    take(40, 60);
    HOLDS(R(0, 40), R(60, 100));
    take(30, 70);
    HOLDS(R(0, 30), R(70, 100));
    take(0, 30);
    HOLDS(R(70, 100));
    take(0, 1000);
    holds(NULL, 0);
}
END_TEST

START_TEST(an_empty_range_changes_nothing_and_is_always_there)
{
    ck_assert(xd_rangeset_contains(&set, R(5, 5)));
    add(5, 5);
    take(5, 5);
    holds(NULL, 0);
    add(0, 10);
    add(10, 10);
    take(5, 5);
    HOLDS(R(0, 10));
    ck_assert(xd_rangeset_contains(&set, R(500, 500)));
}
END_TEST

START_TEST(the_last_byte_that_can_be_named_is_a_byte)
{
    add(UINT64_MAX - 1, UINT64_MAX);
    add(0, 1);
    HOLDS(R(0, 1), R(UINT64_MAX - 1, UINT64_MAX));
    ck_assert(xd_rangeset_contains(&set, R(UINT64_MAX - 1, UINT64_MAX)));
    add(1, UINT64_MAX - 1);
    HOLDS(R(0, UINT64_MAX));
    take(UINT64_MAX - 1, UINT64_MAX);
    HOLDS(R(0, UINT64_MAX - 1));
    is_range(xd_rangeset_next_gap(&set, R(0, UINT64_MAX)), UINT64_MAX - 1,
             UINT64_MAX);
}
END_TEST

START_TEST(only_a_whole_range_is_contained)
{
    add(10, 20);
    add(25, 30);
    ck_assert(xd_rangeset_contains(&set, R(10, 20)));
    ck_assert(xd_rangeset_contains(&set, R(12, 13)));
    ck_assert(!xd_rangeset_contains(&set, R(9, 20)));
    ck_assert(!xd_rangeset_contains(&set, R(10, 21)));
    ck_assert(!xd_rangeset_contains(&set, R(10, 30)));
    ck_assert(!xd_rangeset_contains(&set, R(20, 25)));
}
END_TEST

START_TEST(runs_and_gaps_are_clipped_to_the_question)
{
    add(10, 20);
    add(30, 40);
    is_range(xd_rangeset_next(&set, R(0, 100)), 10, 20);
    is_range(xd_rangeset_next(&set, R(15, 18)), 15, 18);
    is_range(xd_rangeset_next(&set, R(20, 35)), 30, 35);
    is_range(xd_rangeset_next(&set, R(20, 30)), 30, 30);
    is_range(xd_rangeset_next(&set, R(40, 99)), 99, 99);
    is_range(xd_rangeset_next_gap(&set, R(0, 100)), 0, 10);
    is_range(xd_rangeset_next_gap(&set, R(15, 25)), 20, 25);
    is_range(xd_rangeset_next_gap(&set, R(35, 100)), 40, 100);
    is_range(xd_rangeset_next_gap(&set, R(10, 20)), 20, 20);
    is_range(xd_rangeset_next_gap(&set, R(7, 7)), 7, 7);
}
END_TEST

/* The model: one bool for each of a few bytes. */
#define BYTES 300u

static bool model[BYTES];

static size_t model_count(struct xd_range r)
{
    size_t count = 0;

    for (uint64_t i = r.begin; i < r.end; i++)
        count += model[i];
    return count;
}

static struct xd_range model_next(struct xd_range within, bool wanted)
{
    struct xd_range run = {within.begin, within.begin};

    while (run.begin < within.end && model[run.begin] != wanted)
        run.begin++;
    run.end = run.begin;
    while (run.end < within.end && model[run.end] == wanted)
        run.end++;
    return run;
}

static bool same(struct xd_range a, struct xd_range b)
{
    return a.begin == b.begin && a.end == b.end;
}

static bool set_is_tidy(void)
{
    for (size_t i = 0; i < set.n; i++) {
        if (xd_range_is_empty(set.ranges[i]))
            return false;
        if (i > 0 && set.ranges[i - 1].end >= set.ranges[i].begin)
            return false;
    }
    return set.n <= set.capacity;
}

static bool set_is_model(struct xd_range r)
{
    const struct xd_range all = {0, BYTES};

    return set_is_tidy() && set.bytes == model_count(all) &&
           xd_rangeset_contains(&set, r) ==
               (model_count(r) == xd_range_length(r)) &&
           same(xd_rangeset_next(&set, r), model_next(r, true)) &&
           same(xd_rangeset_next_gap(&set, r), model_next(r, false));
}

static uint32_t draw(uint64_t *state, uint32_t below)
{
    *state = *state * UINT64_C(6364136223846793005) + 1442695040888963407u;
    return (uint32_t)(*state >> 33) % below;
}

static struct xd_range draw_range(uint64_t *state, uint32_t longest)
{
    uint32_t begin = draw(state, BYTES);
    uint32_t end = begin + draw(state, longest);

    return R(begin, end < BYTES ? end : BYTES);
}

START_TEST(many_random_changes_agree_with_a_bitmap)
{
    uint64_t seed = (uint64_t)_i, state = seed;
    /* Few long ranges in one run, many short ones in another. */
    uint32_t longest = 3 + draw(&state, 40);

    memset(model, 0, sizeof model);
    for (int step = 0; step < 2000; step++) {
        struct xd_range r = draw_range(&state, longest);
        bool adds = draw(&state, 2) == 0;

        memset(model + r.begin, adds, xd_range_length(r));
        if (adds)
            add(r.begin, r.end);
        else
            take(r.begin, r.end);
        ck_assert_msg(set_is_model(r), "seed %" PRIu64 ", step %d", seed, step);
        ck_assert_msg(set_is_model(draw_range(&state, BYTES)),
                      "seed %" PRIu64 ", question after step %d", seed, step);
    }
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("range");

    tcase_add_checked_fixture(t, setup, teardown);
    tcase_add_test(t, ranges_that_touch_become_one);
    tcase_add_test(t, a_range_swallows_those_that_it_covers);
    tcase_add_test(t, a_hole_in_the_middle_splits_a_range);
    tcase_add_test(t, an_empty_range_changes_nothing_and_is_always_there);
    tcase_add_test(t, the_last_byte_that_can_be_named_is_a_byte);
    tcase_add_test(t, only_a_whole_range_is_contained);
    tcase_add_test(t, runs_and_gaps_are_clipped_to_the_question);
    tcase_add_loop_test(t, many_random_changes_agree_with_a_bitmap, 1, 9);
    return run_suite("base.range", t);
}
