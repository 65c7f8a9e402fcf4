/* SPDX-License-Identifier: MIT */
/*
 * A slot of the HTTP and FTP transport: a libcurl handle and its request.
 *
 *     prepare() -> callbacks: header lines, body -> conclude()
 *
 * The callbacks (http_callbacks.h) deliver bytes and record what happened;
 * http.c acts on that outside of libcurl's callbacks.  http_end.c finds out how
 * the request ended.
 */
#ifndef XD_IO_HTTP_FETCH_H
#define XD_IO_HTTP_FETCH_H

#include <curl/curl.h>

#include "io/http/ftp_request.h"
#include "io/http/http_answer.h"
#include "io/http/http_connect.h"
#include "io/http/http_context.h"
#include "io/http/http_options.h"
#include "io/http/http_send.h"
#include "io/http/watchdog.h"
#include "io/request.h"

/* Shared by the slots of a transport. */
struct xd_http_shared {
    struct xd_http_addresses addresses;
    struct xd_watched watched;
    /* owned: the last server that requested Digest; or NULL */
    struct xd_url *digest_server;
    struct xd_ftp_shared ftp;
    xd_usec alive_at; /* time at which libcurl last returned or called back */
};

struct xd_http_fetch {
    /* constant after init() */
    const struct xd_transport_handler *handler;
    const struct xd_http_options *options;
    unsigned slot;
    CURL *easy;
    uint64_t limit_rate; /* may change at any time */
    struct xd_http_shared *shared;
    char reason[CURL_ERROR_SIZE]; /* libcurl's error message, or "" */

    /* The request. */
    /* the request without its URLs, which are `first` and `url` */
    struct xd_request request;
    char *if_range; /* owned: the If-Range line, or NULL */
    /* Lines of this request in addition to those in `options`: Want-Digest
     * fields, If-Range, and Xd-Client. */
    struct curl_slist header[4];
    char wants[2][48];
    char client[XD_HTTP_CLIENT_LINE];
    struct xd_http_send send;
    struct xd_url_name name;
    bool is_ftp;
    struct xd_ftp_commands ftp;
    bool skips_size; /* the FTP server does not support SIZE */
    struct xd_ftp_trial trial;
    /* owned: the requested URL, and the current one after redirects */
    struct xd_url *first, *url;
    bool is_trusted;     /* the server of `first` may see credentials */
    bool answers_digest; /* the server chooses between Basic and Digest */
    /* owned: server whose Digest nonce libcurl may keep in `easy`; or NULL */
    struct xd_url *nonce_server;
    uint64_t n_redirects;
    /* owned: target of a redirect where the file was missing; or NULL */
    struct xd_url *lacks;
    /* number of times that `first` was requested again, because a redirect led
     * to a server without the file */
    unsigned n_again;
    enum xd_reach reach;   /* networks in which `url` may be */
    bool is_kept_out;      /* an address was refused because of `reach` */
    bool lacks_descriptor; /* no descriptor was free for a socket */
    struct xd_http_connect connect;
    /* how long the depot had been silent when we gave up on it */
    xd_usec silence;
    /* the server has received the request and may take longer to answer than
     * the silence limit allows */
    bool is_received;

    /* The response. */
    struct xd_http_answer answer;
    struct xd_http_judgement judgement;
    struct xd_offer offer;
    /* bytes of all response headers, including those of redirects */
    size_t header_bytes;
    /* offset of the next byte in the object, or in the body being sent */
    uint64_t at;
    bool is_judged; /* judgement is valid; the body has begun */
    bool follows;   /* the response is a redirect: call follow() next */
    /* the depot was silent lately: do not reuse its connection */
    bool is_silent;
    bool begins_again; /* try another address: call follow() next */
    bool is_decided;   /* outcome is valid; further data is dropped */
    struct xd_outcome outcome;

    /* FTP only. */
    /* the server is ready for the next command: keep the connection */
    bool is_ready;
    /* the range includes the last byte of the object, so no more may follow */
    bool ends_object;
    /* the last byte is held back until the server closes the connection */
    bool has_last;
    char last; /* the byte that has_last holds back */
    /* the last byte is held back because the handler cannot take it yet */
    bool is_drained;

    /* Used by http.c. */
    bool made_progress; /* there was progress since http.c cleared this */
    /* the handler refused the bytes for now, or has none to send yet */
    bool paused;
    bool quit; /* no more data is needed: remove the handle */

    /* Private to http.c. */
    bool is_busy, wants_resume;
    /* stop() was called; only an answer that has already arrived counts */
    bool looks_once;
    bool hangs_up; /* ignore further callbacks of libcurl */
    xd_usec last_byte_at;
};

/* Prepares a slot.  `shared` and `options` must outlive it.  Errors: NOMEM;
 * then do not call fini(). */
int xd_http_fetch_init(struct xd_http_fetch *f, unsigned slot,
                       const struct xd_transport_handler *handler,
                       struct xd_http_shared *shared,
                       const struct xd_http_options *options,
                       struct xd_error *err);
void xd_http_fetch_fini(struct xd_http_fetch *f);

/* Sets the size of steps and of the kernel's buffer for this rate.  Returns
 * false if out of memory. */
bool xd_http_fetch_limit(struct xd_http_fetch *f, uint64_t bytes_per_s);

/* Returns the address of its present or last connection, without port; or
 * NULL. */
const char *xd_http_fetch_address(const struct xd_http_fetch *f);

/* Prepares the handle for a request.  Errors: NOMEM. */
int xd_http_fetch_prepare(struct xd_http_fetch *f,
                          const struct xd_request *request,
                          struct xd_error *err);

/* Decides the outcome from libcurl's result, unless it is decided already.  If
 * the handler cannot take the last byte yet, the request stays undecided and
 * paused; then call this again. */
void xd_http_fetch_conclude(struct xd_http_fetch *f, CURLcode result);

/* Sets the outcome to NOMEM unless it is decided already. */
void xd_http_fetch_fail_nomem(struct xd_http_fetch *f);

/* Returns true if the refused request can be repeated with Digest, which the
 * server has requested.  Remembers this server for later requests. */
bool xd_http_fetch_turns_to_digest(struct xd_http_fetch *f);

/* Call after the handle was removed.  Returns whether to start it again, for a
 * redirect or another address. */
bool xd_http_fetch_follow(struct xd_http_fetch *f);

/* Returns true if a redirect led to a server without the file, or with a
 * different one, so that the original URL should be asked again for another
 * mirror.  Call follow() next. */
bool xd_http_fetch_asks_redirector(struct xd_http_fetch *f);

/*
 * Ends a request in libcurl.  An FTP connection is cut, because libcurl would
 * otherwise wait for the final reply to an interrupted transfer.
 */
void xd_http_fetch_hang_up(struct xd_http_fetch *f);

/* Returns true if the request needs REST, and no trial has proved yet that the
 * server obeys it. */
bool xd_http_fetch_needs_trial(const struct xd_http_fetch *f);

/* Records whether the server has received the request but has not begun its
 * response.  Returns true only the first time that this is the case. */
bool xd_http_fetch_note_received(struct xd_http_fetch *f);

/* Returns how long the request may be silent.  `first_byte` applies instead of
 * `silence` if it is longer and the server has received the request. */
xd_usec xd_http_fetch_patience(const struct xd_http_fetch *f, xd_usec silence,
                               xd_usec first_byte);

/* Ends the request because of silence or stop(), unless its outcome is decided.
 * A request without a connection tries another address first. */
void xd_http_fetch_give_up(struct xd_http_fetch *f, xd_usec silence);
void xd_http_fetch_end_flood(struct xd_http_fetch *f);
void xd_http_fetch_stop(struct xd_http_fetch *f);

#endif
