/* SPDX-License-Identifier: MIT */
/*
 * libcurl's callbacks for one slot: header lines, then the body.
 */
#ifndef XD_IO_HTTP_CALLBACKS_H
#define XD_IO_HTTP_CALLBACKS_H

#include "io/http/http_fetch.h"

/* Installs the callbacks.  Returns false if out of memory. */
bool xd_http_fetch_set_callbacks(struct xd_http_fetch *f);

/* Decides whether the response is what was requested, once per response: when
 * the header is complete and the first `len` bytes of the body have arrived. */
void xd_http_fetch_judge(struct xd_http_fetch *f, size_t len);

/* Decides from the bytes of a trial whether the server obeys REST. */
void xd_http_fetch_conclude_trial(struct xd_http_fetch *f);

/* Repeats an FTP request without SIZE, which the server does not support. */
void xd_http_fetch_ask_without_size(struct xd_http_fetch *f);

/* Delivers the last byte of an FTP object, which was held back to see that
 * nothing follows.  If the handler cannot take it yet, the request stays
 * undecided and paused. */
void xd_http_fetch_hand_on_last(struct xd_http_fetch *f);

/* Calls the handler's head(). */
void xd_http_fetch_report_head(struct xd_http_fetch *f);

/* Ends the request, because the handler, or read() of a request that sends, has
 * returned `rc`. */
void xd_http_fetch_refuse(struct xd_http_fetch *f, int rc);

/* Returns the pause that the depot asks for; 0: none. */
xd_usec xd_http_fetch_retry_after(const struct xd_http_fetch *f);

/* Sets the outcome.  Unless it is OK, the caller fills in outcome.error. */
void xd_http_fetch_decide(struct xd_http_fetch *f, enum xd_verdict verdict);

#endif
