/* SPDX-License-Identifier: MIT */
/*
 * Which places of a file are compared before it is fetched, or before what is
 * there of it is used: its two ends, and one place in each of as many equal
 * parts between them.
 *
 *     |[head]......[x]....|....[x]......|..[x]......|......[tail]|
 *
 * Pure.
 */
#ifndef XD_ENGINE_PLACES_H
#define XD_ENGINE_PLACES_H

#include <stdbool.h>
#include <stddef.h>

#include "base/range.h"

/* What is shorter is compared as a whole. */
#define XD_COMPARED_WHOLE ((uint64_t)1 << 20)

struct xd_places {
    struct xd_range *list; /* in order, none of them empty */
    size_t n;
};

/*
 * `n` places (at least 2) of `bytes` each in `within`, or all of it if it is
 * shorter than XD_COMPARED_WHOLE or than the places together.  The same for
 * the same arguments; those between the ends depend on `seed`.
 * Ownership: release with xd_places_fini(), whatever it returns.
 * Errors:    NOMEM.
 */
int xd_places_init(struct xd_places *p, struct xd_range within, size_t n,
                   uint64_t bytes, uint64_t seed);
void xd_places_fini(struct xd_places *p);

#endif
