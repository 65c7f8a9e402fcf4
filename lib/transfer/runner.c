/* SPDX-License-Identifier: MIT */
#include "transfer/runner.h"

#include <errno.h>
#include <inttypes.h>

#include "base/alloc.h"
#include "base/check.h"
#include "base/error.h"
#include "io/net_options.h"
#include "os/clock.h"
#include "os/thread.h"
#include "transfer/budget.h"
#include "transfer/hosts.h"

/* poll() can wait in only one transport, so with several in use it returns this
 * often to look at the others. */
#define LONGEST_TURN (5 * XD_MS)

/* How often a request asks the governor again while it waits for another
 * request to end.  The other may belong to another runner, which cannot wake
 * this one. */
#define ASK_EVERY (50 * XD_MS)

/* The runner always waits for a pause up to this length, even if --patience is
 * shorter, unless the host asked for the pause. */
#define SHORT_PAUSE (5 * XD_SECOND)

/* An upload counts as accepted by the host after this many bytes of the
 * body. */
#define SENT_ENOUGH ((uint64_t)256 << 10)

/* How many bytes of an upload are charged to the rate limit at a time. */
#define PAID_STEP ((size_t)16 << 10)

/* One request.  It uses the slot of the same number in its transport. */
struct slot {
    /* the request, from the byte at which the last restart began */
    struct xd_request request;
    /* copy of *request.sends whose read() is on_read(), which obeys the rate
     * limit */
    struct xd_sending sending;
    struct xd_transport *transport; /* transport of the last request */
    struct xd_host *host;           /* host of the URL, or NULL */
    struct xd_governed governed;    /* state of the request in the governor */
    uint64_t delivered;        /* bytes of the current response, including those
                                  skipped before the range */
    int64_t reply_code;        /* code in a store's reply */
    xd_usec reply_retry_after; /* pause that a store asks for, or 0 */
    bool is_busy;
    bool waits;       /* the request waits until the governor lets it start */
    bool is_given_up; /* its URL has failed too often */
    xd_usec look_at;  /* when to ask the governor again */
    bool is_cut;      /* the next poll() requests the rest */
    bool is_stopped;  /* stop() was called while is_cut or waits was set */
    bool is_whole;    /* the response is the whole object instead of a range */
    bool is_shortened;
    bool has_less; /* the response covers only the beginning of
                                `request` */
    bool is_held;  /* paused by the runner */
    /* size of the bytes for which the handler has no room yet */
    size_t held_bytes;
    xd_usec held_until;   /* when the rate limit allows the bytes */
    size_t prepaid;       /* bytes paid for, but not yet taken */
    uint64_t received;    /* bytes received of request.length */
    uint64_t object_size; /* according to the head */
    /* when it started; time from the start to the first response header */
    xd_usec started, waited;
};

struct xd_runner {
    /* constant after xd_runner_new() */
    struct xd_runner_config config;
    const struct xd_runner_handler *handler;
    struct xd_transport_handler callbacks;
    struct slot *slots;

    /* Owned by the thread. */
    struct xd_transport *current; /* polled while nothing is in flight */
    uint64_t rate;                /* limit last announced to the transports */

    /* a leaf lock; guards `transports`, which wakeup() reads */
    struct xd_mutex lock;

    /* written by the owning thread under lock */
    /* open transports, one for each kind */
    struct xd_transport *transports[XD_KINDS_MOST];
    bool is_woken; /* guarded by lock: wakeup() was called before a transport
                      was open */
};

static const struct xd_registry *registry_of(const struct xd_runner *d)
{
    return d->config.registry ? d->config.registry : xd_registry();
}

/* ---- what transports report ---- */

/* Returns whether a reply refuses the request for now.  504 does not count: a
 * cache sends it if it does not have the bytes and may not fetch them
 * (only-if-cached, RFC 9111 section 5.2.1.7). */
static bool is_refusal(int64_t status)
{
    return status == 408 || status == 425 || status == 429 || status == 500 ||
           status == 502 || status == 503 || status == 509;
}

/* Returns whether at least half of the request has arrived.  A server that
 * always sends half of the rest gets at most one request per bit of the length,
 * so these restarts need no other limit. */
static bool has_half(const struct slot *s)
{
    return s->received >= s->request.length ||
           s->received >= s->request.length - s->received;
}

/* Returns whether enough bytes have arrived to make it worth requesting the
 * rest. */
static bool has_progress(const struct slot *s)
{
    return s->delivered >= XD_PROGRESS_BYTES || has_half(s);
}

static void note_delivered(struct slot *s, size_t len)
{
    s->delivered += len;
    if (s->delivered >= XD_PROGRESS_BYTES)
        xd_host_progress(s->host, &s->governed);
}

static int on_head(void *user, unsigned slot, const struct xd_head *head)
{
    struct xd_runner *d = user;
    struct slot *s = &d->slots[slot];

    s->object_size = head->object_size;
    s->is_whole = s->request.takes_whole && !head->is_range;
    if (head->reply) {
        s->reply_code = head->reply->code;
        s->reply_retry_after = head->reply->retry_after;
    }
    if (!is_refusal(s->reply_code))
        xd_host_accepted(s->host, &s->governed);
    if (s->waited == 0)
        s->waited = xd_now() - s->started;
    return d->handler->head(d->handler->user, slot, head);
}

static void report_hold(const struct xd_runner *d, unsigned slot, bool is_held)
{
    if (d->handler->hold)
        d->handler->hold(d->handler->user, slot, is_held);
}

/* Pauses the request; the transport will offer the same bytes again. */
static int hold(struct xd_runner *d, unsigned slot, size_t len, xd_usec until)
{
    struct slot *s = &d->slots[slot];

    report_hold(d, slot, true);
    s->is_held = true;
    s->held_bytes = len;
    s->held_until = until;
    return XD_E_AGAIN;
}

static bool has_room(const struct xd_runner *d, unsigned slot, size_t len)
{
    return !d->handler->has_room ||
           d->handler->has_room(d->handler->user, slot, len);
}

/*
 * Returns the time at which `len` bytes may be taken.  Bytes that were held
 * back are offered again and are already paid for; the transport may have added
 * more to them.
 */
static xd_usec pay(struct xd_runner *d, struct slot *s, xd_usec now, size_t len)
{
    size_t rest = len > s->prepaid ? len - s->prepaid : 0;
    xd_usec wait = 0;

    if (!d->config.budget || xd_budget_rate(d->config.budget) == 0) {
        s->prepaid = 0;
        return now;
    }
    if (rest > 0)
        wait = xd_budget_pay(d->config.budget, now, rest);
    /* bytes that have already waited need not wait again because more were
     * added */
    if (wait > 0 && s->prepaid == 0) {
        s->prepaid = len;
        return now + wait;
    }
    s->prepaid -= len - rest;
    return now;
}

static int on_skip(void *user, unsigned slot, size_t len)
{
    struct xd_runner *d = user;
    xd_usec now = xd_now(), at = pay(d, &d->slots[slot], now, len);

    if (at > now)
        return hold(d, slot, 0, at);
    note_delivered(&d->slots[slot], len);
    return 0;
}

static int on_bytes(void *user, unsigned slot, const void *data, size_t len)
{
    struct xd_runner *d = user;
    struct slot *s = &d->slots[slot];
    uint64_t left = s->request.length - s->received;
    xd_usec now = xd_now(), at;
    int rc = 0;

    if (!has_room(d, slot, len))
        return hold(d, slot, len, now);
    if (s->request.sends)
        return d->handler->bytes(d->handler->user, slot, data, len);
    at = pay(d, s, now, len);
    if (at > now)
        return hold(d, slot, len, at);
    if (s->is_shortened && len > left)
        len = (size_t)left;
    if (len > 0)
        rc = d->handler->bytes(d->handler->user, slot, data, len);
    if (rc < 0)
        return rc;
    s->received += len;
    note_delivered(s, len);
    return s->is_shortened && s->received == s->request.length ? XD_E_CANCELED
                                                               : 0;
}

/* Reads bytes to send, which count against the rate limit like received ones.
 * Bytes that the transport could not send at once are read, and paid for,
 * again. */
static int64_t on_read(void *user, unsigned slot, uint64_t at, void *to,
                       size_t len)
{
    struct xd_runner *d = user;
    const struct xd_sending *sends = d->slots[slot].request.sends;
    const bool is_bound = d->config.budget && xd_budget_rate(d->config.budget);
    xd_usec now, until;

    if (is_bound && len > PAID_STEP)
        len = PAID_STEP;
    now = xd_now();
    until = is_bound ? pay(d, &d->slots[slot], now, len) : now;
    if (until > now)
        return hold(d, slot, 0, until);
    if (at >= SENT_ENOUGH)
        xd_host_accepted(d->slots[slot].host, &d->slots[slot].governed);
    return sends->read(sends->user, slot, at, to, len);
}

/* ---- how a request ends ---- */

static bool is_unreached(const struct xd_outcome *o)
{
    return o->is_unanswered || o->error.os_errno == ECONNREFUSED;
}

static const struct xd_url *first_url(const struct xd_request *r)
{
    return r->origin ? r->origin : r->url;
}

/* Returns whether the server is sending the object of this request to another
 * request, or has sent it before and another request for it is running. */
static bool delivers_beside(const struct xd_runner *d, unsigned slot)
{
    const struct xd_request *r = &d->slots[slot].request;

    for (unsigned i = 0; i < d->config.n_slots; i++) {
        const struct slot *s = &d->slots[i];

        if (i != slot && s->is_busy && !s->waits && !s->request.sends &&
            (r->is_known || s->received > 0) &&
            xd_url_compare(first_url(&s->request), first_url(r)) == 0)
            return true;
    }
    return false;
}

/* Returns true if the URL is the target of an earlier redirect.  It may have
 * expired since, as signed URLs do. */
static bool may_have_expired(const struct xd_request *r)
{
    return r->origin && xd_url_compare(r->origin, r->url) != 0;
}

/* Returns true if the server allows no more connections: a status says that the
 * URL is missing or forbidden, while the server sends the same object to
 * another request.  File hosts use 400, 403, 404, 410, 420 and others for
 * that. */
static bool is_one_too_many(const struct xd_runner *d, unsigned slot,
                            const struct xd_outcome *o)
{
    const struct xd_request *r = &d->slots[slot].request;

    return (o->verdict == XD_VERDICT_GONE ||
            o->verdict == XD_VERDICT_REFUSED_RANGE) &&
           o->is_denied && !r->is_plain && !may_have_expired(r) &&
           delivers_beside(d, slot);
}

/* Returns true if the mirror that the URL led to lacks the object, which the
 * URL has delivered before.  It may lead to another mirror next time. */
static bool may_lead_elsewhere(const struct slot *s, const struct xd_outcome *o)
{
    const struct xd_request *r = &s->request;

    return (o->verdict == XD_VERDICT_GONE ||
            o->verdict == XD_VERDICT_DIFFERENT ||
            o->verdict == XD_VERDICT_REFUSED_RANGE) &&
           o->is_of_redirect && r->is_known && !r->is_plain &&
           !may_have_expired(r) && s->received == 0;
}

/* Classifies a failure after which no range of the URL can be fetched.  The
 * first one may be due to the URL, so only repeated ones count against the
 * host. */
static enum xd_governed_end end_of_url(const struct xd_request *r)
{
    const bool is_repeat = xd_host_has_failed(r);

    xd_host_note_failure(r);
    return is_repeat ? XD_GOVERNED_FAILED_AGAIN : XD_GOVERNED_NEUTRAL;
}

/* Classifies a store's reply for the governor. */
static enum xd_governed_end end_of_reply(const struct xd_request *r,
                                         int64_t code)
{
    if (is_refusal(code))
        return XD_GOVERNED_REFUSED;
    return code >= 400 ? end_of_url(r) : XD_GOVERNED_SERVED;
}

/* Classifies the end of a request for the governor. */
static enum xd_governed_end end_of(const struct slot *s,
                                   const struct xd_outcome *o)
{
    switch (o->verdict) {
    case XD_VERDICT_OK:
        if (s->request.sends)
            return end_of_reply(&s->request, s->reply_code);
        return o->is_cut && !has_progress(s) ? XD_GOVERNED_REFUSED
                                             : XD_GOVERNED_SERVED;
    case XD_VERDICT_AGAIN:
        if (is_unreached(o))
            return XD_GOVERNED_UNREACHED;
        /* A mesh node answers like this if it has not cached the bytes. */
        if (s->request.is_plain && !o->is_refusal)
            return XD_GOVERNED_NEUTRAL;
        if (o->is_refusal || !has_progress(s))
            return XD_GOVERNED_REFUSED;
        return has_half(s) ? XD_GOVERNED_SERVED : XD_GOVERNED_BROKEN;
    case XD_VERDICT_GONE:
    case XD_VERDICT_REFUSED_RANGE:
        return end_of_url(&s->request);
    case XD_VERDICT_DIFFERENT:
    case XD_VERDICT_CHANGED:
    case XD_VERDICT_NO_RANGES:
    case XD_VERDICT_LOCAL:
    case XD_VERDICT_STOPPED:
        break;
    }
    return XD_GOVERNED_NEUTRAL;
}

/* Returns whether a pause is longer than the user's patience.  `is_asked`: the
 * host asked for the pause. */
static bool is_too_long(const struct xd_runner *d, xd_usec pause, bool is_asked)
{
    return d->config.patience > 0 && pause > d->config.patience &&
           (is_asked || pause > SHORT_PAUSE);
}

/* Makes the request fail, because the pause before a retry would be too
 * long. */
static void refuse_to_wait(const struct xd_runner *d, const struct slot *s,
                           struct xd_outcome *out, xd_usec pause, bool is_asked)
{
    const struct xd_error why = out->error;
    const bool has_reason = why.code != XD_OK;

    out->verdict = XD_VERDICT_GONE;
    xd_fail_because(&out->error, XD_E_NET, &why,
                    "%s%s its server %s in %.0f s, and --patience is %.0f s",
                    has_reason ? why.msg : xd_url_name(s->request.url).s,
                    has_reason ? ";" : ":",
                    is_asked ? "wants to be asked again"
                             : "refuses requests; the next one is due",
                    xd_seconds(pause), xd_seconds(d->config.patience));
}

/* Ends a request for a URL that has failed too often.  Other depots may have
 * the same bytes, so this URL must not delay them. */
static void give_up(const struct slot *s, struct xd_outcome *out, xd_usec pause)
{
    out->verdict = XD_VERDICT_GONE;
    xd_fail(&out->error, XD_E_NET,
            "%s: failed too often; it can be tried again in %.0f s",
            xd_url_name(s->request.url).s, xd_seconds(pause));
}

/* Tells the host's governor that the request has ended.  Returns the pause
 * until another attempt. */
static xd_usec leave_host(struct slot *s, const struct xd_outcome *o)
{
    const xd_usec retry_after =
        s->reply_retry_after > 0 ? s->reply_retry_after : o->retry_after;

    if (!s->governed.is_open)
        return 0;
    return xd_host_end(s->host, &s->governed,
                       may_lead_elsewhere(s, o) ? XD_GOVERNED_FAILED_AGAIN
                                                : end_of(s, o),
                       s->delivered, retry_after, xd_now());
}

static void end(struct xd_runner *d, unsigned slot,
                const struct xd_outcome *outcome)
{
    struct slot *s = &d->slots[slot];
    struct xd_outcome reported = *outcome;
    xd_usec pause;
    const bool is_asked = outcome->retry_after > d->config.patience;

    if (is_one_too_many(d, slot, outcome)) {
        reported.verdict = XD_VERDICT_AGAIN;
        reported.is_refusal = true;
    }
    pause = leave_host(s, &reported);
    if (may_lead_elsewhere(s, &reported))
        reported.verdict = XD_VERDICT_AGAIN;
    if (reported.verdict == XD_VERDICT_LOCAL)
        reported.retry_after = XD_LOCAL_PAUSE;
    else if (reported.retry_after < pause &&
             reported.verdict != XD_VERDICT_GONE &&
             reported.verdict != XD_VERDICT_REFUSED_RANGE)
        /* after GONE and REFUSED_RANGE the same request is not repeated */
        reported.retry_after = pause;
    if (reported.verdict == XD_VERDICT_AGAIN && !is_unreached(outcome) &&
        is_too_long(d, reported.retry_after, is_asked))
        refuse_to_wait(d, s, &reported, reported.retry_after, is_asked);
    if (s->prepaid > 0)
        xd_budget_refund(d->config.budget, s->prepaid);
    s->prepaid = 0;
    s->is_busy = s->is_cut = s->is_held = s->waits = s->is_stopped = false;
    xd_host_release(s->host);
    s->host = NULL;
    d->handler->end(d->handler->user, slot, &reported);
}

/* Ends a request for which the transport will not call end(). */
static void end_unasked(struct xd_runner *d, unsigned slot,
                        enum xd_verdict verdict, const struct xd_error *error)
{
    struct xd_outcome outcome = {.verdict = verdict,
                                 .error = *error,
                                 .object_size = d->slots[slot].object_size};

    end(d, slot, &outcome);
}

/* Returns whether to request the rest of a short response at once.  A response
 * with hardly any bytes is a failure instead, and the user of the runner
 * decides whether to retry. */
static bool goes_on_with_rest(const struct xd_runner *d, const struct slot *s,
                              const struct xd_outcome *outcome)
{
    return d->config.asks_for_rest && outcome->verdict == XD_VERDICT_OK &&
           (s->has_less || (outcome->is_cut && has_progress(s))) &&
           s->received < s->request.length;
}

static void end_without_progress(struct xd_runner *d, unsigned slot)
{
    const struct slot *s = &d->slots[slot];
    struct xd_outcome outcome = {.verdict = XD_VERDICT_AGAIN,
                                 .object_size = s->object_size};

    xd_fail(&outcome.error, XD_E_NET,
            "%s: sent only %" PRIu64 " of %" PRIu64 " bytes at offset %" PRIu64,
            xd_url_name(s->request.url).s, s->received, s->request.length,
            s->request.offset);
    end(d, slot, &outcome);
}

static void on_end(void *user, unsigned slot, const struct xd_outcome *outcome)
{
    struct xd_runner *d = user;
    struct slot *s = &d->slots[slot];

    if (goes_on_with_rest(d, s, outcome)) {
        (void)leave_host(s, outcome);
        s->is_cut = true;
        s->is_held = false;
    } else if (s->is_shortened && s->received >= s->request.length) {
        end_unasked(d, slot, XD_VERDICT_OK, &(struct xd_error){0});
    } else if (d->config.asks_for_rest && outcome->is_cut &&
               outcome->verdict == XD_VERDICT_OK &&
               s->received < s->request.length) {
        end_without_progress(d, slot);
    } else {
        end(d, slot, outcome);
    }
}

/* ---- transports ---- */

static struct xd_transport **place_of(struct xd_runner *d,
                                      const struct xd_transport_kind *kind)
{
    return &d->transports[kind - registry_of(d)->kinds];
}

bool xd_runner_use(struct xd_runner *d, const struct xd_transport_kind *kind)
{
    struct xd_transport *t = *place_of(d, kind);

    if (t)
        d->current = t;
    return t != NULL;
}

int xd_runner_open(struct xd_runner *d, const struct xd_transport_kind *kind,
                   struct xd_error *err)
{
    struct xd_transport_config config = {.n_slots = d->config.n_slots,
                                         .n_connections =
                                             d->config.n_connections,
                                         .silence = d->config.silence,
                                         .first_byte = d->config.first_byte,
                                         .net = d->config.net,
                                         .context = d->config.context};
    struct xd_transport *t;
    int rc;

    if (xd_runner_use(d, kind))
        return 0;
    rc = kind->create(&t, &config, &d->callbacks, err);
    if (rc < 0)
        return rc;
    if (d->config.net && d->rate != d->config.net->limit_rate)
        xd_transport_limit(t, d->rate);
    xd_mutex_lock(&d->lock);
    *place_of(d, kind) = d->current = t;
    xd_mutex_unlock(&d->lock);
    return 0;
}

void xd_runner_close(struct xd_runner *d)
{
    struct xd_transport *open[XD_KINDS_MOST];

    xd_mutex_lock(&d->lock);
    for (size_t i = 0; i < XD_KINDS_MOST; i++) {
        open[i] = d->transports[i];
        d->transports[i] = NULL;
    }
    xd_mutex_unlock(&d->lock);
    for (size_t i = 0; i < XD_KINDS_MOST; i++)
        xd_transport_free(open[i]);
    for (unsigned i = 0; i < d->config.n_slots; i++) {
        struct slot *s = &d->slots[i];

        if (s->prepaid > 0)
            xd_budget_refund(d->config.budget, s->prepaid);
        (void)xd_host_end(s->host, &s->governed, XD_GOVERNED_NEUTRAL, 0, 0,
                          xd_now());
        xd_host_release(s->host);
        d->slots[i] = (struct slot){.is_busy = false};
    }
    d->current = NULL;
}

void xd_runner_wakeup(struct xd_runner *d)
{
    bool is_any_open = false;

    xd_mutex_lock(&d->lock);
    for (size_t i = 0; i < XD_KINDS_MOST; i++) {
        if (!d->transports[i])
            continue;
        xd_transport_wakeup(d->transports[i]);
        is_any_open = true;
    }
    d->is_woken = d->is_woken || !is_any_open;
    xd_mutex_unlock(&d->lock);
}

void xd_runner_set_silence(struct xd_runner *d, xd_usec silence,
                           xd_usec first_byte)
{
    d->config.silence = silence;
    d->config.first_byte = first_byte;
    for (size_t i = 0; i < XD_KINDS_MOST; i++) {
        if (d->transports[i])
            xd_transport_set_silence(d->transports[i], silence, first_byte);
    }
}

/* Announces a changed rate limit to the transports.  Requests that were paused
 * under the old limit resume. */
static void obey_budget(struct xd_runner *d)
{
    uint64_t rate =
        d->config.budget ? xd_budget_rate(d->config.budget) : d->rate;

    if (rate == d->rate)
        return;
    d->rate = rate;
    for (size_t i = 0; i < XD_KINDS_MOST; i++) {
        if (d->transports[i])
            xd_transport_limit(d->transports[i], rate);
    }
    for (unsigned i = 0; i < d->config.n_slots; i++)
        d->slots[i].held_until = 0;
}

/* ---- requests ---- */

/* Starts a request on its transport after the governor has allowed it. */
static int launch(struct xd_runner *d, unsigned slot, struct xd_error *err)
{
    struct slot *s = &d->slots[slot];
    struct xd_request asked = s->request;
    int rc;

    s->delivered = 0;
    s->reply_code = 0;
    s->reply_retry_after = 0;
    if (asked.sends) {
        s->sending = *asked.sends;
        s->sending.read = on_read;
        s->sending.user = d;
        asked.sends = &s->sending;
    }
    rc = xd_transport_start(s->transport, slot, &asked, err);
    if (rc < 0)
        (void)xd_host_end(s->host, &s->governed, XD_GOVERNED_NEUTRAL, 0, 0,
                          xd_now());
    return rc;
}

static void report_wait(const struct xd_runner *d, unsigned slot, bool waits)
{
    if (d->handler->wait)
        d->handler->wait(d->handler->user, slot, waits);
}

/* Asks the governor to let the request start.  Returns 0 if it may, otherwise
 * when to ask again. */
static xd_usec ask_host(struct slot *s, xd_usec now)
{
    const bool is_repeat = !s->request.sends && xd_host_has_failed(&s->request);
    const xd_usec at = xd_host_begin(s->host, &s->governed, is_repeat, now);

    s->is_given_up = is_repeat && at > 0 && at != XD_NEVER &&
                     at > xd_host_terms(s->host, now).not_before;
    return at == XD_NEVER ? now + ASK_EVERY : at;
}

static int start_or_wait(struct xd_runner *d, unsigned slot,
                         struct xd_error *err)
{
    struct slot *s = &d->slots[slot];

    s->look_at = ask_host(s, xd_now());
    if (s->look_at == 0)
        return launch(d, slot, err);
    s->waits = true;
    report_wait(d, slot, true);
    return 0;
}

/* Continues a request that waits for the governor.  Returns as prepare()
 * does. */
static xd_usec wait_on(struct xd_runner *d, unsigned slot, xd_usec now)
{
    struct slot *s = &d->slots[slot];
    struct xd_outcome outcome = {.verdict = XD_VERDICT_STOPPED,
                                 .object_size = s->object_size};
    const xd_usec pause = s->look_at > now ? s->look_at - now : 0;
    const bool is_asked = xd_host_asked_until(s->host) >= s->look_at;

    if (!s->is_stopped && s->is_given_up)
        give_up(s, &outcome, pause);
    else if (!s->is_stopped && is_too_long(d, pause, is_asked))
        refuse_to_wait(d, s, &outcome, pause, is_asked);
    if (s->is_stopped || outcome.verdict != XD_VERDICT_STOPPED) {
        end(d, slot, &outcome);
        return 0;
    }
    if (pause > 0)
        return s->look_at;
    s->look_at = ask_host(s, now);
    if (s->look_at > 0)
        return s->look_at;
    s->waits = false;
    s->started = now;
    report_wait(d, slot, false);
    if (launch(d, slot, &outcome.error) < 0)
        end_unasked(d, slot, XD_VERDICT_AGAIN, &outcome.error);
    return s->is_busy ? XD_NEVER : 0;
}

int xd_runner_start(struct xd_runner *d, unsigned slot,
                    const struct xd_request *request, struct xd_error *err)
{
    struct slot *s = &d->slots[slot];
    const struct xd_transport_kind *kind =
        request->url->is_valid
            ? xd_registry_find(registry_of(d), request->url->scheme)
            /* any transport will do: it reports that the URL is invalid */
            : registry_of(d)->kinds;
    int rc;

    XD_ASSERT(slot < d->config.n_slots && !s->is_busy);
    if (!kind)
        return xd_fail(err, XD_E_NOREPLICA, "no transport is for this URL");
    rc = xd_runner_open(d, kind, err);
    if (rc < 0)
        return rc;
    *s = (struct slot){.request = *request,
                       .transport = d->current,
                       .host = xd_host_take(request->url),
                       .is_busy = true,
                       .started = xd_now(),
                       .object_size = XD_SIZE_UNKNOWN};
    rc = start_or_wait(d, slot, err);
    if (rc < 0) {
        xd_host_release(s->host);
        *s = (struct slot){.is_busy = false};
    }
    return rc;
}

bool xd_runner_can_change_hands(const struct xd_runner *d, unsigned slot)
{
    const struct slot *s = &d->slots[slot];

    return s->is_busy && s->received == 0 &&
           xd_transport_can_change_hands(s->transport);
}

void xd_runner_take_over(struct xd_runner *d,
                         const struct xd_runner_config *config,
                         const struct xd_runner_handler *handler)
{
    d->config.budget = config->budget;
    d->config.asks_for_rest = config->asks_for_rest;
    d->handler = handler;
}

void xd_runner_go_on(struct xd_runner *d, unsigned slot,
                     const struct xd_request *request)
{
    struct slot *s = &d->slots[slot];

    const uint64_t carries = xd_runner_carries(d, slot);

    XD_ASSERT(s->is_busy && s->received == 0 && request->offset == 0);
    s->request = *request;
    s->is_shortened = request->length < carries;
    s->has_less = request->length > carries;
    xd_transport_head_again(s->transport, slot);
    xd_transport_resume(s->transport, slot);
}

uint64_t xd_runner_carries(const struct xd_runner *d, unsigned slot)
{
    const struct slot *s = &d->slots[slot];

    return s->request.length < s->object_size && !s->is_whole
               ? s->request.length
               : s->object_size;
}

bool xd_runner_knows_no_ranges(const struct xd_runner *d, unsigned slot)
{
    const struct slot *s = &d->slots[slot];

    return s->is_whole && s->object_size != XD_SIZE_UNKNOWN &&
           s->object_size > s->request.length;
}

xd_usec xd_runner_waited(const struct xd_runner *d, unsigned slot)
{
    return d->slots[slot].waited;
}

void xd_runner_stop(struct xd_runner *d, unsigned slot)
{
    struct slot *s = &d->slots[slot];

    if (s->is_cut || s->waits)
        s->is_stopped = true;
    else if (s->is_busy)
        xd_transport_stop(s->transport, slot);
}

void xd_runner_resume(struct xd_runner *d, unsigned slot)
{
    struct slot *s = &d->slots[slot];

    if (s->is_busy && s->request.sends)
        xd_transport_resume(s->transport, slot);
}

void xd_runner_shorten(struct xd_runner *d, unsigned slot, uint64_t end)
{
    struct slot *s = &d->slots[slot];
    uint64_t length = end > s->request.offset ? end - s->request.offset : 0;

    if (!s->is_busy || s->request.sends)
        return;
    if (length < s->request.length) {
        s->request.length = length;
        s->is_shortened = true;
    }
    if (s->received >= s->request.length)
        xd_runner_stop(d, slot);
}

/* Requests the bytes that are missing from a short response. */
static void ask_for_rest(struct xd_runner *d, unsigned slot)
{
    struct slot *s = &d->slots[slot];
    struct xd_error error = {0};

    s->is_cut = s->has_less = false;
    s->request.offset += s->received;
    if (s->request.length != XD_TO_END)
        s->request.length -=
            s->received < s->request.length ? s->received : s->request.length;
    s->received = 0;
    if (s->request.length == 0)
        end_unasked(d, slot, XD_VERDICT_OK, &error);
    else if (s->is_stopped)
        end_unasked(d, slot, XD_VERDICT_STOPPED, &error);
    else if (start_or_wait(d, slot, &error) < 0)
        end_unasked(d, slot, XD_VERDICT_AGAIN, &error);
}

/* Does what a slot needs before data is transferred.  Returns the time at which
 * to look at it again; 0: something has happened, so poll() must not wait. */
static xd_usec prepare(struct xd_runner *d, unsigned slot, xd_usec now)
{
    struct slot *s = &d->slots[slot];

    if (s->is_cut) {
        ask_for_rest(d, slot);
        if (!s->waits)
            return s->is_busy ? XD_NEVER : 0;
    }
    if (s->waits)
        return wait_on(d, slot, now);
    if (!s->is_busy || !s->is_held)
        return XD_NEVER;
    if (now < s->held_until)
        return s->held_until;
    if (s->held_bytes > 0 && !has_room(d, slot, s->held_bytes))
        return XD_NEVER; /* the handler calls wakeup() when it has room */
    s->is_held = false;
    report_hold(d, slot, false);
    xd_transport_resume(s->transport, slot);
    return XD_NEVER;
}

static bool take_wakeup(struct xd_runner *d)
{
    bool was_woken;

    xd_mutex_lock(&d->lock);
    was_woken = d->is_woken;
    d->is_woken = false;
    xd_mutex_unlock(&d->lock);
    return was_woken;
}

static bool is_in_use(const struct xd_runner *d, const struct xd_transport *t)
{
    for (unsigned i = 0; i < d->config.n_slots; i++) {
        if (d->slots[i].is_busy && d->slots[i].transport == t)
            return true;
    }
    return false;
}

/* Waits in the last transport that is in use; polls the others without
 * waiting. */
static void poll_transports(struct xd_runner *d, xd_usec timeout)
{
    struct xd_transport *last = NULL;

    for (size_t i = 0; i < XD_KINDS_MOST; i++) {
        struct xd_transport *t = d->transports[i];

        if (!t || !is_in_use(d, t))
            continue;
        if (last) {
            xd_transport_poll(last, 0);
            timeout = xd_earlier(timeout, LONGEST_TURN);
        }
        last = t;
    }
    if (!last)
        last = d->current;
    if (last)
        xd_transport_poll(last, timeout);
}

void xd_runner_poll(struct xd_runner *d, xd_usec until)
{
    xd_usec now = xd_now();

    obey_budget(d);
    for (unsigned i = 0; i < d->config.n_slots; i++)
        until = xd_earlier(until, prepare(d, i, now));
    if (take_wakeup(d))
        until = 0;
    if (until != XD_NEVER)
        until = until > now ? until - now : 0;
    poll_transports(d, until);
}

void xd_runner_settle(struct xd_runner *d)
{
    for (unsigned i = 0; i < d->config.n_slots; i++) {
        xd_runner_stop(d, i);
        while (d->slots[i].is_busy)
            xd_runner_poll(d, 0);
    }
}

bool xd_runner_is_busy(const struct xd_runner *d, unsigned slot)
{
    return d->slots[slot].is_busy;
}

bool xd_runner_is_held(const struct xd_runner *d, unsigned slot)
{
    return d->slots[slot].is_held || d->slots[slot].waits;
}

bool xd_runner_is_connected(struct xd_runner *d, unsigned slot)
{
    const struct slot *s = &d->slots[slot];

    return s->transport && !s->waits &&
           xd_transport_is_connected(s->transport, slot);
}

bool xd_runner_way(struct xd_runner *d, unsigned slot, struct xd_way *out)
{
    const struct slot *s = &d->slots[slot];

    return s->transport && !s->waits &&
           xd_transport_way(s->transport, slot, out);
}

/* ---- creating and freeing ---- */

int xd_runner_new(struct xd_runner **out, const struct xd_runner_config *config,
                  const struct xd_runner_handler *handler, struct xd_error *err)
{
    struct xd_runner *d = xd_alloc(1, sizeof *d);

    *out = NULL;
    if (!d)
        return xd_fail_nomem(err);
    d->config = *config;
    d->handler = handler;
    d->callbacks = (struct xd_transport_handler){.user = d,
                                                 .head = on_head,
                                                 .bytes = on_bytes,
                                                 .skip = on_skip,
                                                 .end = on_end};
    d->rate = config->net ? config->net->limit_rate : 0;
    d->slots = xd_alloc(config->n_slots, sizeof *d->slots);
    if (!d->slots || xd_mutex_init(&d->lock) < 0) {
        xd_free(d->slots);
        xd_free(d);
        return xd_fail_nomem(err);
    }
    *out = d;
    return 0;
}

void xd_runner_free(struct xd_runner *d)
{
    if (!d)
        return;
    xd_runner_close(d);
    xd_mutex_fini(&d->lock);
    xd_free(d->slots);
    xd_free(d);
}
