/* SPDX-License-Identifier: MIT */
/*
 * A set of depots, by number: two levels of bits, so that the next one is found
 * in n / 4096 steps.
 */
#ifndef XD_SCHED_DEPOT_SET_H
#define XD_SCHED_DEPOT_SET_H

#include <stdbool.h>
#include <stdint.h>

struct xd_depot_set {
    uint64_t *words;   /* bit i % 64 of word i / 64: depot i */
    uint64_t *summary; /* likewise: word i is not 0 */
    unsigned n;        /* depots there can be */
};

/* For the depots below n.  Errors: NOMEM; a zeroed set needs no fini(). */
int xd_depot_set_init(struct xd_depot_set *s, unsigned n);
void xd_depot_set_fini(struct xd_depot_set *s);

/* For those below `n`, which is more than before.  0, or NOMEM with the set as
 * before. */
int xd_depot_set_grow(struct xd_depot_set *s, unsigned n);

void xd_depot_set_put(struct xd_depot_set *s, unsigned depot, bool is_in);

/* The first one from `from` on; n if there is none. */
unsigned xd_depot_set_next(const struct xd_depot_set *s, unsigned from);

#endif
