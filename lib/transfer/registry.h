/* SPDX-License-Identifier: MIT */
/*
 * The transports that there are: which one fetches which URL, and what it can
 * do.  A new transport is one file in lib/io and one row in registry.c.
 *
 * What makes two URLs those of one depot is a fact of their schemes:
 * xd_url_depot().
 */
#ifndef XD_TRANSFER_REGISTRY_H
#define XD_TRANSFER_REGISTRY_H

#include <stdbool.h>
#include <stddef.h>

#include "base/url.h"
#include "io/transport.h"

struct xd_transport_kind {
    const char *name;
    unsigned schemes;   /* of its URLs: XD_SCHEME_BIT() of each */
    bool can_sample;    /* a few bytes can be had of a depot in use */
    bool can_probe;     /* a depot says of an object how long it lives */
    bool reads_machine; /* its depot is this machine: needs allow_file */
    int (*create)(struct xd_transport **out,
                  const struct xd_transport_config *config,
                  const struct xd_transport_handler *handler,
                  struct xd_error *err);
};

#define XD_SCHEME_BIT(scheme) (1u << (scheme))

/* Those of the rows in registry.c, for messages. */
#define XD_SCHEMES_FETCHED "http, https, ftp, ibp or file"

/* A table is no longer than this. */
#define XD_KINDS_MOST 8

/* A table of kinds; constant. */
struct xd_registry {
    const struct xd_transport_kind *kinds;
    size_t n;
};

/* The transports of this library. */
const struct xd_registry *xd_registry(void);

/* The kind that fetches URLs of a scheme; NULL: there is none. */
const struct xd_transport_kind *xd_registry_find(const struct xd_registry *r,
                                                 enum xd_scheme scheme);

/* The same for `url`, which may be no URL at all, and our own transports. */
const struct xd_transport_kind *xd_transport_kind_of(const struct xd_url *url);

#endif
