/* SPDX-License-Identifier: MIT */
/*
 * FNV-1a with 64 bits, for hash tables, for keys in stored notes and for the
 * ranks of mesh nodes.  All clients and all later versions must compute the
 * same values.  Not collision-resistant: an attacker can find strings with the
 * same hash.
 */
#ifndef XD_BASE_STRING_HASH_H
#define XD_BASE_STRING_HASH_H

#include <stddef.h>
#include <stdint.h>

/* Returns the hash of `len` bytes, which may include NUL. */
uint64_t xd_string_hash(const char *s, size_t len);

/* Continues the hash of a string with `len` further bytes.  The result is the
 * hash of both strings joined. */
uint64_t xd_string_hash_more(uint64_t hash, const char *s, size_t len);

#endif
