/* SPDX-License-Identifier: MIT */
/*
 * Parity as it is read: computed of the data of its stripe at the same places, slice
 * by slice, so that no shard has to be kept.
 *
 *     d0 |....####......|
 *     d1 |....####......|   --->   p2 |....####......|
 *
 * One thread at a time.
 */
#ifndef XD_PUBLISH_PARITY_READS_H
#define XD_PUBLISH_PARITY_READS_H

#include <stddef.h>
#include <stdint.h>
#include <xdownload/error.h>

#include "publish/upload_line.h"
#include "publish/origin.h"

struct xd_parity_reads;

/* Bytes of each of `n` shards that are computed at a time: of all together 1 MiB,
 * for there may be 255 of them, and as many readers. */
size_t xd_parity_slice(unsigned n);

/*
 * By reader number `reader` of the origin of the file; both outlive it.
 * Ownership: *out is the caller's, to release with xd_parity_reads_free().
 * Errors:    NOMEM.
 */
int xd_parity_reads_new(struct xd_parity_reads **out, struct xd_origin *origin,
                        size_t reader, const struct xd_upload_line *line,
                        struct xd_error *err);
void xd_parity_reads_free(struct xd_parity_reads *r); /* NULL does nothing */

/* Exactly `len` bytes of the line, which lie in one shard of parity.
 * Blocks, Errors: as xd_origin_read(); NOMEM. */
int xd_parity_read(struct xd_parity_reads *r, uint64_t position, void *to,
                   size_t len, struct xd_error *err);

/*
 * Of a stripe `len` bytes, at most xd_parity_slice(), of all its shards of parity, from
 * `at` on: *out is that many pointers, which live until the next call.
 * Blocks, Errors: likewise.
 */
int xd_parity_read_all(struct xd_parity_reads *r, size_t stripe, uint64_t at,
                       size_t len, const uint8_t *const **out,
                       struct xd_error *err);

#endif
