/* SPDX-License-Identifier: MIT */
/*
 * Functions for manifests that only the command needs.
 */
#ifndef XD_COMMAND_MANIFESTS_H
#define XD_COMMAND_MANIFESTS_H

#include <stdbool.h>
#include <stddef.h>
#include <xdownload/manifest.h>

/*
 * Reads and parses the manifest in the file `path`; "-" is standard input.  It
 * reads at most 64 MiB.  For a URL use xd_manifest_open().
 * Ownership: the caller releases *out with xd_manifest_unref().
 * Blocks:    on disk I/O, or on the writer of a pipe.
 * Errors:    the errors of xd_manifest_parse(); IO.
 */
XD_MUST_CHECK int xd_manifest_read(struct xd_manifest **out, const char *path,
                                   struct xd_error *err);

/*
 * Fetches the Metalinks to which a manifest refers (the metaurl elements of RFC
 * 5854), all at once, and appends the copies that they list to the copies in
 * the manifest.  If the manifest refers to no Metalinks, or the option
 * no-metalink is set, *out is `m` itself.
 *
 * - Only the Metalinks of files that have a SHA-256 or stronger hash are
 *   fetched.
 * - Only copies are added.  A Metalink that contradicts the manifest is
 *   ignored, with a warning.
 * - At most 32 Metalinks are fetched.  The call waits one second for them, and
 *   longer if a file has no other copies.
 * - A Metalink on a public server cannot add copies in private networks.
 *
 * Ownership: the caller releases *out with xd_manifest_unref(), and keeps its
 *            reference to `m`.  `o` may be NULL for the defaults.
 * Blocks:    until the Metalinks have arrived, but no longer than the time
 *            above, and no longer than the option max-time allows.
 *            xd_cancel_trigger() ends the call early.
 * Errors:    CANCELED, NOMEM, IO (a file named in the options cannot be read).
 */
XD_MUST_CHECK int xd_manifest_follow(struct xd_manifest **out,
                                     struct xd_manifest *m,
                                     const struct xd_options *o,
                                     struct xd_error *err);

/* Returns the format: "exnode", "metalink4", "metalink3" or "urls". */
const char *xd_manifest_format(const struct xd_manifest *m);

/* Returns true for algorithms with known collisions, such as "md5" and "sha-1".
 * Their hashes detect damage, but not forgery.  Returns false for algorithms
 * that the library cannot compute, such as "crc32c".  Threads: any. */
bool xd_hash_is_weak(const char *algorithm);

/* Returns the number of files, at least 1. */
size_t xd_manifest_n_files(const struct xd_manifest *m);

/*
 * Returns true if xd_download_new_set() accepts the file.  The file must not be
 * empty, each of its replicas must hold all of it, and one of these conditions
 * must be true:
 * - Its size is known, and it has either one hash or one list of piece hashes.
 * - It has no hash and only one replica.  Its size may then be unknown.
 *
 * A file with two hashes to compare is not accepted, for example after
 * xd_checksums_apply() has added two hashes.
 */
bool xd_manifest_can_join(const struct xd_manifest *m, size_t file);

/* Returns true if file number `file`, or any file for XD_ALL_FILES, has secrets
 * that are written only in the format "private-exnode". */
bool xd_manifest_has_secrets(const struct xd_manifest *m, size_t file);

/* Returns the hash of one piece in lower-case hex, or NULL if `piece` is out of
 * range. */
const char *xd_manifest_piece(const struct xd_manifest *m, size_t file,
                              size_t piece);

#endif
