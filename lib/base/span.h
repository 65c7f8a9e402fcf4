/* SPDX-License-Identifier: MIT */
/* A string that is not NUL-terminated and not owned by the struct. */
#ifndef XD_BASE_SPAN_H
#define XD_BASE_SPAN_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <strings.h>

struct xd_span {
    const char *s; /* may be NULL if len is 0 */
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

/* Compare without regard to case: is_word() is true if `a` equals the word,
 * begins_with() if `a` starts with it, is_among() if `a` equals one of the
 * words. */
static inline bool xd_span_is_word(struct xd_span a, const char *word)
{
    size_t len = strlen(word);
    return a.len == len && (len == 0 || strncasecmp(a.s, word, len) == 0);
}

static inline bool xd_span_begins_with(struct xd_span a, const char *word)
{
    size_t len = strlen(word);
    return a.len >= len && xd_span_is_word(xd_span(a.s, len), word);
}

static inline bool xd_span_is_among(struct xd_span a, const char *const *words,
                                    size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (xd_span_is_word(a, words[i]))
            return true;
    return false;
}

static inline void xd_span_skip(struct xd_span *a, size_t n)
{
    a->s += n;
    a->len -= n;
}

/* Returns true for white space as defined by XML. */
static inline bool xd_is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static inline void xd_span_skip_blanks(struct xd_span *a)
{
    while (a->len > 0 && xd_is_blank(a->s[0]))
        xd_span_skip(a, 1);
}

static inline struct xd_span xd_span_trim(struct xd_span a)
{
    xd_span_skip_blanks(&a);
    while (a.len > 0 && xd_is_blank(a.s[a.len - 1]))
        a.len--;
    return a;
}

#endif
