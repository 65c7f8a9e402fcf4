/* SPDX-License-Identifier: MIT */
/*
 * A string that grows.  The first failed allocation makes `failed` true and
 * every later call does nothing, so that one check at the end is enough.
 */
#ifndef XD_BASE_TEXT_H
#define XD_BASE_TEXT_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <xdownload/version.h>

struct xd_text {
    char *s; /* NUL-terminated once anything was added, else NULL */
    size_t len, capacity;
    bool failed;
};

/* A zeroed struct is an empty text. */
void xd_text_fini(struct xd_text *t);
void xd_text_clear(struct xd_text *t); /* keeps the memory */
void xd_text_add(struct xd_text *t, const char *s, size_t len);
void xd_text_addf(struct xd_text *t, const char *format, ...) XD_PRINTF(2, 3);

/* The last component of a path, within it. */
const char *xd_path_name(const char *path);

/* DIRECTORY/PATH, or PATH where there is no directory (NULL or ""); *out_given is
 * the length of what comes before PATH.  Ownership: the caller's.  NULL: no
 * memory. */
char *xd_path_in(const char *directory, const char *path, size_t *out_given);

/*
 * One line for people: at most size - 1 bytes, cut between characters, with
 * '?' for every character of which xd_is_deceptive() of base/unicode.h is true.  `size` is at least 1.
 */
void xd_format_line(char *out, size_t size, const char *format, va_list args)
    XD_PRINTF(3, 0);

#endif
