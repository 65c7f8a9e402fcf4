/* SPDX-License-Identifier: MIT */
#include "base/alloc.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/*
 * Computes n * size.  The result is at most PTRDIFF_MAX, so that pointers into
 * the memory can be subtracted.  It is at least 1: malloc(0) may return NULL,
 * which would look like a failure, and realloc(p, 0) may free p.
 */
static bool total_size(size_t n, size_t size, size_t *out)
{
    if (size != 0 && n > (size_t)PTRDIFF_MAX / size)
        return false;
    *out = n * size > 0 ? n * size : 1;
    return true;
}

void *xd_alloc(size_t n, size_t size)
{
    size_t total;

    if (!total_size(n, size, &total))
        return NULL;
    return calloc(1, total);
}

void *xd_realloc(void *p, size_t n, size_t size)
{
    size_t total;

    if (!total_size(n, size, &total))
        return NULL;
    return realloc(p, total);
}

void xd_free(void *p)
{
    free(p);
}

char *xd_strdup(const char *s)
{
    return xd_strndup(s, strlen(s));
}

char *xd_strdup_maybe(const char *s, bool *failed)
{
    char *copy = s != NULL ? xd_strdup(s) : NULL;

    *failed = *failed || (s != NULL && copy == NULL);
    return copy;
}

char *xd_strndup(const char *s, size_t n)
{
    size_t len = strnlen(s, n);
    char *copy = xd_alloc(len + 1, 1);

    if (copy != NULL)
        memcpy(copy, s, len);
    return copy;
}
