/* SPDX-License-Identifier: MIT */
/* Checks paths in URLs of objects.  Pure. */
#ifndef XD_STORE_WEB_PATH_H
#define XD_STORE_WEB_PATH_H

#include <stdbool.h>

#include "base/text.h"
#include "base/url.h"

/* Returns whether `name` is a relative path without empty, "." and ".."
 * components. */
bool xd_web_name_is_good(const char *name);

/* Appends `name`, percent-encoded. */
void xd_web_add_name(struct xd_text *to, const char *name);

/* Returns whether servers and libcurl read this path literally.  False if it
 * has "." or ".." components, or escapes of these, of slashes, backslashes or
 * control characters. */
bool xd_web_path_is_plain(struct xd_span path);

/* Returns whether `u` is an object below `folder`, whose path ends with a
 * slash: same origin, a plain path that does not end with a slash, no user name
 * and no query. */
bool xd_web_is_below(const struct xd_url *folder, const struct xd_url *u);

#endif
