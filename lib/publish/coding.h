/* SPDX-License-Identifier: MIT */
/*
 * How a file is cut into stripes that get parity.
 *
 *     stripe 0              stripe 1              the last one
 *     | d0 | d1 | p2 |      | d0 | d1 | p2 |      |d0|d1|p2|
 *
 * All shards have the same length but those of the last stripe, which share what is
 * left, so that all of its hosts are used and its parity is no longer than it need
 * be.
 *
 * Pure.
 */
#ifndef XD_PUBLISH_CODING_H
#define XD_PUBLISH_CODING_H

#include <stddef.h>
#include <stdint.h>
#include <xdownload/error.h>

#include "manifest/model.h"

/* Bytes of a stripe with its parity, of which a reader that lacks shards keeps two. */
#define XD_STRIPE_MOST ((uint64_t)32 << 20)

struct xd_coding {
    unsigned k, m; /* shards of data, and of parity; k 0: there is no parity */
};

/* "K+M".  Errors: INVAL. */
int xd_coding_parse(struct xd_coding *out, const char *text,
                    struct xd_error *err);

/* How long the shards of a file of `size` bytes are: `wanted`, or, with 0, 1 MiB,
 * more where there were more than 1024 stripes, less where the file or a stripe is
 * so small.  Errors: INVAL (a stripe of such shards is too long). */
int xd_coding_shard_bytes(uint64_t *out, struct xd_coding c, uint64_t size,
                          uint64_t wanted, struct xd_error *err);

/*
 * The stripes of a file of `size` bytes, which have no shards yet.
 * Ownership: *out is the caller's, to release with xd_free().
 * Errors:    NOMEM.
 */
int xd_coding_stripes(struct xd_model_stripe **out, size_t *out_n,
                      struct xd_coding c, uint64_t size, uint64_t shard_bytes,
                      struct xd_error *err);

#endif
