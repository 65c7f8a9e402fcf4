/* SPDX-License-Identifier: MIT */
/*
 * Which blocks of a file one client was sent: a bit for each.
 *
 * A block counts with its middle byte.  So does each exactly once, whatever the
 * edges of the ranges in which the file goes out.
 */
#ifndef XD_CIRCUS_BLOCK_SET_H
#define XD_CIRCUS_BLOCK_SET_H

#include <stddef.h>
#include <stdint.h>

#define XD_BLOCK_SET_MOST 32768 /* of a file: 4 KiB for each client */

struct xd_block_set {
    uint64_t size, block; /* bytes, both > 0 */
    size_t n, n_set;
    uint64_t *bits; /* xd_block_set_words() of them, the caller's */
};

static inline uint64_t xd_block_set_n(uint64_t size, uint64_t block)
{
    return size / block + (size % block != 0);
}

static inline size_t xd_block_set_words(size_t n)
{
    return (n + 63) / 64;
}

/* Of the blocks whose middle byte is one of these. */
void xd_block_set_add(struct xd_block_set *b, uint64_t begin, uint64_t end);
void xd_block_set_remove(struct xd_block_set *b, uint64_t begin, uint64_t end);

/* The first block from `i` on, and then from the first, that is not set; `n` if
 * all are. */
size_t xd_block_set_next_missing(const struct xd_block_set *b, size_t i);

/* The first from `i` to before `end` that is set; `end` if none is. */
size_t xd_block_set_next(const struct xd_block_set *b, size_t i, size_t end);

#endif
