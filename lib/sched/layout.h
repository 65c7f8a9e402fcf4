/* SPDX-License-Identifier: MIT */
/*
 * What the scheduler knows of a file: plain arrays, no names, no URLs.
 *
 *     cuts      0      c1          c2        c3             size
 *               |------|-----------|---------|----------------|
 *     depot 0   [=============================================)
 *     depot 1          [=====================)
 *     depot 2                                [================)
 *
 * A cut is an edge of an extent: no fetch may cross one, since the bytes on
 * its two sides may lie in different objects of a depot.
 */
#ifndef XD_SCHED_LAYOUT_H
#define XD_SCHED_LAYOUT_H

#include <stddef.h>
#include <stdint.h>

#include "base/range.h"
#include "base/time.h"

/* Tiers are numbers below this.  A depot is asked for a byte only if no depot
 * that is not dropped holds that byte in a lower tier (sched.h). */
#define XD_TIERS 4

struct xd_holding {
    struct xd_range *held; /* ascending, disjoint, not empty; they may touch */
    size_t n_held;
    unsigned max_lanes; /* fetches at a time; 0: as many as there are lanes */
    uint8_t *tiers;     /* of each in `held`; NULL: all 0 */
};

/* What earlier downloads learned of a depot's connections, or of its requests
 * where they share one; 0: not known. */
struct xd_learned {
    unsigned useful; /* so many at a time increased the rate: */
    double cap;      /* each delivered so many bytes per second */
    bool spreads; /* each had a connection of its own, though they could share
                     one */
    unsigned ceiling; /* the depot refused more at a time */
    xd_usec latency;  /* of the depot when that was learned */
};

/* What a depot will do, by what is known before it is asked; 0: not known. */
struct xd_guess {
    double rate;     /* bytes per second */
    xd_usec latency; /* from a request to its first byte */
    struct xd_learned learned;
    uint64_t begun_to; /* a request for the bytes before this one was made
                           already; the first that begins at byte 0 goes on with
                           it.  0: there is none */
    xd_usec begun_for; /* since so long */
};

struct xd_layout {
    uint64_t size;  /* of the file; UINT64_MAX: unknown, and then a depot that
                       holds anything holds all of [0, UINT64_MAX) */
    uint64_t *cuts; /* ascending, all within (0, size) */
    size_t n_cuts;
    struct xd_holding *depots; /* in order of preference, best first */
    size_t n_depots;
    struct xd_guess *guesses; /* one per depot; NULL: nothing is known */
};

#endif
