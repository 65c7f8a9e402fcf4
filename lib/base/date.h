/* SPDX-License-Identifier: MIT */
/* Converts dates to and from seconds since 1970.  Pure. */
#ifndef XD_BASE_DATE_H
#define XD_BASE_DATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Parses "2026-11-21 23:36:15" as UTC.  Returns false for other forms and for
 * years before 1970. */
bool xd_date_parse(const char *s, size_t len, uint64_t *out);

#define XD_DATE_SIZE 20

/* Formats the date; writes "" for years after 9999. */
void xd_date_format(uint64_t seconds, char out[XD_DATE_SIZE]);

#endif
