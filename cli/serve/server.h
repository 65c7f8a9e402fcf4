/* SPDX-License-Identifier: MIT */
/*
 * The HTTP server of xdownload serve.  It supports GET, HEAD and single ranges
 * for the catalog's files.  It also serves a page with their live state.  The
 * page sends reports about its players by POST.
 *
 * Each connection has its own thread, which may block (http/server.h).
 */
#ifndef CLI_SERVER_H
#define CLI_SERVER_H

#include "http/listener.h"
#include "serve/catalog.h"

struct server;

/*
 * Starts the server.  Pages of `origin` may read responses.  "*" allows all
 * pages, NULL only our own pages.  After a failure, prints the error and
 * returns NULL.
 * Ownership: takes the socket; `catalog` and `origin` are the caller's and must
 * live until server_stop().
 */
struct server *server_start(struct listener *l, struct catalog *catalog,
                            const char *origin);

/* Updates traces and pages, and prefetches files.  Call it ten times a second
 * on one thread. */
void server_look(struct server *s);

/* Stops the server and closes all connections.  If `s` is NULL, does nothing.
 * Blocks: for less than half a second. */
void server_stop(struct server *s);

#endif
