/* SPDX-License-Identifier: MIT */
/* Bytes as lower-case hexadecimal digits. */
#ifndef XD_BASE_HEX_H
#define XD_BASE_HEX_H

#include <stddef.h>

/* 2 * n digits, and a NUL behind them. */
void xd_hex_write(char *out, const unsigned char *bytes, size_t n);

#endif
