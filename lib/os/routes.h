/* SPDX-License-Identifier: MIT */
/*
 * Finds out whether there is a route to the Internet, and watches for a new
 * address, a new route, or a link that came up.  Only Linux can report these
 * changes.
 */
#ifndef XD_OS_ROUTES_H
#define XD_OS_ROUTES_H

#include <stdbool.h>

#include "base/time.h"

/* Returns whether there is a route beyond the local network.  Sends nothing.
 * Blocks: no. */
bool xd_routes_lead_out(void);

/* Interval between checks, in microseconds. */
#define XD_ROUTES_LOOK_EVERY (200 * XD_MS)

struct xd_routes {
    int fd; /* socket for route messages; -1: nothing is reported */
    xd_usec looked_at;
};

void xd_routes_open(struct xd_routes *r);
void xd_routes_close(struct xd_routes *r);

/* Returns true once for each time that routes appeared since open().  The
 * system is asked at most once per XD_ROUTES_LOOK_EVERY, so this may be called
 * in every loop.  Blocks: no. */
bool xd_routes_have_appeared(struct xd_routes *r, xd_usec now);

#endif
