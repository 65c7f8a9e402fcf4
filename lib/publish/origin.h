/* SPDX-License-Identifier: MIT */
/*
 * Where the bytes of an upload come from: a file of this machine, or the replicas
 * that a manifest names, by way of the downloader.
 *
 * Threads: one thread at a time for each reader; interrupt() any.
 */
#ifndef XD_PUBLISH_ORIGIN_H
#define XD_PUBLISH_ORIGIN_H

#include <stddef.h>
#include <stdint.h>
#include <xdownload/manifest.h>
#include <xdownload/options.h>

#include "os/file.h"

struct xd_origin;

/*
 * The regular file at `path`.
 * Ownership: *out is the caller's, to release with xd_origin_free().
 * Errors:    IO, NOMEM.
 */
int xd_origin_open(struct xd_origin **out, const char *path,
                   struct xd_error *err);

/*
 * File number `file` of `m`, for `n_readers`.  What was read stays in a file
 * without a name, as the option spool says, so that nothing is fetched twice.
 * Errors: those of xd_source_new(); MANIFEST (its size is unknown).
 */
int xd_origin_fetch(struct xd_origin **out, struct xd_manifest *m, size_t file,
                    const struct xd_options *o, size_t n_readers,
                    struct xd_error *err);

uint64_t xd_origin_size(const struct xd_origin *s);

/* As in xd_file_stamp(); "" of what is fetched. */
const char *xd_origin_stamp(const struct xd_origin *s);

/*
 * Exactly `len` bytes at `at`, by reader number `reader`.
 * Blocks: on the disk, or until they are fetched.
 * Errors: IO (the file has become shorter), CANCELED (interrupt), and those of
 *         xd_reader_read().
 */
int xd_origin_read(struct xd_origin *s, size_t reader, uint64_t at, void *to,
                   size_t len, struct xd_error *err);

/* Whether all that was fetched is right, for a reader that has read all of it: waits
 * until the whole was verified.  Errors: as xd_origin_read(), CORRUPT. */
int xd_origin_end(struct xd_origin *s, size_t reader, struct xd_error *err);

/* Whether it is as it was when it was opened, as far as its time of modification
 * tells.  Errors: IO. */
int xd_origin_check(const struct xd_origin *s, struct xd_error *err);

/* Reads that wait return CANCELED, and so do all later ones.  Blocks: no. */
void xd_origin_interrupt(struct xd_origin *s);

void xd_origin_free(struct xd_origin *s); /* NULL does nothing */

#endif
