/* SPDX-License-Identifier: MIT */
/* Unpredictable random bytes from libcrypto. */
#ifndef XD_IO_RANDOM_H
#define XD_IO_RANDOM_H

#include <stddef.h>
#include <stdint.h>
#include <xdownload/error.h>

/* Fills `to` with random bytes.  Errors: IO if the system has no random
 * source. */
int xd_random_fill(void *to, size_t len, struct xd_error *err);

#endif
