/* SPDX-License-Identifier: MIT */
/*
 * Stops requests.  The functions only set flags and wake the workers, which
 * then stop the requests.
 *
 * Every function is called with engine.lock held.
 */
#ifndef XD_ENGINE_LANES_H
#define XD_ENGINE_LANES_H

#include "engine/engine.h"

/* Wakes the worker of `lane`. */
void xd_lanes_wake_locked(struct xd_engine *e, const struct xd_lane *lane);

/* Stops the request on `lane`. */
void xd_lanes_stop_locked(struct xd_engine *e, struct xd_lane *lane);

/* Stops all requests.  Returns true if every lane is free already. */
bool xd_lanes_end_locked(struct xd_engine *e);

/* Stops the requests that can be resumed later, because the download is
 * paused. */
void xd_lanes_hold_locked(struct xd_engine *e);

#endif
