/* SPDX-License-Identifier: MIT */
/*
 * Bytes per second over the last few seconds.
 *
 * A ring of buckets, each a quarter of a second; what is older than the ring
 * no longer counts.  A zeroed struct is ready; time is an argument.
 */
#ifndef XD_BASE_RATE_H
#define XD_BASE_RATE_H

#include <stdint.h>

#include "base/time.h"

#define XD_RATE_BUCKETS 16

struct xd_rate {
    uint64_t bytes[XD_RATE_BUCKETS];
    xd_usec first; /* when the first byte was counted; 0: none yet */
    uint64_t last; /* number of the newest bucket since time 0 */
};

void xd_rate_add(struct xd_rate *r, xd_usec now, uint64_t bytes);

double xd_rate_get(struct xd_rate *r, xd_usec now);

#endif
