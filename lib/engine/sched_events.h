/* SPDX-License-Identifier: MIT */
/*
 * Reports what happens in the engine as events to the scheduler.
 *
 * Every function is called with engine.lock held.  None of them asks the
 * scheduler for decisions.
 */
#ifndef XD_ENGINE_SCHED_EVENTS_H
#define XD_ENGINE_SCHED_EVENTS_H

#include "engine/engine.h"

/* Passes an event to the scheduler.  Its times are those of xd_now(). */
void xd_report_event_locked(struct xd_engine *e, struct xd_sched_event event);

/* Converts a time of xd_now() to the scheduler's clock. */
xd_usec xd_report_time_locked(const struct xd_engine *e, xd_usec at);

/* Reports that `lane` has received all bytes up to `end`.  `is_disordered`
 * means that packets have arrived out of order since the last report. */
void xd_report_bytes_locked(struct xd_engine *e, const struct xd_lane *lane,
                            uint64_t end, bool is_disordered);

/* Reports bytes that an earlier run received. */
void xd_report_held_locked(struct xd_engine *e, struct xd_range range);

/* sized() reports that a file of a set ends at object.end, verified() that
 * bytes are verified, and rejected() that bytes were found to be wrong. */
void xd_report_sized_locked(struct xd_engine *e, struct xd_range object);
void xd_report_verified_locked(struct xd_engine *e, struct xd_range range);
void xd_report_rejected_locked(struct xd_engine *e, struct xd_range range);

/* lost() reports that `depot` does not hold `range`, lent() that it does not
 * hold it for now, and holds() that it holds it again. */
void xd_report_lost_locked(struct xd_engine *e, unsigned depot,
                           struct xd_range range);
void xd_report_lent_locked(struct xd_engine *e, unsigned depot,
                           struct xd_range range);
void xd_report_holds_locked(struct xd_engine *e, unsigned depot,
                            struct xd_range range);
/* Reports that `depot`, which may be new, has one more source and serves at
 * most max_requests at a time (0: no limit). */
void xd_report_joined_locked(struct xd_engine *e, unsigned depot,
                             struct xd_range range, unsigned max_requests,
                             uint8_t tier);
/* Reports that `wanted` was extended by `more` at its end. */
void xd_report_extended_locked(struct xd_engine *e, struct xd_range more);
/* Reports an object of unknown size, which ends within these bytes. */
void xd_report_unsized_locked(struct xd_engine *e, struct xd_range object);
void xd_report_banned_locked(struct xd_engine *e, unsigned depot);

/* pinged() reports the result of a ping.  refused() reports that a connection
 * was refused, which counts as a failure. */
void xd_report_pinged_locked(struct xd_engine *e, const struct xd_depot *depot);
void xd_report_refused_locked(struct xd_engine *e, struct xd_depot *depot,
                              const struct xd_error *error);

/* Reports that the requests of `depot` share one connection. */
void xd_report_shares_locked(struct xd_engine *e, struct xd_depot *depot);

/* Reports which bytes the last response of `depot` suggested to request next;
 * an empty range if it suggested none. */
void xd_report_hint_locked(struct xd_engine *e, struct xd_depot *depot,
                           struct xd_range range);

/* Reports that a connection to `depot` was established. */
void xd_report_connected_locked(struct xd_engine *e, struct xd_depot *depot);

/* Reports that a request failed.  Also records the failure in the depot, and
 * informs the user once. */
void xd_report_failure_locked(struct xd_engine *e, struct xd_depot *depot,
                              const struct xd_outcome *outcome);

/* Reports that the window of a reader has changed. */
void xd_report_demand_locked(struct xd_engine *e, unsigned reader,
                             const struct xd_demand *demand);

#endif
