/* SPDX-License-Identifier: MIT */
/*
 * A detached signature, verified while its file passes by: OpenPGP by gpgv, or
 * minisign by libcrypto.  What it is its text says; which keys count the user.
 *
 *     new -> add ... -> end -> add ... -> free
 *
 * Threads: one at a time, but stop().
 * Errors:  CORRUPT (it does not prove that one of these keys signed this), IO
 *          (gpgv is not installed, or fails; the keys cannot be read), NOMEM,
 *          CANCELED after stop().
 */
#ifndef XD_IO_SIGNATURE_SIGNATURE_H
#define XD_IO_SIGNATURE_SIGNATURE_H

#include "base/text.h"
#include "io/signature/gpgv.h"

/* Real ones have a few hundred bytes. */
#define XD_SIGNATURE_MAX ((size_t)64 << 10)

/* Each may be NULL. */
struct xd_signature_keys {
    const char *keyring;    /* a file of OpenPGP keys */
    const char *public_key; /* of minisign: itself, or its file */
};

static inline bool xd_signature_is_asked(const struct xd_signature_keys *k)
{
    return k->keyring || k->public_key;
}

struct xd_signature;

/* Opens nothing yet.  The text and the keys outlive it.  Errors: CORRUPT for a
 * text that is too long, or whose kind of key is not given; NOMEM. */
int xd_signature_new(struct xd_signature **out, struct xd_span text,
                     const struct xd_signature_keys *keys,
                     struct xd_error *err);
void xd_signature_free(struct xd_signature *s); /* NULL does nothing */

/* Blocks: until gpgv has read them.  What goes wrong end() says. */
void xd_signature_add(struct xd_signature *s, const void *data, size_t len);

/* What was added is forgotten. */
void xd_signature_restart(struct xd_signature *s);

/* Whether all that was added is signed; it begins anew.  The key that signed is in
 * `out`.
 * Blocks: until gpgv has ended. */
int xd_signature_end(struct xd_signature *s, char out[XD_SIGNER_SIZE],
                     struct xd_error *err);

void xd_signature_stop(struct xd_signature *s); /* any thread */

/*
 * A text that is signed inline, with OpenPGP: only what is within the signature
 * is added to `out`.  Blocks: until gpgv has ended.
 */
int xd_signature_open(struct xd_text *out, struct xd_span text,
                      const struct xd_signature_keys *keys,
                      char signer[XD_SIGNER_SIZE], struct xd_error *err);

#endif
