/* SPDX-License-Identifier: MIT */
#include "base/bucket.h"

/* After a pause, at most this much lost time is made up for.  It limits the
 * burst, and must exceed the usual delay of a thread's wake-up. */
#define SLACK (50 * XD_MS)

/* Uses floating point, because the product may exceed 64 bits. */
static xd_usec time_of(const struct xd_bucket *b, uint64_t bytes)
{
    return (xd_usec)((double)bytes * (double)XD_SECOND / (double)b->rate);
}

xd_usec xd_bucket_pay(struct xd_bucket *b, xd_usec now, uint64_t bytes)
{
    xd_usec begin;

    if (b->rate == 0)
        return 0;
    if (now > SLACK && b->paid < now - SLACK)
        b->paid = now - SLACK;
    begin = b->paid;
    b->paid += time_of(b, bytes);
    return begin > now ? begin - now : 0;
}

void xd_bucket_refund(struct xd_bucket *b, uint64_t bytes)
{
    xd_usec time = b->rate > 0 ? time_of(b, bytes) : 0;

    b->paid -= time < b->paid ? time : b->paid;
}
