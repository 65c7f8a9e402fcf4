/* SPDX-License-Identifier: MIT */
/*
 * How long is the file?  Asked of the depots, when no manifest states it.
 *
 *     OPEN, FETCH bytes [0,1)  --->  depots  ---> a size each, or a failure
 *
 * At most max_open are asked at once; one that fails is replaced by the next in
 * reserve, which is pinged first; or, if there is none, asked again after a
 * pause that doubles, up to max_failures times.  It is over when more than half
 * of those that may be asked at once name one size; when all that were asked
 * have answered or failed (one that is paused is not waited for once another
 * has answered); or some time after the first answer: max(500 ms, twice what
 * that took).  The size that most depots name holds, so that a few wrong
 * answers are outvoted, be they the quickest; of sizes named equally often,
 * that of the most preferred depot.
 *
 * A state machine like xd_sched, with the same actions: WAIT, OPEN, PARK (of a
 * depot that failed), PING, FETCH, CANCEL, FINISH, or FAIL when none answered.
 * Depots that answered stay open.  The number of a fetch is below max_open, and
 * free again after the vote or failure of its depot; after FINISH and FAIL,
 * which are repeated for ever, both mean nothing.
 *
 * Not thread-safe.
 */
#ifndef XD_SCHED_SIZE_PROBE_H
#define XD_SCHED_SIZE_PROBE_H

#include "sched/sched.h"

struct xd_size_probe;

/* Depots are asked in order of preference: 0 first.  max_open >= 1.  At most
 * max_pings are pinged at once; 0: none is.  Returns NULL when out of memory;
 * nothing else can fail. */
struct xd_size_probe *xd_size_probe_new(size_t n_depots, unsigned max_open,
                                        unsigned max_failures,
                                        unsigned max_pings);
void xd_size_probe_free(struct xd_size_probe *c);

/*
 * A depot joins, as the last in order of preference: its number is the one
 * after the last, and so many may be asked at once from now on.  Or it is one
 * that has failed, and is asked again.  0, or NOMEM with all as before.
 */
int xd_size_probe_join(struct xd_size_probe *c, unsigned depot,
                       unsigned max_open);

/* The answer to a FETCH: a size, or UINT64_MAX if the depot does not know. */
void xd_size_probe_answered(struct xd_size_probe *c, unsigned depot,
                            xd_usec now, uint64_t size);

/* It will not answer in this run; or may later, but not before retry_at (0:
 * after its usual pause). */
void xd_size_probe_failed(struct xd_size_probe *c, unsigned depot);
void xd_size_probe_retry(struct xd_size_probe *c, unsigned depot, xd_usec now,
                         xd_usec retry_at);

/* The answer to a PING: one that refused is not asked while others are left,
 * one that is silent after all others. */
void xd_size_probe_pinged(struct xd_size_probe *c, unsigned depot,
                          enum xd_ping_result result);

/* It could not be asked for no fault of its own, and is asked at `retry_at`. */
void xd_size_probe_postponed(struct xd_size_probe *c, unsigned depot,
                             xd_usec retry_at);

/* Whether a depot is left that has not been asked. */
bool xd_size_probe_has_reserve(const struct xd_size_probe *c);

/* Call again until it says WAIT, FINISH or FAIL. */
struct xd_sched_action xd_size_probe_next(struct xd_size_probe *c, xd_usec now);

/* After FINISH: the size, or UINT64_MAX if no depot knew it. */
uint64_t xd_size_probe_size(const struct xd_size_probe *c);

#endif
