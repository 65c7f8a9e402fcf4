/* SPDX-License-Identifier: MIT */
/*
 * Characters of foreign text: UTF-8, and what people cannot see in it.
 */
#ifndef XD_BASE_UNICODE_H
#define XD_BASE_UNICODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The length of the UTF-8 character at the front of the `len` > 0 bytes at `s`;
 * 0 if there is none.  Overlong forms, surrogates and what lies past U+10FFFF
 * are none. */
size_t xd_utf8_decode(const char *s, size_t len, uint32_t *out_character);

/*
 * Whether `c` commands a terminal, ends a line, changes the direction of
 * writing, or cannot be seen, so that two names with and without it look the
 * same: controls, the characters with Bidi_Control or
 * Default_Ignorable_Code_Point of Unicode 15, and what is no character.
 */
bool xd_is_deceptive(uint32_t c);

#endif
