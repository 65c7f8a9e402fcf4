/* SPDX-License-Identifier: MIT */
/*
 * Hashes, computed by libcrypto.  Names are those used in Metalinks (RFC 5854):
 * "sha-256", "sha-1", "md5".
 */
#ifndef XD_IO_HASH_H
#define XD_IO_HASH_H

#include <stddef.h>
#include <xdownload/error.h>

#include "base/span.h"

#define XD_HASH_HEX_MAX 128 /* digits of SHA-512 */

struct xd_hasher;

/* Returns the known resistance against collisions in bits: 256 for sha-512, 128
 * for sha-256, 0 for sha-1 and md5, which are broken; -1 if the algorithm is
 * not supported. */
int xd_hash_strength(const char *algorithm);

/* Creates a hasher.  Errors: NOMEM; INVAL if the algorithm is not supported. */
int xd_hasher_new(struct xd_hasher **out, const char *algorithm,
                  struct xd_error *err);
/* Creates a hasher for BLAKE2b-512, which minisign signatures use.  Manifests
 * do not use it. */
int xd_hasher_new_blake2b(struct xd_hasher **out, struct xd_error *err);
void xd_hasher_free(struct xd_hasher *h); /* NULL: does nothing */

/* Makes *h, which may be NULL, a fresh hasher of this algorithm.  Reuses *h if
 * it already has the algorithm.  Errors: as xd_hasher_new(); *h is then
 * NULL. */
int xd_hasher_become(struct xd_hasher **h, const char *algorithm,
                     struct xd_error *err);

void xd_hasher_add(struct xd_hasher *h, const void *data, size_t len);

/* Writes the hash of everything added, in lower-case hex, and starts over. */
void xd_hasher_end(struct xd_hasher *h, char out_hex[XD_HASH_HEX_MAX + 1]);

#define XD_SHA256_BYTES 32
#define XD_SHA256_HEX 64

/* Computes the SHA-256 of `data`.  Returns 0 or NOMEM. */
int xd_sha256_hex(struct xd_span data, char out_hex[XD_SHA256_HEX + 1]);

/* Computes HMAC-SHA256 (RFC 2104).  `key` may overlap `out`.  Returns 0 or
 * NOMEM. */
int xd_hmac_sha256(struct xd_span key, struct xd_span data,
                   unsigned char out[XD_SHA256_BYTES]);

#endif
