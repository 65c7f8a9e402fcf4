/* SPDX-License-Identifier: MIT */
/*
 * Functions of checks and checksums that only the command needs.
 *
 * Threads: only one thread at a time may use a check or a set of checksums.
 */
#ifndef XD_COMMAND_CHECKS_H
#define XD_COMMAND_CHECKS_H

#include <stdbool.h>
#include <stddef.h>
#include <xdownload/check.h>

/*
 * Asks the depots when they last modified the file.  xd_check_get() then
 * reports the answer in `stated`.  The call returns 0 at once if
 * xd_check_compare() has already asked them, or if the file on disk is empty.
 * Blocks: until enough depots have answered.  xd_cancel_trigger() ends the call
 *         early.
 * Errors: NET, NOREPLICA and others (no depot has answered), CANCELED, IO,
 *         NOMEM.
 */
XD_MUST_CHECK int xd_check_ask_time(struct xd_check *c,
                                    const struct xd_options *o,
                                    struct xd_error *err);

/*
 * Verifies the signature of the file with the keys of the options keyring and
 * public-key.  It returns 0 without reading the file if neither option is set, or
 * if a hash of the file is from a signed checksum file.
 * Blocks: while the file is read.
 * Errors:
 * - CORRUPT: the signature is not valid, or the file has no signature.
 * - INVAL: the option range is set.
 * - IO: the file cannot be read, or gpgv is not installed.
 * - NOMEM.
 */
XD_MUST_CHECK int xd_check_signature(const struct xd_check *c,
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
XD_MUST_CHECK int xd_check_reopen(struct xd_check *c, struct xd_error *err);

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
XD_MUST_CHECK int xd_check_unfinished(const char *path,
                                      const struct xd_options *o,
                                      struct xd_error *err);

/*
 * Completes a file for which xd_check_unfinished() fails, for example after a
 * mistyped checksum.  If `path`.part matches the hash of the whole file (file
 * number `file` of `m`), it is renamed to `path`.  No server is contacted.
 *
 * The caller sets out->struct_size.  out->is_right becomes true if the file was
 * completed.  It becomes false if there is no such file, or if
 * `m` has no hash of the file.  If `path`.part was compared with its
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
XD_MUST_CHECK int xd_check_complete(struct xd_manifest *m, size_t file,
                                    const char *path,
                                    const struct xd_options *o,
                                    struct xd_checked *out,
                                    struct xd_error *err);

/*
 * Returns true if `text` is a checksum and not the name of a file.  `text` is a
 * checksum in two cases:
 * - It begins with an algorithm and '=' or ':', for example "sha-256=3f2a..."
 *   or "SHA256:3f2a...".  The digits are not checked.
 * - It consists of hex digits only, as many as an MD5, SHA-1 or SHA-2 hash has.
 */
bool xd_checksum_is_value(const char *text);

/* Returns true if the set has a checksum without a file name.  Such a set can
 * be applied to one file only. */
bool xd_checksums_are_of_one(const struct xd_checksums *c);

#endif
