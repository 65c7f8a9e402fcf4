/* SPDX-License-Identifier: MIT */
/*
 * Quantities of the command's own options, in the units of the library's.  Pure.
 */
#ifndef CLI_QUANTITY_H
#define CLI_QUANTITY_H

#include <stdbool.h>
#include <stdint.h>

/* "15Mbit/s", "1.3Mibit/s", "2MB/s", "2m/s", "2m": a size per second, or bits,
 * in which k, M, G are 1000 and with i 1024.  Without a unit it is none: bits and
 * bytes are too easily taken for each other. */
bool quantity_rate(double *out_bytes_per_s, const char *text);

/* "5s", "500ms", "2m", "1d"; a bare number is seconds. */
bool quantity_seconds(double *out, const char *text);

/* The same of up to ten years: "12h", "30d", "8w". */
bool quantity_lifetime(double *out, const char *text);

/* "50m", "1.5g", "2MB", "2097152": the units are the library's. */
bool quantity_bytes(uint64_t *out, const char *text);

/* A whole number in [least, most]. */
bool quantity_count(uint64_t *out, const char *text, uint64_t least,
                    uint64_t most);

#endif
