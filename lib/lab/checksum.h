/* SPDX-License-Identifier: MIT */
/* The hash of bytes in memory. */
#ifndef XD_LAB_CHECKSUM_H
#define XD_LAB_CHECKSUM_H

#include <stddef.h>
#include <xdownload/error.h>

/* Room for the longest hash in hex and a NUL. */
#define XD_CHECKSUM_HEX_SIZE 129

/*
 * Computes the hash of `len` bytes at `data` and writes it to `out` in
 * lower-case hex.  `algorithm` is its standard name, such as "sha-256".
 * Errors:  INVAL (the algorithm cannot be computed), NOMEM.
 * Threads: any.
 */
XD_MUST_CHECK int xd_checksum_compute(char out[XD_CHECKSUM_HEX_SIZE],
                                      const char *algorithm, const void *data,
                                      size_t len, struct xd_error *err);

#endif
