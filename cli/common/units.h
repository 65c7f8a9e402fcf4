/* SPDX-License-Identifier: MIT */
/*
 * Formats numbers for people.  Pure.  Each function fills a buffer of
 * UNITS_SIZE and returns the buffer, so a call can be used as an argument:
 *
 *     char size[UNITS_SIZE];
 *     printf("%s\n", units_size(size, 34603008));         33.0 MiB
 */
#ifndef CLI_UNITS_H
#define CLI_UNITS_H

#include <stdint.h>

#define UNITS_SIZE 32

/* A size like "812 B" or "12.3 MiB", in at most 10 columns. */
char *units_size(char out[UNITS_SIZE], uint64_t bytes);

/* A size like "812", "12.3M" or "1012K", in at most 5 columns. */
char *units_size_short(char out[UNITS_SIZE], uint64_t bytes);

/* A rate like "12.3 MiB/s", in at most 12 columns, or "12.3M/s", in at most 7
 * columns. */
char *units_rate(char out[UNITS_SIZE], double bytes_per_s);
char *units_rate_short(char out[UNITS_SIZE], double bytes_per_s);

/* A remaining time, or "-:--" if it is unknown or very long.  "1:02:03" takes
 * at most 8 columns.  The short form, "1:02", "12h" or "4d", takes at most 5
 * columns. */
char *units_clock(char out[UNITS_SIZE], double seconds);
char *units_clock_short(char out[UNITS_SIZE], double seconds);

/* An elapsed time like "8.2 s" or "1:02:03". */
char *units_seconds(char out[UNITS_SIZE], double seconds);

/* A long time in two units, like "3 d 4 h", "23 h 59 min" or "5 min 2 s". */
char *units_lifetime(char out[UNITS_SIZE], uint64_t seconds);

/* Returns `part` of `whole` in percent, rounded down, so that it is 100 only if
 * the part is the whole. */
unsigned units_percent(uint64_t part, uint64_t whole);

#endif
