/* SPDX-License-Identifier: MIT */
/*
 * Parses numbers written by people and in manifests.
 *
 * Each function returns true and sets *out, or returns false and leaves it
 * unchanged.  Signs, leading blanks and numbers that do not fit are rejected.
 */
#ifndef XD_BASE_NUMBER_H
#define XD_BASE_NUMBER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Parses exactly `len` decimal digits. */
bool xd_parse_u64(const char *s, size_t len, uint64_t *out);

/* Parses "1048576", "1024k", "1m", "1.5g", "2MB".  k m g t in either case and
 * kiB MiB ... are powers of 1024; kB MB GB TB are powers of 1000. */
bool xd_parse_size(const char *s, uint64_t *out);

/* Parses "2m", "2MB/s", "512k/s" or "15Mbit/s".  For bits, k M G are powers of
 * 1000, Ki Mi Gi of 1024. */
bool xd_parse_rate(const char *s, uint64_t *out_bytes_per_s);

/* Parses "500ms", "5s", "5sec", "2m", "1h", "1d", or a plain number of seconds,
 * to microseconds. */
bool xd_parse_duration(const char *s, uint64_t *out_usec);

#define XD_SIZE_TEXT 24

/* Writes a size for people: "812 bytes", "64 MiB", "10.5 MiB".  Returns
 * `out`. */
char *xd_size_text(char out[XD_SIZE_TEXT], uint64_t bytes);

/* Compute a + b and a * b.  Return false on overflow. */
bool xd_add_u64(uint64_t a, uint64_t b, uint64_t *out);
bool xd_mul_u64(uint64_t a, uint64_t b, uint64_t *out);

#endif
