/* SPDX-License-Identifier: MIT */
/*
 * The reader of a file that is still arriving: the end of a pipe; a player, which
 * tells the scheduler what it needs and when; or a client that does not, and may
 * seek.
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

struct xd_sim_reader {
    bool has_begun;
    uint64_t at;                /* all before it was read, or shown */
    uint64_t in_order;          /* all before it is accepted */
    xd_nsec next_at;            /* when it looks again */
    xd_usec moves_since, stall; /* a player: the end of its last stall, and how
                                   long that was */
    xd_usec jumped_at;          /* a client; 0: not yet */
};

/* See what has come, and tell what is wanted next, if it is time. */
void xd_sim_reader_look(struct xd_run *r);

#endif
