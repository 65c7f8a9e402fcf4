/* SPDX-License-Identifier: MIT */
#include "base/rate.h"

#define BUCKET (XD_SECOND / 4)

/* Clears the counters for the time since the last call. */
static void advance(struct xd_rate *r, xd_usec now)
{
    uint64_t bucket = now / BUCKET;

    if (bucket - r->last >= XD_RATE_BUCKETS)
        *r = (struct xd_rate){.first = r->first, .last = bucket};
    while (r->last < bucket)
        r->bytes[++r->last % XD_RATE_BUCKETS] = 0;
}

void xd_rate_add(struct xd_rate *r, xd_usec now, uint64_t bytes)
{
    if (!r->first)
        r->first = now;
    advance(r, now);
    r->bytes[r->last % XD_RATE_BUCKETS] += bytes;
}

double xd_rate_get(struct xd_rate *r, xd_usec now)
{
    uint64_t sum = 0;
    xd_usec span;

    if (!r->first)
        return 0;
    advance(r, now);
    for (unsigned i = 0; i < XD_RATE_BUCKETS; i++)
        sum += r->bytes[i];
    span = (XD_RATE_BUCKETS - 1) * BUCKET + now % BUCKET;
    if (now - r->first < span)
        span = now - r->first;
    /* The length of a first burst is unknown, so assume the time of one
     * counter. */
    return (double)sum * (double)XD_SECOND /
           (double)(span > BUCKET ? span : BUCKET);
}
