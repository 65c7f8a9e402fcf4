/* SPDX-License-Identifier: MIT */
/*
 * OpenPGP signatures, verified by gpgv, the program of GnuPG for that.
 *
 * It sees a folder that is made for it, with the signature and the keys, and
 * nothing of the user's.  What it says for programs decides, line by line:
 * there must be a VALIDSIG, and no signature that is bad, expired, or by an
 * expired or revoked key.  Others beside it may be by keys that are not known.
 *
 * Threads: one at a time, but stop().
 * Errors:  CORRUPT (it is no signature of this by one of these keys), IO (gpgv is
 *          not installed, or fails; the keys cannot be read), NOMEM, CANCELED.
 */
#ifndef XD_IO_SIGNATURE_GPGV_H
#define XD_IO_SIGNATURE_GPGV_H

#include "base/span.h"
#include "os/process.h"

/* "OpenPGP key " and a fingerprint of 20 or 32 bytes. */
#define XD_SIGNER_SIZE 96

struct xd_gpgv {
    struct xd_process process;
    char folder[32]; /* "": there is none */
    bool is_inline;
};

int xd_gpgv_init(struct xd_gpgv *g);
void xd_gpgv_fini(struct xd_gpgv *g);

/*
 * Verify what is fed from now on, with the keys in the file `keyring`, as
 * gpg --export writes them, in ASCII armor or not.  `signature` is the detached
 * one; empty: it comes with what is fed.
 */
int xd_gpgv_start(struct xd_gpgv *g, const char *keyring,
                  struct xd_span signature, struct xd_error *err);

static inline bool xd_gpgv_is_running(const struct xd_gpgv *g)
{
    return xd_process_is_running(&g->process);
}

int xd_gpgv_feed(struct xd_gpgv *g, const void *data, size_t len,
                 struct xd_error *err);

/* All was fed.  The key that signed it is in `out`; with an inline signature, the text
 * that was signed is in *out_text, which lives until fini() or start(). */
int xd_gpgv_end(struct xd_gpgv *g, char out[XD_SIGNER_SIZE],
                struct xd_span *out_text, struct xd_error *err);

void xd_gpgv_abandon(struct xd_gpgv *g);
void xd_gpgv_stop(struct xd_gpgv *g); /* any thread */

/* What gpgv said for programs: 0 and the key that signed, or CORRUPT. */
int xd_gpgv_judge(struct xd_span status, bool is_inline,
                  char out[XD_SIGNER_SIZE], struct xd_error *err);

/* The bytes of an ASCII-armored text (RFC 9580, section 6.2) in place of it;
 * what is none stays.  False: it is cut or garbled. */
bool xd_gpgv_unarmor(char *text, size_t *len);

#endif
