/* SPDX-License-Identifier: MIT */
/* FNV-1a, 64 bits: for tables and file names.  Equal hashes are easily made. */
#ifndef XD_BASE_STRING_HASH_H
#define XD_BASE_STRING_HASH_H

#include <stddef.h>
#include <stdint.h>

uint64_t xd_string_hash(const char *s, size_t len);

/* That of a string and `len` bytes behind it, from the string's own hash. */
uint64_t xd_string_hash_more(uint64_t hash, const char *s, size_t len);

#endif
