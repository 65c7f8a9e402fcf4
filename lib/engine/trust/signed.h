/* SPDX-License-Identifier: MIT */
/*
 * Signatures of files, which the options keyring and public-key require.  A
 * file is signed if it has its own signature, or if a verified signature covers
 * a list of checksums with a strong hash of the file.
 */
#ifndef XD_ENGINE_SIGNED_H
#define XD_ENGINE_SIGNED_H

#include <xdownload/manifest.h>

#include "engine/options.h"
#include "io/signature/signature.h"

struct xd_signature_keys xd_signed_keys(const struct xd_options *o);

/* Returns the key that signed a list of checksums with a strong hash of the
 * file, or NULL. */
const char *xd_signed_by(const struct xd_manifest *m, size_t file);

/*
 * Sets *out to the file's signature, which must match the whole file.  Sets
 * *out to NULL if no signature is required, or if a hash is signed.
 * Ownership: the caller's; `m` and `o` must outlive it.
 * Errors: CORRUPT (it is not signed), INVAL (only a part of the file is
 * wanted), NOMEM.
 */
int xd_signed_new(struct xd_signature **out, const struct xd_manifest *m,
                  size_t file, const struct xd_options *o,
                  struct xd_error *err);

/* Returns the code that xd_signed_new() would return, but creates no
 * signature. */
int xd_signed_check(const struct xd_manifest *m, size_t file,
                    const struct xd_options *o, struct xd_error *err);

/* Sets `err` to a message about the signature of file `name` that failed with
 * `cause`.  Returns the code of `cause`. */
int xd_signed_fail(const char *name, const struct xd_error *cause,
                   struct xd_error *err);

#endif
