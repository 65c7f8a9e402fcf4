#include "engine/trust/origins.h"

#include "suite.h"

#define SIZE 200

static struct xd_origins origins;

static void teardown(void)
{
    xd_origins_fini(&origins);
}

static void add(uint64_t begin, uint64_t end, unsigned depot)
{
    struct xd_range range = {begin, end};

    ck_assert_int_eq(xd_origins_add(&origins, range, depot), 0);
}

static void take(uint64_t begin, uint64_t end)
{
    struct xd_range range = {begin, end};

    ck_assert_int_eq(xd_origins_remove(&origins, range), 0);
}

static void assert_run(size_t i, uint64_t begin, uint64_t end, unsigned depot)
{
    ck_assert_uint_lt(i, origins.n);
    ck_assert_uint_eq(origins.runs[i].range.begin, begin);
    ck_assert_uint_eq(origins.runs[i].range.end, end);
    ck_assert_uint_eq(origins.runs[i].depot, depot);
}

START_TEST(neighbours_of_one_depot_are_one_run)
{
    add(0, 10, 1);
    add(20, 30, 1);
    add(10, 20, 1);
    ck_assert_uint_eq(origins.n, 1);
    assert_run(0, 0, 30, 1);
}
END_TEST

START_TEST(neighbours_of_two_depots_stay_apart)
{
    add(10, 20, 1);
    add(0, 10, 2);
    ck_assert_uint_eq(origins.n, 2);
    assert_run(0, 0, 10, 2);
    assert_run(1, 10, 20, 1);
}
END_TEST

START_TEST(taking_out_the_middle_leaves_two_ends)
{
    add(0, 30, 1);
    take(10, 20);
    ck_assert_uint_eq(origins.n, 2);
    assert_run(0, 0, 10, 1);
    assert_run(1, 20, 30, 1);
}
END_TEST

START_TEST(the_run_behind_a_byte_is_found)
{
    add(0, 10, 1);
    add(20, 30, 2);
    ck_assert_uint_eq(xd_origins_find(&origins, 0), 0);
    ck_assert_uint_eq(xd_origins_find(&origins, 9), 0);
    ck_assert_uint_eq(xd_origins_find(&origins, 10), 1);
    ck_assert_uint_eq(xd_origins_find(&origins, 30), 2);
}
END_TEST

static void assert_same(const unsigned *bytes)
{
    unsigned seen[SIZE] = {0};

    for (size_t i = 0; i < origins.n; i++) {
        struct xd_origin run = origins.runs[i];

        ck_assert_uint_lt(run.range.begin, run.range.end);
        for (uint64_t b = run.range.begin; b < run.range.end; b++) {
            ck_assert_uint_eq(seen[b], 0);
            seen[b] = run.depot;
        }
    }
    for (unsigned b = 0; b < SIZE; b++)
        ck_assert_uint_eq(seen[b], bytes[b]);
}

START_TEST(it_says_what_an_array_of_bytes_says)
{
    unsigned bytes[SIZE] = {0};
    unsigned long state = 7;

    for (int step = 0; step < 3000; step++) {
        unsigned begin, end, depot;
        int is_free = 1;

        state = state * 6364136223846793005ul + 1442695040888963407ul;
        begin = (unsigned)(state >> 33) % SIZE;
        end = begin + 1 + (unsigned)(state >> 45) % (SIZE - begin);
        depot = 1 + (unsigned)(state >> 57) % 3;
        for (unsigned b = begin; b < end; b++)
            is_free &= bytes[b] == 0;
        if (is_free)
            add(begin, end, depot);
        else
            take(begin, end);
        for (unsigned b = begin; b < end; b++)
            bytes[b] = is_free ? depot : 0;
        assert_same(bytes);
    }
}
END_TEST

int main(void)
{
    TCase *tcase = tcase_create("origins");

    tcase_add_checked_fixture(tcase, NULL, teardown);
    tcase_add_test(tcase, neighbours_of_one_depot_are_one_run);
    tcase_add_test(tcase, neighbours_of_two_depots_stay_apart);
    tcase_add_test(tcase, taking_out_the_middle_leaves_two_ends);
    tcase_add_test(tcase, the_run_behind_a_byte_is_found);
    tcase_add_test(tcase, it_says_what_an_array_of_bytes_says);
    return run_suite("origins", tcase);
}
