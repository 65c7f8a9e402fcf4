/* SPDX-License-Identifier: MIT */
/* What was signed, by a key that is known by now. */
#ifndef XD_MANIFEST_SIGNED_TEXTS_H
#define XD_MANIFEST_SIGNED_TEXTS_H

#include <xdownload/checksums.h>

#include "base/span.h"
#include "base/text.h"

/* As xd_checksums_parse(), of a text that the key `signed_by` has signed, and nothing
 * else. */
int xd_checksums_parse_signed(struct xd_checksums *c, struct xd_span text,
                              const char *origin, const char *signed_by,
                              struct xd_error *err);

/* The text of a file, in the place of *out; "-" is standard input.  At most 64
 * MiB are read.  Errors: IO, NOMEM. */
int xd_text_read(struct xd_text *out, const char *path, struct xd_error *err);

/* A manifest that says the same as `m`, and of a file that it has this
 * signature.  Errors: NOMEM. */
int xd_model_sign(struct xd_manifest **out, struct xd_manifest *m, size_t file,
                  struct xd_span signature);

#endif
