/* SPDX-License-Identifier: MIT */
/*
 * An HTTP server, whatever it serves: at most so many connections, of which one that
 * asks nothing is closed.
 *
 * Refused is what a page of another site might have a browser ask: a Host that
 * is not ours, and an Origin that was not allowed.
 */
#ifndef CLI_HTTP_SERVER_H
#define CLI_HTTP_SERVER_H

#include <stdbool.h>
#include <stdint.h>

#include "http/answer.h"
#include "http/listener.h"

struct http_server;

struct http_request {
    const struct http_server *server;
    struct MHD_Connection *connection;
    uint64_t number;  /* of the connection, of all that there were; from 1 */
    const char *path; /* decoded */
    const char *method;
    const char *host; /* as the client calls this server: "127.0.0.1:8080" */
    bool is_get, is_head;
};

struct http_serving {
    const struct listener *listener;
    const char
        *origin;   /* may read the answers; "*": every page; NULL: no other */
    unsigned most; /* connections */
    unsigned most_each; /* of these for one address, if others than this machine
                           can come */
    unsigned answering_s; /* a client may take nothing of an answer so long */
    unsigned threads;     /* for all connections, of which none may wait, but be
                             suspended; 0: one for each, which may */
    unsigned unsent_most; /* bytes that the system holds of a connection and has
                             not sent, where it can be asked for that; 0: as many
                             as it will */

    /* What is answered to a request that may be made, but to OPTIONS. */
    struct answer (*answer)(void *user, const struct http_request *r);
    void *user;
};

/*
 * Begin.  Returns NULL after the reason was said.
 * Ownership: the socket of the listener is the server's after a success; what
 *            `how` points to is the caller's and must live until
 *            http_server_stop().
 */
struct http_server *http_server_start(const struct http_serving *how);

/* Whether the page that asks, if one does, is ours. */
bool http_is_own_page(struct MHD_Connection *c);

/* Connections that are open. */
unsigned http_server_connections(const struct http_server *s);

/* End it, and all connections, of which none may be suspended.  Blocks: for less
 * than half a second.  NULL does nothing. */
void http_server_stop(struct http_server *s);

#endif
