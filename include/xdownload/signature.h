/* SPDX-License-Identifier: MIT */
/*
 * OpenPGP and minisign signatures: make sure that a file was signed with a key
 * that you trust.
 *
 * Set the option keyring (OpenPGP keys, verified by the program gpgv) or
 * public-key (a minisign key).  Then every downloaded file must be signed in
 * one of two ways:
 * - The file itself has a signature, from its Metalink or from
 *   xd_manifest_sign().
 * - A signed checksum file, read with xd_checksums_read_signed(), has its
 *   checksum.
 *
 *     #include <xdownload/xdownload.h>
 *
 *     int signed_by_us(struct xd_manifest **out, struct xd_manifest *m,
 *                      struct xd_options *o, struct xd_error *err)
 *     {
 *         int rc = xd_options_set(o, "keyring", "our-keys.gpg", err);
 *
 *         if (rc == 0)
 *             rc = xd_manifest_sign(out, m, 0, "disk.iso.sig", o, err);
 *         return rc; // download *out with the options o
 *     }
 *
 * If one of these options is set, the library refuses to create a download of
 * an unsigned file (error CORRUPT).  If a signature turns out not to be valid,
 * the download fails with CORRUPT before the file is renamed.  Without these
 * options the library ignores signatures.
 *
 * A file is accepted if at least one signature by one of your keys is valid.
 * It is refused if a signature by one of your keys is wrong or has expired, or
 * if the key of the signature has expired or was revoked.  Signatures by other
 * keys are ignored.
 *
 * Functions that can fail return 0 or a negative error code (error.h).
 */
#ifndef XDOWNLOAD_SIGNATURE_H
#define XDOWNLOAD_SIGNATURE_H

#include <xdownload/checksums.h>
#include <xdownload/manifest.h>
#include <xdownload/options.h>

XD_BEGIN_DECLS

/*
 * Adds a detached signature to a file of a manifest.  The result is a manifest
 * like `m`, but file number `file` has the signature that is read from
 * `source`.  `source` is a path, "-" for standard input, or a URL.  The
 * signature is verified later, when the file is downloaded or checked.  `o`
 * (NULL: the defaults) is used to fetch a URL.
 *
 * Ownership: the caller releases *out with xd_manifest_unref().  The new
 *            manifest holds a reference to `m`.
 * Blocks:    on disk I/O, or until the signature has arrived.
 *            xd_cancel_trigger() ends the call early.
 * Errors:
 * - INVAL: there is no such file.
 * - CORRUPT: `source` cannot be read, or is empty or longer than 64 KiB.
 * - TIMEOUT, CANCELED, NOMEM.
 */
XD_API XD_MUST_CHECK int xd_manifest_sign(struct xd_manifest **out,
                                          struct xd_manifest *m, size_t file,
                                          const char *source,
                                          const struct xd_options *o,
                                          struct xd_error *err);

/*
 * Reads a signed checksum file, verifies its signature with the keys in `o`,
 * and adds the checksums to a set.  `o` must not be NULL.
 *
 * - `source` is the checksum file: a path, "-" for standard input, or a URL.
 * - `signature` is a detached signature: a path or a URL.  NULL means that the
 *   checksum file has an inline OpenPGP signature.  Then only the signed part
 *   of the file is used.
 *
 * Blocks: like xd_checksums_read() and xd_checksums_fetch().
 * Errors:
 * - the errors of xd_checksums_read() and xd_checksums_fetch();
 * - CORRUPT: the signature is missing or not valid;
 * - IO: gpgv is not installed, or a key cannot be read.
 */
XD_API XD_MUST_CHECK int xd_checksums_read_signed(struct xd_checksums *c,
                                                  const char *source,
                                                  const char *signature,
                                                  const struct xd_options *o,
                                                  struct xd_error *err);

XD_END_DECLS

#endif
