/* SPDX-License-Identifier: MIT */
/*
 * Make a manifest, with hashes, for copies of a file that are already on
 * servers.
 *
 *     #include <xdpublish/xdpublish.h>
 *
 *     int make(struct xd_manifest **out, struct xd_error *err)
 *     {
 *         const char *urls[] = {"https://a.example/disk.iso",
 *                               "https://b.example/disk.iso"};
 *         const struct xd_make_options what = {
 *             XD_SIZED(struct xd_make_options), .path = "disk.iso"};
 *
 *         return xd_manifest_make(out, urls, 2, &what, NULL, err);
 *     }
 *
 * xd_manifest_write() and xd_manifest_save() then write it to a file.
 */
#ifndef XDPUBLISH_MAKE_H
#define XDPUBLISH_MAKE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <xdownload/manifest.h>
#include <xdownload/options.h>

/* Minimum and maximum length of a piece, in bytes. */
#define XD_MAKE_PIECE_LEAST ((uint64_t)16 << 10)
#define XD_MAKE_PIECE_MOST ((uint64_t)1 << 30)

/* Settings for xd_manifest_make(). */
struct xd_make_options {
    size_t struct_size; /* see version.h */
    /* Path of the file on this machine.  NULL: the file is read from the
     * depots. */
    const char *path;
    /* Name of the file in the manifest.  NULL: the last component of `path`, or
     * of the first URL if `path` is NULL. */
    const char *name;
    /* Length of a piece in bytes.  0: 256 KiB, doubled until there are at most
     * 1024 pieces, so that the hashes take at most 64 KiB. */
    uint64_t piece_bytes;
    bool is_offline; /* true: do not contact the depots; only with `path` */
};

XD_BEGIN_DECLS

/*
 * Makes a manifest of one file.  Each URL must lead to a complete copy.  The
 * manifest has the size of the file, its SHA-256, and the SHA-256 of each
 * piece.  The call does not write it to a file.
 *
 * - If what->path is set, the call reads that file.  Then it compares the size
 *   and samples of the copy at each URL with the file, like xd_audit_new()
 *   (unless is_offline is set).
 * - If what->path is NULL, the call reads all copies completely, at the same
 *   time.  The manifest describes the version that more than half of the depots
 *   have.
 * - If a URL cannot be read or leads to another file, it is left out, with a
 *   warning (xd_manifest_warning()).
 * - If only one copy was read completely, a warning says that there was no
 *   other copy to compare it with.
 * - The manifest of an empty file lists no copies.
 *
 * Ownership: the caller releases *out with xd_manifest_unref().  Strings are
 *            copied.  `what` and `o` may be NULL for the defaults.
 * Threads:   any.  The work runs on threads that end before the call returns.
 * Blocks:    while it reads the file, and like xd_audit_new().
 *            xd_cancel_trigger() ends the call early.  The log function gets
 *            XD_LOG_STATUS lines about the progress.
 * Errors:
 * - INVAL: there is no URL, or a URL has a user name, password or signature,
 *   which the manifest would reveal.
 * - INVAL: piece_bytes is out of range, or there would be more than 500 000
 *   pieces.
 * - IO: the file cannot be read, or it changed during the call.
 * - CORRUPT: the copies differ and no version has a majority, or no URL leads
 *   to a copy of the file at what->path.
 * - NOREPLICA: no copy can be read, or no depot states the size of the file.
 * - MANIFEST: a URL is not valid.
 * - TIMEOUT, CANCELED, NOMEM.
 */
XD_API XD_MUST_CHECK int xd_manifest_make(struct xd_manifest **out,
                                          const char *const *urls, size_t n,
                                          const struct xd_make_options *what,
                                          const struct xd_options *o,
                                          struct xd_error *err);

/*
 * Writes `text` to the file `path`.  At any moment, even after a power failure,
 * the file has either its old content or the complete new content.
 *
 * - If `replaces` is false, an existing file is left alone and the call fails.
 * - The new file gets the mode and owner of the file that it replaces.  If it
 *   replaces no file, it gets the default mode (umask).  Make sure that other
 *   users cannot read secrets in it.
 * - If `path` is a symbolic link, the link itself is replaced.
 *
 * Blocks: until the file is on disk.
 * Errors: IO (the file exists, is not a regular file, or cannot be written),
 *         NOMEM.
 */
XD_API XD_MUST_CHECK int xd_manifest_save(const char *path, const char *text,
                                          size_t len, bool replaces,
                                          struct xd_error *err);

XD_END_DECLS

#endif
