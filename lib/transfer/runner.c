/* SPDX-License-Identifier: MIT */
#include "transfer/runner.h"

#include "base/alloc.h"
#include "base/check.h"
#include "base/error.h"
#include "io/net_options.h"
#include "os/clock.h"
#include "os/thread.h"
#include "transfer/budget.h"
#include "transfer/hosts.h"
#include "transfer/runner_slots.h"

/* poll() can wait in only one transport, so with several in use it returns this
 * often to look at the others. */
#define LONGEST_TURN (5 * XD_MS)

/* How often a request asks the governor again while it waits for another
 * request to end.  The other may belong to another runner, which cannot wake
 * this one. */
#define ASK_EVERY (50 * XD_MS)

/* An upload counts as accepted by the host after this many bytes of the
 * body. */
#define SENT_ENOUGH ((uint64_t)256 << 10)

/* How many bytes of an upload are charged to the rate limit at a time. */
#define PAID_STEP ((size_t)16 << 10)

static const struct xd_registry *registry_of(const struct xd_runner *d)
{
    return d->config.registry ? d->config.registry : xd_registry();
}

/* ---- what transports report ---- */
static void note_delivered(struct xd_runner_slot *s, size_t len)
{
    s->delivered += len;
    if (s->delivered >= XD_PROGRESS_BYTES)
        xd_host_progress(s->host, &s->governed);
}

static int on_head(void *user, unsigned slot, const struct xd_head *head)
{
    struct xd_runner *d = user;
    struct xd_runner_slot *s = &d->slots[slot];

    s->object_size = head->object_size;
    s->is_whole = s->request.takes_whole && !head->is_range;
    if (head->reply) {
        s->reply_code = head->reply->code;
        s->reply_retry_after = head->reply->retry_after;
    }
    if (!xd_runner_is_refusal(s->reply_code))
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

/* Pauses the request.  The transport offers the same bytes again when the
 * request is resumed. */
static int hold(struct xd_runner *d, unsigned slot, size_t len, xd_usec until)
{
    struct xd_runner_slot *s = &d->slots[slot];

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
static xd_usec pay(struct xd_runner *d, struct xd_runner_slot *s, xd_usec now,
                   size_t len)
{
    size_t rest = len > s->prepaid ? len - s->prepaid : 0;
    xd_usec wait = 0;

    if (!d->config.budget || xd_budget_rate(d->config.budget) == 0) {
        s->prepaid = 0;
        return now;
    }
    if (rest > 0)
        wait = xd_budget_pay(d->config.budget, now, rest);
    /* Bytes that were held back before have waited long enough, even if new
     * bytes were added to them. */
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
    struct xd_runner_slot *s = &d->slots[slot];
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
        struct xd_runner_slot *s = &d->slots[i];

        if (s->prepaid > 0)
            xd_budget_refund(d->config.budget, s->prepaid);
        (void)xd_host_end(s->host, &s->governed, XD_GOVERNED_NEUTRAL, 0, 0,
                          xd_now());
        xd_host_release(s->host);
        d->slots[i] = (struct xd_runner_slot){.is_busy = false};
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
    struct xd_runner_slot *s = &d->slots[slot];
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
static xd_usec ask_host(struct xd_runner_slot *s, xd_usec now)
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
    struct xd_runner_slot *s = &d->slots[slot];

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
    struct xd_runner_slot *s = &d->slots[slot];
    struct xd_outcome outcome = {.verdict = XD_VERDICT_STOPPED,
                                 .object_size = s->object_size};
    const xd_usec pause = s->look_at > now ? s->look_at - now : 0;
    const bool is_asked = xd_host_asked_until(s->host) >= s->look_at;

    if (!s->is_stopped && s->is_given_up)
        xd_runner_give_up(s, &outcome, pause);
    else if (!s->is_stopped && xd_runner_is_too_long(d, pause, is_asked))
        xd_runner_refuse_to_wait(d, s, &outcome, pause, is_asked);
    if (s->is_stopped || outcome.verdict != XD_VERDICT_STOPPED) {
        xd_runner_end(d, slot, &outcome);
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
        xd_runner_end_unasked(d, slot, XD_VERDICT_AGAIN, &outcome.error);
    return s->is_busy ? XD_NEVER : 0;
}

int xd_runner_start(struct xd_runner *d, unsigned slot,
                    const struct xd_request *request, struct xd_error *err)
{
    struct xd_runner_slot *s = &d->slots[slot];
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
    *s = (struct xd_runner_slot){.request = *request,
                                 .transport = d->current,
                                 .host = xd_host_take(request->url),
                                 .is_busy = true,
                                 .started = xd_now(),
                                 .object_size = XD_SIZE_UNKNOWN};
    rc = start_or_wait(d, slot, err);
    if (rc < 0) {
        xd_host_release(s->host);
        *s = (struct xd_runner_slot){.is_busy = false};
    }
    return rc;
}

bool xd_runner_can_change_hands(const struct xd_runner *d, unsigned slot)
{
    const struct xd_runner_slot *s = &d->slots[slot];

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
    struct xd_runner_slot *s = &d->slots[slot];

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
    const struct xd_runner_slot *s = &d->slots[slot];

    return s->request.length < s->object_size && !s->is_whole
               ? s->request.length
               : s->object_size;
}

bool xd_runner_knows_no_ranges(const struct xd_runner *d, unsigned slot)
{
    const struct xd_runner_slot *s = &d->slots[slot];

    return s->is_whole && s->object_size != XD_SIZE_UNKNOWN &&
           s->object_size > s->request.length;
}

xd_usec xd_runner_waited(const struct xd_runner *d, unsigned slot)
{
    return d->slots[slot].waited;
}

void xd_runner_stop(struct xd_runner *d, unsigned slot)
{
    struct xd_runner_slot *s = &d->slots[slot];

    if (s->is_cut || s->waits)
        s->is_stopped = true;
    else if (s->is_busy)
        xd_transport_stop(s->transport, slot);
}

void xd_runner_resume(struct xd_runner *d, unsigned slot)
{
    struct xd_runner_slot *s = &d->slots[slot];

    if (s->is_busy && s->request.sends)
        xd_transport_resume(s->transport, slot);
}

void xd_runner_shorten(struct xd_runner *d, unsigned slot, uint64_t end)
{
    struct xd_runner_slot *s = &d->slots[slot];
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
    struct xd_runner_slot *s = &d->slots[slot];
    struct xd_error error = {0};

    s->is_cut = s->has_less = false;
    s->request.offset += s->received;
    if (s->request.length != XD_TO_END)
        s->request.length -=
            s->received < s->request.length ? s->received : s->request.length;
    s->received = 0;
    if (s->request.length == 0)
        xd_runner_end_unasked(d, slot, XD_VERDICT_OK, &error);
    else if (s->is_stopped)
        xd_runner_end_unasked(d, slot, XD_VERDICT_STOPPED, &error);
    else if (start_or_wait(d, slot, &error) < 0)
        xd_runner_end_unasked(d, slot, XD_VERDICT_AGAIN, &error);
}

/* Does what is due for a slot before poll() transfers data: requests the rest
 * of a response, asks the governor again, or resumes a paused request.  Returns
 * the time at which to call it again; 0: something has happened, so poll() must
 * not wait. */
static xd_usec prepare(struct xd_runner *d, unsigned slot, xd_usec now)
{
    struct xd_runner_slot *s = &d->slots[slot];

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
    const struct xd_runner_slot *s = &d->slots[slot];

    return s->transport && !s->waits &&
           xd_transport_is_connected(s->transport, slot);
}

bool xd_runner_way(struct xd_runner *d, unsigned slot, struct xd_way *out)
{
    const struct xd_runner_slot *s = &d->slots[slot];

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
                                                 .end = xd_runner_on_end};
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
