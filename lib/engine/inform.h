/*
 * From everybody to the scheduler: what happened becomes an event, and a line
 * in the statistics.
 *
 * Every function is called with engine.lock held; none asks for decisions.
 */
#ifndef XD_ENGINE_INFORM_H
#define XD_ENGINE_INFORM_H

#include "engine/engine.h"

/* `lane` has brought all bytes up to `end`. */
void xd_inform_bytes_locked(struct xd_engine *e, const struct xd_lane *lane,
                            uint64_t end);

/* An earlier run brought these bytes. */
void xd_inform_held_locked(struct xd_engine *e, struct xd_range range);

/* These bytes are good; or were found wrong. */
void xd_inform_accepted_locked(struct xd_engine *e, struct xd_range range);
void xd_inform_rejected_locked(struct xd_engine *e, struct xd_range range);

/* `depot` does not hold `range`; or does after all; or is not to be used. */
void xd_inform_lost_locked(struct xd_engine *e, unsigned depot,
                           struct xd_range range);
void xd_inform_holds_locked(struct xd_engine *e, unsigned depot,
                            struct xd_range range);
/* The depot, which may be a new one, has a source more, for so many requests at
 * a time (0: no limit). */
void xd_inform_joined_locked(struct xd_engine *e, unsigned depot,
                             struct xd_range range, unsigned max_requests);
void xd_inform_banned_locked(struct xd_engine *e, unsigned depot);

/* The requests of `depot` go over one connection. */
/* A ping was answered, or was not; one that was refused is a failure without a
 * request. */
void xd_inform_pinged_locked(struct xd_engine *e, const struct xd_depot *depot);
void xd_inform_refused_locked(struct xd_engine *e, struct xd_depot *depot,
                              const struct xd_error *error);

void xd_inform_shares_locked(struct xd_engine *e, struct xd_depot *depot);

/* A reader wants this. */
void xd_inform_demand_locked(struct xd_engine *e, unsigned reader,
                             const struct xd_demand *demand);

/* The request on `lane`, of `depot`, has ended as lane->outcome says.  The
 * lane is free afterwards. */
void xd_inform_ended_locked(struct xd_engine *e, struct xd_depot *depot,
                            struct xd_lane *lane);

#endif
