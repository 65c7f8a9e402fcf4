/*
 * Whether this machine has a way out, and whether it has a new one: an address, a
 * route, or a link that has come up.  The system reports a new one on Linux;
 * elsewhere nothing is ever new.
 */
#ifndef XD_OS_ROUTES_H
#define XD_OS_ROUTES_H

#include <stdbool.h>

/* Whether there is a route to hosts outside of the own network.  Nothing is sent.
 * Blocks: no. */
bool xd_routes_lead_out(void);

/* Opens a descriptor that hears of it, or -1: there is none.  The caller
 * releases it with xd_routes_close(). */
int xd_routes_open(void);
void xd_routes_close(int fd); /* -1 does nothing */

/* Whether one has appeared since the last call.  Blocks: no. */
bool xd_routes_have_appeared(int fd);

#endif
