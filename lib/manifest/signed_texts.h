/* SPDX-License-Identifier: MIT */
/* Adds signed checksums and signatures, after the key is known. */
#ifndef XD_MANIFEST_SIGNED_TEXTS_H
#define XD_MANIFEST_SIGNED_TEXTS_H

#include <xdownload/check.h>

#include "base/span.h"
#include "base/text.h"

/* Like xd_checksums_parse(), for a text signed as a whole by the key
 * `signed_by`. */
int xd_checksums_parse_signed(struct xd_checksums *c, struct xd_span text,
                              const char *origin, const char *signed_by,
                              struct xd_error *err);

/* Adds the checksums in the file `path`, as xd_checksums_parse() does; "-" is
 * standard input.  Errors: the errors of xd_checksums_parse(); IO. */
int xd_checksums_read_file(struct xd_checksums *c, const char *path,
                           struct xd_error *err);

/* Reads a file ("-": standard input), at most 64 MiB, to *out, replacing its
 * content.  Errors: IO, NOMEM. */
int xd_text_read(struct xd_text *out, const char *path, struct xd_error *err);

/* Makes a manifest like `m` with this signature for one file.  Errors:
 * NOMEM. */
int xd_model_sign(struct xd_manifest **out, struct xd_manifest *m, size_t file,
                  struct xd_span signature);

#endif
