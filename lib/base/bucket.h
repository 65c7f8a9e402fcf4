/* SPDX-License-Identifier: MIT */
/*
 * A token bucket, which limits bytes per second.  Callers pay first and then
 * wait, so they are served in order of arrival.
 *
 * In any interval of length t, at most rate * (t + 50 ms) bytes pass, plus one
 * payment.  While callers are waiting, the rate is fully used.  The caller
 * passes the time.
 */
#ifndef XD_BASE_BUCKET_H
#define XD_BASE_BUCKET_H

#include <stdint.h>

#include "base/time.h"

struct xd_bucket {
    uint64_t rate; /* bytes per second; 0: no limit */
    /* time when all bytes paid for will have been sent; 0 at first */
    xd_usec paid;
};

/* Pays for `bytes`.  Returns the microseconds to wait before transferring
 * them. */
xd_usec xd_bucket_pay(struct xd_bucket *b, xd_usec now, uint64_t bytes);

/* Refunds the payment for bytes that were not transferred. */
void xd_bucket_refund(struct xd_bucket *b, uint64_t bytes);

#endif
