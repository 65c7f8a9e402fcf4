/* SPDX-License-Identifier: MIT */
/*
 * What the line (base/line.h) says, carried out: while it is down, one pause
 * for all depots.  The functions that report the outcome of a request to the
 * scheduler report it to the line too.
 *
 * Every function is called with engine.lock held.
 */
#ifndef XD_ENGINE_OUTAGE_H
#define XD_ENGINE_OUTAGE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/time.h"
#include "os/routes.h"

struct xd_engine;
struct xd_lane;

struct xd_outage {
    bool is_down; /* was said: since down_at */
    xd_usec down_at;
    struct xd_routes routes;
    size_t ping_next; /* the depot to be pinged when in doubt */
};

/* Before the first request, and again with each scheduler: what was learnt of
 * the line is kept.  Errors: NOMEM. */
int xd_outage_start_locked(struct xd_engine *e);

/* Whether it was the line that a request failed with: it may be made again at
 * *retry_at.  `all_were_asked`: no depot is left that has not been asked. */
bool xd_outage_was_it_locked(struct xd_engine *e, const struct xd_lane *lane,
                             bool all_were_asked, xd_usec now,
                             xd_usec *retry_at);

/* Whether something new is to be decided: a route has appeared.  Cheap enough
 * for every turn of a worker. */
bool xd_outage_look_locked(struct xd_engine *e);

/* Before decisions: see to routes, and log whether the line is up or down. */
void xd_outage_begin_locked(struct xd_engine *e, xd_usec now);

/* It is in doubt: ping some of the depots that nothing is asked of. */
void xd_outage_doubt_locked(struct xd_engine *e);

/* It is lost: no depot has answered for so long. */
void xd_outage_lose_locked(struct xd_engine *e, xd_usec silent);

/* The moment, at most `until`, at which routes are looked at again. */
xd_usec xd_outage_until_locked(const struct xd_engine *e, xd_usec now,
                               xd_usec until);

#endif
