/* SPDX-License-Identifier: MIT */
/*
 * Reacts to network outages that base/line.h detects: while the network is
 * down, all depots are paused together.  The functions that report the end of a
 * request to the scheduler also report it to the detector.
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
    bool is_down; /* an outage was logged and has not ended */
    xd_usec down_at;
    struct xd_routes routes;
    size_t ping_next; /* index of the depot to ping next when in doubt */
};

/* Creates the detector before the first request.  Call it again when the
 * scheduler is replaced; then the detector is kept.  Errors: NOMEM. */
int xd_outage_start_locked(struct xd_engine *e);

/* Returns true if the request on `lane` failed because of the network, not the
 * depot.  Sets *retry_at to the time at which the request may be repeated.
 * `all_were_asked` means that every depot has been tried. */
bool xd_outage_was_it_locked(struct xd_engine *e, const struct xd_lane *lane,
                             bool all_were_asked, xd_usec now,
                             xd_usec *retry_at);

/* Returns true if a new route appeared during an outage, so that decisions are
 * due.  Cheap enough for every iteration of a worker. */
bool xd_outage_look_locked(struct xd_engine *e);

/* Call it before decisions.  Checks for new routes and logs the beginning and
 * the end of an outage. */
void xd_outage_begin_locked(struct xd_engine *e, xd_usec now);

/* Pings some idle depots, because the detector is not sure that the network is
 * up. */
void xd_outage_doubt_locked(struct xd_engine *e);

/* Fails the download, because no depot has answered for `silent`. */
void xd_outage_lose_locked(struct xd_engine *e, xd_usec silent);

/* Returns `until`, or the time of the next check for new routes if that is
 * earlier. */
xd_usec xd_outage_until_locked(const struct xd_engine *e, xd_usec now,
                               xd_usec until);

#endif
