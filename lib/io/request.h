/* SPDX-License-Identifier: MIT */
/* Helpers shared by all transports. */
#ifndef XD_IO_REQUEST_H
#define XD_IO_REQUEST_H

#include <stdbool.h>
#include <stdint.h>

#include "io/transport.h"

/* Adds the place of a failure to an error: `url`, reached through the depot of
 * `origin`. */
void xd_request_locate(struct xd_outcome *out, const struct xd_url *origin,
                       const struct xd_url *url);

/* Returns the end of the request within the object, or XD_TO_END. */
uint64_t xd_request_end(const struct xd_request *r);

/* Returns true if an object of `size` bytes (or XD_SIZE_UNKNOWN) is not the
 * requested one. */
bool xd_request_refuses_size(const struct xd_request *r, uint64_t size);

/* Fills in the outcome for an object with the wrong size, or that ends before
 * the requested offset.  `size` may be XD_SIZE_UNKNOWN. */
void xd_request_is_different(const struct xd_request *r, const char *name,
                             uint64_t size, struct xd_outcome *out);

#endif
