/* SPDX-License-Identifier: MIT */
/*
 * Chooses the places of a file that are compared before a download or before
 * existing data is used: both ends, and one place in each of several equal
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

/* Shorter files are compared completely. */
#define XD_COMPARED_WHOLE ((uint64_t)1 << 20)

struct xd_places {
    struct xd_range *list; /* sorted; none is empty */
    size_t n;
};

/*
 * Chooses `n` places (at least 2) of `bytes` each in `within`.  Chooses all of
 * `within` if it is shorter than XD_COMPARED_WHOLE or than the places
 * together.  The result depends only on the arguments; places between the ends
 * depend on `seed`.
 * Ownership: release with xd_places_fini(), also after an error.
 * Errors:    NOMEM.
 */
int xd_places_init(struct xd_places *p, struct xd_range within, size_t n,
                   uint64_t bytes, uint64_t seed);
void xd_places_fini(struct xd_places *p);

#endif
