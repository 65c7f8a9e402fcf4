/* SPDX-License-Identifier: MIT */
/*
 * Common part of the transports that use libcurl: the multi handle, the options
 * and the silence clock.  It is the first field of such a transport.
 */
#ifndef XD_IO_CURL_TRANSPORT_H
#define XD_IO_CURL_TRANSPORT_H

#include <curl/curl.h>

#include "io/http/http_options.h"
#include "io/silence.h"
#include "io/transport.h"

struct xd_curl_transport {
    struct xd_transport base;
    /* constant after init() */
    CURLM *multi;
    struct xd_http_options options;
    const struct xd_transport_handler *handler;

    /* owned by the transport's thread */
    xd_usec silence, first_byte; /* as in struct xd_transport_config */
    struct xd_silence_clock clock;
};

/* Keeps at most `n_idle` idle connections.  Errors: NOMEM; IO if a file named
 * by the options cannot be read, or no descriptor is free.  Call fini() even
 * after an error. */
int xd_curl_transport_init(struct xd_curl_transport *t,
                           const struct xd_transport_ops *ops,
                           const struct xd_transport_config *config,
                           const struct xd_transport_handler *handler,
                           unsigned n_idle, struct xd_error *err);
void xd_curl_transport_fini(struct xd_curl_transport *t);

/* Waits for libcurl's sockets and `n` others, for at most `timeout` and
 * `silence_left`. */
CURLMcode xd_curl_transport_wait(struct xd_curl_transport *t,
                                 struct curl_waitfd *others, unsigned n,
                                 xd_usec timeout, xd_usec silence_left);

/* Functions for struct xd_transport_ops. */
void xd_curl_transport_wakeup(struct xd_transport *t);
void xd_curl_transport_set_silence(struct xd_transport *t, xd_usec silence,
                                   xd_usec first_byte);

#endif
