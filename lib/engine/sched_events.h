/* SPDX-License-Identifier: MIT */
/*
 * From all files of the engine to the scheduler: what happened becomes an event.
 *
 * Every function is called with engine.lock held; none asks for decisions.
 */
#ifndef XD_ENGINE_SCHED_EVENTS_H
#define XD_ENGINE_SCHED_EVENTS_H

#include "engine/engine.h"

/* Any event; its times are those of xd_now(). */
void xd_report_event_locked(struct xd_engine *e, struct xd_sched_event event);

/* A moment by xd_now(), as the scheduler's clock will have it. */
xd_usec xd_report_time_locked(const struct xd_engine *e, xd_usec at);

/* `lane` has received all bytes up to `end`. */
void xd_report_bytes_locked(struct xd_engine *e, const struct xd_lane *lane,
                            uint64_t end);

/* An earlier run received these bytes. */
void xd_report_held_locked(struct xd_engine *e, struct xd_range range);

/* These bytes are good; or were found wrong. */
void xd_report_sized_locked(struct xd_engine *e, struct xd_range object);
void xd_report_verified_locked(struct xd_engine *e, struct xd_range range);
void xd_report_rejected_locked(struct xd_engine *e, struct xd_range range);

/* `depot` does not hold `range`; or does after all; or is not to be used. */
void xd_report_lost_locked(struct xd_engine *e, unsigned depot,
                           struct xd_range range);
void xd_report_lent_locked(struct xd_engine *e, unsigned depot,
                           struct xd_range range);
void xd_report_holds_locked(struct xd_engine *e, unsigned depot,
                            struct xd_range range);
/* The depot, which may be a new one, has a source more, for so many requests at
 * a time (0: no limit). */
void xd_report_joined_locked(struct xd_engine *e, unsigned depot,
                             struct xd_range range, unsigned max_requests,
                             uint8_t tier);
/* More is wanted, behind all else. */
void xd_report_extended_locked(struct xd_engine *e, struct xd_range more);
void xd_report_banned_locked(struct xd_engine *e, unsigned depot);

/* A ping was answered, or was not; one that was refused is a failure without a
 * request. */
void xd_report_pinged_locked(struct xd_engine *e, const struct xd_depot *depot);
void xd_report_refused_locked(struct xd_engine *e, struct xd_depot *depot,
                              const struct xd_error *error);

/* The requests of `depot` go over one connection. */
void xd_report_shares_locked(struct xd_engine *e, struct xd_depot *depot);

/* `depot` would best be asked for these bytes next, as its last answer says; none:
 * that says nothing. */
void xd_report_hint_locked(struct xd_engine *e, struct xd_depot *depot,
                           struct xd_range range);

/* A connection to `depot` is made. */
void xd_report_connected_locked(struct xd_engine *e, struct xd_depot *depot);

/* A request failed: its depot remembers it, and users are informed once. */
void xd_report_failure_locked(struct xd_engine *e, struct xd_depot *depot,
                              const struct xd_outcome *outcome);

/* A reader wants this. */
void xd_report_demand_locked(struct xd_engine *e, unsigned reader,
                             const struct xd_demand *demand);

#endif
