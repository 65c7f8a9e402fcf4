/* SPDX-License-Identifier: MIT */
#include "play.h"

#include "sched/board.h"

/* The same as a board, kept and searched block by block. */
struct slow_board {
    enum xd_mark marks[1000];
    bool may[70][1000];
    uint64_t n_blocks;
};

static bool slow_first(const struct slow_board *b, unsigned slot,
                       enum xd_board_kind kind, uint64_t from, uint64_t *block)
{
    for (*block = from; *block < b->n_blocks; ++*block) {
        enum xd_mark mark = b->marks[*block];

        if (b->may[slot][*block] &&
            (mark == XD_MARK_FRESH ||
             (kind == XD_BOARD_OPEN && mark == XD_MARK_OPEN)))
            break;
    }
    return *block < b->n_blocks;
}

static uint64_t slow_n_done(const struct slow_board *b, uint64_t end)
{
    uint64_t n = 0;

    for (uint64_t i = 0; i < end && i < b->n_blocks; i++)
        n += b->marks[i] == XD_MARK_DONE;
    return n;
}

static void check_search(struct xd_board *b, const struct slow_board *slow,
                         unsigned slot, enum xd_board_kind kind, uint64_t from)
{
    uint64_t block, slow_block;
    bool found = xd_board_first(b, slot, kind, from, &block);

    ck_assert_int_eq(found, slow_first(slow, slot, kind, from, &slow_block));
    ck_assert_uint_eq(xd_board_n_done(b, from), slow_n_done(slow, from));
    if (found)
        ck_assert_uint_eq(block, slow_block);
}

static void change(struct xd_board *b, struct slow_board *slow, unsigned slots,
                   unsigned seed)
{
    uint64_t block = seed / 7 % slow->n_blocks;
    unsigned slot = seed / 11 % slots;
    uint64_t end = block + seed / 13 % (slow->n_blocks - block) + 1;
    bool may = seed / 17 % 3 > 0;

    if (seed % 5 == 0) {
        xd_board_allow_run(b, slot, block, end, may);
        xd_board_publish_slot(b, slot);
        for (uint64_t i = block; i < end; i++)
            slow->may[slot][i] = may;
        return;
    }
    if (seed % 7 == 0) {
        for (uint64_t i = block; i < end; i++) {
            slow->marks[i] = XD_MARK_DONE;
            xd_board_mark(b, i, XD_MARK_DONE);
        }
        xd_board_publish(b, block, end - 1);
        return;
    }
    slow->marks[block] = (enum xd_mark)(seed / 19 % 4);
    slow->may[slot][block] = may;
    xd_board_mark(b, block, slow->marks[block]);
    xd_board_allow(b, slot, block, may);
    xd_board_publish(b, block, block);
}

START_TEST(any_board_agrees_with_a_search_block_by_block)
{
    const uint64_t sizes[] = {1, 63, 64, 65, 128, 700, 1000};
    unsigned seed = 3;

    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        unsigned slots = i % 2 ? 3 : 70;
        struct slow_board slow = {.n_blocks = sizes[i]};
        struct xd_board b;
        uint64_t from;

        ck_assert_int_eq(xd_board_init(&b, sizes[i], slots), 0);
        for (int step = 0; step < 3000; step++) {
            seed = seed * 1103515245U + 12345U;
            change(&b, &slow, slots, seed / 256);
            from = step % 3 == 0 ? 0 : seed / 128 % (sizes[i] + 1);
            check_search(&b, &slow, seed / 64 % slots, XD_BOARD_FRESH, from);
            check_search(&b, &slow, seed / 64 % slots, XD_BOARD_OPEN, from);
        }
        xd_board_fini(&b);
    }
}
END_TEST

START_TEST(a_search_in_a_million_blocks_sees_sixteen_nodes)
{
    const uint64_t n = 1 << 20, places[] = {0, n / 3, n / 2, n - 1};
    uint64_t block;
    struct xd_board b;

    ck_assert_int_eq(xd_board_init(&b, n, 1), 0);
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        xd_board_allow(&b, 0, places[i], true);
        xd_board_publish(&b, places[i], places[i]);
        b.visits = 0;
        ck_assert(xd_board_first(&b, 0, XD_BOARD_FRESH, 0, &block));
        ck_assert_uint_eq(block, places[i]);
        ck_assert_uint_le(b.visits, 16);
        xd_board_mark(&b, places[i], XD_MARK_DONE);
        xd_board_publish(&b, places[i], places[i]);
    }
    ck_assert(!xd_board_first(&b, 0, XD_BOARD_FRESH, 0, &block));
    xd_board_fini(&b);
}
END_TEST

START_TEST(a_board_that_grows_is_the_same_for_the_slots_it_had)
{
    struct xd_board b;
    uint64_t block;

    ck_assert_int_eq(xd_board_init(&b, 1000, 1), 0);
    for (unsigned n = 1; n < 70; n++) {
        xd_board_allow(&b, n - 1, n * 10, true);
        xd_board_publish(&b, n * 10, n * 10);
        ck_assert_int_eq(xd_board_grow(&b, n + 1), 0);
        ck_assert(!xd_board_first(&b, n, XD_BOARD_FRESH, 0, &block));
        for (unsigned slot = 0; slot < n; slot++) {
            ck_assert(xd_board_first(&b, slot, XD_BOARD_FRESH, 0, &block));
            ck_assert_uint_eq(block, (slot + 1) * 10);
        }
    }
    xd_board_fini(&b);
}
END_TEST

START_TEST(a_board_too_large_for_memory_is_refused)
{
    struct xd_board b;

    ck_assert_int_lt(xd_board_init(&b, UINT64_MAX, 16), 0);
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("board");

    tcase_add_test(t, any_board_agrees_with_a_search_block_by_block);
    tcase_add_test(t, a_search_in_a_million_blocks_sees_sixteen_nodes);
    tcase_add_test(t, a_board_that_grows_is_the_same_for_the_slots_it_had);
    tcase_add_test(t, a_board_too_large_for_memory_is_refused);
    return run_suite("sched.board", t);
}
