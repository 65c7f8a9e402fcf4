/* SPDX-License-Identifier: MIT */
/*
 * Which depots have failed at which blocks.
 *
 * Only blocks that are not done have entries, so the list stays short.
 * Costs: look-ups O(log n), changes O(n).
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
    struct xd_trial *list; /* ascending by block, then depot */
    size_t n, capacity;
};

/* A zeroed struct is an empty list. */
void xd_trials_fini(struct xd_trials *t);

/* 0 or NOMEM; what is there already is not added twice. */
int xd_trials_add(struct xd_trials *t, uint64_t block, unsigned depot);
bool xd_trials_has(const struct xd_trials *t, uint64_t block, unsigned depot);
bool xd_trials_any(const struct xd_trials *t, uint64_t block);
void xd_trials_forget(struct xd_trials *t, uint64_t block);

#endif
