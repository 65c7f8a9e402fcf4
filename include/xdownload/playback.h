/* SPDX-License-Identifier: MIT */
/*
 * What a player would have had of a download, computed afterwards from its
 * records: as in section 4.2 of Plank, Atchley, Ding and Beck (2003), without
 * a window and without back-pressure.
 */
#ifndef XDOWNLOAD_PLAYBACK_H
#define XDOWNLOAD_PLAYBACK_H

#include <xdownload/download.h>

XD_BEGIN_DECLS

/*
 * *out_s is how many seconds, all together, a player would have stood still
 * that begins `prebuffer_s` after the download and consumes `bytes_per_s`: the
 * block that begins at byte i must be complete i / bytes_per_s later.  The
 * bytes of a record count as evenly spread between its first byte and its end;
 * a block that one request delivers is complete when that request ends.  The
 * paper's values are the block size of the download and 5 s.
 *
 * `records` are those of xd_download_next_record() or xd_simulation_record() of
 * a download of a whole file of `size` bytes, in any order; the struct_size of
 * the first one is that of all.  Bytes that were rejected later and fetched
 * again count from when they first came.
 *
 * Threads: any.  Blocks: no.
 * Errors:  INVAL (a size, rate or time that makes no sense; a byte of the file
 *          that no record has), NOMEM.
 */
XD_API XD_MUST_CHECK int xd_playback_delay(
    double *out_s, const struct xd_fetch_record *records, size_t n_records,
    uint64_t size, uint64_t block_bytes, double bytes_per_s, double prebuffer_s,
    struct xd_error *err);

XD_END_DECLS

#endif
