/* SPDX-License-Identifier: MIT */
/*
 * Pages for people that come in place of a file: a login page, "not found", a
 * choice of mirrors, with a status that says that all is well.
 */
#ifndef XD_BASE_PAGE_H
#define XD_BASE_PAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <xdownload/error.h>

#include "base/url.h"

/* So many bytes of an answer tell. */
#define XD_PAGE_LOOK ((size_t)1024)

/* Whether the text begins as an HTML document does; and whether it may, as its
 * first `len` bytes say no other: "<!DOC" may.  Of more than XD_PAGE_LOOK bytes
 * those count; no bytes are no document. */
bool xd_is_html(const void *text, size_t len);
bool xd_may_be_html(const void *text, size_t len);

/* Whether a page may come in place of the file at `url`: `media_type` (NULL:
 * none was given) is that of HTML, and the URL ends in the extension of something
 * that is no page. */
bool xd_page_is_likely(const struct xd_url *url, const char *media_type);

/* Say that one came from `url`.  Returns DIFFERENT. */
int xd_page_fail(struct xd_error *err, const struct xd_url *url);

#endif
