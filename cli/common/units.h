/* SPDX-License-Identifier: MIT */
/*
 * Numbers as people read them.  Pure.  Each fills a buffer of UNITS_SIZE and
 * returns it, so that it can stand in an argument list:
 *
 *     char size[UNITS_SIZE];
 *     printf("%s\n", units_size(size, 34603008));         33.0 MiB
 */
#ifndef CLI_UNITS_H
#define CLI_UNITS_H

#include <stdint.h>

#define UNITS_SIZE 32

/* "812 B", "12.3 MiB": at most 10 columns. */
char *units_size(char out[UNITS_SIZE], uint64_t bytes);

/* "812", "12.3M", "1012K": at most 5 columns. */
char *units_size_short(char out[UNITS_SIZE], uint64_t bytes);

/* "12.3 MiB/s": at most 12 columns; "12.3M/s": at most 7. */
char *units_rate(char out[UNITS_SIZE], double bytes_per_s);
char *units_rate_short(char out[UNITS_SIZE], double bytes_per_s);

/* Time that is to come, "-:--" if that is for ever.  "1:02:03", at most 8
 * columns; "1:02", "12h", "4d": at most 5. */
char *units_clock(char out[UNITS_SIZE], double seconds);
char *units_clock_short(char out[UNITS_SIZE], double seconds);

/* Time that has passed: "8.2 s", "1:02:03". */
char *units_seconds(char out[UNITS_SIZE], double seconds);

/* A long time in two units: "3 d 4 h", "23 h 59 min", "5 min 2 s". */
char *units_lifetime(char out[UNITS_SIZE], uint64_t seconds);

/* `part` of `whole` in per cent, rounded down: 100 only when all is there. */
unsigned units_percent(uint64_t part, uint64_t whole);

#endif
