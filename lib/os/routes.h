/* SPDX-License-Identifier: MIT */
/*
 * Whether this machine has a way out, and whether it has a new one: an address, a
 * route, or a link that has come up.  The system reports a new one on Linux;
 * elsewhere nothing is ever new.
 */
#ifndef XD_OS_ROUTES_H
#define XD_OS_ROUTES_H

#include <stdbool.h>

#include "base/time.h"

/* Whether there is a route to hosts outside of the own network.  Nothing is sent.
 * Blocks: no. */
bool xd_routes_lead_out(void);

/* How often the system is asked for new ones. */
#define XD_ROUTES_LOOK_EVERY (200 * XD_MS)

struct xd_routes {
    int fd; /* or -1: nothing is reported */
    xd_usec looked_at;
};

void xd_routes_open(struct xd_routes *r);
void xd_routes_close(struct xd_routes *r);

/* Whether one has appeared since it was opened, or the last time that this was
 * true.  The system is asked every XD_ROUTES_LOOK_EVERY only, so that each turn
 * of a thread may call it.  Blocks: no. */
bool xd_routes_have_appeared(struct xd_routes *r, xd_usec now);

#endif
