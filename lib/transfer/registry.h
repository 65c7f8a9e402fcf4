/* SPDX-License-Identifier: MIT */
/*
 * The transports: which one handles which URL, and what it can do.  A new
 * transport is one file in lib/io and one row in registry.c.
 *
 * Which URLs belong to the same depot depends on their schemes: see
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
    unsigned schemes; /* set of XD_SCHEME_BIT() values */
    bool can_sample;  /* a sample can be read while another request runs */
    bool can_probe;   /* depots can report the lifetime of an object */
    /* the transport reads local files, which needs allow_file */
    bool reads_machine;
    int (*create)(struct xd_transport **out,
                  const struct xd_transport_config *config,
                  const struct xd_transport_handler *handler,
                  struct xd_error *err);
};

#define XD_SCHEME_BIT(scheme) (1u << (scheme))

/* The schemes of the rows in registry.c, for messages. */
#define XD_SCHEMES_FETCHED "http, https, ftp, ibp or file"

/* Maximum number of rows in a table. */
#define XD_KINDS_MOST 8

/* A constant table of kinds. */
struct xd_registry {
    const struct xd_transport_kind *kinds;
    size_t n;
};

/* Returns the transports of this library. */
const struct xd_registry *xd_registry(void);

/* Returns the kind for URLs of this scheme, or NULL. */
const struct xd_transport_kind *xd_registry_find(const struct xd_registry *r,
                                                 enum xd_scheme scheme);

/* Returns the built-in kind for `url`, or NULL if there is none.  `url` may be
 * invalid. */
const struct xd_transport_kind *xd_transport_kind_of(const struct xd_url *url);

#endif
