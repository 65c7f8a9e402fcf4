/* SPDX-License-Identifier: MIT */
/*
 * How many depots may be open: twice as many, each time that those that came
 * last made it faster.  Bytes tell, in turns of equal length: forecasts still
 * say for a while what was true before.
 *
 *     bytes per turn     ____/----      again: the last growth paid
 *                   ____/    ^ grown
 */
#ifndef XD_SCHED_GROWTH_H
#define XD_SCHED_GROWTH_H

#include <stdbool.h>
#include <stdint.h>

#include "base/time.h"

struct xd_growth {
    unsigned most_open;
    xd_usec began;      /* this turn; XD_NEVER: no byte came yet */
    uint64_t bytes;     /* in this turn */
    double rate;        /* of the turn before */
    double rate_before; /* when there were half as many */
};

/* Nothing is open yet, and so many bytes are wanted. */
void xd_growth_init(struct xd_growth *g, uint64_t bytes);

/* Bytes came: the first begin a turn. */
void xd_growth_heard(struct xd_growth *g, xd_usec now, uint64_t bytes);

/* Whether more may be opened than the `n_well` that are open and of use. */
bool xd_growth_wants_more(struct xd_growth *g, unsigned n_well, xd_usec now);

#endif
