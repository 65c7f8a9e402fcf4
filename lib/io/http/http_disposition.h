/* SPDX-License-Identifier: MIT */
/*
 * The name that a Content-Disposition field gives (RFC 6266):
 *
 *     attachment; filename="a b.iso"
 *     attachment; filename=a.iso; filename*=UTF-8''caf%C3%A9.iso
 *
 * Pure, and strict: a field that is not in this form gives no name.  The name
 * may be any text without a zero byte: whether it can be that of a file is for
 * others to say.
 */
#ifndef XD_IO_HTTP_DISPOSITION_H
#define XD_IO_HTTP_DISPOSITION_H

#include <stdbool.h>

#include "base/span.h"

/* As long as a file system allows (NAME_MAX on Linux). */
#define XD_HTTP_FILE_NAME_MAX 255

/* filename* if it is there and can be read, else filename.  False, and `out` is
 * empty: there is neither, one of them stands there twice, or it is longer than
 * that. */
bool xd_http_disposition(struct xd_span field,
                         char out[XD_HTTP_FILE_NAME_MAX + 1]);

#endif
