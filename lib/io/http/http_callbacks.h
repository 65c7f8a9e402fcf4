/* SPDX-License-Identifier: MIT */
/*
 * What libcurl calls back with on one slot: lines of headers, then the body.
 */
#ifndef XD_IO_HTTP_CALLBACKS_H
#define XD_IO_HTTP_CALLBACKS_H

#include "io/http/http_fetch.h"

/* Let libcurl call for this slot; false: no memory. */
bool xd_http_fetch_set_callbacks(struct xd_http_fetch *f);

/* The answer's header is here: is it what was asked for?  Once for each
 * answer. */
void xd_http_fetch_judge(struct xd_http_fetch *f);

/* Say what the header says, which was what was asked for. */
void xd_http_fetch_report_head(struct xd_http_fetch *f);

/* The handler, or what is to be sent, answered with this code: no more. */
void xd_http_fetch_refuse(struct xd_http_fetch *f, int rc);

/* The pause that the depot asks for; 0: it does not. */
xd_usec xd_http_fetch_retry_after(const struct xd_http_fetch *f);

/* What becomes of the request; why, if not OK, the caller writes into
 * outcome.error. */
void xd_http_fetch_decide(struct xd_http_fetch *f, enum xd_verdict verdict);

#endif
