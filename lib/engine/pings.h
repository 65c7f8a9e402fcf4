/* SPDX-License-Identifier: MIT */
/*
 * How near depots in reserve are, before they are asked for bytes: what the
 * scheduler, or the size probe, orders by PING is carried out by a pinger,
 * whose thread begins with the first of them.
 */
#ifndef XD_ENGINE_PINGS_H
#define XD_ENGINE_PINGS_H

#include "base/ping.h"
#include "base/time.h"

struct xd_depot;
struct xd_engine;
struct xd_pinger;

struct xd_pings {
    /* Constant after new(). */
    unsigned max; /* at a time; 0: there are no descriptors for any */

    /* Guarded by lock. */
    struct xd_pinger *pinger; /* NULL: nothing was pinged yet */
};

/* Ping the depot; the scheduler, or the size probe, learns the outcome. */
void xd_pings_ask_locked(struct xd_engine *e, struct xd_depot *depot);

/* Ping the depot, whose answer tells the line alone that it is up. */
void xd_pings_ask_of_line_locked(struct xd_engine *e, struct xd_depot *depot);

/* A request showed how near the depot is, or that it refuses connections. */
void xd_pings_note_locked(struct xd_depot *depot, enum xd_ping_result result,
                          xd_usec round_trip);

/* What is known already is reported to a new scheduler; 0 or NOMEM. */
int xd_pings_report_known_locked(struct xd_engine *e);

#endif
