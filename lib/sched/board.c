/* SPDX-License-Identifier: MIT */
#include "sched/board.h"

#include <string.h>
#include <xdownload/error.h>

#include "base/alloc.h"
#include "base/array.h"

#define BLOCKS_PER_LEAF 64
#define SLOTS_PER_WORD 64

/* A larger board would not fit into memory. */
#define MOST_BLOCKS (UINT64_C(1) << 32)

/* `open`: blocks that are not done and may be requested once more.  `fresh`:
 * those of them that are not requested. */
struct xd_board_leaf {
    uint64_t done, open, fresh;
};

static uint64_t bit(uint64_t i)
{
    return UINT64_C(1) << (i % 64);
}

static void put_bit(uint64_t *word, uint64_t mask, bool on)
{
    *word = on ? *word | mask : *word & ~mask;
}

/* Kernighan's algorithm: most leaves are empty or full, and only one is counted
 * for each decision. */
static uint64_t count_bits(uint64_t word)
{
    uint64_t n = 0;

    for (; word != 0; word &= word - 1)
        n++;
    return n;
}

static uint64_t lowest_bit(uint64_t word)
{
    return count_bits((word & -word) - 1);
}

/* Nodes are numbered as in a heap: 1 is the root, the children of i are 2i and
 * 2i+1, and leaf l is node n_leaves + l. */
int xd_board_init(struct xd_board *b, uint64_t n_blocks, unsigned n_slots)
{
    size_t leaves = 1, nodes;

    *b = (struct xd_board){.n_blocks = n_blocks, .n_slots = n_slots};
    if (n_blocks > MOST_BLOCKS)
        return XD_E_NOMEM;
    while (leaves < (n_blocks + BLOCKS_PER_LEAF - 1) / BLOCKS_PER_LEAF)
        leaves *= 2;
    nodes = leaves * 2;
    b->n_leaves = leaves;
    b->words = n_slots / SLOTS_PER_WORD + 1;
    b->done = xd_alloc(nodes, sizeof *b->done);
    b->fresh = xd_alloc(nodes, b->words * sizeof *b->fresh);
    b->open = xd_alloc(nodes, b->words * sizeof *b->open);
    b->leaves = xd_alloc(b->n_leaves, sizeof *b->leaves);
    b->may = xd_alloc(b->n_leaves, n_slots * sizeof *b->may);
    if (!b->done || !b->fresh || !b->open || !b->leaves || !b->may) {
        xd_board_fini(b);
        return XD_E_NOMEM;
    }
    for (uint64_t i = 0; i < n_blocks; i++)
        xd_board_mark(b, i, XD_MARK_FRESH);
    return 0;
}

/* Extends the bits of each node from `words` to `more` words, with zeros. */
static int widen(uint64_t **bits, size_t n_nodes, size_t words, size_t more)
{
    if (xd_lengthen(bits, n_nodes * words, n_nodes * more, sizeof **bits) < 0)
        return XD_E_NOMEM;
    for (size_t node = n_nodes; node-- > 0;) {
        memmove(*bits + node * more, *bits + node * words,
                words * sizeof **bits);
        memset(*bits + node * more + words, 0, (more - words) * sizeof **bits);
    }
    return 0;
}

int xd_board_grow(struct xd_board *b, unsigned n_slots)
{
    size_t words = n_slots / SLOTS_PER_WORD + 1, n_nodes = b->n_leaves * 2;

    if (xd_lengthen(&b->may, b->n_leaves * b->n_slots, b->n_leaves * n_slots,
                    sizeof *b->may) < 0)
        return XD_E_NOMEM;
    if (words > b->words && (widen(&b->fresh, n_nodes, b->words, words) < 0 ||
                             widen(&b->open, n_nodes, b->words, words) < 0))
        return XD_E_NOMEM;
    b->words = words;
    b->n_slots = n_slots;
    return 0;
}

void xd_board_fini(struct xd_board *b)
{
    xd_free(b->done);
    xd_free(b->fresh);
    xd_free(b->open);
    xd_free(b->leaves);
    xd_free(b->may);
    *b = (struct xd_board){.n_blocks = 0};
}

void xd_board_mark(struct xd_board *b, uint64_t block, enum xd_mark mark)
{
    struct xd_board_leaf *l = &b->leaves[block / BLOCKS_PER_LEAF];

    put_bit(&l->done, bit(block), mark == XD_MARK_DONE);
    put_bit(&l->fresh, bit(block), mark == XD_MARK_FRESH);
    put_bit(&l->open, bit(block),
            mark == XD_MARK_FRESH || mark == XD_MARK_OPEN);
}

bool xd_board_is_done(const struct xd_board *b, uint64_t block)
{
    return b->leaves[block / BLOCKS_PER_LEAF].done & bit(block);
}

static uint64_t *may_of(struct xd_board *b, unsigned slot, size_t leaf)
{
    return &b->may[slot * b->n_leaves + leaf];
}

void xd_board_allow(struct xd_board *b, unsigned slot, uint64_t block, bool may)
{
    put_bit(may_of(b, slot, (size_t)(block / BLOCKS_PER_LEAF)), bit(block),
            may);
}

void xd_board_allow_run(struct xd_board *b, unsigned slot, uint64_t begin,
                        uint64_t end, bool may)
{
    while (begin < end) {
        uint64_t leaf = begin / BLOCKS_PER_LEAF;
        uint64_t stop = (leaf + 1) * BLOCKS_PER_LEAF;
        uint64_t mask = ~UINT64_C(0) << (begin % BLOCKS_PER_LEAF);

        if (end < stop) {
            mask &= bit(end) - 1;
            stop = end;
        }
        put_bit(may_of(b, slot, (size_t)leaf), mask, may);
        begin = stop;
    }
}

static void put_slot_bit(struct xd_board *b, uint64_t *bits, size_t node,
                         unsigned slot, bool on)
{
    put_bit(&bits[node * b->words + slot / SLOTS_PER_WORD], bit(slot), on);
}

static bool slot_bit(const struct xd_board *b, const uint64_t *bits,
                     size_t node, unsigned slot)
{
    return bits[node * b->words + slot / SLOTS_PER_WORD] & bit(slot);
}

static void publish_leaf_of_slot(struct xd_board *b, size_t leaf, unsigned slot)
{
    const struct xd_board_leaf *l = &b->leaves[leaf];
    uint64_t may = *may_of(b, slot, leaf);

    put_slot_bit(b, b->fresh, b->n_leaves + leaf, slot, l->fresh & may);
    put_slot_bit(b, b->open, b->n_leaves + leaf, slot, l->open & may);
}

/* Computes a node from its children. */
static void publish_node(struct xd_board *b, size_t node)
{
    size_t left = node * 2 * b->words, right = left + b->words;

    b->done[node] = b->done[node * 2] + b->done[node * 2 + 1];
    for (size_t w = 0; w < b->words; w++) {
        size_t at = node * b->words + w;

        b->fresh[at] = b->fresh[left + w] | b->fresh[right + w];
        b->open[at] = b->open[left + w] | b->open[right + w];
    }
    b->visits++;
}

static void publish_leaf(struct xd_board *b, size_t leaf)
{
    b->done[b->n_leaves + leaf] = count_bits(b->leaves[leaf].done);
    for (unsigned slot = 0; slot < b->n_slots; slot++)
        publish_leaf_of_slot(b, leaf, slot);
    b->visits++;
}

void xd_board_publish(struct xd_board *b, uint64_t first, uint64_t last)
{
    size_t low = b->n_leaves + (size_t)(first / BLOCKS_PER_LEAF);
    size_t high = b->n_leaves + (size_t)(last / BLOCKS_PER_LEAF);

    for (size_t node = low; node <= high; node++)
        publish_leaf(b, node - b->n_leaves);
    while (low /= 2, high /= 2, low > 0)
        for (size_t node = low; node <= high; node++)
            publish_node(b, node);
}

void xd_board_publish_slot(struct xd_board *b, unsigned slot)
{
    for (size_t leaf = 0; leaf < b->n_leaves; leaf++)
        publish_leaf_of_slot(b, leaf, slot);
    for (size_t node = b->n_leaves - 1; node > 0; node--) {
        size_t left = node * 2, right = left + 1;

        put_slot_bit(b, b->fresh, node, slot,
                     slot_bit(b, b->fresh, left, slot) ||
                         slot_bit(b, b->fresh, right, slot));
        put_slot_bit(b, b->open, node, slot,
                     slot_bit(b, b->open, left, slot) ||
                         slot_bit(b, b->open, right, slot));
    }
}

static uint64_t candidates(struct xd_board *b, unsigned slot,
                           enum xd_board_kind kind, size_t leaf)
{
    const struct xd_board_leaf *l = &b->leaves[leaf];

    return (kind == XD_BOARD_FRESH ? l->fresh : l->open) &
           *may_of(b, slot, leaf);
}

/* Returns the next node to the right of the path to a leaf that has such a
 * block, or 0, the root's parent. */
static size_t right_of(struct xd_board *b, const uint64_t *bits, unsigned slot,
                       size_t node)
{
    for (; node > 1; node /= 2) {
        b->visits++;
        if (node % 2 == 0 && slot_bit(b, bits, node + 1, slot))
            return node + 1;
    }
    return 0;
}

/* On the way down only the left child is examined: if it has no such block, the
 * right one must have one. */
bool xd_board_first(struct xd_board *b, unsigned slot, enum xd_board_kind kind,
                    uint64_t from, uint64_t *out_block)
{
    const uint64_t *bits = kind == XD_BOARD_FRESH ? b->fresh : b->open;
    size_t leaf = (size_t)(from / BLOCKS_PER_LEAF), node = 1;
    uint64_t found = 0;

    b->visits++;
    if (from >= b->n_blocks || !slot_bit(b, bits, node, slot))
        return false;
    if (from > 0) {
        found = candidates(b, slot, kind, leaf) & -bit(from);
        node = found ? b->n_leaves + leaf
                     : right_of(b, bits, slot, b->n_leaves + leaf);
        if (node == 0)
            return false;
    }
    while (node < b->n_leaves) {
        node *= 2;
        b->visits++;
        if (!slot_bit(b, bits, node, slot))
            node++;
    }
    leaf = node - b->n_leaves;
    if (!found)
        found = candidates(b, slot, kind, leaf);
    *out_block = (uint64_t)leaf * BLOCKS_PER_LEAF + lowest_bit(found);
    return true;
}

uint64_t xd_board_n_done(struct xd_board *b, uint64_t end)
{
    size_t leaf = (size_t)(end / BLOCKS_PER_LEAF);
    uint64_t n;

    if (end >= b->n_blocks)
        return b->done[1];
    n = count_bits(b->leaves[leaf].done & (bit(end) - 1));
    for (size_t node = b->n_leaves + leaf; node > 1; node /= 2) {
        b->visits++;
        if (node % 2 == 1)
            n += b->done[node - 1];
    }
    return n;
}
