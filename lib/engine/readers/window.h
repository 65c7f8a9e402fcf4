/* SPDX-License-Identifier: MIT */
/*
 * How far ahead of a reader bytes are wanted, and when they are needed.
 */
#ifndef XD_ENGINE_WINDOW_H
#define XD_ENGINE_WINDOW_H

#include <stdbool.h>

#include "base/range.h"

struct xd_demand;
struct xd_engine;
struct xd_options;
struct xd_reader;

/* So much is looked at before it is known that the reader stays there: players
 * read up to 260 KB of a place that they only probe. */
#define XD_PROBE_BYTES ((uint64_t)256 << 10)

/* How long windows are by the option lookahead, which may be a time, at this
 * rate in bytes per second; 0: it is not known. */
uint64_t xd_window_bytes(const struct xd_options *o, uint64_t media_rate);

/* A reader's player may have reported its rate, or the reader is gone: find
 * that of the file. */
void xd_windows_rate_locked(struct xd_engine *e);

/* A player may have reported another rate: whether windows have another length
 * now. */
bool xd_windows_fit_locked(struct xd_engine *e);

/* Of a scheduler's blocks so many bytes must hold some, whatever players tell.
 */
uint64_t xd_window_least(const struct xd_engine *e);

/* A range of the file, out to the edges of pieces. */
struct xd_range xd_window_pieces(const struct xd_engine *e, struct xd_range r);

/* What a reader wants now. */
struct xd_demand xd_window_demand(const struct xd_reader *r);

/* Whether all windows are full, and that of a reader which streams has the end
 * of the file; or the file is complete. */
bool xd_windows_have_rest_locked(const struct xd_engine *e);

/* Share a store in memory out among all readers: one's window is the smaller
 * for the others'. */
void xd_windows_share_locked(struct xd_engine *e);

#endif
