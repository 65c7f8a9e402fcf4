/* SPDX-License-Identifier: MIT */
/* Fetches small files such as checksums and signatures. */
#ifndef XD_ENGINE_TEXT_FETCH_H
#define XD_ENGINE_TEXT_FETCH_H

#include <stdbool.h>

#include "base/text.h"
#include "engine/options.h"

/* Fetches at most `most` bytes from `source`, a URL or a path, and replaces
 * *out, which the caller owns.  Errors, threads, blocks: as with
 * xd_checksums_read(). */
int xd_text_fetch(struct xd_text *out, const char *source, size_t most,
                  const struct xd_options *o, struct xd_error *err);

/* Returns true if the text begins with a scheme (RFC 3986, section 3.1) and
 * "://". */
bool xd_names_url(const char *text);

#endif
