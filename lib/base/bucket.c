#include "base/bucket.h"

/* What may be made up for when nobody asked in time: it bounds the burst, and
 * must be longer than threads are late. */
#define SLACK (50 * XD_MS)

xd_usec xd_bucket_take(struct xd_bucket *b, xd_usec now, uint64_t bytes)
{
    if (b->rate == 0)
        return 0;
    if (b->paid > now)
        return b->paid - now;
    if (now - b->paid > SLACK)
        b->paid = now - SLACK;
    /* In floating point, for the product of two large numbers. */
    b->paid += (xd_usec)((double)bytes * (double)XD_SECOND / (double)b->rate);
    return 0;
}
