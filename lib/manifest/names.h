/* SPDX-License-Identifier: MIT */
/*
 * Makes names from manifests safe to use.
 *
 * A manifest must never choose a place outside the folder for its files.  Each
 * component of a path is changed like this:
 *
 *     " x . "          x            blanks around it, dots and blanks after it
 *     -x ~x .x         _x           looks like an option, home or hidden file
 *     x<ESC>y          x_y          control or invisible characters, changes of
 *                                   writing direction, invalid UTF-8
 *     x.part           x.part_      also x.part.journal: our own file names
 *     more than 255    cut          limit of file systems; keeps the extension
 */
#ifndef XD_MANIFEST_NAMES_H
#define XD_MANIFEST_NAMES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/span.h"

struct xd_url;

#define XD_NAME_MAX 255

/* Makes a safe name from the last component.  Returns false if nothing is left,
 * as for "", ".", ".." and "x/". */
bool xd_name_safe(struct xd_span given, char out[XD_NAME_MAX + 1]);

/* PATH_MAX is 4096 on Linux; the rest is for the folder. */
#define XD_PATH_MAX 1024

/*
 * Makes a safe relative path with '/' between components.
 *
 *     a/b, a\b, ./a//b      a/b   both separators; "" and "." are dropped
 *     /a/b, C:\a\b, a/../b   b    only the last component of an absolute path,
 *                                 of a path with ".." (RFC 5854 section
 *                                 4.1.2.1), and of one longer than XD_PATH_MAX
 *
 * Returns false if nothing is left.
 */
bool xd_path_safe(struct xd_span given, char out[XD_PATH_MAX + 1]);

/* Makes a safe relative path of a folder: "" for "" and ".", "a" for "a/".
 * Returns false for an absolute path, for one with "..", and for one that is
 * too long. */
bool xd_path_inside(struct xd_span given, char out[XD_PATH_MAX + 1]);

/* Makes a safe name from the percent-decoded last component of the URL's path.
 * Also returns false for IBP, whose capabilities contain no name. */
bool xd_name_from_url(const struct xd_url *url, char out[XD_NAME_MAX + 1]);

/* Returns an origin for messages: "-" is standard input, URLs are shown without
 * secrets, everything else is a path.  *out is the parsed URL.  NULL if out of
 * memory. */
char *xd_origin_name(const char *origin, struct xd_url *out);

/* Quotes text from outside for messages: safe characters only, shortened. */
struct xd_quoted {
    char s[80];
};

const char *xd_quote(struct xd_quoted *out, struct xd_span text);

#endif
