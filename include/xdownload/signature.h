/* SPDX-License-Identifier: MIT */
/*
 * Signatures: a key that the user trusts has signed the file, or the list of
 * checksums that it is held against.
 *
 *     options keyring (OpenPGP, by gpgv) or public-key (minisign)
 *        +-- a file's own signature: of its Metalink, or xd_manifest_sign()
 *        `-- that of its checksum:   xd_checksums_read_signed()
 *
 * With one of these options a download of a file that has neither fails with
 * CORRUPT before anything is fetched, and one whose signature does not hold
 * before the file gets its name.  Without them no signature is looked at.
 *
 * One signature must be good, by a key that is among those given, and none may
 * be bad, have expired, or be by a key that has expired or was revoked; those by
 * other keys do not count.
 */
#ifndef XDOWNLOAD_SIGNATURE_H
#define XDOWNLOAD_SIGNATURE_H

#include <xdownload/checksums.h>
#include <xdownload/manifest.h>
#include <xdownload/options.h>

XD_BEGIN_DECLS

/*
 * A manifest that says the same as `m`, and that file number `file` has the
 * detached signature that lies at `source`: a path ("-" is standard input) or a
 * URL, and `o` (NULL: the defaults) says how that is asked.
 * Ownership: *out is the caller's, to release with xd_manifest_unref(); it holds
 *            a reference to `m`.
 * Errors:    INVAL (no such file), CORRUPT (nothing lies there, or no
 *            signature: it is longer than 64 KiB, or empty), IO, TIMEOUT,
 *            CANCELED, NOMEM.
 * Blocks:    on the disk, or until it has come; a cancel of the options ends it.
 */
XD_API XD_MUST_CHECK int xd_manifest_sign(struct xd_manifest **out,
                                          struct xd_manifest *m, size_t file,
                                          const char *source,
                                          const struct xd_options *o,
                                          struct xd_error *err);

/*
 * As xd_checksums_read() and xd_checksums_fetch(), of a text whose signature is
 * verified with the keys of `o`: the one at `signature`, a path or a URL, or,
 * where that is NULL, the one of OpenPGP within which the text stands.  Then only
 * what is inside of it counts.
 * Errors: also CORRUPT (the signature is missing, or does not hold); IO where
 *         gpgv is not installed or a key cannot be read.
 */
XD_API XD_MUST_CHECK int xd_checksums_read_signed(struct xd_checksums *c,
                                                  const char *source,
                                                  const char *signature,
                                                  const struct xd_options *o,
                                                  struct xd_error *err);

XD_END_DECLS

#endif
