/* SPDX-License-Identifier: MIT */
/*
 * Records which depots have failed at which blocks.  Entries of done blocks are
 * removed, so the list stays short.
 *
 * Costs: O(log n) to look up, O(n) to change.
 */
#ifndef XD_SCHED_TRIALS_H
#define XD_SCHED_TRIALS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct xd_trial {
    uint64_t block;
    unsigned depot;
};

struct xd_trials {
    struct xd_trial *list; /* sorted by block, then by depot */
    size_t n, capacity;
};

/* A zeroed struct is an empty list. */
void xd_trials_fini(struct xd_trials *t);

/* add() ignores an entry that exists.  any() returns whether any depot failed
 * at the block.  Errors: NOMEM. */
int xd_trials_add(struct xd_trials *t, uint64_t block, unsigned depot);
bool xd_trials_has(const struct xd_trials *t, uint64_t block, unsigned depot);
bool xd_trials_any(const struct xd_trials *t, uint64_t block);
void xd_trials_forget(struct xd_trials *t, uint64_t block);

#endif
