/* SPDX-License-Identifier: MIT */
/* Dates as seconds since 1970.  Pure. */
#ifndef XD_BASE_DATE_H
#define XD_BASE_DATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* "2026-11-21 23:36:15", which is taken for UTC, from the year 1970 on.  False
 * if it is no date of this form. */
bool xd_date_parse(const char *s, size_t len, uint64_t *out);

#define XD_DATE_SIZE 20

/* The other way round, of a year up to 9999; "" beyond that. */
void xd_date_format(uint64_t seconds, char out[XD_DATE_SIZE]);

#endif
