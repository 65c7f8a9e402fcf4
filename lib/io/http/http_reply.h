/* SPDX-License-Identifier: MIT */
/* Converts the response to an upload or another request that sends data.
 * Pure. */
#ifndef XD_IO_HTTP_REPLY_H
#define XD_IO_HTTP_REPLY_H

#include "io/http/http_answer.h"

/* Fills in everything but retry_after.  Ownership: strings belong to `a`. */
void xd_http_reply(const struct xd_http_answer *a, struct xd_reply *out);

#endif
