/* SPDX-License-Identifier: MIT */
/*
 * Detects HTML pages that a server sends with status 200 instead of a file: a
 * login page, "not found", a choice of mirrors.
 */
#ifndef XD_BASE_PAGE_H
#define XD_BASE_PAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <xdownload/error.h>

#include "base/url.h"

/* Number of bytes from the start of a response that are examined. */
#define XD_PAGE_LOOK ((size_t)1024)

/* xd_is_html() returns whether the text starts like an HTML document.
 * xd_may_be_html() returns whether it still could after these first `len` bytes
 * ("<!DOC" could).  At most XD_PAGE_LOOK bytes are examined.  An empty text is
 * not HTML. */
bool xd_is_html(const void *text, size_t len);
bool xd_may_be_html(const void *text, size_t len);

/* Returns whether a response of this media type (NULL: none) may be a page
 * instead of the file at `url`: it is HTML, but the URL has the extension of
 * something else.  The extension of `file_name` (NULL: unknown) counts too,
 * unless the URL has the extension of an HTML page. */
bool xd_page_is_likely(const struct xd_url *url, const char *file_name,
                       const char *media_type);

/* Fills in the error that the server of `url` sent an HTML page instead of the
 * file.  Returns DIFFERENT. */
int xd_page_fail(struct xd_error *err, const struct xd_url *url);

#endif
