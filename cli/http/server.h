/* SPDX-License-Identifier: MIT */
/*
 * An HTTP server with a limited number of connections.  Idle connections are
 * closed.
 *
 * It refuses requests that another site could make a browser send.  These are
 * requests with a foreign Host, requests with an Origin that is not allowed,
 * and requests without an Origin if Sec-Fetch-Site names another site.
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
    uint64_t number;  /* number of the connection, counted from 1 */
    const char *path; /* percent-decoded */
    const char *method;
    /* how the client addresses this server: "127.0.0.1:8080" */
    const char *host;
    bool is_get, is_head;
};

struct http_serving {
    const struct listener *listener;
    /* origin whose pages may read responses; "*": all pages; NULL: only our own
     * pages */
    const char *origin;
    unsigned most; /* limit of connections */
    /* limit of connections per client address; applies if other machines can
     * reach the server */
    unsigned most_each;
    /* seconds after which a client that accepts no data is disconnected */
    unsigned answering_s;
    /* Number of threads for all connections.  These threads must not block;
     * suspend the connection instead.  0: each connection has its own thread,
     * which may block. */
    unsigned threads;
    /* limit of unsent bytes in a socket, on systems that support it; 0: the
     * default of the kernel */
    unsigned unsent_most;

    /* Makes the response to an allowed request other than OPTIONS. */
    struct answer (*answer)(void *user, const struct http_request *r);
    void *user;
};

/*
 * Starts the server.  After a failure, prints the error and returns NULL.
 * Ownership: on success the server takes the listener's socket.  All pointers
 * in `how` are the caller's and must stay valid until http_server_stop().
 */
struct http_server *http_server_start(const struct http_serving *how);

/* Returns whether the request was sent by one of our own pages, or not by a
 * page at all. */
bool http_is_own_page(struct MHD_Connection *c);

/* Returns the number of open connections. */
unsigned http_server_connections(const struct http_server *s);

/* Stops the server and closes all connections.  No connection may be suspended.
 * If `s` is NULL, does nothing.
 * Blocks: for less than half a second. */
void http_server_stop(struct http_server *s);

#endif
