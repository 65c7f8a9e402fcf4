/* SPDX-License-Identifier: MIT */
/*
 * A partition of all bytes into runs, each with a state and a depot.
 *
 *     0            b1        b2                 b3              2^64 - 1
 *     |- 0, none --|- 2, d7 -|----- 2, d0 ------|- 0, none ------)
 *
 * Neighbours differ.  The runs are the nodes of a treap, ordered by their first
 * bytes; each node says which states occur below it, so that a search for some
 * states passes over all others.  A search touches O(log n) nodes of n runs, a
 * change O(k + log n), where k is how many runs it meets; those that become
 * equal are one afterwards.  What was found last is remembered until the next
 * change, since schedulers ask for the same bytes many times between two changes.
 *
 * A zeroed struct is one run of state 0 without a depot.  Not thread-safe.
 */
#ifndef XD_LEDGER_RUNS_H
#define XD_LEDGER_RUNS_H

#include <limits.h>

#include "base/range.h"

#define XD_N_STATES 8
#define XD_NO_DEPOT (UINT_MAX - 1)

struct xd_run_of_bytes {
    struct xd_range range;
    uint8_t state;
    unsigned depot; /* or XD_NO_DEPOT */
};

struct xd_runs {
    struct xd_run_node *nodes;
    size_t n, capacity; /* nodes that were ever in use, and room for them */
    size_t n_free;      /* of these, not in use now */
    uint32_t root, first_free;
    uint64_t bytes[XD_N_STATES]; /* of each state but 0 */
    uint64_t n_changes;
    struct xd_run_answer *answers; /* to what was asked since the last change */
    uint64_t *visits; /* nodes that are touched are counted here, unless NULL
                         (tests) */
};

struct xd_run_change {
    uint8_t to[XD_N_STATES]; /* the new state of each */
    bool sets_depot;         /* where there is none, and if it is XD_NO_DEPOT */
    unsigned depot;          /* everywhere */
};

void xd_runs_fini(struct xd_runs *m);

/* 0, or NOMEM with all as before. */
int xd_runs_change(struct xd_runs *m, struct xd_range r,
                   const struct xd_run_change *c);

/* Room for n changes, if no others come between.  0, or NOMEM. */
int xd_runs_reserve(struct xd_runs *m, size_t n);

struct xd_run_of_bytes xd_runs_at(const struct xd_runs *m, uint64_t byte);

/* Whether all of r is of one of `states` (a bit for each). */
bool xd_runs_are(const struct xd_runs *m, unsigned states, struct xd_range r);

/* How many bytes of r are. */
uint64_t xd_runs_count(const struct xd_runs *m, unsigned states,
                       struct xd_range r);

/* The first bytes inside `within` that are of one of `states` (a bit for each);
 * empty at within.end if there are none. */
struct xd_range xd_runs_next(const struct xd_runs *m, unsigned states,
                             struct xd_range within);

/* The first byte of `within` that is of none of `states`; within.end if all
 * are. */
uint64_t xd_runs_first_gap(const struct xd_runs *m, unsigned states,
                           struct xd_range within);

/* The first of them that have a depot, and *depot that; of its one depot as many
 * as follow. */
struct xd_range xd_runs_next_depot(const struct xd_runs *m,
                                   struct xd_range within, unsigned *depot);

/* The first bytes inside `within` of that depot; empty at within.end: none. */
struct xd_range xd_runs_next_of(const struct xd_runs *m, unsigned depot,
                                struct xd_range within);

/* Put what `from` says of the depots of `r` in the place of what is known of it,
 * all else being state 0, or 1 where there is a depot.  0, or NOMEM with some of
 * it done. */
int xd_runs_copy_depots(struct xd_runs *m, const struct xd_runs *from,
                        struct xd_range r);

#endif
