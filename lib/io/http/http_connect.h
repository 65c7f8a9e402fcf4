/* SPDX-License-Identifier: MIT */
/*
 * From a name to a connection: how long each step may take, and which addresses
 * are passed over.
 *
 *     WAITS --> NAMES --> CONNECTS --> ASKED
 *       |                    |  ^
 *       |                    +--+ next address, and then the first one again
 *       +---- a connection is used again ---> ASKED
 *
 * libcurl gives each address but the last half of the time that is left, which
 * suits no address that drops packets.  Here a request that waits for one is
 * taken off the wire and put there again with that address passed over.  When
 * none is left, each has all the time that silence may last.  Likewise with an
 * address that takes a connection and answers nothing, for all the time that
 * silence may last; but if there is no other one, its request ends.
 */
#ifndef XD_IO_HTTP_CONNECT_H
#define XD_IO_HTTP_CONNECT_H

#include <stdbool.h>
#include <sys/socket.h>

#include <curl/curl.h>

#include "base/addresses.h"
#include "base/time.h"

/* What a request waits for. */
enum xd_http_phase {
    XD_HTTP_WAITS,    /* libcurl has not begun: others make its connection */
    XD_HTTP_NAMES,    /* the addresses of its server, or its proxy */
    XD_HTTP_CONNECTS, /* a connection, and TLS */
    XD_HTTP_ASKED     /* the answer */
};

/* More than any name has. */
#define XD_HTTP_SILENT_MAX 8

/* What is known of the addresses that one transport connects to. */
struct xd_http_addresses {
    struct sockaddr_storage silent[XD_HTTP_SILENT_MAX]; /* to be passed over */
    unsigned n_silent;
    bool are_exhausted; /* all are silent: they have all the time there is */
    bool are_stale;     /* no connection came about: look the names up again */
    unsigned outages;   /* of the line, so far */
    xd_usec outage_at;  /* when the last one was reported to this transport */
};

/* The state of one request. */
struct xd_http_connect {
    struct xd_http_addresses *addresses;
    enum xd_http_phase phase;
    struct sockaddr_storage current;    /* CONNECTS: the address tried last */
    bool has_passed_over;               /* an address, in this attempt */
    struct xd_address_list passes_over; /* as the request wants it, while that
                                           leaves any */
    bool has_obeyed;                    /* that, in this attempt, */
    bool has_left;      /* or left a connection to one of them */
    bool has_disobeyed; /* in a later one */
    bool has_tried;     /* `current`, in this attempt */
    unsigned n_silent;  /* addresses, to this request, which began again */
};

/* A request comes, after so many outages of the line, that passes over some
 * addresses, or NULL; each of its attempts begins with begin(). */
void xd_http_connect_prepare(struct xd_http_connect *c, unsigned outages,
                             const struct xd_address_list *passes_over);

/* An attempt begins; true if its names are to be looked up
 * anew. */
bool xd_http_connect_begin(struct xd_http_connect *c);

/* libcurl wants a socket for this address; false: it is passed over. */
bool xd_http_connect_try(struct xd_http_connect *c,
                         const struct sockaddr *address, socklen_t len);

/* How long it may wait for what it waits for. */
xd_usec xd_http_connect_limit(const struct xd_http_connect *c, CURL *easy,
                              xd_usec silence);

/* It has waited for so long: true if it is to begin again, with another
 * address. */
bool xd_http_connect_next(struct xd_http_connect *c, CURL *easy);

/* It has made its connection, and nothing of an answer came over that for all
 * the time that silence may last: true if it is to begin again, with another
 * address if there is one. */
bool xd_http_connect_leave_silent(struct xd_http_connect *c, CURL *easy);

/* It has a connection to this address; false: that is to be closed, and it begins
 * again. */
bool xd_http_connect_has(struct xd_http_connect *c, const char *address);

/* Its addresses failed: true if it is to begin again, with those that it was to
 * pass over. */
bool xd_http_connect_disobey(struct xd_http_connect *c, CURLcode result);

/* Its addresses failed: whether it has begun again for a silent one, and there
 * was no other. */
bool xd_http_connect_was_last(struct xd_http_connect *c);

/* Its addresses failed: true if it is to begin again, as some were passed
 * over. */
bool xd_http_connect_retry(struct xd_http_connect *c);

/* It has ended; without a connection names are looked up again. */
void xd_http_connect_end(struct xd_http_connect *c, CURL *easy);

/* A socket for an address, of which libcurl asks for one, or CURL_SOCKET_BAD;
 * *out_lacks_descriptor becomes true if there was none left. */
curl_socket_t xd_http_connect_socket(const struct curl_sockaddr *address,
                                     bool *out_lacks_descriptor);

/* Whether a connection failed for want of descriptors: libcurl's and the
 * resolver's own fail under many names. */
bool xd_http_connect_lacks_descriptors(CURLcode result);

/* Whether packets lead nowhere.  A refusal or a reset comes from a host. */
bool xd_http_connect_is_unanswered(CURLcode result, int os_errno);

/* Whether the host's name, or its proxy's, was not found. */
bool xd_http_connect_lacks_address(CURLcode result);

#endif
