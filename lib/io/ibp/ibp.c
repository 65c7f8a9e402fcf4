/* SPDX-License-Identifier: MIT */
/*
 * IBP transport: a request for each slot, and idle connections.
 *
 *     start() --> an idle connection, or a new one --> ibp_request.c
 *                       ^                                   |
 *                       +------------- if reusable ---------+
 *
 * libcurl's multi handle makes the connections and waits for all sockets.
 */
#include <poll.h>
#include <string.h>
#include <unistd.h>

#include <curl/curl.h>

#include "base/alloc.h"
#include "base/check.h"
#include "base/error.h"
#include "io/http/curl_transport.h"
#include "io/ibp/ibp_connect.h"
#include "io/ibp/ibp_end.h"
#include "io/ibp/ibp_request.h"
#include "io/window.h"
#include "os/clock.h"

/* Maximum idle time of a connection, libcurl's default. */
#define KEEP_IDLE (118 * XD_SECOND)

/* An idle connection. */
struct idle {
    int fd; /* < 0: none */
    char *peer;
    xd_usec since;
};

struct ibp {
    struct xd_curl_transport base;
    /* constant after xd_ibp_new() */
    unsigned n_slots;

    /* Used only by the owner's thread. */
    uint64_t limit_rate;
    struct xd_ibp_request *requests; /* one for each slot */
    struct xd_ibp_connect *connects; /* one for each slot */
    struct curl_waitfd *waits;       /* one for each slot */
    struct idle *idle; /* idle connections, at most one for each slot */
    struct xd_http_addresses addresses;
    bool has_doubts; /* a depot was silent: the next request probes first */
};

/* ---- connections ---- */

static void close_idle(struct idle *i)
{
    if (i->fd < 0)
        return;
    close(i->fd);
    xd_free(i->peer);
    *i = (struct idle){.fd = -1};
}

/* Keeps a connection, replacing the one idle for longest.  Ownership: takes
 * *peer. */
static void keep(struct ibp *b, int fd, char **peer)
{
    struct idle *place = &b->idle[0];

    for (unsigned i = 0; i < b->n_slots; i++) {
        if (b->idle[i].fd < 0 || b->idle[i].since < place->since)
            place = &b->idle[i];
        if (place->fd < 0)
            break;
    }
    close_idle(place);
    *place = (struct idle){.fd = fd, .peer = *peer, .since = xd_now()};
    *peer = NULL;
}

/* Returns an idle connection to `peer` that was made after the last outage, or
 * -1. */
static int reuse(struct ibp *b, const char *peer)
{
    xd_usec now = xd_now();

    for (unsigned i = 0; i < b->n_slots; i++) {
        struct idle *idle = &b->idle[i];
        int fd = idle->fd;

        if (fd >= 0 && (now - idle->since > KEEP_IDLE ||
                        idle->since < b->addresses.outage_at)) {
            close_idle(idle);
        } else if (fd >= 0 && strcmp(idle->peer, peer) == 0) {
            idle->fd = -1;
            xd_free(idle->peer);
            return fd;
        }
    }
    return -1;
}

static void connect_anew(struct ibp *b, struct xd_ibp_request *q)
{
    struct xd_ibp_connect *c = &b->connects[q->slot];

    q->step = XD_IBP_CONNECTS;
    if (c->goes_through_tls) {
        q->is_decided = true;
        q->outcome.verdict = XD_VERDICT_GONE;
        xd_fail(&q->outcome.error, XD_E_NET,
                "%s: IBP cannot go through a proxy that is reached by https",
                q->name.s);
    } else if (!xd_ibp_connect_begin(c, q->peer)) {
        xd_ibp_end_nomem(q);
    }
}

static void choose_connection(struct ibp *b, struct xd_ibp_request *q)
{
    int fd = reuse(b, q->peer);

    if (fd >= 0)
        xd_ibp_request_use(q, fd, true);
    else
        connect_anew(b, q);
}

/* ---- requests ---- */

static int ibp_start(struct xd_transport *t, unsigned slot,
                     const struct xd_request *request, struct xd_error *err)
{
    struct ibp *b = (struct ibp *)t;
    struct xd_ibp_request *q = &b->requests[slot];
    int rc;

    XD_ASSERT(slot < b->n_slots && !q->is_busy &&
              (request->sends || request->length > 0));
    rc = xd_ibp_request_begin(q, request, err);
    if (rc < 0)
        return rc;
    if (request->sends == NULL) {
        q->wants_probe |= b->has_doubts;
        b->has_doubts = false;
    }
    q->step_bytes = xd_window_step(b->limit_rate);
    xd_http_connect_prepare(&b->connects[slot].steps, request->outages, NULL);
    if (!q->is_decided)
        choose_connection(b, q);
    xd_silence_clock_look(&b->base.clock, 0);
    q->last_byte_at = b->base.clock.watched;
    q->is_busy = true;
    return 0;
}

static void ibp_stop(struct xd_transport *t, unsigned slot)
{
    struct xd_ibp_request *q = &((struct ibp *)t)->requests[slot];

    if (q->is_busy)
        xd_ibp_end_stop(q);
}

static void ibp_resume(struct xd_transport *t, unsigned slot)
{
    struct ibp *b = (struct ibp *)t;

    b->requests[slot].is_paused = false;
    b->requests[slot].made_progress = true;
}

static void finish(struct ibp *b, struct xd_ibp_request *q)
{
    int fd = xd_ibp_request_detach(q);

    xd_ibp_connect_end(&b->connects[q->slot]);
    if (fd >= 0)
        keep(b, fd, &q->peer);
    if (q->outcome.verdict == XD_VERDICT_AGAIN)
        xd_http_connect_end(&b->connects[q->slot].steps,
                            b->connects[q->slot].easy);
    q->is_busy = false;
    xd_request_locate(&q->outcome, q->url, q->url);
    b->base.handler->end(b->base.handler->user, q->slot, &q->outcome);
}

/* Advances a slot's request.  Returns true if it has ended. */
static bool move(struct ibp *b, struct xd_ibp_request *q)
{
    if (q->fd >= 0)
        xd_ibp_request_move(q);
    if (q->must_reconnect && !q->is_decided) {
        xd_ibp_request_detach(q);
        connect_anew(b, q);
        q->must_reconnect = false;
    }
    if (!q->is_decided)
        return false;
    finish(b, q);
    return true;
}

/* Advances requests that need not wait for a socket.  Returns true if anything
 * happened. */
static bool move_decided(struct ibp *b)
{
    bool happened = false;

    for (unsigned i = 0; i < b->n_slots; i++) {
        struct xd_ibp_request *q = &b->requests[i];

        if (q->is_busy &&
            (q->is_decided || (q->filled > 0 && q->made_progress)))
            happened |= move(b, q);
    }
    return happened;
}

static void move_ready(struct ibp *b)
{
    for (unsigned i = 0; i < b->n_slots; i++) {
        struct xd_ibp_request *q = &b->requests[i];

        if (q->is_busy && !q->is_paused && (q->fd >= 0 || q->is_decided))
            move(b, q);
    }
}

/* ---- waiting ---- */

static xd_usec patience(const struct ibp *b, const struct xd_ibp_request *q)
{
    if (q->step == XD_IBP_CONNECTS)
        return xd_ibp_connect_patience(&b->connects[q->slot], b->base.silence);
    return b->base.silence;
}

static xd_usec until_silence(const struct ibp *b)
{
    xd_usec least = XD_LONGEST_POLL;

    for (unsigned i = 0; i < b->n_slots; i++) {
        const struct xd_ibp_request *q = &b->requests[i];

        if (q->is_busy && !q->is_paused)
            least = xd_earlier(least,
                               xd_silence_left(&b->base.clock, q->last_byte_at,
                                               patience(b, q)));
    }
    return least;
}

static short curl_events(short events)
{
    return (short)((events & POLLIN ? CURL_WAIT_POLLIN : 0) |
                   (events & POLLOUT ? CURL_WAIT_POLLOUT : 0));
}

static void wait_for_sockets(struct ibp *b, xd_usec timeout)
{
    unsigned n = 0;

    for (unsigned i = 0; i < b->n_slots; i++) {
        const struct xd_ibp_request *q = &b->requests[i];

        if (q->is_busy && q->fd >= 0 && !q->is_paused)
            b->waits[n++] = (struct curl_waitfd){
                .fd = q->fd, .events = curl_events(xd_ibp_request_events(q))};
    }
    (void)xd_curl_transport_wait(&b->base, b->waits, n, timeout,
                                 until_silence(b));
}

/* Handles the connections that libcurl has finished. */
static void collect(struct ibp *b)
{
    const CURLMsg *m;
    int left;

    while ((m = curl_multi_info_read(b->base.multi, &left)) != NULL) {
        CURLcode result = m->data.result;
        struct xd_ibp_request *q = NULL;
        struct xd_ibp_connect *c;
        int fd;

        if (m->msg != CURLMSG_DONE ||
            curl_easy_getinfo(m->easy_handle, CURLINFO_PRIVATE, &q) != CURLE_OK)
            continue;
        c = &b->connects[q->slot];
        if (q->is_decided || (result != CURLE_OK && xd_ibp_connect_again(c)))
            continue;
        fd = result == CURLE_OK ? xd_ibp_connect_take(c) : -1;
        if (fd >= 0) {
            q->made_progress = true;
            xd_ibp_request_use(q, fd, false);
        } else {
            q->is_decided = true;
            c->lacks_descriptor |= result == CURLE_OK;
            xd_ibp_connect_explain(c, result, q->name.s, &q->outcome);
        }
    }
}

/* Ends requests that were silent for too long.  A request with progress in this
 * round is not silent, whatever the clock says. */
static void sweep(struct ibp *b)
{
    for (unsigned i = 0; i < b->n_slots; i++) {
        struct xd_ibp_request *q = &b->requests[i];
        struct xd_ibp_connect *c = &b->connects[i];

        if (!q->is_busy)
            continue;
        if (q->made_progress || c->has_moved)
            q->last_byte_at = b->base.clock.watched;
        q->made_progress = c->has_moved = false;
        if (q->is_paused ||
            b->base.clock.watched - q->last_byte_at < patience(b, q))
            continue;
        if (q->step == XD_IBP_CONNECTS && xd_ibp_connect_give_up(c))
            continue;
        b->has_doubts |= q->step == XD_IBP_LOADS;
        xd_ibp_end_silent(q, patience(b, q));
    }
}

static void ibp_poll(struct xd_transport *t, xd_usec timeout)
{
    struct ibp *b = (struct ibp *)t;
    CURLMcode rc;
    int running;

    xd_silence_clock_look(&b->base.clock, 0);
    if (!move_decided(b))
        wait_for_sockets(b, timeout);
    rc = curl_multi_perform(b->base.multi, &running);
    for (unsigned i = 0; rc != CURLM_OK && i < b->n_slots; i++) {
        if (b->requests[i].is_busy && b->requests[i].step == XD_IBP_CONNECTS)
            xd_ibp_end_nomem(&b->requests[i]);
    }
    collect(b);
    move_ready(b);
    sweep(b);
}

/* ---- other operations ---- */

static void ibp_limit(struct xd_transport *t, uint64_t bytes_per_s)
{
    struct ibp *b = (struct ibp *)t;

    b->limit_rate = bytes_per_s;
    for (unsigned i = 0; i < b->n_slots; i++) {
        b->connects[i].limit_rate = bytes_per_s;
        b->requests[i].step_bytes = xd_window_step(bytes_per_s);
        if (b->requests[i].fd >= 0)
            xd_window_bound(b->requests[i].fd, bytes_per_s);
    }
}

static bool ibp_is_connected(struct xd_transport *t, unsigned slot)
{
    return ((struct ibp *)t)->requests[slot].fd >= 0;
}

static void ibp_free(struct xd_transport *t)
{
    struct ibp *b = (struct ibp *)t;

    for (unsigned i = 0; i < b->n_slots; i++) {
        if (b->connects)
            xd_ibp_connect_fini(&b->connects[i]);
        if (b->requests)
            xd_ibp_request_fini(&b->requests[i]);
        if (b->idle)
            close_idle(&b->idle[i]);
    }
    xd_curl_transport_fini(&b->base);
    xd_free(b->requests);
    xd_free(b->connects);
    xd_free(b->waits);
    xd_free(b->idle);
    xd_free(b);
}

static const struct xd_transport_ops ibp_ops = {
    .start = ibp_start,
    .stop = ibp_stop,
    .resume = ibp_resume,
    .poll = ibp_poll,
    .wakeup = xd_curl_transport_wakeup,
    .is_connected = ibp_is_connected,
    .limit = ibp_limit,
    .set_silence = xd_curl_transport_set_silence,
    .free = ibp_free};

static int set_up_slots(struct ibp *b, unsigned n, struct xd_error *err)
{
    int rc = 0;

    b->requests = xd_alloc(n, sizeof *b->requests);
    b->connects = xd_alloc(n, sizeof *b->connects);
    b->waits = xd_alloc(n, sizeof *b->waits);
    b->idle = xd_alloc(n, sizeof *b->idle);
    if (!b->requests || !b->connects || !b->waits || !b->idle)
        return xd_fail_nomem(err);
    b->n_slots = n;
    for (unsigned i = 0; i < n; i++) {
        xd_ibp_request_init(&b->requests[i], i, b->base.handler);
        b->idle[i].fd = -1;
    }
    for (unsigned i = 0; rc == 0 && i < n; i++)
        rc =
            xd_ibp_connect_init(&b->connects[i], &b->requests[i], b->base.multi,
                                &b->addresses, &b->base.options, err);
    return rc;
}

int xd_ibp_new(struct xd_transport **out,
               const struct xd_transport_config *config,
               const struct xd_transport_handler *handler, struct xd_error *err)
{
    struct ibp *b = xd_alloc(1, sizeof *b);
    int rc;

    if (b == NULL)
        return xd_fail_nomem(err);
    rc = xd_curl_transport_init(&b->base, &ibp_ops, config, handler,
                                config->n_slots, err);
    if (rc == 0)
        rc = set_up_slots(b, config->n_slots, err);
    if (rc < 0) {
        ibp_free(&b->base.base);
        return rc;
    }
    b->limit_rate = b->base.options.net->limit_rate;
    *out = &b->base.base;
    return 0;
}
