/* SPDX-License-Identifier: MIT */
/*
 * The only allocator: zeroed, and safe against overflow of n * size.
 *
 * Every function returns NULL when memory is out; xd_free(NULL) does nothing.
 * Threads: any.
 */
#ifndef XD_BASE_ALLOC_H
#define XD_BASE_ALLOC_H

#include <stdbool.h>
#include <stddef.h>

void *xd_alloc(size_t n, size_t size);

/* Grow or shrink to n elements; what is new is not zeroed.  After a failure
 * `p` is as before. */
void *xd_realloc(void *p, size_t n, size_t size);

void xd_free(void *p);

char *xd_strdup(const char *s);

/* The same; of NULL it is NULL.  Without memory *failed becomes true. */
char *xd_strdup_maybe(const char *s, bool *failed);

char *xd_strndup(const char *s, size_t n);

#endif
