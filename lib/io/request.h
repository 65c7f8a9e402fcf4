/* SPDX-License-Identifier: MIT */
/* What every transport says of a request. */
#ifndef XD_IO_REQUEST_H
#define XD_IO_REQUEST_H

#include "io/transport.h"

/* Say of a failure where it was: at `url`, to which the depot of `origin` led. */
void xd_request_locate(struct xd_outcome *out, const struct xd_url *origin,
                       const struct xd_url *url);

/* Where in the object it ends, or XD_TO_END. */
uint64_t xd_request_end(const struct xd_request *r);

/* The object has `size` bytes (XD_SIZE_UNKNOWN: it did not say), not those
 * that it must have, or none at the offset. */
void xd_request_is_different(const struct xd_request *r, const char *name,
                             uint64_t size, struct xd_outcome *out);

#endif
