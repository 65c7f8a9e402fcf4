/* SPDX-License-Identifier: MIT */
/*
 * Parses the sizes, times and rates of the command's own options.  The units
 * are the same as in the library.  Pure.  If the text is not valid, each
 * function returns false and stores nothing.
 */
#ifndef CLI_QUANTITY_H
#define CLI_QUANTITY_H

#include <stdbool.h>
#include <stdint.h>

/* Parses a rate: "15Mbit/s", "1.3Mibit/s", "2MB/s", "2m/s", "2m".  Rates in
 * bytes have the units of sizes.  In rates in bits, k, M and G are powers of
 * 1000, and Ki, Mi and Gi are powers of 1024.  A unit is required, because bits
 * and bytes are easily confused. */
bool quantity_rate(double *out_bytes_per_s, const char *text);

/* Parses a time: "5s", "500ms", "2m", "12h", "30d", "8w".  A bare number is
 * seconds.  Accepts at most `most` seconds. */
bool quantity_seconds(double *out, const char *text, double most);

/* Parses a size: "50m", "1.5g", "2MB", "2097152", in the units of the library.
 * Accepts at least 1 byte. */
bool quantity_bytes(uint64_t *out, const char *text);

/* Parses a whole number in [least, most]. */
bool quantity_count(uint64_t *out, const char *text, uint64_t least,
                    uint64_t most);

#endif
