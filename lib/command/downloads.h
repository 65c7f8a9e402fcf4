/* SPDX-License-Identifier: MIT */
/*
 * Functions of downloads that only the command needs.  Any thread may call them
 * at any time, as long as the caller holds a reference to the download.
 */
#ifndef XD_COMMAND_DOWNLOADS_H
#define XD_COMMAND_DOWNLOADS_H

#include <stddef.h>
#include <stdint.h>
#include <xdownload/download.h>

/* State of one part of the file, for a progress bar.  Byte offsets are relative
 * to the first byte that the option `range` selects. */
struct xd_part {
    size_t struct_size;
    uint64_t begin, end;   /* end is excluded */
    uint64_t bytes_stored; /* bytes received and kept so far */
    /* Bytes that readers can read already; included in bytes_stored.  If the
     * manifest has piece hashes, these bytes have matched a hash. */
    uint64_t bytes_readable;
    /* bytes not stored yet for which a request is in flight */
    uint64_t bytes_requested;
};

/*
 * Creates a download that writes the bytes of the file in order to the
 * descriptor `fd`, which is a pipe, a terminal or a socket.
 *
 * - The download fetches bytes ahead of the output, as far as the option
 *   `lookahead` allows.  These bytes are stored in memory, or in an unnamed
 *   file in the directory of the option `spool`.
 * - If the manifest has piece hashes, each piece is written only after its hash
 *   has matched.
 * - If only the whole file has a hash, the last 16 KiB are held back until the
 *   hash has matched.  If the hash does not match, the download ends with
 *   CORRUPT.
 * - If the other end of the pipe is closed, the download ends with PIPE.  The
 *   process gets no SIGPIPE.
 *
 * Ownership: as for xd_download_new().  `fd` stays the caller's, and must stay
 *            open until the last xd_download_unref().
 * Errors:    the errors of xd_download_new(); INVAL also if `fd` is not open
 *            for writing.
 */
XD_MUST_CHECK int xd_download_new_fd(struct xd_download **out,
                                     struct xd_manifest *m, size_t file, int fd,
                                     const struct xd_options *o,
                                     struct xd_error *err);

/*
 * Divides the file into `n` parts of equal length and reports the state of
 * each, for a progress bar.
 *
 * The struct_size of the first part applies to the whole array.
 * Returns: `n`; fewer if the file has fewer bytes; 0 while its size is unknown.
 * Blocks:  no.  The computing time grows with `n` and with the number of gaps.
 */
size_t xd_download_parts(struct xd_download *d, struct xd_part *out, size_t n);

#endif
