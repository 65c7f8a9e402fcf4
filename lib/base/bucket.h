/* SPDX-License-Identifier: MIT */
/*
 * A bound on bytes per second: a token bucket.  A caller pays first and then
 * waits, so that all are served in the order in which they came.
 *
 * Over any time t at most rate * (t + 50 ms) bytes and one payment go through,
 * and no less as long as there is a demand.  Time is an argument.
 */
#ifndef XD_BASE_BUCKET_H
#define XD_BASE_BUCKET_H

#include <stdint.h>

#include "base/time.h"

struct xd_bucket {
    uint64_t rate; /* bytes per second; 0: no bound */
    xd_usec paid;  /* when all that was paid for will be through; 0 at first */
};

/* Pay for `bytes`.  Returns how long to wait before taking them. */
xd_usec xd_bucket_pay(struct xd_bucket *b, xd_usec now, uint64_t bytes);

/* Bytes that were paid for are not taken. */
void xd_bucket_refund(struct xd_bucket *b, uint64_t bytes);

#endif
