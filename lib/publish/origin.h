/* SPDX-License-Identifier: MIT */
/*
 * The source of the bytes of an upload: a file of this machine, or the replicas
 * of a manifest, read through the downloader.
 *
 * Readers have numbers from 0 to n_readers - 1.  They only matter for a
 * download; a file ignores them.
 *
 * Threads: each reader may be used by one thread at a time.  Any thread may
 *          call interrupt().
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
 * Opens the regular file at `path`.
 * Ownership: *out is the caller's; release it with xd_origin_free().
 * Errors:    IO, NOMEM.
 */
int xd_origin_open(struct xd_origin **out, const char *path,
                   struct xd_error *err);

/*
 * Downloads file number `file` of `m` for `n_readers` readers, at least one.
 * The first read starts the download.  The bytes read are kept in an unnamed
 * file (option spool), so nothing is downloaded twice.
 * Ownership: like xd_origin_open(); takes a reference to `m`, and copies `o`.
 * Errors:    like xd_source_new(); INVAL (no such file), MANIFEST (unknown
 *            size).
 */
int xd_origin_fetch(struct xd_origin **out, struct xd_manifest *m, size_t file,
                    const struct xd_options *o, size_t n_readers,
                    struct xd_error *err);

uint64_t xd_origin_size(const struct xd_origin *s);

/* Returns the stamp of the file as xd_file_stamp() does; "" for a download. */
const char *xd_origin_stamp(const struct xd_origin *s);

/*
 * Reads exactly `len` bytes at the offset `at`.  After an error, `to` may be
 * partly written.
 * Blocks: on the disk, or until the bytes are downloaded.
 * Errors: IO (the file has become shorter), CANCELED (xd_origin_interrupt() was
 *         called), and like xd_reader_read().
 */
int xd_origin_read(struct xd_origin *s, size_t reader, uint64_t at, void *to,
                   size_t len, struct xd_error *err);

/* Waits until the whole download is verified, as xd_reader_read() does at the
 * end.  Call it for a reader that has read everything.  For a file it checks
 * nothing.  Errors: like xd_origin_read(), CORRUPT. */
int xd_origin_end(struct xd_origin *s, size_t reader, struct xd_error *err);

/* Checks that the file has not changed since it was opened, by its stamp.  Does
 * nothing for a download.  Errors: IO (it has changed). */
int xd_origin_check(const struct xd_origin *s, struct xd_error *err);

/* Makes waiting and future reads of a download return CANCELED.  It cannot be
 * undone.  Does nothing for a file.  Blocks: no. */
void xd_origin_interrupt(struct xd_origin *s);

/* Accepts NULL.  No reader may be in use.  Blocks: like xd_source_unref(). */
void xd_origin_free(struct xd_origin *s);

#endif
