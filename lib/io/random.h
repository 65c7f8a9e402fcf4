/* SPDX-License-Identifier: MIT */
/* Bytes that cannot be guessed, by libcrypto. */
#ifndef XD_IO_RANDOM_H
#define XD_IO_RANDOM_H

#include <stddef.h>
#include <stdint.h>
#include <xdownload/error.h>

/* Errors: IO, where the system has none. */
int xd_random_fill(void *to, size_t len, struct xd_error *err);

#endif
