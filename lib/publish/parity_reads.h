/* SPDX-License-Identifier: MIT */
/*
 * Computes parity while it is read.  Each slice of parity is computed from the
 * data of the stripe at the same offsets, so no whole shard is kept in memory.
 *
 *     d0 |....####......|
 *     d1 |....####......|   --->   p2 |....####......|
 *
 * Threads: one at a time.
 */
#ifndef XD_PUBLISH_PARITY_READS_H
#define XD_PUBLISH_PARITY_READS_H

#include <stddef.h>
#include <stdint.h>
#include <xdownload/error.h>

#include "publish/upload_line.h"
#include "publish/origin.h"

struct xd_parity_reads;

/* Returns the length of a slice for `n` shards.  The slices of all shards have
 * 1 MiB together, because a stripe may have 255 shards and an upload may have
 * many readers. */
size_t xd_parity_slice(unsigned n);

/*
 * Reads data as reader number `reader` of `origin`.  `origin` and `line` must
 * outlive the reads.
 * Ownership: *out is the caller's; release it with xd_parity_reads_free().
 * Errors:    NOMEM.
 */
int xd_parity_reads_new(struct xd_parity_reads **out, struct xd_origin *origin,
                        size_t reader, const struct xd_upload_line *line,
                        struct xd_error *err);
void xd_parity_reads_free(struct xd_parity_reads *r); /* accepts NULL */

/*
 * Reads exactly `len` bytes of the upload line, inside one parity shard.
 * Blocks and errors: like xd_origin_read(); NOMEM.
 */
int xd_parity_read(struct xd_parity_reads *r, uint64_t position, void *to,
                   size_t len, struct xd_error *err);

/*
 * Computes `len` bytes, at most xd_parity_slice(), of each parity shard of a
 * stripe, from the offset `at` on.  *out points to one buffer for each shard,
 * valid until the next call.
 * Blocks and errors: like xd_origin_read(); NOMEM.
 */
int xd_parity_read_all(struct xd_parity_reads *r, size_t stripe, uint64_t at,
                       size_t len, const uint8_t *const **out,
                       struct xd_error *err);

#endif
