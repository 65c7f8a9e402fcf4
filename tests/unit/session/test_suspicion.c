/* SPDX-License-Identifier: MIT */
/* Which depot is asked, and banned, for a piece that is wrong. */
#include "session/blame.h"

#include "suite.h"

#define N_DEPOTS 4

static struct xd_ledger ledger;
static struct xd_pieces pieces;
static struct xd_range wanted;
static struct xd_blame_depot depots[N_DEPOTS];
static struct xd_blame blame;

static struct xd_blame_depot look(const void *world, unsigned depot,
                                  struct xd_range range)
{
    ck_assert_ptr_eq(world, depots);
    ck_assert_uint_lt(depot, N_DEPOTS);
    ck_assert_uint_eq(xd_range_length(range), 100);
    return depots[depot];
}

/* Three pieces of 100 bytes, and nothing of them is here. */
static void setup(void)
{
    wanted = (struct xd_range){0, 300};
    ck_assert_int_eq(xd_pieces_cut(&pieces, 100, 300, wanted), 0);
    for (unsigned i = 0; i < N_DEPOTS; i++)
        depots[i] = (struct xd_blame_depot){.has_range = true};
    blame = (struct xd_blame){.ledger = &ledger,
                              .pieces = &pieces,
                              .wanted = &wanted,
                              .world = depots,
                              .look = look};
}

static void teardown(void)
{
    xd_blame_fini(&blame);
    xd_pieces_fini(&pieces);
    xd_ledger_fini(&ledger);
    ledger = (struct xd_ledger){0};
}

static void deliver(unsigned depot, uint64_t begin, uint64_t end)
{
    struct xd_range r = {begin, end};

    ck_assert_int_eq(xd_ledger_change(&ledger, XD_CLAIM, r), 0);
    ck_assert_int_eq(xd_ledger_written(&ledger, r, depot), 0);
    if (depot != XD_HELD)
        depots[depot].bytes += end - begin;
}

static void discard(uint64_t begin, uint64_t end)
{
    struct xd_range r = {begin, end};

    ck_assert_int_eq(xd_ledger_discard(&ledger, r, XD_DISCARD_BAD_PIECE), 0);
    xd_pieces_reopen(&pieces, r);
}

static void find_wrong(size_t piece)
{
    ck_assert_int_eq(xd_blame_wrong(&blame, piece), 0);
}

static struct xd_suspicion *expect(enum xd_blame_action_kind kind)
{
    struct xd_blame_action a = xd_blame_next(&blame, N_DEPOTS);

    ck_assert_int_eq(a.kind, kind);
    return a.suspicion;
}

static void check(struct xd_blame_action a, enum xd_blame_action_kind kind,
                  unsigned depot, uint64_t begin, uint64_t end)
{
    ck_assert_int_eq(a.kind, kind);
    ck_assert_uint_eq(a.depot, depot);
    ck_assert_uint_eq(a.range.begin, begin);
    ck_assert_uint_eq(a.range.end, end);
}

static void expect_ban(unsigned depot, uint64_t begin, uint64_t end)
{
    check(xd_blame_next(&blame, N_DEPOTS), XD_BLAME_BAN, depot, begin, end);
    depots[depot].is_banned = true;
}

static void expect_ask(unsigned depot, uint64_t begin, uint64_t end)
{
    check(xd_blame_next(&blame, N_DEPOTS), XD_BLAME_ASK, depot, begin, end);
    discard(begin, end);
}

/* Piece 0 is wrong: 60 bytes of depot 0, and the rest of depot 1. */
static void find_mixed_piece_wrong(void)
{
    deliver(0, 0, 60);
    deliver(1, 60, 100);
    find_wrong(0);
    expect(XD_BLAME_COPY);
}

START_TEST(nothing_is_done_where_nothing_is_wrong)
{
    deliver(0, 0, 100);
    xd_blame_right(&blame, 0);
    expect(XD_BLAME_NOTHING);
    ck_assert(!xd_blame_suspects(&blame, 0));
}
END_TEST

START_TEST(one_that_delivered_all_of_it_is_banned)
{
    deliver(1, 0, 100);
    find_wrong(0);
    check(xd_blame_next(&blame, N_DEPOTS), XD_BLAME_DISCARD, 1, 0, 100);
    expect_ban(1, 0, 100);
    expect(XD_BLAME_NOTHING);
    ck_assert(!xd_blame_suspects(&blame, 0));
}
END_TEST

START_TEST(nobody_is_banned_for_what_an_earlier_run_left)
{
    deliver(XD_HELD, 0, 100);
    find_wrong(0);
    check(xd_blame_next(&blame, N_DEPOTS), XD_BLAME_DISCARD, XD_HELD, 0, 100);
    expect(XD_BLAME_NOTHING);
}
END_TEST

START_TEST(of_several_each_is_asked_alone_until_the_piece_is_right)
{
    find_mixed_piece_wrong();
    depots[0].is_banned = true; /* meanwhile, for something else */
    depots[2].has_range = false;
    depots[3].bytes = 60;
    expect_ask(3, 0, 100);
    depots[0].is_banned = false;
    ck_assert(xd_blame_suspects(&blame, 0));
    expect(XD_BLAME_NOTHING);
    deliver(3, 0, 100);
    find_wrong(0);
    expect_ban(3, 0, 100);
    expect_ask(0, 0, 100);
}
END_TEST

START_TEST(one_asked_alone_is_not_refuted_by_bytes_of_another)
{
    find_mixed_piece_wrong();
    expect_ask(0, 0, 100);
    deliver(0, 0, 50);
    deliver(1, 50, 100);
    find_wrong(0);
    expect_ask(1, 0, 100); /* nobody is banned before */
}
END_TEST

START_TEST(what_differs_in_the_copy_says_which_one_it_was)
{
    struct xd_suspicion *s;

    find_mixed_piece_wrong();
    expect_ask(0, 0, 100);
    deliver(0, 0, 100);
    xd_blame_right(&blame, 0);
    s = expect(XD_BLAME_COMPARE);
    ck_assert_int_eq(xd_rangeset_add(&s->differs, (struct xd_range){99, 100}),
                     0);
    expect_ban(1, 99, 100);
    check(xd_blame_next(&blame, N_DEPOTS), XD_BLAME_RELEASE, 0, 0, 100);
    expect(XD_BLAME_NOTHING);
    ck_assert(!xd_blame_suspects(&blame, 0));
}
END_TEST

START_TEST(each_whose_part_differs_is_banned_but_no_earlier_run)
{
    struct xd_suspicion *s;

    deliver(0, 0, 30);
    deliver(XD_HELD, 30, 60);
    deliver(1, 60, 100);
    depots[2].bytes = 100;
    find_wrong(0);
    expect(XD_BLAME_COPY);
    expect_ask(2, 0, 100);
    deliver(2, 0, 100);
    xd_blame_right(&blame, 0);
    s = expect(XD_BLAME_COMPARE);
    ck_assert_int_eq(xd_rangeset_add(&s->differs, (struct xd_range){0, 100}),
                     0);
    expect_ban(0, 0, 30);
    expect_ban(1, 60, 100);
    expect(XD_BLAME_RELEASE);
}
END_TEST

START_TEST(without_a_copy_nobody_is_banned)
{
    find_mixed_piece_wrong();
    expect_ask(0, 0, 100);
    deliver(0, 0, 100);
    xd_blame_right(&blame, 0);
    expect(XD_BLAME_COMPARE);
    expect(XD_BLAME_RELEASE);
    expect(XD_BLAME_NOTHING);
}
END_TEST

START_TEST(the_one_with_most_proved_bytes_is_asked_first)
{
    depots[2].bytes = 1000000;
    deliver(3, 100, 200);
    pieces.states[1] = XD_PIECE_GOOD;
    deliver(2, 200, 300); /* not proved */
    find_mixed_piece_wrong();
    expect_ask(3, 0, 100);
}
END_TEST

START_TEST(where_none_has_any_one_without_a_part_counts_twice)
{
    depots[2].bytes = 31;
    find_mixed_piece_wrong();
    expect_ask(2, 0, 100); /* 2 * 31 against 60 */
}
END_TEST

START_TEST(one_that_delivered_far_less_is_not_asked_first)
{
    depots[2].bytes = 30;
    find_mixed_piece_wrong();
    expect_ask(0, 0, 100);
}
END_TEST

START_TEST(one_that_is_asked_for_another_piece_counts_half)
{
    depots[2].bytes = 100;
    find_mixed_piece_wrong();
    expect_ask(2, 0, 100);
    deliver(0, 100, 120);
    deliver(1, 120, 200);
    depots[0].bytes = depots[1].bytes = 0;
    depots[3].bytes = _i == 0 ? 50 : 51; /* 2 * 50 against 2 * 100 / 2 */
    find_wrong(1);
    expect(XD_BLAME_COPY);
    expect_ask(_i == 0 ? 2 : 3, 100, 200);
}
END_TEST

START_TEST(it_gives_up_when_all_were_asked)
{
    find_mixed_piece_wrong();
    depots[2].has_range = depots[3].has_range = false;
    expect_ask(0, 0, 100);
    deliver(0, 0, 100);
    find_wrong(0);
    expect_ban(0, 0, 100);
    depots[0].is_banned = false; /* or its part would explain the piece */
    expect_ask(1, 0, 100);
    deliver(1, 0, 100);
    find_wrong(0);
    expect_ban(1, 0, 100);
    discard(0, 100);
    check(xd_blame_next(&blame, N_DEPOTS), XD_BLAME_GIVE_UP, 1, 0, 100);
}
END_TEST

START_TEST(one_that_is_known_to_be_bad_explains_where_it_had_a_part)
{
    find_mixed_piece_wrong();
    expect_ask(0, 0, 100);
    deliver(2, 100, 150);
    deliver(3, 150, 200);
    depots[2].bytes = 1000;
    find_wrong(1);
    expect(XD_BLAME_COPY);
    expect_ask(2, 100, 200);
    expect(XD_BLAME_NOTHING);
    depots[1].is_banned = true;
    check(xd_blame_next(&blame, N_DEPOTS), XD_BLAME_RELEASE, 0, 0, 100);
    expect(XD_BLAME_NOTHING);
    ck_assert(!xd_blame_suspects(&blame, 0));
    ck_assert(xd_blame_suspects(&blame, 1));
}
END_TEST

START_TEST(where_one_asked_alone_cannot_deliver_the_next_is_asked)
{
    find_mixed_piece_wrong();
    depots[2].has_range = false;
    ck_assert_int_eq(xd_blame_ask_another(&blame, 50, N_DEPOTS).kind,
                     XD_BLAME_NOTHING); /* the first is not asked yet */
    expect_ask(0, 0, 100);
    ck_assert_int_eq(xd_blame_ask_another(&blame, 100, N_DEPOTS).kind,
                     XD_BLAME_NOTHING);
    check(xd_blame_ask_another(&blame, 99, N_DEPOTS), XD_BLAME_ASK, 1, 0, 100);
    check(xd_blame_ask_another(&blame, 0, N_DEPOTS), XD_BLAME_ASK, 3, 0, 100);
    ck_assert_int_eq(xd_blame_ask_another(&blame, 0, N_DEPOTS).kind,
                     XD_BLAME_NOTHING);
}
END_TEST

/* ---- no depot has all of the piece ---- */

static const struct xd_suspicion *combined;

/* Piece 0, of which each depot has a part, is wrong. */
static void find_scattered_piece_wrong(void)
{
    for (unsigned i = 0; i < N_DEPOTS; i++)
        depots[i] = (struct xd_blame_depot){.has_some = true};
    find_mixed_piece_wrong();
    expect(XD_BLAME_NOTHING);
}

START_TEST(combinations_are_tried_where_no_depot_has_all_of_it)
{
    find_scattered_piece_wrong();
    ck_assert(xd_blame_to_combine(&blame, &combined));
    ck_assert_uint_eq(combined->piece, 0);
    expect(XD_BLAME_NOTHING);
    xd_blame_right(&blame, 0);
    ck_assert(!xd_blame_to_combine(&blame, &combined));
    expect(XD_BLAME_COMPARE);
    expect(XD_BLAME_RELEASE);
    ck_assert(!xd_blame_suspects(&blame, 0));
}
END_TEST

START_TEST(it_gives_up_when_no_combination_is_right)
{
    find_scattered_piece_wrong();
    xd_blame_in_vain(&blame, 0, 15, false);
    ck_assert_uint_eq(expect(XD_BLAME_GIVE_UP)->n_combined, 15);
    ck_assert(!xd_blame_to_combine(&blame, &combined));
    expect(XD_BLAME_NOTHING);
}
END_TEST

START_TEST(other_pieces_are_judged_while_combinations_are_tried)
{
    find_scattered_piece_wrong();
    deliver(2, 100, 200);
    find_wrong(1);
    check(xd_blame_next(&blame, N_DEPOTS), XD_BLAME_DISCARD, 2, 100, 200);
    expect_ban(2, 100, 200);
    ck_assert(xd_blame_to_combine(&blame, &combined));
}
END_TEST

/* One that has all of it is asked alone, and lies. */
START_TEST(what_one_asked_alone_delivered_is_fetched_once_more_from_all)
{
    for (unsigned i = 0; i < N_DEPOTS; i++)
        depots[i] =
            (struct xd_blame_depot){.has_some = true, .has_range = i == 3};
    find_mixed_piece_wrong();
    expect_ask(3, 0, 100);
    deliver(3, 0, 100);
    find_wrong(0);
    expect_ban(3, 0, 100);
    discard(0, 100);
    ck_assert(xd_blame_keeps_out(blame.list, 0));
    expect(XD_BLAME_RELEASE);
    ck_assert(!xd_blame_keeps_out(blame.list, 0));
    deliver(2, 0, 60);
    deliver(1, 60, 100);
    find_wrong(0); /* nobody was asked alone: nobody is banned */
    expect(XD_BLAME_NOTHING);
    ck_assert(xd_blame_to_combine(&blame, &combined));
    discard(0, 60);
    xd_blame_refetch(&blame, 0);
    ck_assert(!xd_blame_to_combine(&blame, &combined));
    ck_assert_int_eq(xd_blame_ask_another(&blame, 0, N_DEPOTS).kind,
                     XD_BLAME_NOTHING);
}
END_TEST

/* ---- what a ban takes back ---- */

static void expect_unproved(unsigned depot, uint64_t from, uint64_t begin,
                            uint64_t end)
{
    struct xd_range r = xd_blame_next_unproved(
        &blame, depot, (struct xd_range){from, wanted.end});

    ck_assert_uint_eq(r.begin, begin);
    ck_assert_uint_eq(r.end, end);
}

START_TEST(a_ban_takes_back_what_no_piece_has_proved)
{
    deliver(0, 0, 150);
    deliver(1, 150, 220);
    deliver(0, 220, 250);
    pieces.states[0] = XD_PIECE_GOOD;
    expect_unproved(0, 0, 100, 150);
    expect_unproved(0, 150, 220, 250);
    expect_unproved(0, 250, 300, 300);
    expect_unproved(2, 0, 300, 300);
}
END_TEST

START_TEST(pieces_that_cover_all_prove_what_an_earlier_run_left)
{
    deliver(XD_HELD, 0, 50);
    ck_assert(!xd_blame_doubts_held(&blame));
    expect_unproved(0, 0, 300, 300);
}
END_TEST

START_TEST(where_they_do_not_any_may_have_delivered_it)
{
    wanted.end = 400;
    deliver(XD_HELD, 250, 350);
    pieces.states[2] = XD_PIECE_GOOD;
    ck_assert(xd_blame_doubts_held(&blame));
    expect_unproved(0, 0, 300, 350);
}
END_TEST

START_TEST(a_depot_of_many_files_may_have_three_wrong_copies_or_half)
{
    ck_assert(xd_blame_spares(3, 0));
    ck_assert(!xd_blame_spares(4, 7));
    ck_assert(xd_blame_spares(4, 8));
}
END_TEST

START_TEST(bytes_are_needed_of_a_piece_of_several_and_when_it_is_right)
{
    deliver(0, 0, 100);
    ck_assert(!xd_blame_needs_bytes(&blame, 0, false));
    discard(0, 100);
    deliver(0, 0, 60);
    deliver(1, 60, 100);
    ck_assert(xd_blame_needs_bytes(&blame, 0, false));
    ck_assert(!xd_blame_needs_bytes(&blame, 0, true));
    find_wrong(0);
    ck_assert(!xd_blame_needs_bytes(&blame, 0, false));
    ck_assert(xd_blame_needs_bytes(&blame, 0, true));
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("suspicion");

    tcase_add_checked_fixture(t, setup, teardown);
    tcase_add_test(t, nothing_is_done_where_nothing_is_wrong);
    tcase_add_test(t, one_that_delivered_all_of_it_is_banned);
    tcase_add_test(t, nobody_is_banned_for_what_an_earlier_run_left);
    tcase_add_test(t, of_several_each_is_asked_alone_until_the_piece_is_right);
    tcase_add_test(t, one_asked_alone_is_not_refuted_by_bytes_of_another);
    tcase_add_test(t, what_differs_in_the_copy_says_which_one_it_was);
    tcase_add_test(t, each_whose_part_differs_is_banned_but_no_earlier_run);
    tcase_add_test(t, without_a_copy_nobody_is_banned);
    tcase_add_test(t, the_one_with_most_proved_bytes_is_asked_first);
    tcase_add_test(t, where_none_has_any_one_without_a_part_counts_twice);
    tcase_add_test(t, one_that_delivered_far_less_is_not_asked_first);
    tcase_add_loop_test(t, one_that_is_asked_for_another_piece_counts_half, 0,
                        2);
    tcase_add_test(t, it_gives_up_when_all_were_asked);
    tcase_add_test(t, one_that_is_known_to_be_bad_explains_where_it_had_a_part);
    tcase_add_test(t, where_one_asked_alone_cannot_deliver_the_next_is_asked);
    tcase_add_test(t, a_ban_takes_back_what_no_piece_has_proved);
    tcase_add_test(t, pieces_that_cover_all_prove_what_an_earlier_run_left);
    tcase_add_test(t,
                   a_depot_of_many_files_may_have_three_wrong_copies_or_half);
    tcase_add_test(t,
                   bytes_are_needed_of_a_piece_of_several_and_when_it_is_right);
    tcase_add_test(t, where_they_do_not_any_may_have_delivered_it);
    tcase_add_test(t, combinations_are_tried_where_no_depot_has_all_of_it);
    tcase_add_test(t, it_gives_up_when_no_combination_is_right);
    tcase_add_test(t, other_pieces_are_judged_while_combinations_are_tried);
    tcase_add_test(
        t, what_one_asked_alone_delivered_is_fetched_once_more_from_all);
    return run_suite("suspicion", t);
}
