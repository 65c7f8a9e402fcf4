/* SPDX-License-Identifier: MIT */
/*
 * The paper's blocks: a range cut every block_bytes from its beginning, and
 * at every edge of an extent besides.
 *
 *     whole   |----------------------------------------------|
 *     grid    |        |        |        |        |        |
 *     cuts        c                      c            c
 *     blocks  | 0 | 1  |   2    |   3    |   4    | 5 | 6  |7|
 *
 * Nothing is stored per block.  Costs: O(log n) of the cuts.
 */
#ifndef XD_SCHED_BLOCKS_H
#define XD_SCHED_BLOCKS_H

#include <stddef.h>
#include <stdint.h>

#include "base/range.h"

struct xd_blocks {
    struct xd_range whole;
    uint64_t block_bytes;
    uint64_t *cuts; /* those inside `whole` that the grid does not make */
    size_t n_cuts;
    uint64_t n; /* blocks */
};

/* block_bytes >= 1; `cuts` ascend.  0 or NOMEM. */
int xd_blocks_init(struct xd_blocks *b, struct xd_range whole,
                   uint64_t block_bytes, const uint64_t *cuts, size_t n_cuts);
void xd_blocks_fini(struct xd_blocks *b);

/* The bytes of block i < n, and the block of a byte within `whole`. */
struct xd_range xd_blocks_range(const struct xd_blocks *b, uint64_t i);
uint64_t xd_blocks_find(const struct xd_blocks *b, uint64_t byte);

#endif
