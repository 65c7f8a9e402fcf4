/* SPDX-License-Identifier: MIT */
/*
 * Requests that send: method, header lines and body.  The handler gets every
 * response, even a refusal.
 *
 *     prepare() -> apply() -> libcurl reads the body -> judge() -> deliver()
 *
 * libcurl may read the body again if the server first wants credentials or a
 * reused connection broke.  If a server refuses before it has read the whole
 * body, that is its response, and nothing more is sent.
 *
 * For requests that do not send, only prepare() (for their header lines) and
 * apply() have an effect.
 */
#ifndef XD_IO_HTTP_SEND_H
#define XD_IO_HTTP_SEND_H

#include <stdbool.h>
#include <stddef.h>
#include <xdownload/error.h>

#include <curl/curl.h>

#include "base/time.h"

struct xd_http_fetch;

/* A zeroed struct sends nothing. */
struct xd_http_send {
    char *text; /* owned: the fields, each with a NUL */
    struct curl_slist *lines;
    size_t n_lines;
    int fd;          /* socket of the connection, or -1 */
    int queued;      /* bytes not acknowledged by the peer when last checked */
    xd_usec sent_at; /* when the last byte was passed to libcurl; 0: not yet */
};

/* Installs the callbacks.  Returns false if out of memory. */
bool xd_http_send_set_callbacks(struct xd_http_fetch *f);

/* Sets the header lines of the next request, as in struct xd_sending.  Errors:
 * NOMEM. */
int xd_http_send_prepare(struct xd_http_fetch *f, const char *fields);
void xd_http_send_fini(struct xd_http_fetch *f);

/* Sets the method and the body.  The body is sent from its first byte.  Returns
 * false if out of memory. */
bool xd_http_send_apply(struct xd_http_fetch *f);

/* Called when libcurl sends the request from this local port.  If it sends the
 * request again, an earlier response no longer counts. */
void xd_http_send_begin(struct xd_http_fetch *f, int local_port);

/* Returns the lines of this request followed by `rest`. */
struct curl_slist *xd_http_send_header(struct xd_http_fetch *f,
                                       struct curl_slist *rest);

/* judge() handles the complete header, and deliver() the body.  deliver()
 * returns the value that libcurl's callback must return. */
void xd_http_send_judge(struct xd_http_fetch *f);
size_t xd_http_send_deliver(struct xd_http_fetch *f, const char *data,
                            size_t len);

/* Handles a header line.  If the server has refused, stops waiting for more of
 * the body. */
void xd_http_send_take_line(struct xd_http_fetch *f);

/* Call when the transfer has ended.  Returns true if the server refused the
 * request.  That refusal is then the response, even if the transfer ended with
 * an error. */
bool xd_http_send_settle(struct xd_http_fetch *f);

/* Decides the outcome from libcurl's result, if there was no response. */
void xd_http_send_conclude(struct xd_http_fetch *f, CURLcode result);

/* Ends the request if the server closed the connection before everything was
 * sent. */
void xd_http_send_look(struct xd_http_fetch *f);

/* Returns whether the server has the whole body and is preparing its
 * response. */
bool xd_http_send_awaits_answer(const struct xd_http_fetch *f);

/* Sets outcome.worked to the time for which the server had the whole body. */
void xd_http_send_note_end(struct xd_http_fetch *f);

/* Returns whether the peer acknowledged data, or the kernel accepted some,
 * since the last call. */
bool xd_http_send_has_moved(struct xd_http_fetch *f);

#endif
