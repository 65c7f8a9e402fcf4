/* SPDX-License-Identifier: MIT */
/* Decodes base64 (RFC 4648 section 4). */
#ifndef XD_BASE_BASE64_H
#define XD_BASE_BASE64_H

#include "base/span.h"

/*
 * Decodes `letters`, without padding, to the `n` bytes at `out`.  Returns false
 * if they do not encode exactly `n` bytes, or contain any other character, such
 * as white space; `out` may be partly written then.  The unused bits of the
 * last letter are ignored.
 */
bool xd_base64_read(struct xd_span letters, unsigned char *out, size_t n);

/* Returns the part of `s` before the trailing '=' characters, however many
 * there are. */
struct xd_span xd_base64_letters(struct xd_span s);

#endif
