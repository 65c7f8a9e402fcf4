/* SPDX-License-Identifier: MIT */
/*
 * Carries out the scheduler's decisions by putting requests on lanes.  While
 * the size of the file is unknown, the size probe decides instead.
 *
 * Every function whose name ends in _locked is called with engine.lock held.
 */
#ifndef XD_ENGINE_DECIDE_H
#define XD_ENGINE_DECIDE_H

#include <stddef.h>
#include <stdint.h>

#include "base/time.h"

struct xd_engine;
struct xd_error;
struct xd_lane;
struct xd_options;
struct xd_sched_options;

/* State of the decisions.  Guarded by lock. */
struct xd_decisions {
    struct xd_lane **lanes; /* indexed by the scheduler's request numbers */
    size_t n_lanes;
    xd_usec until; /* when to ask the scheduler again */
};

/* Maximum number of blocks.  The scheduler uses 32-bit numbers and has memory
 * for an index of this size. */
#define XD_DECIDE_MOST_BLOCKS ((uint64_t)1 << 28)

/* Converts the user's options to those of the scheduler.  `window` is the
 * length of its window in bytes, or 0. */
struct xd_sched_options xd_decide_options(const struct xd_options *o,
                                          uint64_t window);

/* Creates the scheduler for a file of e->depots.size bytes (XD_SIZE_UNKNOWN if
 * neither the manifest nor a depot states the size).  Errors: NOREPLICA, INVAL
 * (the range), NOMEM. */
int xd_decide_start_locked(struct xd_engine *e, struct xd_error *err);

/* Replaces the scheduler because depots were added before the first request. */
void xd_decide_renew_locked(struct xd_engine *e);

/* Replaces the scheduler for a round of the repair, or for fetching the file in
 * a single response.  All lanes must be free. */
void xd_decide_anew_locked(struct xd_engine *e);

/* Asks for decisions and carries them out until there are none. */
void xd_decide_locked(struct xd_engine *e);

#endif
