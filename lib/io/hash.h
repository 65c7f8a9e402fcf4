/* SPDX-License-Identifier: MIT */
/*
 * Hashes, by libcrypto.  Names are those of the IANA registry of RFC 5854:
 * "sha-256", "sha-1", "md5".
 */
#ifndef XD_IO_HASH_H
#define XD_IO_HASH_H

#include <stddef.h>
#include <xdownload/error.h>

#include "base/span.h"

#define XD_HASH_HEX_MAX 128 /* digits of the longest, SHA-512 */

struct xd_hasher;

/* Bits of security against an attacker who wants two files with one hash, as
 * far as is known: 256 for sha-512, 128 for sha-256, 0 for sha-1 and md5, for
 * which that has been done.  -1: an algorithm that cannot be computed here. */
int xd_hash_strength(const char *algorithm);

/* Errors: NOMEM; INVAL for an algorithm that cannot be computed. */
int xd_hasher_new(struct xd_hasher **out, const char *algorithm,
                  struct xd_error *err);
/* BLAKE2b-512, which is in signatures and no hash of a manifest. */
int xd_hasher_new_blake2b(struct xd_hasher **out, struct xd_error *err);
void xd_hasher_free(struct xd_hasher *h); /* NULL does nothing */

/* *h, which may be NULL, becomes a hasher of that algorithm, unless it is one
 * already.  Nothing has been added to it since it began anew.  Errors: as new();
 * *h is NULL then. */
int xd_hasher_become(struct xd_hasher **h, const char *algorithm,
                     struct xd_error *err);

void xd_hasher_add(struct xd_hasher *h, const void *data, size_t len);

/* The hash of all that was added, in lower-case hex; `h` begins anew. */
void xd_hasher_end(struct xd_hasher *h, char out_hex[XD_HASH_HEX_MAX + 1]);

#define XD_SHA256_BYTES 32
#define XD_SHA256_HEX 64

/* The SHA-256 of what is in memory.  0 or NOMEM. */
int xd_sha256_hex(struct xd_span data, char out_hex[XD_SHA256_HEX + 1]);

/* HMAC-SHA256 (RFC 2104).  `key` may lie in `out`.  0 or NOMEM. */
int xd_hmac_sha256(struct xd_span key, struct xd_span data,
                   unsigned char out[XD_SHA256_BYTES]);

#endif
