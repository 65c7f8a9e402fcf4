/* SPDX-License-Identifier: MIT */
/*
 * Numbers written by people and by manifests.
 *
 * Every function returns true and writes *out, or false and leaves it alone.
 * None takes a sign, leading blanks, or more digits than fit.
 */
#ifndef XD_BASE_NUMBER_H
#define XD_BASE_NUMBER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Decimal digits only, all `len` of them. */
bool xd_parse_u64(const char *s, size_t len, uint64_t *out);

/* "1048576", "1024k", "1m", "1.5g", "2MB": k m g t are powers of 1024, in either
 * case, and so are kiB MiB; with a "B" alone behind them, as in kB MB GB TB, they
 * are powers of 1000. */
bool xd_parse_size(const char *s, uint64_t *out);

/* A size per second, "2m", "2MB/s", "512k/s", or "15Mbit/s", in which k M G are
 * powers of 1000 and Ki Mi Gi of 1024. */
bool xd_parse_rate(const char *s, uint64_t *out_bytes_per_s);

/* "500ms", "5s", "5sec", "2m", "1h", "1d"; a bare number is seconds.
 * Microseconds. */
bool xd_parse_duration(const char *s, uint64_t *out_usec);

/* a + b and a * b, or false where they do not fit. */
bool xd_add_u64(uint64_t a, uint64_t b, uint64_t *out);
bool xd_mul_u64(uint64_t a, uint64_t b, uint64_t *out);

#endif
