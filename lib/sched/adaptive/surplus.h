/* SPDX-License-Identifier: MIT */
/*
 * Whether a slow line needs more than one depot.
 *
 *     all     each depot is asked, over one connection
 *     trying  one depot is; the others end their requests and get no other
 *     one     it brings as much as all did
 *     needed  it does not: all are asked again, for good
 *
 * Where the client's line is what bounds them, one depot fills it, and others
 * only lengthen its queue.  Where the depots are slow they are all of use: only
 * trying tells.  Time is an argument.
 */
#ifndef XD_SCHED_SURPLUS_H
#define XD_SCHED_SURPLUS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/time.h"

enum xd_surplus_stage {
    XD_SURPLUS_ALL,
    XD_SURPLUS_TRYING,
    XD_SURPLUS_ONE,
    XD_SURPLUS_NEEDED
};

/* A zeroed struct asks all. */
struct xd_surplus {
    enum xd_surplus_stage stage;
    unsigned depot;    /* that which is asked, unless all are */
    double before;     /* bytes per second, of all depots */
    unsigned n_others; /* requests of others that go on */
    xd_usec began;     /* to be counted; 0: none of them has ended */
    uint64_t bytes;    /* of all, since then */
};

struct xd_surplus_facts {
    xd_usec now;
    bool is_slow;      /* the line */
    unsigned best;     /* the depot to try, */
    bool is_well;      /* which could bring all that is left alone */
    unsigned n_others; /* requests of others that are under way */
    double rate;       /* bytes per second, of all depots */
};

void xd_surplus_heard(struct xd_surplus *s, uint64_t bytes);
void xd_surplus_decide(struct xd_surplus *s,
                       const struct xd_surplus_facts *facts);

/* Whether only `depot` of it is to be asked. */
bool xd_surplus_is_one(const struct xd_surplus *s);

#endif
