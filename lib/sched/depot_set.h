/* SPDX-License-Identifier: MIT */
/* A set of depot numbers.  Two levels of bits find the next member in n / 4096
 * steps. */
#ifndef XD_SCHED_DEPOT_SET_H
#define XD_SCHED_DEPOT_SET_H

#include <stdbool.h>
#include <stdint.h>

struct xd_depot_set {
    uint64_t *words;   /* depot i is bit i % 64 of word i / 64 */
    uint64_t *summary; /* bit i is set if words[i] is not 0 */
    unsigned n;        /* depots 0 to n - 1 can be members */
};

/* Errors: NOMEM.  A zeroed set needs no fini(). */
int xd_depot_set_init(struct xd_depot_set *s, unsigned n);
void xd_depot_set_fini(struct xd_depot_set *s);

/* Raises the limit to `n`.  After NOMEM the set is unchanged. */
int xd_depot_set_grow(struct xd_depot_set *s, unsigned n);

void xd_depot_set_put(struct xd_depot_set *s, unsigned depot, bool is_in);

/* Returns the first member at or after `from`, or n if there is none. */
unsigned xd_depot_set_next(const struct xd_depot_set *s, unsigned from);

#endif
