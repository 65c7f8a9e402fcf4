/* SPDX-License-Identifier: MIT */
#include "play.h"

#include "sched/plank/blocks.h"

static void check_blocks(struct xd_range whole, uint64_t block_bytes,
                         const uint64_t *cuts, size_t n_cuts,
                         const uint64_t *edges, size_t n_edges)
{
    struct xd_blocks b;

    ck_assert_int_eq(xd_blocks_init(&b, whole, block_bytes, cuts, n_cuts), 0);
    ck_assert_uint_eq(b.n, n_edges - 1);
    for (size_t i = 0; i + 1 < n_edges; i++) {
        struct xd_range r = xd_blocks_range(&b, i);

        ck_assert_uint_eq(r.begin, edges[i]);
        ck_assert_uint_eq(r.end, edges[i + 1]);
        ck_assert_uint_eq(xd_blocks_find(&b, r.begin), i);
        ck_assert_uint_eq(xd_blocks_find(&b, r.end - 1), i);
    }
    xd_blocks_fini(&b);
}

#define CHECK(begin, end, bytes, cuts, edges)                \
    check_blocks((struct xd_range){begin, end}, bytes, cuts, \
                 sizeof cuts / sizeof *cuts, edges,          \
                 sizeof edges / sizeof *edges)

START_TEST(the_grid_begins_where_the_wanted_range_does)
{
    const uint64_t none[] = {0}, edges[] = {7, 17, 27, 30};

    CHECK(7, 30, 10, none, edges);
}
END_TEST

START_TEST(cuts_divide_blocks_without_moving_the_grid)
{
    const uint64_t cuts[] = {3, 25, 28},
                   edges[] = {0, 3, 10, 20, 25, 28, 30, 35};

    CHECK(0, 35, 10, cuts, edges);
}
END_TEST

START_TEST(cuts_on_the_grid_or_outside_divide_nothing)
{
    const uint64_t cuts[] = {5, 10, 20, 40, 50}, edges[] = {10, 20, 30, 40};

    CHECK(10, 40, 10, cuts, edges);
}
END_TEST

START_TEST(an_empty_range_has_no_blocks)
{
    const uint64_t none[] = {5}, edges[] = {5};

    CHECK(5, 5, 10, none, edges);
}
END_TEST

START_TEST(blocks_work_up_to_the_largest_offset)
{
    const uint64_t top = UINT64_MAX, half = UINT64_MAX / 2;
    const uint64_t cuts[] = {half}, edges[] = {0, half, half + 1, top};

    CHECK(0, top, half + 1, cuts, edges);
}
END_TEST

START_TEST(any_cuts_agree_with_cutting_byte_by_byte)
{
    unsigned seed = 1;

    for (int round = 0; round < 300; round++) {
        uint64_t cuts[100], edges[300], bytes;
        size_t n_cuts = 0, n_edges = 0;
        struct xd_range whole;

        seed = seed * 1103515245U + 12345U;
        whole.begin = seed / 65536 % 20;
        whole.end = whole.begin + 1 + seed / 1024 % 200;
        bytes = 1 + seed / 4096 % 17;
        for (uint64_t at = 0; at < 250; at++) {
            bool cut = (seed = seed * 1103515245U + 12345U) / 65536 % 9 == 0;

            if (cut && n_cuts < 100)
                cuts[n_cuts++] = at;
            if (at == whole.end)
                edges[n_edges++] = at;
            if (at >= whole.begin && at < whole.end &&
                ((at - whole.begin) % bytes == 0 ||
                 (n_cuts > 0 && cuts[n_cuts - 1] == at)))
                edges[n_edges++] = at;
        }
        check_blocks(whole, bytes, cuts, n_cuts, edges, n_edges);
    }
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("blocks");

    tcase_add_test(t, the_grid_begins_where_the_wanted_range_does);
    tcase_add_test(t, cuts_divide_blocks_without_moving_the_grid);
    tcase_add_test(t, cuts_on_the_grid_or_outside_divide_nothing);
    tcase_add_test(t, an_empty_range_has_no_blocks);
    tcase_add_test(t, blocks_work_up_to_the_largest_offset);
    tcase_add_test(t, any_cuts_agree_with_cutting_byte_by_byte);
    return run_suite("sched.blocks", t);
}
