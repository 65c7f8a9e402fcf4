/* SPDX-License-Identifier: MIT */
#include "publish/audit_cells.h"

#include <xdownload/error.h>

#include "suite.h"

#define K UINT64_C(1024)
#define M (K * K)

static struct xd_audit_cells cells;

static void make(const struct xd_audit_plan *plan,
                 struct xd_audit_extent *extents, size_t n)
{
    ck_assert_int_eq(xd_audit_cells_init(&cells, plan, extents, n), 0);
}

static const struct xd_audit_cell *cell(const struct xd_audit_extent *e,
                                        size_t k)
{
    ck_assert_uint_lt(k, e->n);
    return xd_audit_cell_of(&cells, e, k);
}

static void assert_at(const struct xd_audit_cell *c, uint64_t begin,
                      uint64_t end, uint64_t piece)
{
    ck_assert_uint_eq(c->at.begin, begin);
    ck_assert_uint_eq(c->at.end, end);
    ck_assert_uint_eq(c->piece, piece);
}

/* All of it, without a gap. */
static void assert_covers(const struct xd_audit_extent *e)
{
    uint64_t at = e->at.begin;

    for (size_t k = 0; k < e->n; k++) {
        ck_assert_uint_eq(cell(e, k)->at.begin, at);
        at = cell(e, k)->at.end;
    }
    ck_assert_uint_eq(at, e->at.end);
}

START_TEST(every_byte_is_cut_into_pieces)
{
    struct xd_audit_plan plan = {.size = 10, .piece_bytes = 4, .is_full = true};
    struct xd_audit_extent all = {.at = {0, 10}};

    make(&plan, &all, 1);
    ck_assert_uint_eq(all.n, 3);
    assert_at(cell(&all, 0), 0, 4, 0);
    assert_at(cell(&all, 1), 4, 8, 1);
    assert_at(cell(&all, 2), 8, 10, 2);
}
END_TEST

START_TEST(a_piece_that_reaches_out_of_an_extent_is_cut_where_others_end)
{
    struct xd_audit_plan plan = {.size = 12, .piece_bytes = 4, .is_full = true};
    struct xd_audit_extent e[] = {
        {.at = {0, 6}}, {.at = {5, 12}}, {.at = {0, 12}}};

    make(&plan, e, 3);
    assert_at(cell(&e[0], 0), 0, 4, 0);
    assert_at(cell(&e[0], 1), 4, 5, XD_AUDIT_NO_PIECE);
    assert_at(cell(&e[0], 2), 5, 6, XD_AUDIT_NO_PIECE);
    assert_at(cell(&e[1], 0), 5, 6, XD_AUDIT_NO_PIECE);
    assert_at(cell(&e[1], 1), 6, 8, XD_AUDIT_NO_PIECE);
    assert_at(cell(&e[1], 2), 8, 12, 2);
    /* The same cell, so that both can be compared. */
    ck_assert_ptr_eq(cell(&e[0], 2), cell(&e[1], 0));
    ck_assert_uint_eq(e[2].n, 3);
    assert_at(cell(&e[2], 1), 4, 8, 1);
    for (size_t i = 0; i < 3; i++)
        assert_covers(&e[i]);
}
END_TEST

START_TEST(bytes_without_hashes_are_cut_into_cells_of_one_length)
{
    struct xd_audit_plan plan = {.size = 10, .cell_bytes = 4, .is_full = true};
    struct xd_audit_extent e[] = {{.at = {0, 10}}, {.at = {2, 10}}};

    make(&plan, e, 2);
    assert_at(cell(&e[0], 0), 0, 2, XD_AUDIT_NO_PIECE);
    assert_at(cell(&e[0], 1), 2, 4, XD_AUDIT_NO_PIECE);
    assert_at(cell(&e[0], 3), 8, 10, XD_AUDIT_NO_PIECE);
    ck_assert_uint_eq(e[1].n, 3);
    assert_covers(&e[1]);
}
END_TEST

START_TEST(a_long_file_has_no_more_cells_than_are_kept)
{
    struct xd_audit_plan plan = {.size = (uint64_t)1 << 40, .is_full = true};
    struct xd_audit_extent all = {.at = {0, plan.size}};

    make(&plan, &all, 1);
    ck_assert_uint_le(all.n, XD_AUDIT_CELLS_MOST);
    ck_assert_uint_gt(all.n, XD_AUDIT_CELLS_MOST / 4);
    assert_covers(&all);
}
END_TEST

START_TEST(a_sample_is_a_whole_piece_and_both_ends_are_among_them)
{
    struct xd_audit_plan plan = {.size = 100 * M + 1, .piece_bytes = M};
    struct xd_audit_extent all = {.at = {0, plan.size}};

    make(&plan, &all, 1);
    ck_assert_uint_eq(all.n, XD_AUDIT_SAMPLES);
    assert_at(cell(&all, 0), 0, M, 0);
    assert_at(cell(&all, XD_AUDIT_SAMPLES - 1), 100 * M, 100 * M + 1, 100);
    for (size_t k = 1; k < all.n; k++)
        ck_assert_uint_gt(cell(&all, k)->piece, cell(&all, k - 1)->piece);
}
END_TEST

START_TEST(of_long_pieces_there_are_fewer_samples)
{
    struct xd_audit_plan plan = {.size = 1000 * M, .piece_bytes = 4 * M};
    struct xd_audit_extent all = {.at = {0, plan.size}};

    make(&plan, &all, 1);
    ck_assert_uint_eq(all.n, 4);
    xd_audit_cells_fini(&cells);
    plan.piece_bytes = 100 * M;
    make(&plan, &all, 1);
    ck_assert_uint_eq(all.n, 2);
    assert_at(cell(&all, 1), 900 * M, 1000 * M, 9);
}
END_TEST

START_TEST(an_extent_is_sampled_by_the_pieces_that_it_holds)
{
    struct xd_audit_plan plan = {.size = 10 * M, .piece_bytes = M};
    struct xd_audit_extent e = {.at = {M / 2, 3 * M + M / 2}};

    make(&plan, &e, 1);
    ck_assert_uint_eq(e.n, 2);
    assert_at(cell(&e, 0), M, 2 * M, 1);
    assert_at(cell(&e, 1), 2 * M, 3 * M, 2);
}
END_TEST

START_TEST(without_hashes_the_same_places_of_all_extents_are_sampled)
{
    struct xd_audit_plan plan = {.size = 100 * M};
    struct xd_audit_extent e[] = {
        {.at = {0, 100 * M}}, {.at = {0, 100 * M}}, {.at = {50 * M, 100 * M}}};

    make(&plan, e, 3);
    ck_assert_uint_eq(e[0].n, 2 * XD_AUDIT_SAMPLES);
    ck_assert_uint_eq(e[1].n, e[0].n);
    ck_assert_uint_eq(e[2].n, XD_AUDIT_SAMPLES);
    for (size_t k = 0; k < e[0].n; k++) {
        ck_assert_ptr_eq(cell(&e[0], k), cell(&e[1], k));
        ck_assert_uint_eq(xd_range_length(cell(&e[0], k)->at),
                          XD_AUDIT_SAMPLE_BYTES);
    }
    for (size_t k = 0; k < e[2].n; k++)
        ck_assert_ptr_eq(cell(&e[2], k), cell(&e[0], XD_AUDIT_SAMPLES + k));
    ck_assert_uint_eq(cell(&e[0], 0)->at.begin, 0);
    ck_assert_uint_eq(cell(&e[2], e[2].n - 1)->at.end, 100 * M);
}
END_TEST

START_TEST(of_many_parts_both_ends_of_each_are_sampled)
{
    struct xd_audit_plan plan = {.size = 100 * M};
    struct xd_audit_extent e[10];

    for (size_t i = 0; i < 10; i++)
        e[i] = (struct xd_audit_extent){.at = {i * 10 * M, (i + 1) * 10 * M}};
    make(&plan, e, 10);
    for (size_t i = 0; i < 10; i++) {
        ck_assert_uint_eq(e[i].n, 2);
        ck_assert_uint_eq(cell(&e[i], 0)->at.begin, e[i].at.begin);
        ck_assert_uint_eq(cell(&e[i], 1)->at.end, e[i].at.end);
    }
}
END_TEST

#define NESTED 450

/* Each within the one before it. */
static struct xd_audit_extent *nested(uint64_t size)
{
    static struct xd_audit_extent e[NESTED];

    for (uint64_t i = 0; i < NESTED; i++)
        e[i] = (struct xd_audit_extent){.at = {i * K, size - i * K}};
    return e;
}

START_TEST(extents_that_are_nested_have_few_samples_each)
{
    struct xd_audit_plan plan = {.size = 100 * M};
    struct xd_audit_extent *e = nested(plan.size);

    make(&plan, e, NESTED);
    /* All of the file is sampled, not its beginning. */
    ck_assert_uint_lt(cell(&e[0], 0)->at.begin, M);
    ck_assert_uint_gt(cell(&e[0], e[0].n - 1)->at.begin, 99 * M);
    for (size_t i = 0; i < NESTED; i++) {
        ck_assert_uint_gt(e[i].n, 0);
        ck_assert_uint_le(e[i].n, XD_AUDIT_WITHIN_MOST);
    }
}
END_TEST

START_TEST(extents_that_overlap_in_too_many_ways_are_refused)
{
    struct xd_audit_plan plan = {
        .size = 100 * M, .cells_most = NESTED * NESTED, .is_full = true};
    struct xd_audit_extent *e = nested(plan.size);

    ck_assert_int_eq(xd_audit_cells_init(&cells, &plan, e, NESTED), XD_E_INVAL);
    xd_audit_cells_fini(&cells);
    ck_assert_int_eq(xd_audit_cells_init(&cells, &plan, e, NESTED / 3), 0);
}
END_TEST

START_TEST(cells_that_extents_share_are_kept_once)
{
    struct xd_audit_plan plan = {.size = 100 * M, .is_full = true};
    struct xd_audit_extent *e = nested(plan.size);

    make(&plan, e, NESTED);
    ck_assert_uint_gt(cells.n_indices, 100 * cells.n);
    ck_assert_uint_le(cells.capacity, 4 * cells.n);
    for (size_t i = 0; i < NESTED; i += 50)
        assert_covers(&e[i]);
}
END_TEST

START_TEST(all_of_a_short_file_is_looked_at)
{
    struct xd_audit_plan plan = {.size = 100 * K};
    struct xd_audit_extent all = {.at = {0, 100 * K}};

    make(&plan, &all, 1);
    assert_covers(&all);
}
END_TEST

/* As shards of parity are. */
START_TEST(what_lies_behind_the_file_has_no_pieces)
{
    struct xd_audit_plan plan = {
        .size = 10, .piece_bytes = 4, .cell_bytes = 4, .is_full = true};
    struct xd_audit_extent e[] = {
        {.at = {0, 10}}, {.at = {10, 17}}, {.at = {17, 24}}};

    make(&plan, e, 3);
    ck_assert_uint_eq(e[0].n, 3);
    assert_at(cell(&e[0], 2), 8, 10, 2);
    for (size_t i = 1; i < 3; i++) {
        assert_covers(&e[i]);
        for (size_t k = 0; k < e[i].n; k++)
            ck_assert_uint_eq(cell(&e[i], k)->piece, XD_AUDIT_NO_PIECE);
    }
    xd_audit_cells_fini(&cells);
    plan.is_full = false;
    make(&plan, e, 3);
    for (size_t i = 1; i < 3; i++) {
        ck_assert_uint_eq(e[i].n, 1);
        assert_at(cell(&e[i], 0), e[i].at.begin, e[i].at.end,
                  XD_AUDIT_NO_PIECE);
    }
}
END_TEST

START_TEST(what_lies_behind_the_file_makes_its_samples_no_fewer)
{
    const struct xd_audit_plan plan = {.size = 64 * M};
    struct xd_audit_extent e[20] = {{.at = {0, 64 * M}}};

    for (size_t i = 1; i < 20; i++)
        e[i].at = (struct xd_range){(63 + i) * M, (64 + i) * M};
    make(&plan, e, 20);
    for (size_t i = 0; i < 20; i++)
        ck_assert_uint_eq(e[i].n, XD_AUDIT_SAMPLES);
}
END_TEST

/* However long it is. */
START_TEST(what_lies_behind_the_file_has_no_more_cells_than_are_kept)
{
    const struct xd_audit_plan plan = {.size = 4, .is_full = true};
    struct xd_audit_extent e[] = {{.at = {0, 4}},
                                  {.at = {4, (uint64_t)INT64_MAX}}};

    make(&plan, e, 2);
    ck_assert_uint_le(e[1].n, XD_AUDIT_CELLS_MOST + 1);
    assert_covers(&e[1]);
}
END_TEST

static void forget(void)
{
    xd_audit_cells_fini(&cells);
}

int main(void)
{
    TCase *t = tcase_create("audit_cells");

    tcase_add_checked_fixture(t, NULL, forget);
    tcase_add_test(t, every_byte_is_cut_into_pieces);
    tcase_add_test(
        t, a_piece_that_reaches_out_of_an_extent_is_cut_where_others_end);
    tcase_add_test(t, bytes_without_hashes_are_cut_into_cells_of_one_length);
    tcase_add_test(t, a_long_file_has_no_more_cells_than_are_kept);
    tcase_add_test(t, a_sample_is_a_whole_piece_and_both_ends_are_among_them);
    tcase_add_test(t, of_long_pieces_there_are_fewer_samples);
    tcase_add_test(t, an_extent_is_sampled_by_the_pieces_that_it_holds);
    tcase_add_test(t,
                   without_hashes_the_same_places_of_all_extents_are_sampled);
    tcase_add_test(t, of_many_parts_both_ends_of_each_are_sampled);
    tcase_add_test(t, extents_that_are_nested_have_few_samples_each);
    tcase_add_test(t, extents_that_overlap_in_too_many_ways_are_refused);
    tcase_add_test(t, cells_that_extents_share_are_kept_once);
    tcase_add_test(t, all_of_a_short_file_is_looked_at);
    tcase_add_test(t, what_lies_behind_the_file_has_no_pieces);
    tcase_add_test(t, what_lies_behind_the_file_makes_its_samples_no_fewer);
    tcase_add_test(t,
                   what_lies_behind_the_file_has_no_more_cells_than_are_kept);
    return run_suite("audit_cells", t);
}
