/* SPDX-License-Identifier: MIT */
/* What can be decided on when bytes are written. */
#include "session/pieces.h"

#include "ledger/ledger.h"
#include "suite.h"

static struct xd_ledger ledger;
static struct xd_pieces pieces;

static void teardown(void)
{
    xd_pieces_fini(&pieces);
    xd_ledger_fini(&ledger);
    ledger = (struct xd_ledger){0};
}

/* Of a file of 250 bytes, in pieces of 100. */
static void cut(uint64_t begin, uint64_t end)
{
    ck_assert_int_eq(
        xd_pieces_cut(&pieces, 100, 250, (struct xd_range){begin, end}), 0);
}

static struct xd_range write_range(uint64_t begin, uint64_t end)
{
    struct xd_range r = {begin, end};

    ck_assert_int_eq(xd_ledger_change(&ledger, XD_CLAIM, r), 0);
    ck_assert_int_eq(xd_ledger_written(&ledger, r, 0), 0);
    return r;
}

static void expect(struct xd_range *rest, size_t piece, uint64_t begin,
                   uint64_t end)
{
    struct xd_range r;
    size_t i;

    ck_assert(xd_pieces_next_ready(&pieces, &ledger, rest, &r, &i));
    ck_assert_uint_eq(i, piece);
    ck_assert_uint_eq(r.begin, begin);
    ck_assert_uint_eq(r.end, end);
}

static void expect_nothing(struct xd_range *rest)
{
    struct xd_range r;
    size_t i;

    ck_assert(!xd_pieces_next_ready(&pieces, &ledger, rest, &r, &i));
}

START_TEST(pieces_are_whole_ones_within_what_is_wanted)
{
    cut(1, 249);
    ck_assert_uint_eq(pieces.n, 1);
    ck_assert_uint_eq(xd_pieces_range(&pieces, 0).begin, 100);
    xd_pieces_fini(&pieces);
    cut(0, 250); /* the last one is short */
    ck_assert_uint_eq(pieces.n, 3);
    ck_assert_uint_eq(xd_pieces_range(&pieces, 2).end, 250);
    xd_pieces_fini(&pieces);
    cut(101, 199);
    ck_assert_uint_eq(pieces.n, 0);
}
END_TEST

START_TEST(pieces_of_a_file_without_a_rest_are_of_one_length)
{
    ck_assert_int_eq(
        xd_pieces_cut(&pieces, 100, 200, (struct xd_range){0, 200}), 0);
    ck_assert_uint_eq(pieces.n, 2);
}
END_TEST

START_TEST(what_pieces_cover_has_no_byte_beside_them)
{
    cut(100, 220);
    ck_assert(xd_pieces_cover(&pieces, (struct xd_range){100, 200}));
    ck_assert(xd_pieces_cover(&pieces, (struct xd_range){150, 151}));
    ck_assert(!xd_pieces_cover(&pieces, (struct xd_range){99, 200}));
    ck_assert(!xd_pieces_cover(&pieces, (struct xd_range){100, 201}));
}
END_TEST

START_TEST(a_piece_is_ready_when_its_last_byte_is_written)
{
    struct xd_range rest;

    cut(0, 250);
    rest = write_range(1, 150);
    expect_nothing(&rest);
    rest = write_range(0, 1);
    expect(&rest, 0, 0, 100);
    expect_nothing(&rest);
    rest = write_range(150, 250);
    expect(&rest, 1, 100, 200);
    expect(&rest, 2, 200, 250);
    expect_nothing(&rest);
}
END_TEST

START_TEST(bytes_without_a_piece_are_ready_at_once)
{
    struct xd_range rest;

    cut(50, 220);
    rest = write_range(60, 220);
    expect(&rest, XD_NO_PIECE, 60, 100);
    expect(&rest, 0, 100, 200);
    expect(&rest, XD_NO_PIECE, 200, 220);
    expect_nothing(&rest);
}
END_TEST

START_TEST(without_pieces_all_is_ready)
{
    struct xd_range rest = write_range(10, 20);

    expect(&rest, XD_NO_PIECE, 10, 20);
    expect_nothing(&rest);
}
END_TEST

START_TEST(pieces_of_which_a_byte_is_missing_are_open_again)
{
    cut(0, 250);
    for (size_t i = 0; i < 3; i++)
        pieces.states[i] = XD_PIECE_GOOD;
    xd_pieces_reopen(&pieces, (struct xd_range){199, 200});
    ck_assert_int_eq(pieces.states[0], XD_PIECE_GOOD);
    ck_assert_int_eq(pieces.states[1], XD_PIECE_OPEN);
    ck_assert_int_eq(pieces.states[2], XD_PIECE_GOOD);
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("ready_pieces");

    tcase_add_checked_fixture(t, NULL, teardown);
    tcase_add_test(t, pieces_are_whole_ones_within_what_is_wanted);
    tcase_add_test(t, pieces_of_a_file_without_a_rest_are_of_one_length);
    tcase_add_test(t, what_pieces_cover_has_no_byte_beside_them);
    tcase_add_test(t, a_piece_is_ready_when_its_last_byte_is_written);
    tcase_add_test(t, bytes_without_a_piece_are_ready_at_once);
    tcase_add_test(t, without_pieces_all_is_ready);
    tcase_add_test(t, pieces_of_which_a_byte_is_missing_are_open_again);
    return run_suite("ready_pieces", t);
}
