/* SPDX-License-Identifier: MIT */
/*
 * Link fields (RFC 8288) as Metalink/HTTP (RFC 6249) uses them: what one link
 * says, read out of the text of a field.
 *
 * Pure.  Lenient, for a link that is lost is one mirror less: what makes no
 * sense is passed over.
 */
#ifndef XD_IO_HTTP_LINK_H
#define XD_IO_HTTP_LINK_H

#include <stdbool.h>

#include "base/offer.h"
#include "base/span.h"

struct xd_http_link {
    struct xd_span target; /* a reference, of the field's text; perhaps
                              relative */
    enum xd_offered_kind kind;
    unsigned priority; /* as in struct xd_offered, */
    bool is_preferred; /* and so are these */
    char location[2 + 1];
};

/* The next link of *rest that offers anything, which *rest is behind then; false
 * if there is none. */
bool xd_http_link_next(struct xd_span *rest, struct xd_http_link *out);

#endif
