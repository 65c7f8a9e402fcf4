/* SPDX-License-Identifier: MIT */
/* Fetches small files such as checksums and signatures. */
#ifndef XD_ENGINE_TEXT_FETCH_H
#define XD_ENGINE_TEXT_FETCH_H

#include "base/text.h"
#include "engine/options.h"

/* Fetches at most `most` bytes from `source`, a URL or a path, and replaces
 * *out, which the caller owns.  Errors, threads, blocks: as with
 * xd_checksums_fetch(). */
int xd_text_fetch(struct xd_text *out, const char *source, size_t most,
                  const struct xd_options *o, struct xd_error *err);

#endif
