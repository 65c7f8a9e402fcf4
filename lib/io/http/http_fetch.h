/* SPDX-License-Identifier: MIT */
/*
 * One slot of the HTTP (and FTP) transport: a libcurl handle and the request on
 * it.
 *
 *     prepare() -> libcurl calls back: header lines, body -> conclude()
 *
 * The callbacks (http_callbacks.h) hand bytes on and take notes; what follows
 * from the notes is done by http.c outside of libcurl's callbacks.  How it
 * ended is found out in http_end.c.
 */
#ifndef XD_IO_HTTP_FETCH_H
#define XD_IO_HTTP_FETCH_H

#include <curl/curl.h>

#include "io/http/http_answer.h"
#include "io/http/http_connect.h"
#include "io/http/http_context.h"
#include "io/http/http_options.h"
#include "io/http/http_send.h"
#include "io/http/watchdog.h"
#include "io/request.h"

/* What the slots of one transport share. */
struct xd_http_shared {
    struct xd_http_addresses addresses;
    struct xd_watched watched;
    xd_usec
        alive_at; /* when libcurl was last seen to go on, as it was called or
                         called back */
};

struct xd_http_fetch {
    /* Constant after init(). */
    const struct xd_transport_handler *handler;
    const struct xd_http_options *options;
    unsigned slot;
    CURL *easy;
    uint64_t limit_rate; /* may change between requests, and in one */
    struct xd_http_shared *shared;
    char reason[CURL_ERROR_SIZE]; /* libcurl's words for a failure, or "" */

    /* The request. */
    struct xd_request request; /* but for its URLs */
    char *if_range; /* owned: the line for request.if_range, or NULL */
    /* Lines of this request, before those of `options`: what is wanted of
     * digests, that one, and which download it is of. */
    struct curl_slist header[4];
    char wants[2][48];
    char client[XD_HTTP_CLIENT_LINE];
    struct xd_http_send send;
    struct xd_url_name name;
    bool is_ftp;
    struct xd_url *first, *url; /* owned: what was asked first, and after
                                   redirects */
    bool is_trusted;            /* the server of `first` may see credentials */
    uint64_t n_redirects;
    enum xd_reach reach;   /* of `url`: what lies nearer is refused */
    bool is_kept_out;      /* an address of it did */
    bool lacks_descriptor; /* there was none for a socket */
    struct xd_http_connect connect;
    xd_usec silence; /* for which nothing came when it was last given up */

    /* The answer. */
    struct xd_http_answer answer;
    struct xd_http_judgement judgement;
    struct xd_offer offer;
    size_t header_bytes; /* of all answers, redirects among them */
    uint64_t at;         /* in the object, of the next byte that comes; or in
                            what is sent, of the next that goes */
    bool is_judged;      /* judgement is valid; the body has begun */
    bool follows;        /* it is a redirect: follow() comes next */
    bool is_silent;      /* nothing came lately: its connection is not used
                            again */
    bool begins_again;   /* with another address: follow() comes next */
    bool is_decided;     /* outcome is valid; what still comes is dropped */
    struct xd_outcome outcome;

    /* Notes for http.c. */
    bool made_progress; /* something came since http.c cleared it */
    bool paused;        /* the handler wants the bytes at `at` again later, or
                           has none to send yet */
    bool quit; /* there is no use in more bytes: take it off the wire */

    /* http.c's own. */
    bool is_busy, wants_resume;
    bool hangs_up; /* what libcurl still hands over is ignored */
    xd_usec last_byte_at;
};

/* `shared` and `options` outlive the fetch.  Errors: NOMEM, and then fini()
 * has nothing to do. */
int xd_http_fetch_init(struct xd_http_fetch *f, unsigned slot,
                       const struct xd_transport_handler *handler,
                       struct xd_http_shared *shared,
                       const struct xd_http_options *options,
                       struct xd_error *err);
void xd_http_fetch_fini(struct xd_http_fetch *f);

/* Of how large steps bytes come, and what the kernel takes in, from now on. */
bool xd_http_fetch_limit(struct xd_http_fetch *f, uint64_t bytes_per_s);

/* To which it has a connection, or had, as text without a port; or NULL. */
const char *xd_http_fetch_address(const struct xd_http_fetch *f);

/* Errors: NOMEM. */
int xd_http_fetch_prepare(struct xd_http_fetch *f,
                          const struct xd_request *request,
                          struct xd_error *err);

/* Decide the outcome, unless it is, from how libcurl says that it ended. */
void xd_http_fetch_conclude(struct xd_http_fetch *f, CURLcode result);

/* Decide it, unless it is: a call of ours, not an answer, found no memory. */
void xd_http_fetch_fail_nomem(struct xd_http_fetch *f);

/* After it was taken off the wire: whether it is to be put there again, now
 * for what a redirect pointed to, or by way of another address. */
bool xd_http_fetch_follow(struct xd_http_fetch *f);

/*
 * It is over, whatever libcurl wants to say yet: an FTP connection, of which a
 * range has no end but its own, is cut, or libcurl would wait for the server's
 * farewell.
 */
void xd_http_fetch_hang_up(struct xd_http_fetch *f);

/* How long nothing may come before it is given up. */
xd_usec xd_http_fetch_patience(const struct xd_http_fetch *f, xd_usec silence);

/* Decide it, unless it is, and quit: nothing came for so long, or stop().  A
 * connection that is not made is tried with another address first. */
void xd_http_fetch_give_up(struct xd_http_fetch *f, xd_usec silence);
void xd_http_fetch_end_flood(struct xd_http_fetch *f);
void xd_http_fetch_stop(struct xd_http_fetch *f);

#endif
