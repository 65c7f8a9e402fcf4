/* SPDX-License-Identifier: MIT */
/*
 * The scheduler's view of a file: plain arrays, without names or URLs.
 *
 *     cuts      0      c1          c2        c3             size
 *               |------|-----------|---------|----------------|
 *     depot 0   [=============================================)
 *     depot 1          [=====================)
 *     depot 2                                [================)
 *
 * A cut is the begin or end of an extent.  No fetch crosses a cut, because the
 * bytes on both sides may be in different objects of a depot.
 */
#ifndef XD_SCHED_LAYOUT_H
#define XD_SCHED_LAYOUT_H

#include <stddef.h>
#include <stdint.h>

#include "base/range.h"
#include "base/time.h"

/* Number of tiers.  A depot is asked for a byte only if no usable depot holds
 * it in a lower tier (sched.h). */
#define XD_TIERS 4

struct xd_holding {
    /* ascending, disjoint and not empty; they may touch */
    struct xd_range *held;
    size_t n_held;
    /* fetches at a time; 0: limited only by lanes_per_depot */
    unsigned max_lanes;
    uint8_t *tiers; /* tier of each range in `held`; NULL: all 0 */
};

/* What earlier downloads have learned about the connections of a depot, or
 * about its requests if they share a connection.  0: unknown. */
struct xd_learned {
    /* number of parallel requests up to which the total rate increased */
    unsigned useful;
    double cap; /* bytes per second of each of them */
    /* each had its own connection, although they could share one */
    bool spreads;
    unsigned ceiling; /* the depot refused more requests than this at a time */
    xd_usec latency;  /* of the depot when this was learned */
};

/* What is known of a depot before its first request.  0: unknown. */
struct xd_guess {
    double rate;     /* bytes per second */
    xd_usec latency; /* from a request to its first byte */
    struct xd_learned learned;
    /* End of a request from byte 0 that is already running; the first fetch
     * that begins at byte 0 continues it.  0: none. */
    uint64_t begun_to;
    xd_usec begun_for; /* for how long it has been running */
};

struct xd_layout {
    /* of the file.  UINT64_MAX: unknown; then a depot that holds anything holds
     * all of [0, UINT64_MAX). */
    uint64_t size;
    uint64_t *cuts; /* ascending, all inside (0, size) */
    size_t n_cuts;
    struct xd_holding *depots; /* by preference, best first */
    size_t n_depots;
    struct xd_guess *guesses; /* one for each depot; NULL: nothing is known */
};

#endif
