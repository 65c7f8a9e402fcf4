/* SPDX-License-Identifier: MIT */
/*
 * The part that transports over libcurl have in common: the multi handle that
 * waits for their sockets, the options of requests, and the clock by which
 * silence is measured.  A transport has it as its first field.
 */
#ifndef XD_IO_CURL_TRANSPORT_H
#define XD_IO_CURL_TRANSPORT_H

#include <curl/curl.h>

#include "io/http/http_options.h"
#include "io/silence.h"
#include "io/transport.h"

struct xd_curl_transport {
    struct xd_transport base;
    /* Constant after init(). */
    CURLM *multi;
    struct xd_http_options options;
    const struct xd_transport_handler *handler;

    /* Owned by the transport's thread. */
    xd_usec silence;
    struct xd_silence_clock clock;
};

/* libcurl keeps at most `n_idle` idle connections.  Errors: NOMEM; IO: a file
 * that the options name cannot be read, or no descriptor is left.  In any case
 * fini() releases it. */
int xd_curl_transport_init(struct xd_curl_transport *t,
                           const struct xd_transport_ops *ops,
                           const struct xd_transport_config *config,
                           const struct xd_transport_handler *handler,
                           unsigned n_idle, struct xd_error *err);
void xd_curl_transport_fini(struct xd_curl_transport *t);

/* Wait for libcurl's sockets and the `n` others, no longer than `timeout`, and
 * than until `silence_left` is over. */
CURLMcode xd_curl_transport_wait(struct xd_curl_transport *t,
                                 struct curl_waitfd *others, unsigned n,
                                 xd_usec timeout, xd_usec silence_left);

/* For struct xd_transport_ops. */
void xd_curl_transport_wakeup(struct xd_transport *t);
void xd_curl_transport_set_silence(struct xd_transport *t, xd_usec silence);

#endif
