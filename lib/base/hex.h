/* SPDX-License-Identifier: MIT */
/* Hexadecimal output in lower case. */
#ifndef XD_BASE_HEX_H
#define XD_BASE_HEX_H

#include <stddef.h>

/* Writes 2 * n digits and a NUL. */
void xd_hex_write(char *out, const unsigned char *bytes, size_t n);

#endif
