/* SPDX-License-Identifier: MIT */
/*
 * Memory of a manifest.  It is released as a whole: a single block cannot be
 * freed.
 * Threads: not thread-safe.
 */
#ifndef XD_MANIFEST_POOL_H
#define XD_MANIFEST_POOL_H

#include <stddef.h>

#include "base/span.h"

struct xd_pool {
    struct xd_pool_chunk *chunks;
};

/* Frees all memory of a pool and leaves an empty pool, which can be used again.
 * A zeroed struct is an empty pool, too. */
void xd_pool_fini(struct xd_pool *p);

/* Returns a NUL-terminated copy; NULL if out of memory. */
char *xd_pool_copy(struct xd_pool *p, struct xd_span s);

/* Returns zeroed memory, aligned for pointers and 64-bit numbers; NULL if out
 * of memory. */
void *xd_pool_alloc(struct xd_pool *p, size_t size);

/* Allocates `n` elements of `size` bytes, at least 1, like xd_pool_alloc().
 * NULL also if their total size is too large. */
void *xd_pool_array(struct xd_pool *p, size_t n, size_t size);

#endif
