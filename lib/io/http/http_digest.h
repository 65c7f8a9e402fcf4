/* SPDX-License-Identifier: MIT */
/*
 * What an object hashes to by its server's word: Repr-Digest (RFC 9530) and
 * Digest (RFC 3230), read out of the text of a field.
 *
 *     Repr-Digest: sha-256=:BASE64:, sha-512=:BASE64:
 *     Digest: SHA-256=BASE64,MD5=BASE64
 *
 * Pure.  Only what is SHA-256 or better, and of the right length, counts.
 */
#ifndef XD_IO_HTTP_DIGEST_H
#define XD_IO_HTTP_DIGEST_H

#include "base/offer.h"
#include "base/span.h"

/* The next hash of *rest that counts, which *rest is behind then; false if there
 * is none. */
bool xd_http_digest_next(struct xd_span *rest, struct xd_offer_hash *out);

#endif
