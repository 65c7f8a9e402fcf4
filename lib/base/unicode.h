/* SPDX-License-Identifier: MIT */
/*
 * UTF-8 decoding, and characters that deceive readers.
 */
#ifndef XD_BASE_UNICODE_H
#define XD_BASE_UNICODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Decodes one character from `len` > 0 bytes.  Returns its length, or 0 if it
 * is invalid: overlong, a surrogate, or above U+10FFFF. */
size_t xd_utf8_decode(const char *s, size_t len, uint32_t *out_character);

/*
 * Returns whether `c` controls the terminal, ends a line, changes the writing
 * direction or is invisible, so that text can look like something else.  These
 * are the control characters, Bidi_Control and Default_Ignorable_Code_Point of
 * Unicode 15, and noncharacters.
 */
bool xd_is_deceptive(uint32_t c);

#endif
