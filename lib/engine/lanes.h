/* SPDX-License-Identifier: MIT */
/*
 * What lanes carry, for every file that may stop it: here only flags are set, and
 * workers woken, which carry that out.
 *
 * Every function is called with engine.lock held.
 */
#ifndef XD_ENGINE_LANES_H
#define XD_ENGINE_LANES_H

#include "engine/engine.h"

/* The worker of `lane` looks at it again. */
void xd_lanes_wake_locked(struct xd_engine *e, const struct xd_lane *lane);

/* Stop what `lane` carries. */
void xd_lanes_stop_locked(struct xd_engine *e, struct xd_lane *lane);

/* Stop all; whether no lane carries anything any more. */
bool xd_lanes_end_locked(struct xd_engine *e);

/* While the download is paused: stop what can be asked for again later. */
void xd_lanes_hold_locked(struct xd_engine *e);

#endif
