/* SPDX-License-Identifier: MIT */
/*
 * A request that sends: its method, its lines of a header, its body, and that
 * its answer is handed over whatever it says.
 *
 *     prepare() -> apply() -> libcurl asks for the body -> judge() -> deliver()
 *
 * libcurl may ask for the body again, where a server wants to see credentials
 * first, or a connection that was open has broken off.  If a server says no before
 * it has read all of the body, that is its answer, and no more is sent to it.
 *
 * Each works on the slot's own request; of one that sends nothing only prepare(),
 * which has lines of its header too, and apply() do anything.
 */
#ifndef XD_IO_HTTP_SEND_H
#define XD_IO_HTTP_SEND_H

#include <stdbool.h>
#include <stddef.h>
#include <xdownload/error.h>

#include <curl/curl.h>

struct xd_http_fetch;

/* A zeroed one sends nothing. */
struct xd_http_send {
    char *text; /* owned: the fields, with a NUL behind each */
    struct curl_slist *lines;
    size_t n_lines;
    int fd;     /* of its connection; or -1 */
    int queued; /* bytes that the other side has not confirmed, when this was
                   last looked at */
};

/* Let libcurl ask for bodies; false: no memory. */
bool xd_http_send_set_callbacks(struct xd_http_fetch *f);

/* The lines of the next request, as those of struct xd_sending.  Errors: NOMEM. */
int xd_http_send_prepare(struct xd_http_fetch *f, const char *fields);
void xd_http_send_fini(struct xd_http_fetch *f);

/* Tell libcurl the method, and that there is a body or none; it is sent from its
 * beginning.  False: no memory. */
bool xd_http_send_apply(struct xd_http_fetch *f);

/* libcurl sends the request, perhaps again, from this port: what was answered does
 * not count. */
void xd_http_send_begin(struct xd_http_fetch *f, int local_port);

/* The lines of this request, and then those of `rest`. */
struct curl_slist *xd_http_send_header(struct xd_http_fetch *f,
                                       struct curl_slist *rest);

/* The answer's header is here, and then bytes of its body; deliver() returns
 * what libcurl's callback does. */
void xd_http_send_judge(struct xd_http_fetch *f);
size_t xd_http_send_deliver(struct xd_http_fetch *f, const char *data,
                            size_t len);

/* A line of a header has come: the body is not waited for if it says no. */
void xd_http_send_take_line(struct xd_http_fetch *f);

/* Nothing more comes: true if the server has said no, which is its answer,
 * however it ended. */
bool xd_http_send_settle(struct xd_http_fetch *f);

/* Decide the outcome from how libcurl says that it ended, unless no answer
 * came. */
void xd_http_send_conclude(struct xd_http_fetch *f, CURLcode result);

/* Ends it if the server has closed its side before all was sent: no answer comes. */
void xd_http_send_look(struct xd_http_fetch *f);

/* Whether the other side has confirmed bytes, or the system has taken some, since
 * this was last asked. */
bool xd_http_send_has_moved(struct xd_http_fetch *f);

#endif
