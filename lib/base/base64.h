/* SPDX-License-Identifier: MIT */
/* Base64 (RFC 4648, section 4), read. */
#ifndef XD_BASE_BASE64_H
#define XD_BASE_BASE64_H

#include "base/span.h"

/* Whether these are the letters of just `n` bytes, without the '=' that fill
 * up; the bytes are in `out` then. */
bool xd_base64_read(struct xd_span letters, unsigned char *out, size_t n);

/* Without the '=' at its end. */
struct xd_span xd_base64_letters(struct xd_span s);

#endif
