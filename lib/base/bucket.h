/*
 * A bound on bytes per second: a token bucket.
 *
 * Who wants to take bytes asks; what he gets may overdraw, and then nobody gets
 * any until that is paid.  Over any time t at most rate * (t + 50 ms) bytes and
 * one take go through, and no less as long as somebody asks in time.  Time is an
 * argument.
 */
#ifndef XD_BASE_BUCKET_H
#define XD_BASE_BUCKET_H

#include <stdint.h>

#include "base/time.h"

struct xd_bucket {
    uint64_t rate; /* bytes per second; 0: no bound */
    xd_usec paid;  /* what was taken is paid for at this time; 0 at first */
};

/* 0: `bytes` were taken.  Else nothing was, and this is how long to wait. */
xd_usec xd_bucket_take(struct xd_bucket *b, xd_usec now, uint64_t bytes);

#endif
