/* SPDX-License-Identifier: MIT */
/*
 * Compute how long a media player would have stalled, from the records of a
 * finished download.
 *
 * It uses the method of Plank, Atchley, Ding and Beck (2003), section 4.2, in
 * which the player does not influence the order of the requests.  For a real
 * player, use stream.h.
 *
 *     #include "lab/playback.h"
 *
 *     int stall(double *out_s, const struct xd_fetch_record *records, size_t n,
 *               uint64_t size, struct xd_error *err)
 *     {
 *         // blocks of 1 MiB, 500 kB/s, playback starts after 5 s
 *         return xd_playback_delay(out_s, records, n, size, 1 << 20, 500e3, 5,
 *                                  err);
 *     }
 */
#ifndef XD_LAB_PLAYBACK_H
#define XD_LAB_PLAYBACK_H

#include <xdownload/download.h>

struct xd_fetch_record;

/*
 * Computes the total time in seconds for which a player would have stalled, and
 * stores it in *out_s.
 *
 * The player starts `prebuffer_s` seconds after the download and plays
 * `bytes_per_s` bytes per second.  It plays a block of `block_bytes` bytes only
 * when it has the whole block.  In the paper, this is the block size of the
 * download, and the player starts after 5 s.
 *
 * `records` come from xd_download_next_record() or xd_simulation_record(), in
 * any order.  They must cover a whole file of `size` bytes.
 *
 * - The bytes of a request are assumed to arrive at a constant rate, from its
 *   first byte to its end.
 * - If bytes were rejected and fetched again, their first arrival counts.
 *
 * Threads: any.
 * Blocks:  no.
 * Errors:  INVAL (a size, rate or time is out of range, or the records do not
 *          cover the whole file), NOMEM.
 */
XD_MUST_CHECK int xd_playback_delay(double *out_s,
                                    const struct xd_fetch_record *records,
                                    size_t n_records, uint64_t size,
                                    uint64_t block_bytes, double bytes_per_s,
                                    double prebuffer_s, struct xd_error *err);

#endif
