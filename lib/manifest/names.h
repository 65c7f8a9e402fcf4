/* SPDX-License-Identifier: MIT */
/*
 * Names and other words out of a manifest, made harmless.
 *
 * A manifest must never choose a place outside of the folder that its files go
 * to.  Each component of a path that it gives is changed so:
 *
 *     " x . "          x            no blanks around, no dots or blanks behind
 *     -x ~x .x         _x           no option, home or hidden file
 *     x<ESC>y          x_y          a control, an invisible character, one that
 *                                   turns the direction of writing, or a byte
 *                                   that is not UTF-8
 *     x.part           x.part_      nor x.part.journal: these are ours
 *     more than 255    cut          more bytes no file system takes; an
 *                                   extension is kept
 */
#ifndef XD_MANIFEST_NAMES_H
#define XD_MANIFEST_NAMES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/span.h"

struct xd_url;

#define XD_NAME_MAX 255

/* The last component alone.  False if nothing is left of it: "", ".", "..",
 * "x/". */
bool xd_name_safe(struct xd_span given, char out[XD_NAME_MAX + 1]);

/* Of PATH_MAX, 4096 on Linux, the rest is for the folder before it. */
#define XD_PATH_MAX 1024

/*
 * A path within a folder: safe components with '/' between.
 *
 *     a/b, a\b, ./a//b     a/b     both separate; "" and "." are no components
 *     /a/b, C:\a\b, a/../b  b      what is absolute or has ".." (RFC 5854,
 *                                  section 4.1.2.1, forbids both), or is longer
 *                                  than XD_PATH_MAX: the last component alone
 *
 * False as above.
 */
bool xd_path_safe(struct xd_span given, char out[XD_PATH_MAX + 1]);

/* The same of a folder within another, "" for that itself ("", ".", "a/"
 * is "a").  False where only the last component would remain. */
bool xd_path_inside(struct xd_span given, char out[XD_PATH_MAX + 1]);

/* A safe name of the last component of the URL's path, percent-decoded.  False
 * also for IBP, whose capabilities carry no name. */
bool xd_name_from_url(const struct xd_url *url, char out[XD_NAME_MAX + 1]);

/* Where a text comes from, as people may see it: "-" is standard input, a URL is
 * shown without its secrets, and all else is a path.  *out is the URL.  NULL when
 * out of memory. */
char *xd_origin_name(const char *origin, struct xd_url *out);

/* Foreign text within quotation marks, for a sentence of ours: made harmless
 * in the same way, and cut. */
struct xd_quoted {
    char s[80];
};

const char *xd_quote(struct xd_quoted *out, struct xd_span text);

#endif
