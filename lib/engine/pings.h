/* SPDX-License-Identifier: MIT */
/*
 * Measures the round-trip time of depots in reserve before anything is
 * requested from them.  The scheduler or the size probe orders a ping with the
 * action PING.  A pinger, whose thread starts with the first ping, sends it.
 */
#ifndef XD_ENGINE_PINGS_H
#define XD_ENGINE_PINGS_H

#include "base/ping.h"
#include "base/time.h"

struct xd_depot;
struct xd_engine;
struct xd_pinger;

struct xd_pings {
    /* constant after new() */
    unsigned max; /* maximum number of pings at a time; 0 if no descriptors are
                     left for them */

    /* guarded by lock */
    struct xd_pinger *pinger; /* NULL before the first ping */
};

/* Pings the depot and reports the result to the scheduler or the size probe. */
void xd_pings_ask_locked(struct xd_engine *e, struct xd_depot *depot);

/* Pings the depot only to learn whether the network is up. */
void xd_pings_ask_of_line_locked(struct xd_engine *e, struct xd_depot *depot);

/* Stores the round-trip time that a request has shown, or that its connection
 * was refused. */
void xd_pings_note_locked(struct xd_depot *depot, enum xd_ping_result result,
                          xd_usec round_trip);

/* Reports all known results to a new scheduler.  Returns 0 or NOMEM. */
int xd_pings_report_known_locked(struct xd_engine *e);

#endif
