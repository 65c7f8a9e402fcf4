/* SPDX-License-Identifier: MIT */
/*
 * Checksums that do not stand in a manifest: one that the user has, or a file
 * of them such as SHA256SUMS.  Applied to a manifest they become hashes of its
 * files, and then everything that a manifest's hashes are good for holds: a
 * download is verified, repaired and resumed by them.
 */
#ifndef XDOWNLOAD_CHECKSUMS_H
#define XDOWNLOAD_CHECKSUMS_H

#include <stdbool.h>
#include <xdownload/manifest.h>
#include <xdownload/options.h>

struct xd_checksums;

XD_BEGIN_DECLS

/*
 * None yet.
 * Ownership: *out is the caller's, to release with xd_checksums_free().
 * Errors:    NOMEM.
 * Threads:   a set belongs to one thread at a time.
 */
XD_API XD_MUST_CHECK int xd_checksums_new(struct xd_checksums **out,
                                          struct xd_error *err);
XD_API void xd_checksums_free(struct xd_checksums *c); /* NULL: nothing */

/* Whether the text is meant as TYPE=HEX, TYPE:HEX or HEX, and not as the name of
 * a file: before the sign is an algorithm ("sha-256", "SHA256", "md5"), or there
 * are as many hex digits as MD5, SHA-1 or one of SHA-2 has, and nothing else. */
XD_API bool xd_checksum_is_value(const char *text);

/*
 * A checksum without a file's name: of the only file that there is.
 * Errors: INVAL (not the algorithm's number of hex digits; one that cannot be
 *         computed), MANIFEST (another value was added before), NOMEM.
 */
XD_API XD_MUST_CHECK int xd_checksums_add(struct xd_checksums *c,
                                          const char *value,
                                          struct xd_error *err);

/*
 * The checksums in a text as sha256sum, md5sum, BSD's sha256 and `openssl
 * dgst` write it:
 *
 *     HEX  name        HEX *name       \HEX  na\\me     HEX
 *     SHA256 (name) = HEX              SHA256(name)= HEX
 *
 * Where a line names no algorithm, the number of digits decides (MD5, SHA-1
 * or SHA-2).  HEX alone counts where no line has a name.  All other lines are
 * passed over, and so is what PGP puts around a text that it signs; the
 * signature is not checked.  `origin` is where the text came from, for
 * sentences.
 * Errors: MANIFEST (no line of it is a checksum), NOMEM; *c is then as before.
 */
XD_API XD_MUST_CHECK int xd_checksums_parse(struct xd_checksums *c,
                                            const void *data, size_t len,
                                            const char *origin,
                                            struct xd_error *err);

/* The same of a file; "-" is standard input.  At most 64 MiB are read.
 * Errors: also IO.  Blocks: on the disk, or on the writer of the pipe. */
XD_API XD_MUST_CHECK int xd_checksums_read(struct xd_checksums *c,
                                           const char *path,
                                           struct xd_error *err);

/* The same for a URL, at most 64 MiB; `o` (NULL: the defaults) says
 * how it is asked.  Errors: also NET, TIMEOUT, CANCELED, NOREPLICA (its host
 * is excluded).  Blocks: until it has come; a cancel of the options ends it.
 * Works on a thread of its own. */
XD_API XD_MUST_CHECK int xd_checksums_fetch(struct xd_checksums *c,
                                            const char *url,
                                            const struct xd_options *o,
                                            struct xd_error *err);

/* Whether one of them goes without the name of a file, and so is of one file
 * only. */
XD_API bool xd_checksums_are_of_one(const struct xd_checksums *c);

/*
 * A manifest that says the same as `m`, and these checksums too of file number
 * `file`, or of XD_ALL_FILES.  They are matched by the file's name, without the
 * folders before it; where a text has several of that name, those count whose
 * folders are those of one of the file's URLs.
 *
 * Each text that was added must have a checksum of each of the files; and none
 * may contradict another, nor the manifest.
 *
 * Ownership: *out is the caller's, to release with xd_manifest_unref(); it
 *            holds a reference to `m`, and needs `c` no longer.
 * Errors:    MANIFEST (one is missing, or contradicts), INVAL (no such file;
 *            one without a name, and several files), NOMEM.
 */
XD_API XD_MUST_CHECK int xd_checksums_apply(struct xd_manifest **out,
                                            const struct xd_checksums *c,
                                            struct xd_manifest *m, size_t file,
                                            struct xd_error *err);

/*
 * The hash of `len` bytes at `data` in lower-case hex, by its IANA name
 * ("sha-256"): what names a manifest's text beyond doubt, for example.
 * Errors: INVAL (an algorithm that cannot be computed), NOMEM.
 * Threads: any.
 */
#define XD_CHECKSUM_HEX_SIZE 129 /* the longest, and a NUL */

XD_API XD_MUST_CHECK int xd_checksum_compute(char out[XD_CHECKSUM_HEX_SIZE],
                                             const char *algorithm,
                                             const void *data, size_t len,
                                             struct xd_error *err);

XD_END_DECLS

#endif
