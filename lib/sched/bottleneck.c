/* SPDX-License-Identifier: MIT */
#include "sched/bottleneck.h"

/* Length of a period: at least this time and this number of bytes.  A single
 * period is not reliable, because data that waited for a lost packet arrives in
 * a burst. */
#define TURN (500 * XD_MS)
#define TURN_BYTES (64 << 10)

/* Queue size observed in routers of slow lines. */
#define QUEUE_BYTES ((double)(256 << 10))

/* Limit for a line that hardly delivers anything, because it may be dead. */
#define LONGEST (40 * XD_SECOND)

/* If the queue of a line takes this long, TCP repeatedly loses packets of some
 * connections and waits longer each time. */
#define SLOW XD_SECOND
#define STARVED 4

static double larger(double a, double b)
{
    return a > b ? a : b;
}

static double lesser(double a, double b)
{
    return a < b ? a : b;
}

static double rate_of(const struct xd_bottleneck *b, xd_usec now)
{
    return (double)b->bytes * (double)XD_SECOND / (double)(now - b->began);
}

void xd_bottleneck_received(struct xd_bottleneck *b, xd_usec now,
                            uint64_t bytes)
{
    if (b->began == 0) {
        b->began = now;
        return;
    }
    b->bytes += bytes;
    if (now - b->began < TURN || b->bytes < TURN_BYTES)
        return;
    b->most = larger(b->most, lesser(b->last, rate_of(b, now)));
    b->last = rate_of(b, now);
    b->began = now;
    b->bytes = 0;
}

/* Until two periods are over, uses what was received so far. */
static double most_of(const struct xd_bottleneck *b, xd_usec now)
{
    if (b->most > 0)
        return b->most;
    return b->began > 0 && now - b->began >= TURN && b->last == 0
               ? rate_of(b, now)
               : b->last;
}

xd_usec xd_bottleneck_queue_time(const struct xd_bottleneck *b, xd_usec now)
{
    double most = most_of(b, now), time;

    if (most <= 0)
        return 0;
    time = QUEUE_BYTES / most * (double)XD_SECOND;
    return time < (double)LONGEST ? (xd_usec)time : LONGEST;
}

bool xd_bottleneck_is_slow(const struct xd_bottleneck *b, xd_usec now)
{
    return xd_bottleneck_queue_time(b, now) > SLOW;
}

xd_usec xd_bottleneck_silence(const struct xd_bottleneck *b, xd_usec now)
{
    return xd_bottleneck_is_slow(b, now)
               ? STARVED * xd_bottleneck_queue_time(b, now)
               : 0;
}
