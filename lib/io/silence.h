/* SPDX-License-Identifier: MIT */
/*
 * The clock by which the silence of depots is measured: only time in which this
 * process ran counts.  When the process was stopped for a minute, the clock
 * jumped, or the disk held up a handler, no depot was silent.
 *
 * Threads: that of the transport.
 */
#ifndef XD_IO_SILENCE_H
#define XD_IO_SILENCE_H

#include "base/time.h"

struct xd_silence_clock {
    xd_usec looked_at; /* xd_now() of the last look */
    xd_usec watched;   /* what the clock shows */
};

void xd_silence_clock_init(struct xd_silence_clock *c);

/* No poll lasts longer, so that a wakeup() which is lost costs no more. */
#define XD_LONGEST_POLL (10 * XD_SECOND)

/* How long a poll may last for the sake of a depot that is asked, which was
 * last received at `last_byte_at` of this clock and may be silent for
 * `patience`. */
xd_usec xd_silence_left(const struct xd_silence_clock *c, xd_usec last_byte_at,
                        xd_usec patience);

/* Set it, after a wait that was to last `waited`. */
void xd_silence_clock_look(struct xd_silence_clock *c, xd_usec waited);

#endif
