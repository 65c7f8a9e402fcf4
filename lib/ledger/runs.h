/* SPDX-License-Identifier: MIT */
/*
 * Divides all bytes into runs, each with a state and a depot.
 *
 *     0            b1        b2                 b3              2^64 - 1
 *     |- 0, none --|- 2, d7 -|----- 2, d0 ------|- 0, none ------)
 *
 * Equal neighbours are merged.  The runs are nodes of a treap ordered by first
 * byte.  Each node stores which states occur in its subtree, so a search skips
 * the others.  With n runs a search takes O(log n), and a change of k runs O(k
 * + log n).  Results are cached until the next change, because schedulers ask
 * the same questions many times in between.
 *
 * A zeroed struct is one run of state 0 without a depot.
 * Threads: not thread-safe.
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
    size_t n, capacity; /* number of nodes used so far; allocated nodes */
    size_t n_free;      /* how many of the `n` nodes are free again */
    uint32_t root, first_free;
    uint64_t bytes[XD_N_STATES]; /* number of bytes in each state except 0 */
    uint64_t n_changes;
    struct xd_run_answer *answers; /* cache of results since the last change */
    uint64_t *visits; /* NULL, or a counter of visited nodes (for tests) */
};

struct xd_run_change {
    uint8_t to[XD_N_STATES]; /* new state for each old state */
    /* true: bytes without a depot get `depot`; if that is XD_NO_DEPOT, all
     * bytes lose their depot */
    bool sets_depot;
    unsigned depot;
};

void xd_runs_fini(struct xd_runs *m);

/* Changes the states and depots of all bytes of `r`.  Returns 0, or NOMEM with
 * nothing changed. */
int xd_runs_change(struct xd_runs *m, struct xd_range r,
                   const struct xd_run_change *c);

/* Reserves memory, so that the next n changes cannot fail.  Returns 0 or
 * NOMEM. */
int xd_runs_reserve(struct xd_runs *m, size_t n);

struct xd_run_of_bytes xd_runs_at(const struct xd_runs *m, uint64_t byte);

/* Returns whether all bytes of `r` are in `states`, which is a bit mask. */
bool xd_runs_are(const struct xd_runs *m, unsigned states, struct xd_range r);

/* Returns the number of bytes of r in `states`. */
uint64_t xd_runs_count(const struct xd_runs *m, unsigned states,
                       struct xd_range r);

/* Returns the first run within `within` in one of `states`, a bit mask; empty
 * at within.end if there is none. */
struct xd_range xd_runs_next(const struct xd_runs *m, unsigned states,
                             struct xd_range within);

/* Returns the first byte within `within` that is in none of `states`;
 * within.end if there is none. */
uint64_t xd_runs_first_gap(const struct xd_runs *m, unsigned states,
                           struct xd_range within);

/* Returns the first run within `within` that has a depot, and sets *depot. */
struct xd_range xd_runs_next_depot(const struct xd_runs *m,
                                   struct xd_range within, unsigned *depot);

/* Returns the first run within `within` of this depot; empty at within.end if
 * there is none. */
struct xd_range xd_runs_next_of(const struct xd_runs *m, unsigned depot,
                                struct xd_range within);

/* Copies the depots of all bytes of `r` from `from`.  The state of a byte
 * becomes 1 if it has a depot, otherwise 0.  Returns 0, or NOMEM after changing
 * only some of the bytes. */
int xd_runs_copy_depots(struct xd_runs *m, const struct xd_runs *from,
                        struct xd_range r);

#endif
