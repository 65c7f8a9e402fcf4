/* SPDX-License-Identifier: MIT */
/*
 * Parses the file name in Content-Disposition (RFC 6266):
 *
 *     attachment; filename="a b.iso"
 *     attachment; filename=a.iso; filename*=UTF-8''caf%C3%A9.iso
 *
 * Pure.  A malformed field gives no name.  The name may be any text without
 * NUL; the caller must make it safe.
 */
#ifndef XD_IO_HTTP_DISPOSITION_H
#define XD_IO_HTTP_DISPOSITION_H

#include <stdbool.h>

#include "base/span.h"

/* NAME_MAX of Linux. */
#define XD_HTTP_FILE_NAME_MAX 255

/* Gets filename* if it is valid, else filename.  Returns false, with `out`
 * empty, if there is neither, one occurs twice, or the name is too long. */
bool xd_http_disposition(struct xd_span field,
                         char out[XD_HTTP_FILE_NAME_MAX + 1]);

#endif
