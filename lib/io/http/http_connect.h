/* SPDX-License-Identifier: MIT */
/*
 * Limits how long each step of connecting may take, and which addresses are
 * skipped.
 *
 *     WAITS --> NAMES --> CONNECTS --> ASKED
 *       |                    |  ^
 *       |                    +--+ next address, finally the first one again
 *       +---- reused connection ------> ASKED
 *
 * libcurl gives each address but the last half of the remaining time.  That is
 * too long for an address that drops packets.  So a request that waits for such
 * an address is removed from libcurl and restarted with that address skipped.
 * When all addresses are silent, each gets the full silence limit.
 *
 * An address that accepts a connection and then sends nothing is also skipped,
 * after the full silence limit; without another address the request fails.
 */
#ifndef XD_IO_HTTP_CONNECT_H
#define XD_IO_HTTP_CONNECT_H

#include <stdbool.h>
#include <sys/socket.h>

#include <curl/curl.h>

#include "base/addresses.h"
#include "base/time.h"

struct xd_url;

/* What a request is waiting for. */
enum xd_http_phase {
    /* libcurl, which waits for another request to make the connection */
    XD_HTTP_WAITS,
    XD_HTTP_NAMES,    /* name resolution of the server or proxy */
    XD_HTTP_CONNECTS, /* the connection, including TLS */
    XD_HTTP_ASKED     /* the response */
};

/* At most this many addresses are remembered; few names have more. */
#define XD_HTTP_SILENT_MAX 8

/* Shared by the requests of one transport. */
struct xd_http_addresses {
    struct sockaddr_storage silent[XD_HTTP_SILENT_MAX]; /* addresses to skip */
    unsigned n_silent;
    /* all addresses are silent, so each gets the full time */
    bool are_exhausted;
    bool are_stale; /* an attempt to connect failed: resolve the names again */
    unsigned outages; /* number of network outages so far */
    /* when the last outage was reported to this transport */
    xd_usec outage_at;
};

/* State of one request. */
struct xd_http_connect {
    struct xd_http_addresses *addresses;
    enum xd_http_phase phase;
    /* the address tried last, in phase CONNECTS */
    struct sockaddr_storage current;
    /* an address was skipped in this attempt */
    bool has_passed_over;
    /* addresses that the request should avoid if there are others */
    struct xd_address_list passes_over;
    /* an address in passes_over was avoided in this attempt */
    bool has_obeyed;
    bool has_left; /* a connection to an address in passes_over was closed */
    bool has_disobeyed; /* a later attempt used an address in passes_over */
    bool has_tried;     /* `current` was tried in this attempt */
    /* number of silent addresses that made this request restart */
    unsigned n_silent;
};

/* Prepares a request.  `outages` is the number of network outages so far;
 * `passes_over` lists addresses to avoid, or is NULL.  Call begin() before each
 * attempt. */
void xd_http_connect_prepare(struct xd_http_connect *c, unsigned outages,
                             const struct xd_address_list *passes_over);

/* Starts an attempt.  Returns true if host names must be resolved again. */
bool xd_http_connect_begin(struct xd_http_connect *c);

/* Called when libcurl wants a socket for this address.  Returns false to skip
 * it. */
bool xd_http_connect_try(struct xd_http_connect *c,
                         const struct sockaddr *address, socklen_t len);

/* Returns the time limit for the present phase. */
xd_usec xd_http_connect_limit(const struct xd_http_connect *c, CURL *easy,
                              xd_usec silence);

/* Called when the time limit has passed.  Returns true if the request should
 * restart with another address. */
bool xd_http_connect_next(struct xd_http_connect *c, CURL *easy);

/* Called when a connected server has sent nothing for the silence limit.
 * Returns true if the request should restart, with another address if there is
 * one. */
bool xd_http_connect_leave_silent(struct xd_http_connect *c, CURL *easy);

/* Returns whether leave_silent() could restart the request with another address
 * of the host of `url`. */
bool xd_http_connect_may_leave(const struct xd_http_connect *c,
                               const struct xd_url *url);

/* Called when the request has a connection to this address.  Returns false if
 * the connection must be closed and the request restarted. */
bool xd_http_connect_has(struct xd_http_connect *c, const char *address);

/* Called when connecting failed.  Returns true if the request should restart
 * and may now use the addresses in passes_over. */
bool xd_http_connect_disobey(struct xd_http_connect *c, CURLcode result);

/* Called when connecting failed.  Returns whether the request had been
 * restarted because of a silent address and no other address was left. */
bool xd_http_connect_was_last(struct xd_http_connect *c);

/* Called when connecting failed.  Returns true if the request should restart
 * because addresses were skipped. */
bool xd_http_connect_retry(struct xd_http_connect *c);

/* Ends a request.  If it got no connection, names are resolved again next
 * time. */
void xd_http_connect_end(struct xd_http_connect *c, CURL *easy);

/* Opens a socket for libcurl.  Returns CURL_SOCKET_BAD on failure;
 * *out_lacks_descriptor tells whether no descriptor was free. */
curl_socket_t xd_http_connect_socket(const struct curl_sockaddr *address,
                                     bool *out_lacks_descriptor);

/* Returns whether a connection failed for lack of descriptors, which libcurl
 * and the resolver report in many ways. */
bool xd_http_connect_lacks_descriptors(CURLcode result);

/* Returns whether packets got no answer at all.  A refusal or a reset is an
 * answer. */
bool xd_http_connect_is_unanswered(CURLcode result, int os_errno);

/* Returns whether the name of the host or proxy was not found. */
bool xd_http_connect_lacks_address(CURLcode result);

#endif
