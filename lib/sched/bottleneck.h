/* SPDX-License-Identifier: MIT */
/*
 * How long bytes may wait in the queue of the client's line, by the most that
 * all depots together have delivered.
 *
 * Where that is little, a silent depot may only be queued behind others:
 * a line of 128 kbit/s needs 16 s for a queue of 256 KiB.
 */
#ifndef XD_SCHED_BOTTLENECK_H
#define XD_SCHED_BOTTLENECK_H

#include <stdbool.h>
#include <stdint.h>

#include "base/time.h"

/* A zeroed struct knows nothing. */
struct xd_bottleneck {
    xd_usec began;  /* this turn; 0: no byte came yet */
    uint64_t bytes; /* in this turn */
    double last; /* bytes per second, in the turn before; 0: there was none */
    double most; /* likewise, in two turns, one behind the other */
};

void xd_bottleneck_received(struct xd_bottleneck *b, xd_usec now,
                            uint64_t bytes);

/* How long a full queue takes; 0: not known. */
xd_usec xd_bottleneck_queue_time(const struct xd_bottleneck *b, xd_usec now);

/* Whether that is so long that more than one connection only stand in each
 * other's way. */
bool xd_bottleneck_is_slow(const struct xd_bottleneck *b, xd_usec now);

/* For how long a request may be silent since others fill a slow line; 0: the
 * line explains no silence. */
xd_usec xd_bottleneck_silence(const struct xd_bottleneck *b, xd_usec now);

#endif
