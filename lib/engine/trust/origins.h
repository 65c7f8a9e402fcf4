/*
 * Which depot brought which bytes: to know who lied.
 *
 *     |--- depot 2 ---|-- depot 0 --|   (gap)   |------ depot 2 ------|
 *
 * Runs in ascending order; neighbours of one depot are one run.
 * Not thread-safe: guarded by engine.lock.
 */
#ifndef XD_ENGINE_ORIGINS_H
#define XD_ENGINE_ORIGINS_H

#include <limits.h>
#include <stddef.h>

#include "base/range.h"

/* In place of a depot: an earlier run brought them. */
#define XD_HELD UINT_MAX

struct xd_origin {
    struct xd_range range;
    unsigned depot;
};

struct xd_origins {
    struct xd_origin *runs;
    size_t n, capacity;
};

void xd_origins_fini(struct xd_origins *o);

/* None of `range` is there yet.  Errors: NOMEM, with all as before. */
int xd_origins_add(struct xd_origins *o, struct xd_range range, unsigned depot);
int xd_origins_remove(struct xd_origins *o, struct xd_range range);

/* Add what `from` has of `range`, of which nothing is there yet.  Errors: NOMEM,
 * with some of it added. */
int xd_origins_copy(struct xd_origins *o, const struct xd_origins *from,
                    struct xd_range range);

/* The first run that ends behind `byte`; n if there is none. */
size_t xd_origins_find(const struct xd_origins *o, uint64_t byte);

#endif
