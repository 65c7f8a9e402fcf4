/*
 * Quantities of the command's own options.  Pure.
 */
#ifndef CLI_QUANTITY_H
#define CLI_QUANTITY_H

#include <stdbool.h>

/* "15Mbit/s", "2MB/s", "1.5MiB/s": k, M, G are 1000, and with i 1024.  Without
 * a unit it is none: bits and bytes are too easily taken for each other. */
bool quantity_rate(double *out_bytes_per_s, const char *text);

/* "5s", "500ms", "2m" */
bool quantity_seconds(double *out, const char *text);

#endif
