/* SPDX-License-Identifier: MIT */
/*
 * Parses the fields Repr-Digest (RFC 9530) and Digest (RFC 3230), the server's
 * hashes of an object.
 *
 *     Repr-Digest: sha-256=:BASE64:, sha-512=:BASE64:
 *     Digest: SHA-256=BASE64,MD5=BASE64
 *
 * Pure.  Only SHA-256 and SHA-512 with the right length are returned.
 */
#ifndef XD_IO_HTTP_DIGEST_H
#define XD_IO_HTTP_DIGEST_H

#include "base/offer.h"
#include "base/span.h"

/* Returns the next usable hash and moves *rest past it; false at the end. */
bool xd_http_digest_next(struct xd_span *rest, struct xd_offer_hash *out);

#endif
