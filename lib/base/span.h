/* SPDX-License-Identifier: MIT */
/* A run of bytes that belongs to its caller and has no NUL at its end. */
#ifndef XD_BASE_SPAN_H
#define XD_BASE_SPAN_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

struct xd_span {
    const char *s; /* may be NULL where len is 0 */
    size_t len;
};

static inline struct xd_span xd_span(const char *s, size_t len)
{
    return (struct xd_span){s, len};
}

static inline struct xd_span xd_span_of(const char *s)
{
    return (struct xd_span){s, s ? strlen(s) : 0};
}

static inline bool xd_span_is(struct xd_span a, const char *s)
{
    size_t len = strlen(s);
    return a.len == len && (len == 0 || memcmp(a.s, s, len) == 0);
}

/* What XML calls white space. */
static inline bool xd_is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static inline struct xd_span xd_span_trim(struct xd_span a)
{
    while (a.len > 0 && xd_is_blank(a.s[0])) {
        a.s++;
        a.len--;
    }
    while (a.len > 0 && xd_is_blank(a.s[a.len - 1]))
        a.len--;
    return a;
}

#endif
