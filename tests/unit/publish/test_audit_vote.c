/* SPDX-License-Identifier: MIT */
#include "publish/audit_vote.h"

#include "suite.h"
#include "url_of.h"

#define DEPOTS 4
#define CELLS 3

/* Up to four replicas of an extent of three cells, of which the last is a
 * piece. */
static struct xd_audit_cells cells;
static struct xd_audit_extent extent;
static struct xd_audit_shown shown[DEPOTS];
static unsigned char states[DEPOTS][CELLS];
static char digests[DEPOTS][CELLS][XD_AUDIT_HEX + 1];

/* "ab" is digest a of cell 0 and b of cell 1; '-' was not read. */
static void show(size_t i, const char *url, const char *letters)
{
    shown[i] = (struct xd_audit_shown){.url = url_of(url),
                                       .extent = &extent,
                                       .states = states[i],
                                       .digests = digests[i]};
    states[i][2] = XD_CELL_RIGHT;
    for (size_t k = 0; k < 2; k++) {
        states[i][k] = letters[k] == '-' ? XD_CELL_UNREAD : XD_CELL_READ;
        digests[i][k][0] = letters[k];
        digests[i][k][1] = '\0';
    }
}

static void vote(size_t n)
{
    ck_assert_int_eq(xd_audit_vote(&cells, shown, n), 0);
}

static void assert_states(size_t i, enum xd_cell_state first,
                          enum xd_cell_state second)
{
    ck_assert_int_eq(states[i][0], first);
    ck_assert_int_eq(states[i][1], second);
    ck_assert_int_eq(states[i][2], XD_CELL_RIGHT);
}

static void begin(void)
{
    const struct xd_audit_plan plan = {
        .size = 3, .cell_bytes = 1, .is_full = true};

    extent = (struct xd_audit_extent){.at = {0, 3}};
    ck_assert_int_eq(xd_audit_cells_init(&cells, &plan, &extent, 1), 0);
    ck_assert_uint_eq(extent.n, CELLS);
    cells.list[2].piece = 0;
}

static void end(void)
{
    xd_audit_cells_fini(&cells);
}

START_TEST(two_of_three_are_right)
{
    show(0, "http://a/f", "xy");
    show(1, "http://b/f", "zy");
    show(2, "http://c/f", "xy");
    vote(3);
    assert_states(0, XD_CELL_RIGHT, XD_CELL_RIGHT);
    assert_states(1, XD_CELL_WRONG, XD_CELL_RIGHT);
    assert_states(2, XD_CELL_RIGHT, XD_CELL_RIGHT);
}
END_TEST

START_TEST(one_against_one_is_in_dispute)
{
    show(0, "http://a/f", "xy");
    show(1, "http://b/f", "zy");
    vote(2);
    assert_states(0, XD_CELL_DISPUTED, XD_CELL_RIGHT);
    assert_states(1, XD_CELL_DISPUTED, XD_CELL_RIGHT);
}
END_TEST

START_TEST(two_of_four_are_no_majority)
{
    show(0, "http://a/f", "x-");
    show(1, "http://b/f", "x-");
    show(2, "http://c/f", "y-");
    show(3, "http://d/f", "z-");
    vote(4);
    for (size_t i = 0; i < 4; i++)
        assert_states(i, XD_CELL_DISPUTED, XD_CELL_UNREAD);
}
END_TEST

START_TEST(a_depot_has_one_vote)
{
    show(0, "http://a/f", "x-");
    show(1, "http://a/g", "x-");
    show(2, "http://b/f", "y-");
    vote(3);
    for (size_t i = 0; i < 3; i++)
        assert_states(i, XD_CELL_DISPUTED, XD_CELL_UNREAD);
}
END_TEST

START_TEST(copies_of_one_depot_prove_nothing)
{
    show(0, "http://a/f", "xy");
    show(1, "http://a/g", "x-");
    vote(2);
    assert_states(0, XD_CELL_READ, XD_CELL_READ);
    assert_states(1, XD_CELL_READ, XD_CELL_UNREAD);
}
END_TEST

START_TEST(a_hash_of_the_whole_decides_against_the_majority)
{
    show(0, "http://a/f", "xy");
    show(1, "http://b/f", "zy");
    show(2, "http://c/f", "zy");
    shown[0].is_proved = true;
    shown[1].is_refuted = shown[2].is_refuted = true;
    vote(3);
    assert_states(0, XD_CELL_RIGHT, XD_CELL_RIGHT);
    assert_states(1, XD_CELL_WRONG, XD_CELL_RIGHT);
    assert_states(2, XD_CELL_WRONG, XD_CELL_RIGHT);
}
END_TEST

START_TEST(where_a_proved_copy_stands_does_not_matter)
{
    show(0, "http://a/f", "zy");
    show(1, "http://b/f", "xz");
    show(2, "http://c/f", "xy");
    shown[2].is_proved = true;
    shown[0].is_refuted = shown[1].is_refuted = true;
    vote(3);
    assert_states(0, XD_CELL_WRONG, XD_CELL_RIGHT);
    assert_states(1, XD_CELL_RIGHT, XD_CELL_WRONG);
    assert_states(2, XD_CELL_RIGHT, XD_CELL_RIGHT);
}
END_TEST

START_TEST(another_depot_behind_two_copies_of_one_is_a_second)
{
    show(0, "http://a/f", "x-");
    show(1, "http://a/g", "x-");
    show(2, "http://b/f", "x-");
    vote(3);
    for (size_t i = 0; i < 3; i++)
        assert_states(i, XD_CELL_RIGHT, XD_CELL_UNREAD);
}
END_TEST

START_TEST(extents_are_compared_where_they_overlap)
{
    const struct xd_audit_plan plan = {
        .size = 3, .cell_bytes = 1, .is_full = true};
    struct xd_audit_extent extents[] = {{.at = {0, 3}}, {.at = {1, 3}}};

    xd_audit_cells_fini(&cells);
    ck_assert_int_eq(xd_audit_cells_init(&cells, &plan, extents, 2), 0);
    show(0, "http://a/f", "xy");
    show(1, "http://b/f", "yx"); /* of the second and the third cell */
    show(2, "http://c/f", "yx");
    shown[0].extent = &extents[0];
    shown[1].extent = shown[2].extent = &extents[1];
    states[0][2] = XD_CELL_READ;
    digests[0][2][0] = 'z';
    vote(3);
    ck_assert_int_eq(states[0][0], XD_CELL_READ);
    ck_assert_int_eq(states[0][1], XD_CELL_RIGHT);
    ck_assert_int_eq(states[0][2], XD_CELL_WRONG);
    for (size_t i = 1; i < 3; i++) {
        ck_assert_int_eq(states[i][0], XD_CELL_RIGHT);
        ck_assert_int_eq(states[i][1], XD_CELL_RIGHT);
    }
}
END_TEST

START_TEST(what_is_proved_needs_no_other)
{
    show(0, "http://a/f", "xy");
    shown[0].is_proved = true;
    vote(1);
    assert_states(0, XD_CELL_RIGHT, XD_CELL_RIGHT);
}
END_TEST

START_TEST(what_is_refuted_is_wrong_where_no_hash_proves_it)
{
    show(0, "http://a/f", "xy");
    show(1, "http://b/f", "xy");
    shown[0].is_refuted = shown[1].is_refuted = true;
    vote(2);
    assert_states(0, XD_CELL_WRONG, XD_CELL_WRONG);
    assert_states(1, XD_CELL_WRONG, XD_CELL_WRONG);
}
END_TEST

START_TEST(what_is_refuted_has_no_vote)
{
    show(0, "http://a/f", "xy");
    show(1, "http://b/f", "zy");
    show(2, "http://c/f", "xy");
    show(3, "http://d/f", "xy");
    shown[2].is_refuted = shown[3].is_refuted = true;
    vote(4);
    assert_states(0, XD_CELL_DISPUTED, XD_CELL_RIGHT);
}
END_TEST

START_TEST(the_bytes_in_a_state_are_runs)
{
    struct xd_rangeset wrong;

    xd_rangeset_init(&wrong);
    show(0, "http://a/f", "xy");
    states[0][0] = states[0][1] = XD_CELL_WRONG;
    ck_assert_int_eq(
        xd_audit_bytes_in(&cells, &shown[0], XD_CELL_WRONG, &wrong), 0);
    ck_assert_uint_eq(wrong.n, 1);
    ck_assert_uint_eq(wrong.ranges[0].begin, 0);
    ck_assert_uint_eq(wrong.ranges[0].end, 2);
    xd_rangeset_fini(&wrong);
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("audit_vote");

    tcase_add_checked_fixture(t, begin, end);
    tcase_add_test(t, two_of_three_are_right);
    tcase_add_test(t, one_against_one_is_in_dispute);
    tcase_add_test(t, two_of_four_are_no_majority);
    tcase_add_test(t, a_depot_has_one_vote);
    tcase_add_test(t, copies_of_one_depot_prove_nothing);
    tcase_add_test(t, a_hash_of_the_whole_decides_against_the_majority);
    tcase_add_test(t, where_a_proved_copy_stands_does_not_matter);
    tcase_add_test(t, another_depot_behind_two_copies_of_one_is_a_second);
    tcase_add_test(t, extents_are_compared_where_they_overlap);
    tcase_add_test(t, what_is_proved_needs_no_other);
    tcase_add_test(t, what_is_refuted_is_wrong_where_no_hash_proves_it);
    tcase_add_test(t, what_is_refuted_has_no_vote);
    tcase_add_test(t, the_bytes_in_a_state_are_runs);
    return run_suite("audit_vote", t);
}
