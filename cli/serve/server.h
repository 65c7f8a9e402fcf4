/* SPDX-License-Identifier: MIT */
/*
 * HTTP for the files of a catalog: GET, HEAD, single ranges; and for the page
 * that shows them, which gets their state twice a second, and reports by POST
 * what its players do.
 *
 * A thread for each connection, which may wait for bytes and costs the others
 * nothing (http/server.h).
 */
#ifndef CLI_SERVER_H
#define CLI_SERVER_H

#include "http/listener.h"
#include "serve/catalog.h"

struct server;

/*
 * Begin.  `origin` may read the answers, or every page ("*"), or (NULL) no
 * other.  Returns NULL after the reason was said.
 * Ownership: the socket is the server's now; `catalog` and `origin` are the
 *            caller's and must live until server_stop().
 */
struct server *server_start(struct listener *l, struct catalog *catalog,
                            const char *origin);

/* Look at the files, for their traces, for pages, and for what is read next: to
 * be called ten times a second, by one thread. */
void server_look(struct server *s);

/* End it, and all connections.  Blocks: for less than half a second.  NULL does
 * nothing. */
void server_stop(struct server *s);

#endif
