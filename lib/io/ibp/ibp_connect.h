/* SPDX-License-Identifier: MIT */
/*
 * Connects to an IBP depot.  libcurl resolves the name, tries the addresses and
 * handles proxies; then we take the socket.
 *
 *     begin() -> libcurl's multi handle -> take() the socket, or fail()
 *
 * Threads: that of the transport.
 */
#ifndef XD_IO_IBP_CONNECT_H
#define XD_IO_IBP_CONNECT_H

#include <curl/curl.h>

#include "io/http/http_connect.h"
#include "io/http/http_options.h"
#include "io/transport.h"

struct xd_ibp_connect {
    CURL *easy;
    CURLM *multi;
    struct xd_http_connect steps;
    uint64_t limit_rate;
    /* the proxy uses TLS, which the bare socket bypasses: send nothing */
    bool goes_through_tls;
    bool is_active;        /* the easy handle was added to the multi handle */
    bool has_moved;        /* there was progress since this was cleared */
    bool lacks_descriptor; /* no descriptor was free for a socket */
    char reason[CURL_ERROR_SIZE];
};

/* Prepares connections with one handle.  `user` becomes the handle's
 * CURLINFO_PRIVATE.  `addresses`, `options` and `multi` must outlive it.
 * Errors: NOMEM; then do not call fini(). */
int xd_ibp_connect_init(struct xd_ibp_connect *c, void *user, CURLM *multi,
                        struct xd_http_addresses *addresses,
                        const struct xd_http_options *options,
                        struct xd_error *err);
void xd_ibp_connect_fini(struct xd_ibp_connect *c);

/* Connects to `peer`, "HOST:PORT" with brackets around an IPv6 address.
 * Returns false if out of memory. */
bool xd_ibp_connect_begin(struct xd_ibp_connect *c, const char *peer);

/* Call when libcurl is done.  Returns the non-blocking socket, which the caller
 * owns; -1 if no descriptor is free. */
int xd_ibp_connect_take(struct xd_ibp_connect *c);

/* Ends an attempt in progress, if there is one. */
void xd_ibp_connect_end(struct xd_ibp_connect *c);

/* Tries again with other addresses.  Returns false if there are none: the
 * failure is final. */
bool xd_ibp_connect_again(struct xd_ibp_connect *c);

/* Returns the time limit since the last step. */
xd_usec xd_ibp_connect_patience(const struct xd_ibp_connect *c,
                                xd_usec silence);

/* Call when the time limit has passed.  Returns true if it has restarted the
 * connection attempt. */
bool xd_ibp_connect_give_up(struct xd_ibp_connect *c);

/* Fills in the outcome from libcurl's result. */
void xd_ibp_connect_explain(const struct xd_ibp_connect *c, CURLcode result,
                            const char *name, struct xd_outcome *out);

#endif
