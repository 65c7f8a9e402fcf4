/* SPDX-License-Identifier: MIT */
/*
 * A growing string.  After a failed allocation `failed` is true and later calls
 * do nothing, so check it once at the end.
 */
#ifndef XD_BASE_TEXT_H
#define XD_BASE_TEXT_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <xdownload/version.h>

struct xd_text {
    char *s; /* NUL-terminated; NULL until something is added */
    size_t len, capacity;
    bool failed;
};

/* Frees a string.  A zeroed struct is an empty string. */
void xd_text_fini(struct xd_text *t);
void xd_text_clear(struct xd_text *t); /* does not free the memory */
void xd_text_add(struct xd_text *t, const char *s, size_t len);
void xd_text_addf(struct xd_text *t, const char *format, ...) XD_PRINTF(2, 3);

/* Returns the last component of the path, a pointer into `path`. */
const char *xd_path_name(const char *path);

/* Returns DIRECTORY/PATH, or PATH if `directory` is NULL or "".  *out_given is
 * the length of the text before PATH.  NULL if out of memory.  The caller frees
 * the result. */
char *xd_path_in(const char *directory, const char *path, size_t *out_given);

/*
 * Formats one line for display: at most size - 1 bytes, never cut within a
 * character, with '?' for deceptive characters (xd_is_deceptive() in
 * base/unicode.h).  `size` is at least 1.
 */
void xd_format_line(char *out, size_t size, const char *format, va_list args)
    XD_PRINTF(3, 0);

#endif
