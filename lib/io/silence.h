/* SPDX-License-Identifier: MIT */
/*
 * A clock for measuring how long depots are silent.  It counts only time in
 * which this process was running.  Time does not count while the process is
 * stopped, the clock jumps, or the disk blocks a handler.
 *
 * Threads: that of the transport.
 */
#ifndef XD_IO_SILENCE_H
#define XD_IO_SILENCE_H

#include "base/time.h"

struct xd_silence_clock {
    xd_usec looked_at; /* xd_now() at the last update */
    xd_usec watched;   /* current time of this clock */
};

void xd_silence_clock_init(struct xd_silence_clock *c);

/* Limit on one poll, so that a lost wakeup does little harm. */
#define XD_LONGEST_POLL (10 * XD_SECOND)

/* Returns how long a poll may last before a depot exceeds `patience`, if it
 * last sent data at `last_byte_at` on this clock. */
xd_usec xd_silence_left(const struct xd_silence_clock *c, xd_usec last_byte_at,
                        xd_usec patience);

/* Updates the clock after a wait that was meant to last `waited`. */
void xd_silence_clock_look(struct xd_silence_clock *c, xd_usec waited);

#endif
