/* SPDX-License-Identifier: MIT */
/*
 * HTTP and FTP transport: one libcurl multi handle, and an easy handle for each
 * slot.  They live as long as the transport, so that connections are reused.
 *
 * Callbacks of libcurl only record what happened (http_callbacks.c).  Handles
 * are removed and end() is called here, after libcurl has returned.
 */
#include "io/transport.h"

#include <stdio.h>

#include <curl/curl.h>

#include "base/alloc.h"
#include "base/check.h"
#include "base/error.h"
#include "io/http/curl_transport.h"
#include "io/http/http_context.h"
#include "io/http/http_callbacks.h"
#include "io/http/http_fetch.h"
#include "os/clock.h"

/* A connection that was silent this long when its request was dropped may be
 * dead and is not reused. */
#define QUIET XD_SECOND

struct http {
    struct xd_curl_transport base;
    /* constant after xd_http_new() */
    unsigned n_fetches;

    struct xd_http_fetch *fetches; /* one for each slot */
    struct xd_http_shared shared;
};

/* Streams per HTTP/2 connection: libcurl's default, or 1 if a request needs its
 * own connection.  Applies to all requests that have no connection yet. */
#define MOST_STREAMS 100L

static bool bound_streams(struct http *h, bool owns_connection)
{
    return curl_multi_setopt(h->base.multi, CURLMOPT_MAX_CONCURRENT_STREAMS,
                             owns_connection ? 1L : MOST_STREAMS) == CURLM_OK;
}

static int http_start(struct xd_transport *t, unsigned slot,
                      const struct xd_request *request, struct xd_error *err)
{
    struct http *h = (struct http *)t;
    struct xd_http_fetch *f = &h->fetches[slot];
    int rc;

    XD_ASSERT(slot < h->n_fetches && !f->is_busy &&
              (request->sends != NULL || request->length > 0));
    rc = xd_http_fetch_prepare(f, request, err);
    if (rc == 0 && (!bound_streams(h, request->owns_connection) ||
                    curl_multi_add_handle(h->base.multi, f->easy) != CURLM_OK))
        rc = xd_fail_nomem(err);
    if (rc < 0)
        return rc;
    xd_silence_clock_look(&h->base.clock, 0);
    f->last_byte_at = h->base.clock.watched;
    f->wants_resume = f->looks_once = false;
    f->is_busy = true;
    return 0;
}

static void http_stop(struct xd_transport *t, unsigned slot)
{
    struct http *h = (struct http *)t;

    struct xd_http_fetch *f = &h->fetches[slot];

    if (!f->is_busy)
        return;
    /* A refusal may have arrived just now.  Look for it once before stopping
     * the request, or it is lost. */
    if (f->request.sends == NULL && !f->is_judged && !f->is_decided)
        f->looks_once = true;
    else
        xd_http_fetch_stop(f);
}

static void http_resume(struct xd_transport *t, unsigned slot)
{
    struct http *h = (struct http *)t;

    h->fetches[slot].wants_resume = h->fetches[slot].paused;
}

static void http_head_again(struct xd_transport *t, unsigned slot)
{
    struct xd_http_fetch *f = &((struct http *)t)->fetches[slot];

    if (f->is_busy && f->is_judged && !f->is_decided)
        xd_http_fetch_report_head(f);
}

/* Called before and after calls of libcurl that may read, for the watchdog. */
static void enter(struct http *h)
{
    xd_watched_move(&h->shared.watched, XD_IN_LIBCURL);
}

static void leave(struct http *h)
{
    xd_watched_move(&h->shared.watched, XD_OUTSIDE);
}

/* Records how long resolving and connecting took, if a connection was made for
 * this request. */
static void note_times(struct xd_http_fetch *f)
{
    curl_off_t named = 0, connected = 0, secured = 0;
    long made = 0;

    if (curl_easy_getinfo(f->easy, CURLINFO_NUM_CONNECTS, &made) != CURLE_OK ||
        curl_easy_getinfo(f->easy, CURLINFO_NAMELOOKUP_TIME_T, &named) !=
            CURLE_OK ||
        curl_easy_getinfo(f->easy, CURLINFO_CONNECT_TIME_T, &connected) !=
            CURLE_OK ||
        curl_easy_getinfo(f->easy, CURLINFO_APPCONNECT_TIME_T, &secured) !=
            CURLE_OK ||
        made == 0)
        return;
    connected = secured > connected ? secured : connected;
    f->outcome.name_time = (xd_usec)named;
    f->outcome.connect_time =
        connected > named ? (xd_usec)(connected - named) : 0;
}

/* Removes a request from libcurl.  Then follows a redirect or reports the
 * result. */
static void finish(struct http *h, struct xd_http_fetch *f)
{
    f->is_silent = !f->made_progress && !f->paused &&
                   h->base.clock.watched - f->last_byte_at >= QUIET;
    enter(h);
    xd_http_fetch_hang_up(f);
    curl_multi_remove_handle(h->base.multi, f->easy);
    leave(h);
    (void)xd_http_fetch_asks_redirector(f);
    if (xd_http_fetch_follow(f)) {
        f->last_byte_at = h->base.clock.watched;
        if (curl_multi_add_handle(h->base.multi, f->easy) == CURLM_OK)
            return;
        xd_http_fetch_fail_nomem(f);
    }
    if (f->outcome.verdict == XD_VERDICT_AGAIN)
        xd_http_connect_end(&f->connect, f->easy);
    f->is_busy = false;
    note_times(f);
    xd_http_send_note_end(f);
    f->outcome.address = xd_http_fetch_address(f);
    f->outcome.is_only_address = f->connect.has_disobeyed;
    f->outcome.needs_login = f->outcome.error.http_status == 401 ||
                             f->outcome.error.http_status == 407;
    f->outcome.is_of_redirect =
        f->n_redirects > 0 || f->answer.status / 100 == 3;
    xd_request_locate(&f->outcome, f->first, f->url);
    h->base.handler->end(h->base.handler->user, f->slot, &f->outcome);
}

/* Handles a request that libcurl has finished, unless its last byte is held
 * back. */
static void conclude(struct http *h, struct xd_http_fetch *f, CURLcode result)
{
    xd_http_fetch_conclude(f, result);
    f->is_drained = f->has_last && f->paused && !f->is_decided;
    if (!f->is_drained)
        finish(h, f);
}

static bool looks_once(const struct http *h)
{
    for (unsigned i = 0; i < h->n_fetches; i++)
        if (h->fetches[i].is_busy && h->fetches[i].looks_once)
            return true;
    return false;
}

/* Stops the requests that have looks_once set, after checking for a response
 * that has already arrived. */
static void end_looks(struct http *h)
{
    for (unsigned i = 0; i < h->n_fetches; i++) {
        struct xd_http_fetch *f = &h->fetches[i];

        if (!f->is_busy || !f->looks_once)
            continue;
        xd_http_fetch_stop(f);
        finish(h, f);
    }
}

/* Carries out what sweep(), stop() and resume() have requested.  Returns true
 * if they requested anything. */
static bool obey(struct http *h)
{
    bool happened = false;

    for (unsigned i = 0; i < h->n_fetches; i++) {
        struct xd_http_fetch *f = &h->fetches[i];

        if (!f->is_busy)
            continue;
        if (f->quit) {
            finish(h, f);
            happened = true;
        } else if (f->wants_resume) {
            f->wants_resume = f->paused = false;
            happened = true;
            if (f->is_drained) {
                conclude(h, f, CURLE_OK);
                continue;
            }
            enter(h);
            curl_easy_pause(f->easy, CURLPAUSE_CONT); /* libcurl calls bytes()
                                                         now */
            leave(h);
        }
    }
    return happened;
}

static xd_usec patience(const struct http *h, const struct xd_http_fetch *f)
{
    return xd_http_fetch_patience(f, h->base.silence, h->base.first_byte);
}

/* Returns how long until a request could exceed its silence limit. */
static xd_usec until_silence(const struct http *h)
{
    xd_usec least = XD_LONGEST_POLL;

    for (unsigned i = 0; i < h->n_fetches; i++) {
        const struct xd_http_fetch *f = &h->fetches[i];

        if (f->is_busy && !f->paused)
            least = xd_earlier(least,
                               xd_silence_left(&h->base.clock, f->last_byte_at,
                                               patience(h, f)));
    }
    return least;
}

/* Handles the requests that libcurl has finished. */
static void collect(struct http *h)
{
    int left;
    const CURLMsg *m;

    while ((m = curl_multi_info_read(h->base.multi, &left)) != NULL) {
        CURLcode result = m->data.result;
        struct xd_http_fetch *f = NULL;

        if (m->msg != CURLMSG_DONE ||
            curl_easy_getinfo(m->easy_handle, CURLINFO_PRIVATE, &f) != CURLE_OK)
            continue;
        conclude(h, f, result);
    }
}

/* Returns whether the request has been silent for too long.  If the server is
 * found to have received the request, it gets more time. */
static bool is_over(const struct http *h, struct xd_http_fetch *f)
{
    const xd_usec silent_for = h->base.clock.watched - f->last_byte_at;

    return silent_for >= patience(h, f) &&
           (!xd_http_fetch_note_received(f) || silent_for >= patience(h, f));
}

/*
 * Marks requests that were silent for too long.  A request with progress in
 * this round is not silent, whatever the clock says.
 */
static void sweep(struct http *h)
{
    for (unsigned i = 0; i < h->n_fetches; i++) {
        struct xd_http_fetch *f = &h->fetches[i];

        if (!f->is_busy)
            continue;
        xd_http_send_look(f);
        if (xd_http_send_has_moved(f) || f->made_progress)
            f->last_byte_at = h->base.clock.watched;
        f->made_progress = false;
        if (!f->paused && is_over(h, f))
            xd_http_fetch_give_up(f, patience(h, f));
    }
}

/* Fails all requests, because a call of the multi handle failed: there is no
 * memory or no descriptor. */
static void give_up_all(struct http *h, CURLMcode rc)
{
    for (unsigned i = 0; i < h->n_fetches; i++) {
        struct xd_http_fetch *f = &h->fetches[i];

        if (!f->is_busy)
            continue;
        snprintf(f->reason, sizeof f->reason, "%s", curl_multi_strerror(rc));
        if (rc == CURLM_OUT_OF_MEMORY)
            xd_http_fetch_fail_nomem(f);
        f->has_last = false;
        xd_http_fetch_conclude(f, CURLE_FAILED_INIT);
        finish(h, f);
    }
}

/* Ends requests whose sockets the watchdog shut down, because libcurl did not
 * return.  Paused requests cannot be the reason. */
static void end_floods(struct http *h)
{
    if (!xd_watched_was_ended(&h->shared.watched))
        return;
    for (unsigned i = 0; i < h->n_fetches; i++) {
        if (h->fetches[i].is_busy && !h->fetches[i].paused)
            xd_http_fetch_end_flood(&h->fetches[i]);
    }
}

static void http_poll(struct xd_transport *t, xd_usec timeout)
{
    struct http *h = (struct http *)t;
    CURLMcode rc = CURLM_OK;
    int running;

    xd_silence_clock_look(&h->base.clock, 0);
    h->shared.alive_at = xd_now();
    if (!obey(h) && !looks_once(h))
        rc = xd_curl_transport_wait(&h->base, NULL, 0, timeout,
                                    until_silence(h));
    h->shared.alive_at = xd_now();
    enter(h);
    if (rc == CURLM_OK)
        rc = curl_multi_perform(h->base.multi, &running);
    leave(h);
    end_floods(h);
    collect(h);
    end_looks(h);
    if (rc == CURLM_OK)
        sweep(h);
    else
        give_up_all(h, rc);
}

/* Changes the rate limit of all slots.  The step size of a running request does
 * not change. */
static void http_limit(struct xd_transport *t, uint64_t bytes_per_s)
{
    struct http *h = (struct http *)t;

    for (unsigned i = 0; i < h->n_fetches; i++)
        (void)xd_http_fetch_limit(&h->fetches[i], bytes_per_s);
}

static bool http_is_connected(struct xd_transport *t, unsigned slot)
{
    const struct xd_http_fetch *f = &((struct http *)t)->fetches[slot];
    curl_off_t usec = 0;

    return f->is_busy &&
           curl_easy_getinfo(f->easy, CURLINFO_PRETRANSFER_TIME_T, &usec) ==
               CURLE_OK &&
           usec > 0;
}

/* Finds the connection by its local port, because libcurl does not reveal the
 * socket of a running request. */
static bool http_way(struct xd_transport *t, unsigned slot, struct xd_way *out)
{
    const struct http *h = (const struct http *)t;
    const struct xd_http_fetch *f = &h->fetches[slot];
    long port = 0;
    int fd;

    if (!f->is_busy ||
        curl_easy_getinfo(f->easy, CURLINFO_LOCAL_PORT, &port) != CURLE_OK ||
        port <= 0)
        return false;
    fd = xd_watched_find_socket(&h->shared.watched, (int)port);
    return fd >= 0 && xd_way_of(fd, out);
}

static void http_free(struct xd_transport *t)
{
    struct http *h = (struct http *)t;

    enter(h);
    for (unsigned i = 0; i < h->n_fetches; i++) {
        if (h->fetches[i].is_busy) {
            xd_http_fetch_hang_up(&h->fetches[i]);
            curl_multi_remove_handle(h->base.multi, h->fetches[i].easy);
        }
        xd_http_fetch_fini(&h->fetches[i]);
    }
    xd_curl_transport_fini(&h->base);
    xd_watched_end(&h->shared.watched);
    xd_free(h->shared.digest_server);
    xd_free(h->shared.ftp.url);
    xd_free(h->fetches);
    xd_free(h);
}

static const struct xd_transport_ops http_ops = {
    .start = http_start,
    .stop = http_stop,
    .resume = http_resume,
    .head_again = http_head_again,
    .poll = http_poll,
    .wakeup = xd_curl_transport_wakeup,
    .limit = http_limit,
    .set_silence = xd_curl_transport_set_silence,
    .is_connected = http_is_connected,
    .way = http_way,
    .free = http_free};

/* Limit on sockets per slot: idle connections, and two that are being made. */
#define SOCKETS_PER_SLOT 4

/* Limits the number of connections.  If a server allows fewer streams per
 * connection, libcurl would open more of them. */
static bool bound_connections(struct http *h,
                              const struct xd_transport_config *config)
{
    return config->n_connections == 0 ||
           config->n_connections >= config->n_slots ||
           curl_multi_setopt(h->base.multi, CURLMOPT_MAX_HOST_CONNECTIONS,
                             (long)config->n_connections) == CURLM_OK;
}

static int set_up(struct http *h, const struct xd_transport_config *config,
                  struct xd_error *err)
{
    int rc;

    h->fetches = xd_alloc(config->n_slots, sizeof *h->fetches);
    if (h->fetches == NULL)
        return xd_fail_nomem(err);
    rc = xd_watched_begin(&h->shared.watched,
                          config->context ? config->context->watchdog : NULL,
                          (size_t)config->n_slots * SOCKETS_PER_SLOT, err);
    for (unsigned i = 0; rc == 0 && i < config->n_slots; i++) {
        rc = xd_http_fetch_init(&h->fetches[i], i, h->base.handler, &h->shared,
                                &h->base.options, err);
        if (rc == 0)
            h->n_fetches++;
    }
    return rc;
}

int xd_http_new(struct xd_transport **out,
                const struct xd_transport_config *config,
                const struct xd_transport_handler *handler,
                struct xd_error *err)
{
    struct http *h = xd_alloc(1, sizeof *h);
    const unsigned n_connections =
        config->n_connections > 0 ? config->n_connections : config->n_slots;
    int rc;

    if (h == NULL)
        return xd_fail_nomem(err);
    /* The engine relies on two idle connections per slot: one to the server and
     * one to the server that redirected to it. */
    rc = xd_curl_transport_init(&h->base, &http_ops, config, handler,
                                2 * n_connections, err);
    if (rc == 0 && !bound_connections(h, config))
        rc = xd_fail_nomem(err);
    if (rc == 0)
        rc = set_up(h, config, err);
    if (rc < 0) {
        http_free(&h->base.base);
        return rc;
    }
    *out = &h->base.base;
    return 0;
}
