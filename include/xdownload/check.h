/* SPDX-License-Identifier: MIT */
/*
 * Verify a file on disk against a manifest, and repair it.
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
 *         int rc = xd_check_new(&c, m, 0, path, err); // reads the whole file
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
 * Functions that can fail return 0 or a negative error code (error.h).
 *
 * Threads: only one thread at a time may use a check.
 */
#ifndef XDOWNLOAD_CHECK_H
#define XDOWNLOAD_CHECK_H

#include <stdbool.h>
#include <stdint.h>
#include <xdownload/manifest.h>
#include <xdownload/options.h>

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
 * changes nothing and does not use the network.  If the manifest has piece
 * hashes (hashes of parts of the file), every piece is compared.  The hash of
 * the whole file is compared if there are no piece hashes, if these are weak,
 * or if a checksum was added (xd_checksums_apply()).
 *
 * The call succeeds even if the file is wrong.
 *
 * Ownership: the caller releases *out with xd_check_free().  The check holds a
 *            reference to `m`; `path` is copied.
 * Blocks:    until the whole file has been read.
 * Errors:    IO, INVAL (no such file in the manifest), NOMEM.
 */
XD_API XD_MUST_CHECK int xd_check_new(struct xd_check **out,
                                      struct xd_manifest *m, size_t file,
                                      const char *path, struct xd_error *err);

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
 * Asks the depots when they last modified the file.  xd_check_get() then
 * reports the answer in `stated`.  The call returns 0 at once if
 * xd_check_compare() has already asked them, or if the file on disk is empty.
 * Blocks: until enough depots have answered.  xd_cancel_trigger() ends the call
 *         early.
 * Errors: NET, NOREPLICA and others (no depot has answered), CANCELED, IO,
 *         NOMEM.
 */
XD_API XD_MUST_CHECK int xd_check_ask_time(struct xd_check *c,
                                           const struct xd_options *o,
                                           struct xd_error *err);

/*
 * Verifies the signature of the file with the keys of the options keyring and
 * public-key (see signature.h).  It returns 0 without reading the file if
 * neither option is set, or if a hash of the file is from a signed checksum
 * file.
 * Blocks: while the file is read.
 * Errors:
 * - CORRUPT: the signature is not valid, or the file has no signature.
 * - INVAL: the option range is set.
 * - IO: the file cannot be read, or gpgv is not installed.
 * - NOMEM.
 */
XD_API XD_MUST_CHECK int xd_check_signature(const struct xd_check *c,
                                            const struct xd_options *o,
                                            struct xd_error *err);

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

/*
 * Turns the file itself into an unfinished download: renames it to PATH.part
 * and writes a journal that lists its correct bytes.  A download to PATH then
 * fetches only the other bytes.  This needs no extra disk space, but PATH does
 * not exist until that download is complete.
 * Blocks: on disk I/O.
 * Errors: IO (an unfinished download exists already), STATE (the manifest does
 *         not state the size of the file), NOMEM.  The file is then unchanged.
 */
XD_API XD_MUST_CHECK int xd_check_reopen(struct xd_check *c,
                                         struct xd_error *err);

/*
 * Fails if an earlier download to `path` has fetched all bytes, but `path`.part
 * did not match its checksum.  The journal of `path`.part records such a
 * failure.  A new download to `path` without a checksum would fail in the same
 * way, but only after it has contacted a server.
 *
 * Succeeds if `path` exists, or if one of the options no-continue and range is
 * set.  `o` may be NULL for the defaults.
 *
 * Threads: any.
 * Blocks:  on disk I/O.
 * Errors:  CORRUPT, NOMEM.
 */
XD_API XD_MUST_CHECK int xd_check_unfinished(const char *path,
                                             const struct xd_options *o,
                                             struct xd_error *err);

/*
 * Completes a file for which xd_check_unfinished() fails, for example after a
 * mistyped checksum.  If `path`.part matches the hash of the whole file (file
 * number `file` of `m`), it is renamed to `path`.  No server is contacted.
 *
 * Also a macro that sets out->struct_size (version.h).  out->is_right becomes
 * true if the file was completed.  It becomes false if there is no such file,
 * or if `m` has no hash of the file.  If `path`.part was compared with its
 * hash, the other fields are set as by xd_check_get().  The strings live as
 * long as `m`.
 *
 * Nothing is done if xd_check_unfinished() succeeds, if the earlier download
 * used the same hash, or if one of the options remote-time, keyring and
 * public-key is set.
 *
 * Threads: any.
 * Blocks:  until the whole file has been read, and on disk I/O.
 * Errors:
 * - CORRUPT: the file does not match that hash either.
 * - IO, NOMEM.
 */
XD_API XD_MUST_CHECK int xd_check_complete(struct xd_manifest *m, size_t file,
                                           const char *path,
                                           const struct xd_options *o,
                                           struct xd_checked *out,
                                           struct xd_error *err);

/* Releases a check; NULL does nothing. */
XD_API void xd_check_free(struct xd_check *c);

#ifndef XD_SIZES_BY_HAND
XD_FILLS(xd_checked)
#define xd_check_get(c, out) xd_check_get(c, xd_checked_sized(out))
#define xd_check_complete(m, file, path, o, out, err) \
    xd_check_complete(m, file, path, o, xd_checked_sized(out), err)
#endif

XD_END_DECLS

#endif
