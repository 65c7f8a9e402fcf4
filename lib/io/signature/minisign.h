/* SPDX-License-Identifier: MIT */
/*
 * Parses and verifies minisign signatures.  The file format is:
 *
 *     untrusted comment: TEXT
 *     BASE64 of: "Ed" or "ED", 8 bytes key ID, 64 bytes Ed25519 signature
 *     trusted comment: TEXT
 *     BASE64 of: 64 bytes signature of those 64 bytes and TEXT
 *
 * "Ed" signs the message itself, "ED" its BLAKE2b-512.
 */
#ifndef XD_IO_SIGNATURE_MINISIGN_H
#define XD_IO_SIGNATURE_MINISIGN_H

#include <stdbool.h>

#include "base/span.h"

#define XD_MINISIGN_ID 8
#define XD_MINISIGN_KEY 32
#define XD_MINISIGN_SIGNATURE 64
#define XD_MINISIGN_COMMENT_MAX ((size_t)8192) /* limit of minisign */

struct xd_minisign {
    bool is_prehashed;
    unsigned char id[XD_MINISIGN_ID];
    unsigned char signature[XD_MINISIGN_SIGNATURE];
    unsigned char global[XD_MINISIGN_SIGNATURE];
    struct xd_span comment; /* the trusted comment, within the text */
};

struct xd_minisign_key {
    unsigned char id[XD_MINISIGN_ID];
    unsigned char key[XD_MINISIGN_KEY];
};

/* Returns whether the text starts like a minisign signature. */
bool xd_minisign_may_be(struct xd_span text);

/* Returns false if it is invalid. */
bool xd_minisign_read(struct xd_minisign *out, struct xd_span text);

/* Reads a key file, or its second line alone. */
bool xd_minisign_read_key(struct xd_minisign_key *out, struct xd_span text);

/* Returns whether the key signed the message (or its BLAKE2b-512) and the
 * trusted comment.  Also returns false if out of memory. */
bool xd_minisign_verify(const struct xd_minisign *s,
                        const struct xd_minisign_key *key, const void *message,
                        size_t len);

#endif
