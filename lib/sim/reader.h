/* SPDX-License-Identifier: MIT */
/*
 * Simulated readers of a file while it arrives.  There are three kinds:
 *
 * - the program at the end of a pipe;
 * - a player, which tells the scheduler what it needs, and when;
 * - a client that tells nothing, and may seek.
 *
 *     0        shown      in order to             window
 *     |==========|============|........====.........|
 */
#ifndef XD_SIM_READER_H
#define XD_SIM_READER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/time.h"
#include "sim/net.h"

struct xd_run;

#define XD_SIM_READERS 2

struct xd_sim_reader {
    bool has_begun;
    uint64_t at;       /* end of the bytes read or shown */
    uint64_t in_order; /* end of the bytes accepted without a gap */
    xd_nsec next_at;   /* time of its next check */
    xd_usec jumped_at; /* time of the seek; 0: it has not happened yet */
    bool is_waiting;   /* waiting for the first byte after the seek */

    /* A player shows byte `from` at the time `since` plus the length of its
     * stalls. */
    uint64_t from;
    xd_usec since, stalled;
    bool has_paused;
    unsigned n_stalls;
    xd_usec moves_since, stall; /* end and duration of the last stall */
};

/* Advances each reader whose next check is due: it reads what has arrived, and
 * reports which bytes it needs. */
void xd_sim_readers_look(struct xd_run *r);

#endif
