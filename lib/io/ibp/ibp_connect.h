/* SPDX-License-Identifier: MIT */
/*
 * A connection to an IBP depot.  libcurl looks up the name, tries the addresses
 * and goes through a proxy; the socket is ours from then on.
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
    bool goes_through_tls; /* the proxy wants TLS, which a bare socket has not:
                              nothing may be sent */
    bool is_active;        /* the handle is in the multi handle */
    bool has_moved;        /* a step was taken since this was cleared */
    bool lacks_descriptor; /* there was none for a socket */
    char reason[CURL_ERROR_SIZE];
};

/* `user` is what CURLINFO_PRIVATE says of the handle; `addresses`, `options`
 * and `multi` outlive it.  Errors: NOMEM, and then fini() has nothing to do. */
int xd_ibp_connect_init(struct xd_ibp_connect *c, void *user, CURLM *multi,
                        struct xd_http_addresses *addresses,
                        const struct xd_http_options *options,
                        struct xd_error *err);
void xd_ibp_connect_fini(struct xd_ibp_connect *c);

/* Connect to `peer`, "HOST:PORT" with an IPv6 address in brackets.  False when
 * out of memory. */
bool xd_ibp_connect_begin(struct xd_ibp_connect *c, const char *peer);

/* libcurl is done with it: the socket, non-blocking and the caller's; or -1,
 * when there is no descriptor for it. */
int xd_ibp_connect_take(struct xd_ibp_connect *c);

/* End what is in progress; else does nothing. */
void xd_ibp_connect_end(struct xd_ibp_connect *c);

/* Begin again with other addresses; false if there are none: a failure is
 * final. */
bool xd_ibp_connect_again(struct xd_ibp_connect *c);

/* How long it may take from the last step on. */
xd_usec xd_ibp_connect_patience(const struct xd_ibp_connect *c,
                                xd_usec silence);

/* Nothing came of the last step for so long: true if it has begun again. */
bool xd_ibp_connect_give_up(struct xd_ibp_connect *c);

/* What became of it, by libcurl's words. */
void xd_ibp_connect_explain(const struct xd_ibp_connect *c, CURLcode result,
                            const char *name, struct xd_outcome *out);

#endif
