/* SPDX-License-Identifier: MIT */
/*
 * Divides a file into stripes with parity.
 *
 *     stripe 0              stripe 1              the last one
 *     | d0 | d1 | p2 |      | d0 | d1 | p2 |      |d0|d1|p2|
 *
 * All shards have the same length, except the shards of the last stripe.  The
 * shards of the last stripe divide the rest of the file evenly, so that the
 * parity of the last stripe is as short as possible.  No piece spans two
 * shards.
 *
 * Pure.
 */
#ifndef XD_PUBLISH_CODING_H
#define XD_PUBLISH_CODING_H

#include <stddef.h>
#include <stdint.h>
#include <xdownload/error.h>

#include "manifest/model.h"

/* Largest length of a stripe with its parity, in bytes.  A reader that lacks
 * shards keeps two stripes in memory. */
#define XD_STRIPE_MOST ((uint64_t)32 << 20)

struct xd_coding {
    /* number of data and parity shards; k is 0 if there is no parity */
    unsigned k, m;
};

/* Parses "K+M".  Errors: INVAL. */
int xd_coding_parse(struct xd_coding *out, const char *text,
                    struct xd_error *err);

/* Chooses the shard length for a file of `size` bytes: `wanted`, or 1 MiB if
 * `wanted` is 0.  The default is longer if there would be more than 1024
 * stripes, and shorter if the file or a stripe is too small.  Errors: INVAL
 * (the stripe would be too long). */
int xd_coding_shard_bytes(uint64_t *out, struct xd_coding c, uint64_t size,
                          uint64_t wanted, struct xd_error *err);

/* Returns the shortest shard length that gives the same number of stripes as
 * `shard_bytes`, so that all stripes have about the same length.  It leaves
 * room to round up to whole pieces of at most `most_piece` bytes. */
uint64_t xd_coding_even(struct xd_coding c, uint64_t size, uint64_t shard_bytes,
                        uint64_t most_piece);

/*
 * Computes the stripes of a file, without shards.  `shard_bytes` is a multiple
 * of `piece_bytes`.
 * Ownership: *out is the caller's; release it with xd_free().
 * Errors:    NOMEM.
 */
int xd_coding_stripes(struct xd_model_stripe **out, size_t *out_n,
                      struct xd_coding c, uint64_t size, uint64_t shard_bytes,
                      uint64_t piece_bytes, struct xd_error *err);

#endif
