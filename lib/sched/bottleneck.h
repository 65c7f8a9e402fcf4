/* SPDX-License-Identifier: MIT */
/*
 * Estimates how long bytes can wait in the queue of the client's access line,
 * from the highest rate that all depots together have delivered.
 *
 * On a slow line a silent depot may only be queued behind the others: a line of
 * 128 kbit/s takes 16 s to empty a queue of 256 KiB.
 */
#ifndef XD_SCHED_BOTTLENECK_H
#define XD_SCHED_BOTTLENECK_H

#include <stdbool.h>
#include <stdint.h>

#include "base/time.h"

/* Zeroed: nothing is known. */
struct xd_bottleneck {
    xd_usec began;  /* start of the current period; 0: no byte received yet */
    uint64_t bytes; /* received in this period */
    double last;    /* bytes per second in the previous period; 0: none */
    /* highest bytes per second over two consecutive periods; 0: none */
    double most;
};

void xd_bottleneck_received(struct xd_bottleneck *b, xd_usec now,
                            uint64_t bytes);

/* Returns the time in which a full queue empties; 0 if unknown. */
xd_usec xd_bottleneck_queue_time(const struct xd_bottleneck *b, xd_usec now);

/* Returns whether the line is so slow that a second connection would only
 * compete with the first. */
bool xd_bottleneck_is_slow(const struct xd_bottleneck *b, xd_usec now);

/* Returns how long a request may be silent because other requests fill a slow
 * line; 0 if the line is no excuse. */
xd_usec xd_bottleneck_silence(const struct xd_bottleneck *b, xd_usec now);

#endif
