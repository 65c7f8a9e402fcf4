/* SPDX-License-Identifier: MIT */
/*
 * A manifest for copies that exist already: the size of the file, its SHA-256, and
 * that of each of its pieces.  Nothing is written.
 */
#ifndef XDOWNLOAD_MAKE_H
#define XDOWNLOAD_MAKE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <xdownload/manifest.h>
#include <xdownload/options.h>

/* Of one piece. */
#define XD_MAKE_PIECE_LEAST ((uint64_t)16 << 10)
#define XD_MAKE_PIECE_MOST ((uint64_t)1 << 30)

struct xd_make_options {
    size_t struct_size; /* set by the caller */
    const char *path;   /* of the file here; NULL: it is read from the depots */
    const char *name; /* that the manifest gives it; NULL: that of the path, or
                           of the first URL */
    uint64_t piece_bytes; /* 0: 256 KiB, doubled until there are at most 1024
                             pieces, whose hashes take 64 KiB */
    bool
        is_offline; /* with `path`: no depot is asked whether it holds the file */
};

XD_BEGIN_DECLS

/*
 * The manifest of one file, of which each URL is a whole copy; xd_manifest_write()
 * writes it.
 *
 * With `path` the file there is read, and then each URL is asked for the size of
 * what it leads to, and for samples, as xd_audit_new() takes them.  Without it
 * all of each copy is read and hashed, all depots at once: the copy that more
 * than half of the depots have is the file.  A URL that cannot be read, or whose
 * copy is another, is left out, with a warning (xd_manifest_warning()).
 *
 * Ownership: *out is the caller's, to release with xd_manifest_unref().  Strings
 *            are copied.  `o` may be NULL: the defaults.
 * Threads:   any.  Works on threads of its own, which have ended on return.
 * Blocks:    while the file is read, and as xd_audit_new() does; a cancel of the
 *            options ends it.  The log is given XD_LOG_STATUS lines of how far it
 *            is.
 * Errors:    INVAL (no URL; one with a login or a signature in it, which a
 *            manifest would give away; a piece size out of range, or one of which
 *            there would be more than 500 000 pieces), IO (the file cannot be read,
 *            or was changed meanwhile), CORRUPT (the copies differ, and there is no
 *            majority; or none is that of the file), NOREPLICA (no copy can be
 *            read), MANIFEST (a URL that is none), TIMEOUT, CANCELED, NOMEM.
 */
XD_API XD_MUST_CHECK int xd_manifest_make(struct xd_manifest **out,
                                          const char *const *urls, size_t n,
                                          const struct xd_make_options *what,
                                          const struct xd_options *o,
                                          struct xd_error *err);

XD_END_DECLS

#endif
