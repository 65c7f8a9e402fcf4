/* SPDX-License-Identifier: MIT */
/* What lies at a URL, whatever it is: checksums, a signature. */
#ifndef XD_ENGINE_TEXT_FETCH_H
#define XD_ENGINE_TEXT_FETCH_H

#include "base/text.h"
#include "engine/options.h"

/* At most `most` bytes, in the place of *out, which is the caller's.  Errors,
 * threads, blocks: as with xd_checksums_fetch(). */
int xd_text_fetch(struct xd_text *out, const char *source, size_t most,
                  const struct xd_options *o, struct xd_error *err);

#endif
