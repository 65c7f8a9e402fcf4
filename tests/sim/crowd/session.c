/* SPDX-License-Identifier: MIT */
/*
 * A downloader in a crowd: what request.c does over packets, over flows.
 */
#include <string.h>

#include "base/alloc.h"
#include "base/line.h"
#include "world.h"
#include "sim/net.h"

/* As in request.c. */
#define CANCEL_TIME (XD_MS * 3 / 10)

/* What the driver gets as its world. */
struct session {
    struct xd_crowd_world *w;
    struct xd_crowd_guest *g;
};

static void take_event(struct xd_crowd_world *w, struct xd_crowd_guest *g,
                       struct xd_sched_event ev)
{
    g->driver.now = w->now;
    xd_driver_take_event(&g->driver, ev);
    g->is_decision_due = true;
}

/* ---- bytes ---- */

static void report_bytes(struct xd_crowd_world *w, struct xd_crowd_guest *g,
                         unsigned number)
{
    struct xd_crowd_request *q = &g->requests[number];

    if (xd_intake_report(&q->in, w->now))
        take_event(
            w, g,
            (struct xd_sched_event){.kind = XD_EV_BYTES,
                                    .fetch = number,
                                    .range = {q->range.begin, q->in.received}});
}

/* What is written is right: nothing in a crowd lies. */
static void write_new(struct xd_crowd_world *w, struct xd_crowd_guest *g,
                      struct xd_crowd_request *q,
                      const struct xd_intake_action *a)
{
    struct xd_ledger *ledger = &g->driver.ledger;

    if (a->is_missing)
        take_event(
            w, g,
            (struct xd_sched_event){.kind = XD_EV_HELD, .range = a->range});
    if (xd_intake_written(&q->in, ledger, q->depot) < 0 ||
        xd_ledger_change(ledger, XD_VERIFY, a->range) < 0)
        w->failed = true;
    take_event(
        w, g,
        (struct xd_sched_event){.kind = XD_EV_VERIFIED, .range = a->range});
}

static void flush(struct xd_crowd_world *w, struct xd_crowd_guest *g,
                  unsigned number)
{
    struct xd_crowd_request *q = &g->requests[number];
    struct xd_intake_action a;

    report_bytes(w, g, number);
    while (a = xd_intake_next(&q->in, &g->driver.ledger, true),
           a.kind != XD_INTAKE_NOTHING) {
        if (a.kind == XD_INTAKE_WRITE)
            write_new(w, g, q, &a);
        else if (a.kind == XD_INTAKE_COUNT_DUPLICATE)
            g->out->redundant += xd_range_length(a.range);
        else
            w->failed = true;
    }
}

/* ---- ends ---- */

static void end(struct xd_crowd_world *w, struct xd_crowd_guest *g,
                unsigned number, enum xd_sched_event_kind kind)
{
    struct xd_crowd_request *q = &g->requests[number];

    if (q->transfer != XD_CROWD_NONE)
        xd_crowd_drop(w, q->transfer);
    q->transfer = XD_CROWD_NONE;
    flush(w, g, number);
    q->is_live = false;
    xd_line_ended(g->driver.session.line, number);
    g->out->failures += kind == XD_EV_FAILED;
    take_event(w, g,
               (struct xd_sched_event){.kind = kind,
                                       .fetch = number,
                                       .range = {q->range.begin, q->in.flushed},
                                       .is_refusal = q->is_refused,
                                       .retry_at = q->retry_at});
}

static void fail(struct xd_crowd_world *w, struct xd_crowd_guest *g,
                 unsigned number, bool is_unanswered)
{
    struct xd_crowd_request *q = &g->requests[number];
    const struct xd_line_failure failure = {
        .is_unanswered = is_unanswered,
        .is_only = !xd_sched_has_choice(g->driver.session.sched),
        .is_depots_own = true};

    q->is_refused = !q->has_byte;
    g->is_failed[q->depot] = true;
    const bool was_line = xd_line_failed(g->driver.session.line, number,
                                         &failure, w->now, &q->retry_at);
    end(w, g, number, was_line ? XD_EV_CANCELED : XD_EV_FAILED);
}

/* ---- actions ---- */

static struct xd_crowd_request *request_of(struct xd_crowd_guest *g,
                                           unsigned fetch)
{
    const unsigned n = fetch + 16;
    struct xd_crowd_request *grown;

    if (fetch < g->n_requests)
        return &g->requests[fetch];
    grown = xd_realloc(g->requests, n, sizeof *grown);
    if (!grown)
        return NULL;
    memset(grown + g->n_requests, 0, (n - g->n_requests) * sizeof *grown);
    g->requests = grown;
    g->n_requests = n;
    return &grown[fetch];
}

/* The first by rank that has not failed. */
static unsigned owner_of(const struct xd_crowd *o,
                         const struct xd_crowd_guest *g, uint64_t byte)
{
    const unsigned chunk = (unsigned)(byte / o->chunk);

    for (unsigned i = 0; i < o->n_caches; i++)
        if (!g->is_failed[xd_crowd_rank(o, chunk, i)])
            return xd_crowd_rank(o, chunk, i);
    return XD_CROWD_NONE;
}

static void fetch(struct xd_crowd_world *w, struct xd_crowd_guest *g,
                  const struct xd_sched_action *a)
{
    struct xd_crowd_request *q = request_of(g, a->fetch);
    const struct xd_crowd_rest rest = xd_crowd_connection(w, g, a->depot);
    const struct xd_transfer asked = {.from = a->depot,
                                      .to = g->number,
                                      .tag = a->fetch,
                                      .owner =
                                          owner_of(w->o, g, a->range.begin),
                                      .offset = a->range.begin,
                                      .end = a->range.end};

    if (!q) {
        w->failed = true;
        return;
    }
    *q = (struct xd_crowd_request){
        .is_live = true,
        .is_connected = rest.window > 0,
        .depot = a->depot,
        .lane = a->lane,
        .transfer = xd_crowd_ask(w, &asked, &rest),
        .range = a->range,
        .asked_end = a->range.end,
        .connected_at = w->now + xd_crowd_rtt(w->o, g->o->host,
                                              xd_crowd_host_of(w->o, a->depot)),
        .last_byte = w->now,
        .cancel_at = XD_NEVER};
    xd_intake_begin(&q->in, a->range.begin);
    xd_line_begun(g->driver.session.line, a->fetch, a->depot, w->now);
    g->out->requests++;
}

/* What comes beyond the new end is not listened to. */
static void shorten(struct xd_crowd_world *w, struct xd_crowd_guest *g,
                    unsigned number, uint64_t to)
{
    struct xd_crowd_request *q = &g->requests[number];

    q->range.end = to > q->in.received ? to : q->in.received;
    if (q->in.received >= to)
        end(w, g, number, XD_EV_DONE);
}

static void carry_out(void *world, const struct xd_sched_action *a)
{
    const struct session *s = world;

    if (a->kind == XD_DO_FETCH)
        fetch(s->w, s->g, a);
    else if (a->kind == XD_DO_SHORTEN)
        shorten(s->w, s->g, a->fetch, a->range.end);
    else if (a->kind == XD_DO_CANCEL)
        s->g->requests[a->fetch].cancel_at = s->w->now + CANCEL_TIME;
}

/* ---- what transfers report ---- */

static void bytes(struct xd_crowd_world *w, struct xd_crowd_guest *g,
                  unsigned tag, uint64_t n)
{
    struct xd_crowd_request *q = &g->requests[tag];
    const bool is_first = !q->has_byte;

    q->last_byte = w->now;
    q->has_byte = true;
    g->is_failed[q->depot] = false;
    xd_line_received(g->driver.session.line, tag, w->now);
    if (is_first)
        take_event(
            w, g,
            (struct xd_sched_event){.kind = XD_EV_STARTED,
                                    .fetch = tag,
                                    .range = {q->range.begin, q->in.received}});
    if (n > q->range.end - q->in.received)
        n = q->range.end - q->in.received;
    if (n > 0)
        xd_intake_add(&q->in, n, w->now);
    if (q->in.received == q->range.end) {
        if (q->range.end == q->asked_end) /* ended() follows */
            return;
        end(w, g, tag, XD_EV_DONE);
    } else if (xd_range_length(xd_intake_buffered(&q->in)) >= g->buffer_bytes) {
        flush(w, g, tag);
    }
}

static void ended(struct xd_crowd_world *w, struct xd_crowd_guest *g,
                  unsigned tag, unsigned transfer, bool is_broken)
{
    (void)transfer;
    g->requests[tag].transfer = XD_CROWD_NONE;
    if (is_broken)
        fail(w, g, tag, false);
    else
        end(w, g, tag, XD_EV_DONE);
}

/* ---- time ---- */

static void look_at(struct xd_crowd_world *w, struct xd_crowd_guest *g,
                    unsigned number)
{
    struct xd_crowd_request *q = &g->requests[number];

    if (!q->is_connected && q->connected_at <= w->now &&
        (q->depot >= w->o->n_caches || !w->nodes[q->depot].is_dead)) {
        q->is_connected = true;
        take_event(w, g,
                   (struct xd_sched_event){.kind = XD_EV_CONNECTED,
                                           .depot = q->depot});
    }
    if (q->cancel_at <= w->now)
        end(w, g, number, XD_EV_CANCELED);
    else if (xd_intake_must_flush(&q->in, false, w->now))
        flush(w, g, number);
    else if (xd_intake_report_at(&q->in) <= w->now)
        report_bytes(w, g, number);
    else if (w->now >=
             q->last_byte + xd_session_silence(&g->driver.session, w->now))
        fail(w, g, number, true);
}

static void step(struct xd_crowd_world *w, struct xd_crowd_guest *g)
{
    struct session s = {w, g};

    for (unsigned i = 0; i < g->n_requests; i++)
        if (g->requests[i].is_live)
            look_at(w, g, i);
    g->driver.world = &s;
    while ((g->is_decision_due || g->until <= w->now) && !g->driver.is_over) {
        g->is_decision_due = false;
        g->driver.now = w->now;
        g->until = xd_driver_act(&g->driver);
        w->out->n_decisions++;
        if (g->until <= w->now)
            g->until = w->now + 1;
    }
    g->driver.world = NULL; /* which ends here */
    g->out->broken = g->driver.broken;
    w->failed |= g->driver.failed;
    if (g->driver.is_over)
        xd_crowd_over(w, g, g->driver.is_complete);
}

/* ---- the layout ---- */

/* What the cache holds for clients: its chunks, those that touch as one. */
static size_t held_by(const struct xd_crowd *o, unsigned cache,
                      struct xd_range *held)
{
    const unsigned n_chunks = xd_crowd_n_chunks(o);
    size_t n = 0;

    for (unsigned i = 0; i < n_chunks; i++) {
        const struct xd_range range = xd_crowd_chunk(o, i);

        for (unsigned k = 0; k < o->copies; k++) {
            if (xd_crowd_rank(o, i, k) != cache)
                continue;
            if (n > 0 && held[n - 1].end == range.begin)
                held[n - 1].end = range.end;
            else
                held[n++] = range;
        }
    }
    return n;
}

static void cut_chunks(const struct xd_crowd *o, struct xd_layout *layout)
{
    for (unsigned i = 1; i < xd_crowd_n_chunks(o); i++)
        layout->cuts[layout->n_cuts++] = xd_crowd_chunk(o, i).begin;
}

static int begin_driver(struct xd_crowd_world *w, struct xd_crowd_guest *g)
{
    const struct xd_crowd *o = w->o;
    const size_t n_chunks = xd_crowd_n_chunks(o);
    struct xd_range whole = {0, o->size};
    struct xd_layout layout = {.size = o->size, .n_depots = o->n_caches};
    struct xd_range *held = xd_alloc(n_chunks * (o->copies + 1), sizeof *held);
    int rc = XD_E_NOMEM;

    layout.cuts = xd_alloc(n_chunks, sizeof *layout.cuts);
    layout.depots = xd_alloc(layout.n_depots + 1, sizeof *layout.depots);
    if (layout.cuts && layout.depots && held) {
        struct xd_range *at = held;

        cut_chunks(o, &layout);
        for (unsigned i = 0; i < o->n_caches; i++) {
            const size_t n = held_by(o, i, at);

            layout.depots[i] = (struct xd_holding){.held = at, .n_held = n};
            at += n;
        }
        rc = xd_driver_begin(&g->driver, &layout, &o->sched, whole);
    }
    xd_free(layout.cuts);
    xd_free(layout.depots);
    xd_free(held);
    return rc;
}

static int begin(struct xd_crowd_world *w, struct xd_crowd_guest *g)
{
    int rc;

    g->driver.carry_out = carry_out;
    g->driver.is_unchecked = !w->o->is_checked;
    g->driver.now = w->now;
    rc = begin_driver(w, g);
    if (rc < 0)
        return rc;
    const struct xd_sched_options *so =
        xd_sched_options(g->driver.session.sched);
    size_t open = so->max_open;
    if (open > w->o->n_caches + 1)
        open = w->o->n_caches + 1;
    g->buffer_bytes = xd_intake_buffer(open * so->lanes_per_depot);
    g->driver.session.silence = w->o->silence;
    g->driver.session.line = xd_line_new(so->max_open * so->lanes_per_depot,
                                         w->o->silence, so->patience);
    g->is_failed = xd_alloc(w->o->n_caches + 1, sizeof *g->is_failed);
    g->is_decision_due = true;
    return g->driver.session.line && g->is_failed ? 0 : XD_E_NOMEM;
}

static void fini(struct xd_crowd_guest *g)
{
    xd_driver_fini(&g->driver);
    xd_free(g->requests);
    xd_free(g->is_failed);
}

const struct xd_crowd_kind_ops xd_crowd_session_ops = {begin, step, bytes,
                                                       ended, fini};
