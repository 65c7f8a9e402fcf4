/* SPDX-License-Identifier: MIT */
/*
 * Blocks of the paper: a range divided every block_bytes, and also at each edge
 * of an extent.
 *
 *     whole   |----------------------------------------------|
 *     grid    |        |        |        |        |        |
 *     cuts        c                      c            c
 *     blocks  | 0 | 1  |   2    |   3    |   4    | 5 | 6  |7|
 *
 * Nothing is stored for each block.  Costs: O(log n) in the number of cuts.
 */
#ifndef XD_SCHED_BLOCKS_H
#define XD_SCHED_BLOCKS_H

#include <stddef.h>
#include <stdint.h>

#include "base/range.h"

struct xd_blocks {
    struct xd_range whole;
    uint64_t block_bytes;
    uint64_t *cuts; /* only the cuts inside `whole` that are not on the grid */
    size_t n_cuts;
    uint64_t n; /* number of blocks */
};

/* block_bytes must be >= 1 and `cuts` ascending.  Errors: NOMEM. */
int xd_blocks_init(struct xd_blocks *b, struct xd_range whole,
                   uint64_t block_bytes, const uint64_t *cuts, size_t n_cuts);
void xd_blocks_fini(struct xd_blocks *b);

/* range() returns the bytes of block i < n; find() returns the block that
 * contains a byte of `whole`. */
struct xd_range xd_blocks_range(const struct xd_blocks *b, uint64_t i);
uint64_t xd_blocks_find(const struct xd_blocks *b, uint64_t byte);

#endif
