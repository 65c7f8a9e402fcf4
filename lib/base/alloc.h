/* SPDX-License-Identifier: MIT */
/*
 * The only allocator of the library.  Memory is zeroed, and n * size cannot
 * overflow.
 *
 * Every function returns NULL if memory is exhausted; xd_free(NULL) does
 * nothing.
 * Threads: any.
 */
#ifndef XD_BASE_ALLOC_H
#define XD_BASE_ALLOC_H

#include <stdbool.h>
#include <stddef.h>

void *xd_alloc(size_t n, size_t size);

/* Resizes to n elements.  New memory is not zeroed.  On failure `p` is
 * unchanged. */
void *xd_realloc(void *p, size_t n, size_t size);

void xd_free(void *p);

char *xd_strdup(const char *s);

/* Like xd_strdup(), but returns NULL for NULL.  Sets *failed if memory is
 * exhausted. */
char *xd_strdup_maybe(const char *s, bool *failed);

char *xd_strndup(const char *s, size_t n);

#endif
