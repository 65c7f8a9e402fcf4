/* SPDX-License-Identifier: MIT */
/* Which combinations of copies and parity are tried, and in which order. */
#include "session/combinations.h"

#include <string.h>

#include "suite.h"

#define MOST 200

static unsigned needed[MOST];
static struct xd_combined_place places[MOST];
static struct xd_combined_copy copies[MOST];
static bool is_wrong[MOST]; /* each copy */
static struct xd_combinations c;
static size_t last[MOST]; /* the combination that was tried last */

/* A combination is right if no copy of it is wrong. */
static bool is_right(void *user, const size_t *chosen)
{
    bool result = true;

    ck_assert_ptr_eq(user, &c);
    memcpy(last, chosen, c.n_places * sizeof *chosen);
    for (unsigned i = 0; i < c.n_places; i++)
        result &= chosen[i] == XD_NO_COPY || !is_wrong[chosen[i]];
    return result;
}

static void setup(void)
{
    c = (struct xd_combinations){.needed = needed,
                                 .places = places,
                                 .copies = copies,
                                 .n_depots = 10,
                                 .most = XD_COMBINATIONS_MOST,
                                 .is_right = is_right,
                                 .user = &c};
    memset(is_wrong, 0, sizeof is_wrong);
}

/* A column of k + m places of which the first `n_wanted` are in the piece. */
static void add_column(unsigned k, unsigned m, unsigned n_wanted)
{
    needed[c.n_columns] = k;
    for (unsigned i = 0; i < k + m; i++)
        places[c.n_places++] =
            (struct xd_combined_place){c.n_columns, i < n_wanted};
    c.n_columns++;
}

static void add_copy(unsigned place, unsigned depot)
{
    copies[c.n_copies++] = (struct xd_combined_copy){place, depot, false};
}

/* A stripe of 4 + 2: each shard lies at the depot of its number. */
static void add_stripe(unsigned n_wanted)
{
    const unsigned first = c.n_places;

    add_column(4, 2, n_wanted);
    for (unsigned i = 0; i < 6; i++)
        add_copy(first + i, i);
}

static void expect(enum xd_combined outcome, unsigned n_tried)
{
    c.n_tried = 0;
    ck_assert_int_eq(xd_combinations_try(&c), (int)outcome);
    ck_assert_uint_eq(c.n_tried, n_tried);
}

START_TEST(what_is_right_is_found_at_once)
{
    add_stripe(2);
    expect(XD_COMBINED_RIGHT, 1);
    ck_assert_uint_eq(last[0], 0);
    ck_assert_uint_eq(last[1], 1);
    ck_assert_uint_eq(last[2], XD_NO_COPY); /* it is not needed */
}
END_TEST

START_TEST(one_wrong_copy_of_several_is_left_out)
{
    add_column(1, 0, 1);
    add_column(1, 0, 1);
    add_copy(0, 0);
    add_copy(0, 1);
    add_copy(1, 2);
    add_copy(1, 3);
    is_wrong[2] = true;
    expect(XD_COMBINED_RIGHT, 3);
    ck_assert_uint_eq(last[0], 0);
    ck_assert_uint_eq(last[1], 3);
}
END_TEST

START_TEST(two_depots_may_each_be_wrong_where_the_other_is_right)
{
    add_column(1, 0, 1);
    add_column(1, 0, 1);
    add_copy(0, 0);
    add_copy(0, 1);
    add_copy(1, 1);
    add_copy(1, 0);
    is_wrong[0] = is_wrong[2] = true;
    ck_assert_int_eq(xd_combinations_try(&c), XD_COMBINED_RIGHT);
    ck_assert_uint_eq(last[0], 1);
    ck_assert_uint_eq(last[1], 3);
}
END_TEST

START_TEST(a_wrong_shard_is_computed_from_the_others)
{
    add_stripe(4);
    is_wrong[1] = true;
    expect(XD_COMBINED_RIGHT, 3); /* nothing, 0, and 1 are left out */
    ck_assert_uint_eq(last[1], XD_NO_COPY);
    ck_assert_uint_eq(last[4], 4);
    ck_assert_uint_eq(last[5], XD_NO_COPY);
}
END_TEST

static const unsigned pairs[][2] = {{0, 1}, {0, 3}, {2, 5}, {1, 4}, {4, 5}};

START_TEST(any_two_of_six_may_be_wrong)
{
    const unsigned *pair = pairs[_i];

    add_stripe(1); /* the other shards only help */
    is_wrong[pair[0]] = is_wrong[pair[1]] = true;
    ck_assert_int_eq(xd_combinations_try(&c), XD_COMBINED_RIGHT);
    ck_assert_uint_le(c.n_tried, 15);
}
END_TEST

START_TEST(three_wrong_of_six_are_too_many)
{
    add_stripe(4);
    is_wrong[0] = is_wrong[1] = is_wrong[5] = true;
    expect(XD_COMBINED_NONE, 15); /* 4 of 6 */
}
END_TEST

START_TEST(one_depot_is_left_out_of_many_stripes_at_once)
{
    for (unsigned i = 0; i < 8; i++)
        add_stripe(4);
    for (unsigned i = 0; i < 8; i++)
        is_wrong[6 * i + 3] = true;
    ck_assert_int_eq(xd_combinations_try(&c), XD_COMBINED_RIGHT);
    ck_assert_uint_le(c.n_tried, 40);
}
END_TEST

START_TEST(what_is_proved_is_never_left_out)
{
    add_stripe(4);
    for (unsigned i = 0; i < 4; i++)
        copies[i].is_proved = i != 2;
    is_wrong[2] = true;
    expect(XD_COMBINED_RIGHT, 2);
}
END_TEST

START_TEST(a_place_without_copies_is_computed)
{
    add_column(2, 1, 2);
    add_copy(1, 1);
    add_copy(2, 2);
    expect(XD_COMBINED_RIGHT, 1);
    ck_assert_uint_eq(last[0], XD_NO_COPY);
    is_wrong[1] = true;
    expect(XD_COMBINED_NONE, 1);
}
END_TEST

static void add_wrong_copies(void)
{
    for (unsigned i = 0; i < 12; i++)
        add_column(1, 0, 1);
    for (unsigned i = 0; i < 12; i++)
        for (unsigned k = 0; k < 4; k++)
            add_copy(i, k);
    memset(is_wrong, true, sizeof is_wrong);
}

START_TEST(of_a_long_piece_fewer_are_tried)
{
    add_wrong_copies();
    c.most = 20;
    expect(XD_COMBINED_BOUND, 20);
}
END_TEST

START_TEST(after_a_thousand_combinations_no_more_are_tried)
{
    add_wrong_copies();
    expect(XD_COMBINED_BOUND, XD_COMBINATIONS_MOST);
    ck_assert_int_eq(xd_combinations_try(&c), XD_COMBINED_BOUND);
    ck_assert_uint_eq(c.n_tried, XD_COMBINATIONS_MOST); /* of both searches */
}
END_TEST

int main(void)
{
    TCase *tcase = tcase_create("combinations");

    tcase_add_checked_fixture(tcase, setup, NULL);
    tcase_add_test(tcase, what_is_right_is_found_at_once);
    tcase_add_test(tcase, one_wrong_copy_of_several_is_left_out);
    tcase_add_test(tcase,
                   two_depots_may_each_be_wrong_where_the_other_is_right);
    tcase_add_test(tcase, a_wrong_shard_is_computed_from_the_others);
    tcase_add_loop_test(tcase, any_two_of_six_may_be_wrong, 0,
                        sizeof pairs / sizeof *pairs);
    tcase_add_test(tcase, three_wrong_of_six_are_too_many);
    tcase_add_test(tcase, one_depot_is_left_out_of_many_stripes_at_once);
    tcase_add_test(tcase, what_is_proved_is_never_left_out);
    tcase_add_test(tcase, a_place_without_copies_is_computed);
    tcase_add_test(tcase, of_a_long_piece_fewer_are_tried);
    tcase_add_test(tcase, after_a_thousand_combinations_no_more_are_tried);
    return run_suite("combinations", tcase);
}
