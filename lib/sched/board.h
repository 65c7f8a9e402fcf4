/* SPDX-License-Identifier: MIT */
/*
 * An index of blocks that finds the first block a slot may take.
 *
 *                         root                 each node counts the done blocks
 *                    /            \            below it, and has two bits for
 *                 node            node         each slot:
 *                /    \          /    \          fresh  the slot may take a
 *            leaf     leaf    leaf    leaf              block that nobody has
 *            64       64      64      64                requested
 *            blocks   blocks  blocks  blocks     open   or one that may be
 *                                                       requested once more
 *
 * The board only knows marks and permissions, not depots, bytes or rules.  A
 * million blocks need 14 levels.  Leaves store their blocks as words of bits:
 * four million blocks and 16 slots take 13 MB.  Only init() and grow() allocate
 * memory.
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
    size_t words;    /* 64-bit words for one bit per slot */
    uint64_t *done;  /* for each node: number of done blocks below */
    uint64_t *fresh; /* for each node: `words` words of bits */
    uint64_t *open;  /* for each node: `words` words of bits */
    struct xd_board_leaf *leaves;
    /* for each slot and leaf: the blocks that the slot may take */
    uint64_t *may;
    unsigned visits; /* nodes visited; callers set it to 0 */
};

enum xd_mark {
    XD_MARK_FRESH, /* not requested */
    XD_MARK_OPEN,  /* requested, and may be requested once more */
    XD_MARK_FULL,  /* requested as often as allowed */
    XD_MARK_DONE
};

/* OPEN includes fresh blocks */
enum xd_board_kind { XD_BOARD_FRESH, XD_BOARD_OPEN };

/* All blocks start as fresh, and no slot may take any.  Errors: NOMEM. */
int xd_board_init(struct xd_board *b, uint64_t n_blocks, unsigned n_slots);
void xd_board_fini(struct xd_board *b);

/* Sets the number of slots, which must not decrease.  New slots may take no
 * block.  After NOMEM the board works as before. */
int xd_board_grow(struct xd_board *b, unsigned n_slots);

/* mark() and allow() change one block.  The tree above it is only updated by
 * publish(), for all blocks from `first` to `last`. */
void xd_board_mark(struct xd_board *b, uint64_t block, enum xd_mark mark);
void xd_board_allow(struct xd_board *b, unsigned slot, uint64_t block,
                    bool may);
void xd_board_publish(struct xd_board *b, uint64_t first, uint64_t last);

/* Sets the permission of one slot for all blocks from `begin` to `end`;
 * publish_slot() then updates its tree. */
void xd_board_allow_run(struct xd_board *b, unsigned slot, uint64_t begin,
                        uint64_t end, bool may);
void xd_board_publish_slot(struct xd_board *b, unsigned slot);

bool xd_board_is_done(const struct xd_board *b, uint64_t block);

/* Finds the first block of this kind, at or after `from`, that the slot may
 * take.  Returns false if there is none. */
bool xd_board_first(struct xd_board *b, unsigned slot, enum xd_board_kind kind,
                    uint64_t from, uint64_t *out_block);

/* Returns the number of done blocks before `end`. */
uint64_t xd_board_n_done(struct xd_board *b, uint64_t end);

#endif
