/* SPDX-License-Identifier: MIT */
/*
 * Verify files: a file on disk against a manifest, checksums that are not in a
 * manifest, and signatures.
 *
 * xd_check_new() compares a file on disk with a manifest:
 *
 *     #include <inttypes.h>
 *     #include <stdio.h>
 *     #include <xdownload/xdownload.h>
 *
 *     int verify(struct xd_manifest *m, const char *path, struct xd_error *err)
 *     {
 *         struct xd_checked found;
 *         uint64_t begin, end;
 *         struct xd_check *c;
 *         int rc = xd_check_new(&c, m, 0, path, NULL, err); // reads it all
 *
 *         if (rc < 0)
 *             return rc;
 *         xd_check_get(c, &found);
 *         printf("%s\n", found.is_right ? "good" : "damaged");
 *         for (size_t i = 0; xd_check_wrong(c, i, &begin, &end) == 0; i++)
 *             printf("wrong: %" PRIu64 " to %" PRIu64 "\n", begin, end);
 *         xd_check_free(c);
 *         return 0;
 *     }
 *
 * To repair the file, call xd_check_begin_repair(), then download to the same
 * path with the option force (download.h).  If the manifest has piece hashes,
 * only wrong pieces are fetched.
 *
 * If the manifest has no hash, xd_check_compare() compares the file with its
 * depots.
 *
 * Checksums that are not in a manifest are single values, or in files such as
 * SHA256SUMS.  Collect them in a set, then apply the set to a manifest.  The
 * result is a manifest with these hashes.  Downloads of its files use the
 * hashes to verify, to repair and to resume.
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
 *         rc = xd_checksums_read(c, sums_path, NULL, err);
 *         if (rc == 0)
 *             rc = xd_checksums_apply(out, c, m, XD_ALL_FILES, err);
 *         xd_checksums_free(c);
 *         return rc;
 *     }
 *
 * MD5, SHA-1 and the SHA-2 family are supported.
 *
 * A signature by OpenPGP or minisign shows that a file was signed with a key
 * that you trust.  To demand signatures, set the option keyring (OpenPGP keys,
 * verified by the program gpgv) or public-key (a minisign key).  Then every
 * downloaded file must be signed in one of two ways:
 * - The file itself has a signature, from its Metalink or from
 *   xd_manifest_add_signature().
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
 *             rc = xd_manifest_add_signature(out, m, 0, "disk.iso.sig", o,
 *                                            err);
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
 *
 * Threads: only one thread at a time may use a check or a set of checksums.
 */
#ifndef XDOWNLOAD_CHECK_H
#define XDOWNLOAD_CHECK_H

#include <stdbool.h>
#include <stdint.h>
#include <xdownload/manifest.h>
#include <xdownload/options.h>

struct xd_checksums;
struct xd_check;

/* The result of a check. */
struct xd_checked {
    size_t struct_size; /* see version.h */
    uint64_t size;      /* size of the file on disk in bytes */
    /* True if the file matches the manifest.  If the manifest has no hash, only
     * the size was compared, and after xd_check_compare() samples of the bytes.
     * False if the manifest has neither a hash nor a size. */
    bool is_right;
    /* algorithm of the hashes that were compared, or NULL */
    const char *algorithm;
    size_t n_wrong; /* number of ranges of wrong or missing bytes */
    /* If the whole file does not match its hash: the hash in the manifest, and
     * the actual hash, both by `algorithm`.  Otherwise NULL.  Both strings live
     * as long as the check. */
    const char *expected_hash, *actual_hash;
    /* last modification of the file on disk, in seconds since 1970 */
    int64_t modified;
    /* Newest modification time that the depots state, in seconds since 1970; 0
     * if no depot states a time.  Of the depots that still have the downloaded
     * version, only the oldest time counts, because some mirrors state a later
     * time than the original server. */
    int64_t stated;
    /* True if xd_check_compare() has compared every byte with a depot and found
     * no difference.  It compares every byte of files smaller than 1 MiB. */
    bool is_compared;
    /* True if a server from which the file was downloaded now reports a
     * different ETag or Last-Modified. */
    bool has_new_version;
};

XD_BEGIN_DECLS

/*
 * Reads the file at `path` and compares it with file number `file` of `m`.  It
 * changes nothing and does not use the network.
 *
 * If the manifest has piece hashes (hashes of parts of the file), every piece
 * is compared.  The hash of the whole file is compared if there are no piece
 * hashes, if these are weak, or if a checksum was added (xd_checksums_apply()).
 *
 * The call succeeds even if the file is wrong.  `o` may be NULL; the call uses
 * only its cancel object (xd_options_set_cancel()).
 *
 * Ownership: the caller releases *out with xd_check_free().  The check holds a
 *            reference to `m`; `path` is copied.
 * Blocks:    until the whole file has been read.  xd_cancel_trigger() ends the
 *            call early.
 * Errors:    CANCELED, IO, INVAL (no such file in the manifest), NOMEM.
 */
XD_API XD_MUST_CHECK int xd_check_new(struct xd_check **out,
                                      struct xd_manifest *m, size_t file,
                                      const char *path,
                                      const struct xd_options *o,
                                      struct xd_error *err);

/* Reports the result.  Blocks: no. */
XD_API void xd_check_get(const struct xd_check *c, struct xd_checked *out);

/* Reports range number `i` of wrong or missing bytes: from *out_begin up to,
 * but not including, *out_end.  Returns 0, or INVAL if `i` is out of range. */
XD_API int xd_check_wrong(const struct xd_check *c, size_t i,
                          uint64_t *out_begin, uint64_t *out_end);

/*
 * Compares samples of the file with its depots.  It is meant for files without
 * piece hashes.  If the manifest has piece hashes, it returns 0 at once.
 *
 * - Samples are 64 KiB long: both ends, places between them (at least 8, and
 *   one for each 64 MiB), and holes of a sparse file.  A file smaller than 1
 *   MiB is compared completely.
 * - If all samples agree, the file counts as right, except for missing or
 *   surplus bytes at its end.
 * - If a sample differs, the whole file counts as wrong.
 * - If the whole file does not match its hash, it counts as wrong even if all
 *   samples agree.
 * - A download records in an extended attribute of the file which ETag or
 *   Last-Modified its depots stated.  Without hashes, a file of at least 1 MiB
 *   counts as wrong if one of its depots states another value now.
 *
 * *out_n (may be NULL) is the number of samples that agree, or 0 after an
 * error.  `o` may be NULL for the defaults.
 *
 * Blocks: until enough depots have answered.  xd_cancel_trigger() ends the call
 *         early.
 * Errors:
 * - CORRUPT: the file differs from a depot, or a depot has a new version.  The
 *   message says where.
 * - NET, NOREPLICA and others: no depot could deliver all samples.
 * - STATE: the manifest does not state the size of the file.
 * - CANCELED, IO, NOMEM.
 */
XD_API XD_MUST_CHECK int xd_check_compare(struct xd_check *c,
                                          const struct xd_options *o,
                                          size_t *out_n, struct xd_error *err);

/*
 * Prepares the repair of the file: copies its correct bytes to PATH.part and
 * writes a journal that lists them.  A download to PATH with the option force
 * then fetches the other bytes, and replaces the file when the result is
 * complete and every hash matches.  Until then the file is not changed.
 *
 * If PATH.part exists, from an earlier repair or download of the same file, the
 * call adds to it.  With the option no-continue nothing is copied.
 *
 * Without the option force, the call refuses a file that is probably not the
 * file of the manifest:
 * - The manifest has piece hashes, and no piece matches.
 * - The manifest has no piece hashes, and no sample agrees with the depots
 *   (xd_check_compare()).
 * - A sample differs, and there is no hash to verify the repaired file.
 *
 * Blocks: on disk I/O, and like xd_check_compare().
 * Errors:
 * - CORRUPT: the file is refused.
 * - IO: PATH.part belongs to another file or is in use; or the disk is too
 *   small for a second copy.
 * - STATE: the manifest does not state the size of the file.
 * - NOMEM, and the errors of xd_check_compare().
 */
XD_API XD_MUST_CHECK int xd_check_begin_repair(struct xd_check *c,
                                               const struct xd_options *o,
                                               struct xd_error *err);

/* Releases a check; NULL does nothing. */
XD_API void xd_check_free(struct xd_check *c);

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
 * Adds the checksums in a file, as xd_checksums_parse() does.  `source` is a
 * path, "-" for standard input, or a URL.  At most 64 MiB are read.  `o` (NULL:
 * the defaults) is used to fetch a URL.
 * Threads: a transfer runs on a thread that ends before the call returns.
 * Blocks:  on disk I/O, on the writer of a pipe, or until the file has arrived.
 *          xd_cancel_trigger() or the option max-time ends a transfer early.
 * Errors:
 * - the errors of xd_checksums_parse();
 * - IO: the file, or a file named in the options, cannot be read;
 * - NET: the server cannot be reached, or has refused the request;
 * - NOREPLICA: the options exclude the host of the URL, its scheme is not
 *   supported, or it is a file: URL and the option allow-file is not set;
 * - TIMEOUT, CANCELED.
 */
XD_API XD_MUST_CHECK int xd_checksums_read(struct xd_checksums *c,
                                           const char *source,
                                           const struct xd_options *o,
                                           struct xd_error *err);

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
XD_API XD_MUST_CHECK int xd_manifest_add_signature(
    struct xd_manifest **out, struct xd_manifest *m, size_t file,
    const char *source, const struct xd_options *o, struct xd_error *err);

/*
 * Reads a signed checksum file, verifies its signature with the keys in `o`,
 * and adds the checksums to a set.  `o` must not be NULL.
 *
 * - `source` is the checksum file: a path, "-" for standard input, or a URL.
 * - `signature` is a detached signature: a path or a URL.  NULL means that the
 *   checksum file has an inline OpenPGP signature.  Then only the signed part
 *   of the file is used.
 *
 * Blocks: like xd_checksums_read().
 * Errors:
 * - the errors of xd_checksums_read();
 * - CORRUPT: the signature is missing or not valid;
 * - IO: gpgv is not installed, or a key cannot be read.
 */
XD_API XD_MUST_CHECK int xd_checksums_read_signed(struct xd_checksums *c,
                                                  const char *source,
                                                  const char *signature,
                                                  const struct xd_options *o,
                                                  struct xd_error *err);

#ifndef XD_SIZES_BY_HAND
XD_FILLS(xd_checked)
#define xd_check_get(c, out) xd_check_get(c, xd_checked_sized(out))
#endif

XD_END_DECLS

#endif
