/* SPDX-License-Identifier: MIT */
/*
 * Memory of a manifest: strings that live as long as it does and are released
 * all at once; and arrays that grow.
 */
#ifndef XD_MANIFEST_POOL_H
#define XD_MANIFEST_POOL_H

#include <stddef.h>

#include "base/span.h"

struct xd_pool {
    struct xd_pool_chunk *chunks;
};

/* A zeroed struct is an empty pool. */
void xd_pool_fini(struct xd_pool *p);

/* A copy of `s` with a NUL behind it; NULL when memory is out. */
char *xd_pool_copy(struct xd_pool *p, struct xd_span s);

/* Zeroed memory for a struct whose members are pointers and numbers of 64 bits;
 * NULL when memory is out. */
void *xd_pool_alloc(struct xd_pool *p, size_t size);

/* The same for `n` of them; also NULL if they are more than memory can hold. */
void *xd_pool_array(struct xd_pool *p, size_t n, size_t size);

#endif
