/* SPDX-License-Identifier: MIT */
/*
 * Checksums that are not in a manifest: single values, and files such as
 * SHA256SUMS.
 *
 * Collect them in a set, then apply the set to a manifest.  The result is a
 * manifest with these hashes.  Downloads of its files use the hashes to verify,
 * repair and resume.
 *
 *     #include <xdownload/xdownload.h>
 *
 *     int with_sums(struct xd_manifest **out, struct xd_manifest *m,
 *                   const char *sums_path, struct xd_error *err)
 *     {
 *         struct xd_checksums *c;
 *         int rc = xd_checksums_new(&c, err);
 *
 *         if (rc < 0)
 *             return rc;
 *         rc = xd_checksums_read(c, sums_path, err);
 *         if (rc == 0)
 *             rc = xd_checksums_apply(out, c, m, XD_ALL_FILES, err);
 *         xd_checksums_free(c);
 *         return rc;
 *     }
 *
 * MD5, SHA-1 and the SHA-2 family are supported.
 *
 * Functions that can fail return 0 or a negative error code (error.h).
 *
 * Threads: only one thread at a time may use a set.
 */
#ifndef XDOWNLOAD_CHECKSUMS_H
#define XDOWNLOAD_CHECKSUMS_H

#include <stdbool.h>
#include <xdownload/manifest.h>
#include <xdownload/options.h>

struct xd_checksums;

XD_BEGIN_DECLS

/*
 * Creates an empty set.
 * Ownership: the caller releases *out with xd_checksums_free().
 * Errors:    NOMEM.
 */
XD_API XD_MUST_CHECK int xd_checksums_new(struct xd_checksums **out,
                                          struct xd_error *err);

/* Releases a set; NULL does nothing. */
XD_API void xd_checksums_free(struct xd_checksums *c);

/*
 * Returns true if `text` is a checksum and not the name of a file.  `text` is a
 * checksum in two cases:
 * - It begins with an algorithm and '=' or ':', for example "sha-256=3f2a..."
 *   or "SHA256:3f2a...".  The digits are not checked.
 * - It consists of hex digits only, as many as an MD5, SHA-1 or SHA-2 hash has.
 */
XD_API bool xd_checksum_is_value(const char *text);

/*
 * Adds one checksum: "TYPE=HEX", "TYPE:HEX" or "HEX".  It has no file name, so
 * the set can then be applied to one file only.
 * Errors:
 * - INVAL: the algorithm is unknown or cannot be computed, or the number of hex
 *   digits is wrong for it.
 * - MANIFEST: a different value of the same algorithm was added before.
 * - NOMEM.
 */
XD_API XD_MUST_CHECK int xd_checksums_add(struct xd_checksums *c,
                                          const char *value,
                                          struct xd_error *err);

/*
 * Adds the checksums in the output of sha256sum, md5sum, BSD's sha256 or
 * `openssl dgst`:
 *
 *     HEX  name        HEX *name       \HEX  na\\me     HEX
 *     SHA256 (name) = HEX              SHA256(name)= HEX
 *
 * - If a line names no algorithm, the number of digits determines it.
 * - Lines that consist of HEX alone are used only if no line has a file name.
 * - All other lines are ignored, including the lines of a PGP signature.  The
 *   signature is not verified: see xd_checksums_read_signed().
 *
 * `origin` is the name of the checksum file in error messages.
 * Errors: MANIFEST (no line is a checksum, or the data is longer than 64 MiB),
 *         INVAL (`origin` is NULL), NOMEM.  The set is then unchanged.
 */
XD_API XD_MUST_CHECK int xd_checksums_parse(struct xd_checksums *c,
                                            const void *data, size_t len,
                                            const char *origin,
                                            struct xd_error *err);

/*
 * Adds the checksums in the file `path`, as xd_checksums_parse() does; "-" is
 * standard input.  It reads at most 64 MiB.
 * Blocks: on disk I/O, or on the writer of a pipe.
 * Errors: the errors of xd_checksums_parse(); IO.
 */
XD_API XD_MUST_CHECK int xd_checksums_read(struct xd_checksums *c,
                                           const char *path,
                                           struct xd_error *err);

/*
 * Adds the checksums in the file at `url`, as xd_checksums_parse() does.  It
 * reads at most 64 MiB.  `o` may be NULL for the defaults.
 * Threads: the transfer runs on a thread that ends before the call returns.
 * Blocks:  until the file has arrived.  xd_cancel_trigger() or the option
 *          max-time ends the call early.
 * Errors:
 * - the errors of xd_checksums_parse();
 * - NET: the server cannot be reached, or has refused the request; or `url` is
 *   not a URL;
 * - NOREPLICA: the options exclude the host of the URL, its scheme is not
 *   supported, or it is a file: URL and the option allow-file is not set;
 * - IO: a file named in the options cannot be read;
 * - TIMEOUT, CANCELED.
 */
XD_API XD_MUST_CHECK int xd_checksums_fetch(struct xd_checksums *c,
                                            const char *url,
                                            const struct xd_options *o,
                                            struct xd_error *err);

/* Returns true if the set has a checksum without a file name.  Such a set can
 * be applied to one file only. */
XD_API bool xd_checksums_are_of_one(const struct xd_checksums *c);

/*
 * Adds the checksums of a set to file number `file` of `m`, or to all files if
 * `file` is XD_ALL_FILES.  The result is a new manifest, which also has the
 * hashes of `m`.
 *
 * - A checksum belongs to a file if the last component of its name matches.  If
 *   a checksum file lists the name several times, the entry whose directories
 *   best match the URL of the file is used.
 * - Each checksum file or value that was added must cover every file.  An empty
 *   set adds nothing.
 * - Checksums must not contradict each other or the manifest.
 *
 * Ownership: the caller releases *out with xd_manifest_unref().  The new
 *            manifest holds a reference to `m`, but does not need `c`.
 * Errors:
 * - MANIFEST: a checksum is missing, or two contradict each other.
 * - INVAL: there is no such file, or the set has a checksum without a file name
 *   and there are several files.
 * - NOMEM.
 */
XD_API XD_MUST_CHECK int xd_checksums_apply(struct xd_manifest **out,
                                            const struct xd_checksums *c,
                                            struct xd_manifest *m, size_t file,
                                            struct xd_error *err);

/* Room for the longest hash in hex and a NUL. */
#define XD_CHECKSUM_HEX_SIZE 129

/*
 * Computes the hash of `len` bytes at `data` and writes it to `out` in
 * lower-case hex.  `algorithm` is its standard name, such as "sha-256".
 * Errors:  INVAL (the algorithm cannot be computed), NOMEM.
 * Threads: any.
 */
XD_API XD_MUST_CHECK int xd_checksum_compute(char out[XD_CHECKSUM_HEX_SIZE],
                                             const char *algorithm,
                                             const void *data, size_t len,
                                             struct xd_error *err);

XD_END_DECLS

#endif
