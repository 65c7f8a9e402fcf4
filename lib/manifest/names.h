/*
 * Names and other words out of a manifest, made harmless.
 *
 * A manifest must never choose where a file goes.  Of the name that it gives,
 * one path component remains, with these changes:
 *
 *     a/b\c            c            what is behind the last '/' or '\'
 *     " x . "          x            no blanks around, no dots or blanks behind
 *     -x ~x .x         _x           no option, home or hidden file
 *     x<ESC>y          x_y          a control, an invisible character, one that
 *                                   turns the direction of writing, or a byte
 *                                   that is not UTF-8
 *     x.part           x.part_      nor x.part.journal: these are ours
 *     more than 240    cut          leaves room for .part.journal in 255 bytes;
 *                                   an extension is kept
 */
#ifndef XD_MANIFEST_NAMES_H
#define XD_MANIFEST_NAMES_H

#include <stdbool.h>
#include <stdint.h>

#include "manifest/span.h"

#define XD_NAME_MAX 240

/* False if nothing is left of it: "", ".", "..", "x/". */
bool xd_name_safe(struct xd_span given, char out[XD_NAME_MAX + 1]);

/* The same of the last component of the URL's path, percent-decoded.  False
 * also for IBP, whose capabilities carry no name. */
bool xd_name_from_url(const char *url, char out[XD_NAME_MAX + 1]);

/* The length of the UTF-8 character at the front of `s`, which is not empty; 0
 * if there is none.  Overlong forms, surrogates and what lies past U+10FFFF are
 * none. */
size_t xd_utf8_decode(struct xd_span s, uint32_t *out_character);

/* Foreign text within quotation marks, for a sentence of ours: made harmless
 * in the same way, and cut. */
struct xd_quoted {
    char s[80];
};

const char *xd_quote(struct xd_quoted *out, struct xd_span text);

#endif
