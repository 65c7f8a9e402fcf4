/*
 * How long bytes may wait in the queue of the client's line, by the most that
 * all depots together have brought.
 *
 * Where that is little, a depot that says nothing may only stand behind others:
 * a line of 128 kbit/s needs 16 s for a queue of 256 KiB.
 */
#ifndef XD_SCHED_BOTTLENECK_H
#define XD_SCHED_BOTTLENECK_H

#include <stdint.h>

#include "base/time.h"

/* A zeroed struct knows nothing. */
struct xd_bottleneck {
    xd_usec began;  /* this turn; 0: no byte came yet */
    uint64_t bytes; /* in this turn */
    double most;    /* bytes per second, of any turn */
};

void xd_bottleneck_heard(struct xd_bottleneck *b, xd_usec now, uint64_t bytes);

/* 0: not known. */
xd_usec xd_bottleneck_queue_time(const struct xd_bottleneck *b);

#endif
