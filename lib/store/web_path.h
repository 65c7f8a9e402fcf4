/* SPDX-License-Identifier: MIT */
/* Paths of URLs at which objects are put, and removed.  Pure. */
#ifndef XD_STORE_WEB_PATH_H
#define XD_STORE_WEB_PATH_H

#include <stdbool.h>

#include "base/text.h"
#include "base/url.h"

/* Whether `name` is a relative path of an object: no part is empty, "." or "..". */
bool xd_web_name_is_good(const char *name);

/* Its bytes as a URL has them. */
void xd_web_add_name(struct xd_text *to, const char *name);

/* Whether nothing in a URL's path makes it mean another one to a server or to
 * libcurl: parts "." and "..", and escapes of those and of slashes, backslashes and
 * control characters. */
bool xd_web_path_is_plain(struct xd_span path);

/* Whether `u` is an object below `folder`, whose path ends in a slash: of the same
 * origin, with a plain path that does not end in one, and with nothing else: no
 * user name, no query. */
bool xd_web_is_below(const struct xd_url *folder, const struct xd_url *u);

#endif
