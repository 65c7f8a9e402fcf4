/* SPDX-License-Identifier: MIT */
/*
 * Whether a file is signed, where the options keyring or public-key ask for
 * that: by its own signature, or by that of the text of a strong hash of it,
 * which has been verified.
 */
#ifndef XD_ENGINE_SIGNED_H
#define XD_ENGINE_SIGNED_H

#include <xdownload/manifest.h>

#include "engine/options.h"
#include "io/signature/signature.h"

struct xd_signature_keys xd_signed_keys(const struct xd_options *o);

/* The key that signed the text of a strong hash that the file is held against;
 * or NULL. */
const char *xd_signed_by(const struct xd_manifest *m, size_t file);

/*
 * The file's signature, to be held against all of it; *out is NULL where none is
 * asked for, or a hash is signed.
 * Ownership: the caller's; `m` and `o` outlive it.
 * Errors: CORRUPT (it is not signed), INVAL (a part of it is wanted), NOMEM.
 */
int xd_signed_new(struct xd_signature **out, const struct xd_manifest *m,
                  size_t file, const struct xd_options *o,
                  struct xd_error *err);

/* The same, only to know whether it fails. */
int xd_signed_check(const struct xd_manifest *m, size_t file,
                    const struct xd_options *o, struct xd_error *err);

/* As a consequence of `cause`.  Returns its code. */
int xd_signed_fail(const char *name, const struct xd_error *cause,
                   struct xd_error *err);

#endif
