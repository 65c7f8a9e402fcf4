/* SPDX-License-Identifier: MIT */
/*
 * Verifies OpenPGP signatures with gpgv, GnuPG's verifier.
 *
 * gpgv sees only a temporary folder with the signature and the keys, nothing of
 * the user's configuration.  Its machine-readable output decides: there must be
 * a VALIDSIG, and no signature that is bad, expired, or by an expired or
 * revoked key.  Signatures by unknown keys are ignored.
 *
 * Threads: one at a time, except stop().
 * Errors:  CORRUPT (no valid signature by one of these keys), IO (gpgv is not
 *          installed or fails; the keys cannot be read), NOMEM, CANCELED.
 */
#ifndef XD_IO_SIGNATURE_GPGV_H
#define XD_IO_SIGNATURE_GPGV_H

#include "base/span.h"
#include "os/process.h"

/* "OpenPGP key " and a fingerprint of 20 or 32 bytes in hex. */
#define XD_SIGNER_SIZE 96

struct xd_gpgv {
    struct xd_process process;
    char folder[32]; /* temporary folder; "": there is none */
    bool is_inline;
};

int xd_gpgv_init(struct xd_gpgv *g);
void xd_gpgv_fini(struct xd_gpgv *g);

/*
 * Starts verifying the data fed from now on.  `keyring` is a file of keys as
 * exported by gpg, armored or not.  `signature` is detached; empty: the data
 * contains it.
 */
int xd_gpgv_start(struct xd_gpgv *g, const char *keyring,
                  struct xd_span signature, struct xd_error *err);

static inline bool xd_gpgv_is_running(const struct xd_gpgv *g)
{
    return xd_process_is_running(&g->process);
}

int xd_gpgv_feed(struct xd_gpgv *g, const void *data, size_t len,
                 struct xd_error *err);

/* Ends the data.  Writes the signing key to `out`.  For an inline signature,
 * *out_text is the signed text, valid until fini() or start(). */
int xd_gpgv_end(struct xd_gpgv *g, char out[XD_SIGNER_SIZE],
                struct xd_span *out_text, struct xd_error *err);

void xd_gpgv_abandon(struct xd_gpgv *g);
void xd_gpgv_stop(struct xd_gpgv *g); /* may be called by any thread */

/* Evaluates gpgv's status lines.  Returns 0 and the signing key, or CORRUPT. */
int xd_gpgv_judge(struct xd_span status, bool is_inline,
                  char out[XD_SIGNER_SIZE], struct xd_error *err);

/* Decodes ASCII armor (RFC 9580 section 6.2) in place; other data is unchanged.
 * Returns false if the armor is damaged. */
bool xd_gpgv_unarmor(char *text, size_t *len);

#endif
