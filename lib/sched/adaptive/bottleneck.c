#include "sched/adaptive/bottleneck.h"

/* Over so long bytes are counted. */
#define TURN (500 * XD_MS)

/* What routers of slow lines were seen to hold. */
#define QUEUE_BYTES ((double)(256 << 10))

/* What is said of a line that hardly brings anything: it may be dead. */
#define LONGEST (40 * XD_SECOND)

void xd_bottleneck_heard(struct xd_bottleneck *b, xd_usec now, uint64_t bytes)
{
    double rate;

    if (b->began == 0) {
        b->began = now;
        return;
    }
    b->bytes += bytes;
    if (now - b->began < TURN)
        return;
    rate = (double)b->bytes * (double)XD_SECOND / (double)(now - b->began);
    if (rate > b->most)
        b->most = rate;
    b->began = now;
    b->bytes = 0;
}

xd_usec xd_bottleneck_queue_time(const struct xd_bottleneck *b)
{
    double time;

    if (b->most <= 0)
        return 0;
    time = QUEUE_BYTES / b->most * (double)XD_SECOND;
    return time < (double)LONGEST ? (xd_usec)time : LONGEST;
}
