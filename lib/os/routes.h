/*
 * Whether this machine has a new way out: an address, a route, or a link that
 * has come up.  The system tells so on Linux; elsewhere nothing is ever new.
 */
#ifndef XD_OS_ROUTES_H
#define XD_OS_ROUTES_H

#include <stdbool.h>

/* Opens a descriptor that hears of it, or -1: there is none.  The caller
 * releases it with xd_routes_close(). */
int xd_routes_open(void);
void xd_routes_close(int fd); /* -1 does nothing */

/* Whether one has appeared since the last call.  Blocks: no. */
bool xd_routes_have_appeared(int fd);

#endif
