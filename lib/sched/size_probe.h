/* SPDX-License-Identifier: MIT */
/*
 * Asks the depots for the size of the file if no manifest states it.
 *
 *     OPEN, FETCH bytes [0,1)  --->  depots  ---> a size each, or a failure
 *
 * At most max_open depots are asked at a time.  A depot that fails is replaced
 * by the next one in reserve, which is pinged first.  If none is left, the
 * failed depot is asked again after the pause of its governor, up to
 * max_failures times.
 *
 * The probe ends when one of these is true:
 * - More than half of the depots that may be asked at a time state the same
 *   size.
 * - All depots that were asked have answered or failed.  A paused depot is not
 *   waited for once another has answered.
 * - The time max(500 ms, twice the time of the first answer) has passed since
 *   the first answer.
 *
 * The size that most depots state wins, so a few wrong answers are outvoted
 * even if they come first.  In a tie, the size of the most preferred depot
 * wins.
 *
 * This is a state machine like xd_sched, with the same actions: WAIT, OPEN,
 * PARK (a depot that failed), PING, FETCH, CANCEL, FINISH, or FAIL if no depot
 * answered.  Depots that answered stay open.  Fetch numbers are below max_open
 * and are reused after the depot has answered or failed.  After FINISH or FAIL,
 * which are then returned forever, fetch numbers have no meaning.
 *
 * Not thread-safe.
 */
#ifndef XD_SCHED_SIZE_PROBE_H
#define XD_SCHED_SIZE_PROBE_H

#include "sched/sched.h"

struct xd_size_probe;

/* Depots are asked in order of preference, 0 first.  max_open must be >= 1; at
 * most max_pings are pinged at a time (0: none).  Returns NULL when out of
 * memory. */
struct xd_size_probe *xd_size_probe_new(size_t n_depots, unsigned max_open,
                                        unsigned max_failures,
                                        unsigned max_pings);
void xd_size_probe_free(struct xd_size_probe *c);

/* Adds a depot as the least preferred one, with the next number; or lets a
 * depot that has failed be asked again.  From now on max_open depots may be
 * asked at a time.  After NOMEM nothing has changed. */
int xd_size_probe_join(struct xd_size_probe *c, unsigned depot,
                       unsigned max_open);

/* Reports the result of a FETCH: a size, or UINT64_MAX if the depot does not
 * know it. */
void xd_size_probe_answered(struct xd_size_probe *c, unsigned depot,
                            xd_usec now, uint64_t size);

/* failed(): the depot will not answer in this run.  retry(): it may answer
 * later, but not before retry_at. */
void xd_size_probe_failed(struct xd_size_probe *c, unsigned depot);
void xd_size_probe_retry(struct xd_size_probe *c, unsigned depot,
                         xd_usec retry_at);

/* Reports the result of a PING.  A depot that refused is asked only if no other
 * is left; a silent one after all others. */
void xd_size_probe_pinged(struct xd_size_probe *c, unsigned depot,
                          enum xd_ping_result result);

/* The depot could not be asked, through no fault of its own.  It is asked at
 * `retry_at`. */
void xd_size_probe_postponed(struct xd_size_probe *c, unsigned depot,
                             xd_usec retry_at);

/* Returns whether a depot has not been asked yet. */
bool xd_size_probe_has_reserve(const struct xd_size_probe *c);

/* Returns the next action.  Call it again until it returns WAIT, FINISH or
 * FAIL. */
struct xd_sched_action xd_size_probe_next(struct xd_size_probe *c, xd_usec now);

/* Returns the size after FINISH, or UINT64_MAX if no depot knew it. */
uint64_t xd_size_probe_size(const struct xd_size_probe *c);

#endif
