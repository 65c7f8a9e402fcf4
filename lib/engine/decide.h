/* SPDX-License-Identifier: MIT */
/*
 * The scheduler's decisions are carried out: requests are put on lanes. While
 * the size is unknown, the size probe decides.
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

/* Guarded by lock. */
struct xd_decisions {
    struct xd_lane **lanes; /* by the scheduler's names for what they carry */
    size_t n_lanes;
    xd_usec until; /* when the scheduler wants to be asked again */
};

/* What the scheduler numbers with 32 bits, and its index has memory for. */
#define XD_DECIDE_MOST_BLOCKS ((uint64_t)1 << 28)

/* What the user's options mean for the scheduler; it has a window of so many
 * bytes, or none. */
struct xd_sched_options xd_decide_options(const struct xd_options *o,
                                          uint64_t window);

/* Make the scheduler, for a file of e->depots.size bytes (XD_SIZE_UNKNOWN: no
 * depot stated it either).  Errors: NOREPLICA, INVAL (the range), NOMEM. */
int xd_decide_start_locked(struct xd_engine *e, struct xd_error *err);

/* No request was made yet, and there are other depots: a new scheduler. */
void xd_decide_renew_locked(struct xd_engine *e);

/* No lane carries anything, which a round of the repair or a single answer
 * waited for: it begins with a scheduler of its own. */
void xd_decide_anew_locked(struct xd_engine *e);

/* Ask for decisions, and carry them out, until there are none. */
void xd_decide_locked(struct xd_engine *e);

#endif
