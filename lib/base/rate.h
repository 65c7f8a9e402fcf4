/* SPDX-License-Identifier: MIT */
/*
 * Throughput over the last four seconds, in bytes per second.
 *
 * A ring of counters, each for a quarter of a second.  A zeroed struct is ready
 * for use.  The caller passes the time.  If the time goes back, all counters
 * are cleared.
 *
 * Not thread-safe: both functions change the struct.
 */
#ifndef XD_BASE_RATE_H
#define XD_BASE_RATE_H

#include <stdint.h>

#include "base/time.h"

#define XD_RATE_BUCKETS 16

struct xd_rate {
    uint64_t bytes[XD_RATE_BUCKETS];
    xd_usec first; /* time of the first byte; 0: none yet */
    uint64_t last; /* index of the newest counter; counter 0 starts at time 0 */
};

/* Adds bytes that were transferred now. */
void xd_rate_add(struct xd_rate *r, xd_usec now, uint64_t bytes);

/* Returns the mean throughput, and clears the counters that are too old.  In
 * the first four seconds it is the mean since the first byte, over at least
 * 0.25 s.  Before the first byte it is 0. */
double xd_rate_get(struct xd_rate *r, xd_usec now);

#endif
