/* SPDX-License-Identifier: MIT */
/*
 * Signatures and public keys of minisign, as its files have them:
 *
 *     untrusted comment: TEXT
 *     BASE64 of: "Ed" or "ED", 8 bytes key number, 64 bytes Ed25519 signature
 *     trusted comment: TEXT
 *     BASE64 of: 64 bytes signature of those 64 bytes and TEXT
 *
 * "Ed" signs the message, "ED" its BLAKE2b-512.
 */
#ifndef XD_IO_SIGNATURE_MINISIGN_H
#define XD_IO_SIGNATURE_MINISIGN_H

#include <stdbool.h>

#include "base/span.h"

#define XD_MINISIGN_ID 8
#define XD_MINISIGN_KEY 32
#define XD_MINISIGN_SIGNATURE 64
#define XD_MINISIGN_COMMENT_MAX ((size_t)8192) /* as minisign has it */

struct xd_minisign {
    bool is_prehashed;
    unsigned char id[XD_MINISIGN_ID];
    unsigned char signature[XD_MINISIGN_SIGNATURE];
    unsigned char global[XD_MINISIGN_SIGNATURE];
    struct xd_span comment; /* the trusted one, within the text */
};

struct xd_minisign_key {
    unsigned char id[XD_MINISIGN_ID];
    unsigned char key[XD_MINISIGN_KEY];
};

/* Whether the text begins as a signature of minisign does. */
bool xd_minisign_may_be(struct xd_span text);

/* False if it is none. */
bool xd_minisign_read(struct xd_minisign *out, struct xd_span text);

/* Of a key's file, or of its second line alone. */
bool xd_minisign_read_key(struct xd_minisign_key *out, struct xd_span text);

/* Whether the key has signed these bytes, the message or its BLAKE2b-512, and
 * the trusted comment.  False without memory, too. */
bool xd_minisign_verify(const struct xd_minisign *s,
                        const struct xd_minisign_key *key, const void *message,
                        size_t len);

#endif
