/*
 * Which transport fetches which URL.
 */
#ifndef XD_TRANSFER_REGISTRY_H
#define XD_TRANSFER_REGISTRY_H

#include "base/url.h"
#include "io/transport.h"

enum xd_transport_kind {
    XD_TRANSPORT_WEB,  /* http, https, ftp, ftps */
    XD_TRANSPORT_DISK, /* file: */
    XD_N_TRANSPORTS    /* none fetches it */
};

/* The kind of transport for the URLs of a scheme. */
enum xd_transport_kind xd_transport_kind_of(enum xd_scheme scheme);

/* The kind of transport for `url`, also where it is no URL. */
enum xd_transport_kind xd_transport_kind_of_url(const char *url);

/* Ownership and errors as with xd_http_new() and xd_local_new(); BUG for
 * XD_N_TRANSPORTS. */
int xd_transport_new(struct xd_transport **out, enum xd_transport_kind kind,
                     const struct xd_transport_config *config,
                     const struct xd_transport_handler *handler,
                     struct xd_error *err);

#endif
