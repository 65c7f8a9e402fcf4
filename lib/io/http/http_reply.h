/* SPDX-License-Identifier: MIT */
/* What an HTTP answer says to a request that sends.  Pure. */
#ifndef XD_IO_HTTP_REPLY_H
#define XD_IO_HTTP_REPLY_H

#include "io/http/http_answer.h"

/* All but retry_after.  Ownership: the strings are those of `a`. */
void xd_http_reply(const struct xd_http_answer *a, struct xd_reply *out);

#endif
