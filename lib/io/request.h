/* What every transport says of a request. */
#ifndef XD_IO_REQUEST_H
#define XD_IO_REQUEST_H

#include "io/transport.h"

#define XD_REQUEST_NAME_BYTES 201

/* The URL for sentences, cut if it is long.  Errors: NOMEM. */
int xd_request_name(char out[XD_REQUEST_NAME_BYTES], const char *url);

/* Say of a failure where it was: at `url`, to which the depot of `origin` led.
 * Without memory for that the failure becomes NOMEM. */
void xd_request_locate(struct xd_outcome *out, const char *origin,
                       const char *url);

/* Where in the object it ends, or XD_TO_END. */
uint64_t xd_request_end(const struct xd_request *r);

/* The object has `size` bytes (XD_SIZE_UNKNOWN: it did not say), not those
 * that it must have, or none at the offset. */
void xd_request_is_different(const struct xd_request *r, const char *name,
                             uint64_t size, struct xd_outcome *out);

#endif
