/* SPDX-License-Identifier: MIT */
/*
 * Verifies a detached signature while the file is read: OpenPGP with gpgv, or
 * minisign with libcrypto.  The text of the signature determines which; the
 * user determines the keys.
 *
 *     new -> add ... -> end -> add ... -> free
 *
 * A minisign signature without prehashing ("Ed", see minisign.h) signs the file
 * itself.  The whole file is then held in memory, and a file above 16 MiB fails
 * with CORRUPT.
 *
 * Threads: one at a time, except stop().
 * Errors:
 * - CORRUPT: no valid signature by one of these keys, or no way to verify it.
 * - IO: gpgv is not installed or fails, or the keys cannot be read.
 * - CANCELED: after stop(), but only from gpgv.
 * - NOMEM.
 */
#ifndef XD_IO_SIGNATURE_SIGNATURE_H
#define XD_IO_SIGNATURE_SIGNATURE_H

#include "base/text.h"
#include "io/signature/gpgv.h"

/* Limit in bytes; real signatures have a few hundred. */
#define XD_SIGNATURE_MAX ((size_t)64 << 10)

/* Keys for verification.  Each may be NULL. */
struct xd_signature_keys {
    const char *keyring;    /* a file of OpenPGP keys */
    const char *public_key; /* minisign: the key itself, or its file */
};

static inline bool xd_signature_is_asked(const struct xd_signature_keys *k)
{
    return k->keyring || k->public_key;
}

struct xd_signature;

/* Creates a verification and opens nothing yet.  `text` and `keys` must outlive
 * it.  Errors: CORRUPT if the text is too long or no key of its kind is given;
 * NOMEM. */
int xd_signature_new(struct xd_signature **out, struct xd_span text,
                     const struct xd_signature_keys *keys,
                     struct xd_error *err);
void xd_signature_free(struct xd_signature *s); /* NULL: does nothing */

/* Adds data.  xd_signature_end() reports the errors.  Blocks: until gpgv has
 * read the data. */
void xd_signature_add(struct xd_signature *s, const void *data, size_t len);

/* Forgets the added data. */
void xd_signature_restart(struct xd_signature *s);

/* Verifies the added data, writes the signing key to `out`, and starts over.
 * Blocks: until gpgv has ended. */
int xd_signature_end(struct xd_signature *s, char out[XD_SIGNER_SIZE],
                     struct xd_error *err);

/* Kills gpgv: blocked and later calls return CANCELED.  Does nothing for
 * minisign, which never waits.  Threads: any. */
void xd_signature_stop(struct xd_signature *s);

/*
 * Verifies a text with an inline OpenPGP signature and appends only the signed
 * part to `out`.  Blocks: until gpgv has ended; it cannot be stopped.
 */
int xd_signature_open(struct xd_text *out, struct xd_span text,
                      const struct xd_signature_keys *keys,
                      char signer[XD_SIGNER_SIZE], struct xd_error *err);

#endif
