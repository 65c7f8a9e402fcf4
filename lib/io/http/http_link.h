/* SPDX-License-Identifier: MIT */
/*
 * Parses Link fields (RFC 8288) for Metalink/HTTP (RFC 6249).
 *
 * Pure.  Malformed links are skipped; each only costs a mirror.
 */
#ifndef XD_IO_HTTP_LINK_H
#define XD_IO_HTTP_LINK_H

#include <stdbool.h>

#include "base/offer.h"
#include "base/span.h"

struct xd_http_link {
    struct xd_span target; /* the URL as written, may be relative */
    enum xd_offered_kind kind;
    unsigned priority; /* as in struct xd_offered */
    bool is_preferred; /* as in struct xd_offered */
    char location[2 + 1];
};

/* Returns the next useful link and moves *rest past it; false at the end. */
bool xd_http_link_next(struct xd_span *rest, struct xd_http_link *out);

#endif
