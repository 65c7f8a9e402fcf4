/* SPDX-License-Identifier: MIT */
#include "transfer/runner.h"

#include "base/alloc.h"
#include "base/check.h"
#include "base/error.h"
#include "io/net_options.h"
#include "os/clock.h"
#include "os/thread.h"
#include "transfer/budget.h"

/* While several transports are in use, none is waited for longer. */
#define LONGEST_TURN (5 * XD_MS)

/* Between two attempts: doubled by each of the first failures. */
#define FIRST_PAUSE (XD_SECOND / 4)
#define LONGEST_PAUSE (30 * XD_SECOND)
#define DOUBLINGS 7

/* Of what is sent under a bound, so much is paid for at a time. */
#define PAID_STEP ((size_t)16 << 10)

/* One request.  Its slot is that of its transport, too. */
struct slot {
    struct xd_request request;      /* what is left of it at the last start */
    struct xd_sending sending;      /* that of the request, paid for */
    struct xd_transport *transport; /* of the last request */
    bool is_busy;
    bool is_cut;     /* the rest is asked for by the next poll() */
    bool is_stopped; /* while is_cut */
    bool is_shortened;
    bool has_less;           /* than `request`: of that it is the beginning */
    bool is_held;            /* back by us, */
    size_t held_bytes;       /* for want of room for these, */
    xd_usec held_until;      /* or until they are paid for */
    size_t prepaid;          /* so many are paid for, and have not been taken */
    uint64_t received;       /* of request.length */
    uint64_t object_size;    /* as its head says */
    xd_usec started, waited; /* until that came */
};

struct xd_runner {
    /* Constant after new(). */
    struct xd_runner_config config;
    const struct xd_runner_handler *handler;
    struct xd_transport_handler callbacks;
    struct slot *slots;

    /* Owned by the thread. */
    struct xd_transport *current; /* polled while nothing is in flight */
    uint64_t rate;                /* of the budget, that transports know */

    struct xd_mutex lock; /* a leaf: between wakeup() and what is open */

    /* Written by the thread under lock. */
    struct xd_transport *transports[XD_KINDS_MOST]; /* by kind */
    bool is_woken; /* guarded by lock: before any was open */
};

static const struct xd_registry *registry_of(const struct xd_runner *d)
{
    return d->config.registry ? d->config.registry : xd_registry();
}

/* ---- what transports report ---- */

static int on_head(void *user, unsigned slot, const struct xd_head *head)
{
    struct xd_runner *d = user;

    struct slot *s = &d->slots[slot];

    s->object_size = head->object_size;
    if (s->waited == 0)
        s->waited = xd_now() - s->started;
    return d->handler->head(d->handler->user, slot, head);
}

static void report_hold(const struct xd_runner *d, unsigned slot, bool is_held)
{
    if (d->handler->hold)
        d->handler->hold(d->handler->user, slot, is_held);
}

/* To be given the same bytes again when there may be room for them. */
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
 * When `len` bytes may be taken.  Bytes that were held back come again, and are
 * paid for already; others may have joined them.
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
    /* What has waited does not wait again for what was added. */
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

    return at > now ? hold(d, slot, 0, at) : 0;
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
    return s->is_shortened && s->received == s->request.length ? XD_E_CANCELED
                                                               : 0;
}

/* Bytes that are sent are paid for as bytes that come are; those that were not
 * sent at once are paid for again. */
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
    return sends->read(sends->user, slot, at, to, len);
}

static void end(struct xd_runner *d, unsigned slot,
                const struct xd_outcome *outcome)
{
    struct slot *s = &d->slots[slot];

    if (s->prepaid > 0)
        xd_budget_refund(d->config.budget, s->prepaid);
    s->prepaid = 0;
    s->is_busy = s->is_cut = s->is_held = false;
    d->handler->end(d->handler->user, slot, outcome);
}

/* End a request of which its transport says nothing more. */
static void end_unasked(struct xd_runner *d, unsigned slot,
                        enum xd_verdict verdict, const struct xd_error *error)
{
    struct xd_outcome outcome = {.verdict = verdict,
                                 .error = *error,
                                 .object_size = d->slots[slot].object_size};

    end(d, slot, &outcome);
}

static void on_end(void *user, unsigned slot, const struct xd_outcome *outcome)
{
    struct xd_runner *d = user;
    struct slot *s = &d->slots[slot];

    if (d->config.asks_for_rest &&
        (outcome->is_cut ||
         (s->has_less && outcome->verdict == XD_VERDICT_OK)) &&
        s->received < s->request.length) {
        s->is_cut = true;
        s->is_held = false;
    } else if (s->is_shortened && s->received >= s->request.length) {
        end_unasked(d, slot, XD_VERDICT_OK, &(struct xd_error){0});
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
        if (d->slots[i].prepaid > 0)
            xd_budget_refund(d->config.budget, d->slots[i].prepaid);
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

void xd_runner_set_silence(struct xd_runner *d, xd_usec silence)
{
    d->config.silence = silence;
    for (size_t i = 0; i < XD_KINDS_MOST; i++) {
        if (d->transports[i])
            xd_transport_set_silence(d->transports[i], silence);
    }
}

/* The rate was changed: what waits for its turn under the old one has it. */
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

int xd_runner_start(struct xd_runner *d, unsigned slot,
                    const struct xd_request *request, struct xd_error *err)
{
    struct slot *s = &d->slots[slot];
    struct xd_request asked = *request;
    const struct xd_transport_kind *kind =
        request->url->is_valid
            ? xd_registry_find(registry_of(d), request->url->scheme)
            : registry_of(d)->kinds; /* which says that it is no URL */
    int rc;

    XD_ASSERT(slot < d->config.n_slots && !s->is_busy);
    if (!kind)
        return xd_fail(err, XD_E_NOREPLICA, "no transport is for this URL");
    rc = xd_runner_open(d, kind, err);
    if (rc < 0)
        return rc;
    *s = (struct slot){.request = *request,
                       .transport = d->current,
                       .is_busy = true,
                       .started = xd_now(),
                       .object_size = XD_SIZE_UNKNOWN};
    if (asked.sends) {
        s->sending = *asked.sends;
        s->sending.read = on_read;
        s->sending.user = d;
        asked.sends = &s->sending;
    }
    rc = xd_transport_start(s->transport, slot, &asked, err);
    s->is_busy = rc == 0;
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

    return s->request.length < s->object_size ? s->request.length
                                              : s->object_size;
}

xd_usec xd_runner_waited(const struct xd_runner *d, unsigned slot)
{
    return d->slots[slot].waited;
}

void xd_runner_stop(struct xd_runner *d, unsigned slot)
{
    struct slot *s = &d->slots[slot];

    if (s->is_cut)
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

/* The depot sent less than it was asked for. */
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
    else if (xd_transport_start(s->transport, slot, &s->request, &error) < 0)
        end_unasked(d, slot, XD_VERDICT_AGAIN, &error);
}

/* What a slot has to do before bytes move.  Returns when it is to be looked at
 * again; 0: something happened. */
static xd_usec prepare(struct xd_runner *d, unsigned slot, xd_usec now)
{
    struct slot *s = &d->slots[slot];

    if (s->is_cut) {
        ask_for_rest(d, slot);
        return s->is_busy ? XD_NEVER : 0;
    }
    if (!s->is_busy || !s->is_held)
        return XD_NEVER;
    if (now < s->held_until)
        return s->held_until;
    if (s->held_bytes > 0 && !has_room(d, slot, s->held_bytes))
        return XD_NEVER; /* wakeup() is called when there is */
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

/* All but the last that is in use are only looked at. */
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
    return d->slots[slot].is_held;
}

bool xd_runner_is_connected(struct xd_runner *d, unsigned slot)
{
    const struct slot *s = &d->slots[slot];

    return s->transport && xd_transport_is_connected(s->transport, slot);
}

xd_usec xd_runner_pause(const struct xd_outcome *outcome, unsigned failures)
{
    xd_usec pause =
        failures <= DOUBLINGS ? FIRST_PAUSE << (failures - 1) : LONGEST_PAUSE;

    return pause < outcome->retry_after ? outcome->retry_after : pause;
}

/* ---- life ---- */

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
