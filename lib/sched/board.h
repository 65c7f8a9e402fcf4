/* SPDX-License-Identifier: MIT */
/*
 * An index of blocks: which is the first that a slot may take?
 *
 *                         root                 each node: how many blocks
 *                    /            \            below are done, and for each
 *                 node            node         slot two bits:
 *                /    \          /    \          fresh  a block below runs
 *            leaf     leaf    leaf    leaf              nowhere, and the slot
 *            64       64      64      64                may take it
 *            blocks   blocks  blocks  blocks     open   the same of one that
 *                                                       could run once more
 *
 * The board knows the marks and permissions that were set, and no depots, bytes
 * or rules.  A million blocks are 14 levels; a leaf holds its blocks as words
 * of bits, so that four million blocks and 16 slots take 13 MB.  Nothing
 * allocates after init() but grow().
 */
#ifndef XD_SCHED_BOARD_H
#define XD_SCHED_BOARD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct xd_board {
    uint64_t n_blocks;
    unsigned n_slots;
    size_t n_leaves; /* a power of two */
    size_t words;    /* for one bit per slot */
    uint64_t *done;  /* per node: blocks below that are done */
    uint64_t *fresh; /* per node: `words` of bits */
    uint64_t *open;  /* per node: likewise */
    struct xd_board_leaf *leaves;
    uint64_t *may;   /* per slot and leaf: blocks that the slot may take */
    unsigned visits; /* nodes seen since it was last set to 0 */
};

enum xd_mark {
    XD_MARK_FRESH, /* runs nowhere */
    XD_MARK_OPEN,  /* runs, and may run once more */
    XD_MARK_FULL,  /* runs as often as it may */
    XD_MARK_DONE
};

enum xd_board_kind { XD_BOARD_FRESH, XD_BOARD_OPEN }; /* OPEN: or fresh */

/* All blocks are fresh; no slot may take any.  0 or NOMEM. */
int xd_board_init(struct xd_board *b, uint64_t n_blocks, unsigned n_slots);
void xd_board_fini(struct xd_board *b);

/* There are so many slots, no fewer than before; the new ones may take no
 * block.  0, or NOMEM with the board as before, but for memory. */
int xd_board_grow(struct xd_board *b, unsigned n_slots);

/* Note a change of one block; publish() applies changes to the tree, those of
 * all blocks from `first` to `last`. */
void xd_board_mark(struct xd_board *b, uint64_t block, enum xd_mark mark);
void xd_board_allow(struct xd_board *b, unsigned slot, uint64_t block,
                    bool may);
void xd_board_publish(struct xd_board *b, uint64_t first, uint64_t last);

/* The same for blocks begin..end of one slot at once, and for its tree. */
void xd_board_allow_run(struct xd_board *b, unsigned slot, uint64_t begin,
                        uint64_t end, bool may);
void xd_board_publish_slot(struct xd_board *b, unsigned slot);

bool xd_board_is_done(const struct xd_board *b, uint64_t block);

/* The first block from `from` on of that kind which the slot may take; false
 * if there is none. */
bool xd_board_first(struct xd_board *b, unsigned slot, enum xd_board_kind kind,
                    uint64_t from, uint64_t *out_block);

/* How many blocks before `end` are done. */
uint64_t xd_board_n_done(struct xd_board *b, uint64_t end);

#endif
