/* SPDX-License-Identifier: MIT */
/*
 * The windows of readers: which bytes each reader needs, and when.
 */
#ifndef XD_ENGINE_WINDOW_H
#define XD_ENGINE_WINDOW_H

#include <stdbool.h>

#include "base/range.h"

struct xd_demand;
struct xd_engine;
struct xd_options;
struct xd_reader;

/* A reader that has read less than this after a seek may only be probing.
 * Players read up to 260 KB where they probe. */
#define XD_PROBE_BYTES ((uint64_t)256 << 10)

/* Returns the length of windows in bytes from the option lookahead, which may
 * be a time.  `media_rate` is in bytes per second; 0: unknown. */
uint64_t xd_window_bytes(const struct xd_options *o, uint64_t media_rate);

/* Updates the media rate of the file, after a player has reported a rate or a
 * reader was removed. */
void xd_windows_rate_locked(struct xd_engine *e);

/* Adjusts the window length to the media rate.  Returns true if it changed. */
bool xd_windows_fit_locked(struct xd_engine *e);

/* Returns the minimum length of windows, whatever rates players report.  The
 * scheduler's blocks must be small enough for it. */
uint64_t xd_window_least(const struct xd_engine *e);

/* Extends the range to the edges of pieces. */
struct xd_range xd_window_pieces(const struct xd_engine *e, struct xd_range r);

/* Returns the window of the reader. */
struct xd_demand xd_window_demand(const struct xd_reader *r);

/* Returns true if the file is complete, or if all windows are full and a
 * streaming reader has the end of the file. */
bool xd_windows_have_rest_locked(const struct xd_engine *e);

/* Divides a store in memory among all readers. */
void xd_windows_share_locked(struct xd_engine *e);

#endif
