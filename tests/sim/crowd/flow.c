/* SPDX-License-Identifier: MIT */
#include <math.h>

#include "base/alloc.h"
#include "base/array.h"
#include "world.h"
#include "sim/net.h"

/* Of each packet, what is left for the file. */
#define PAYLOAD ((double)XD_SEGMENT_BYTES / XD_PACKET_BYTES)

/* Linux's default for what a sender may have in flight (tcp_wmem). */
#define MOST_WINDOW 4194304.0

/* As in net.c, without a buffer that is written; at most twice that. */
#define THOUGHT (XD_MS / 4)

/* Two processes of one host. */
#define LOOPBACK_RTT (XD_MS / 10)
#define LOOPBACK_RATE 1e9

/* A window that is not used is halved in each such time (RFC 2861). */
#define LEAST_RTO 0.2

size_t xd_crowd_host_of(const struct xd_crowd *o, unsigned from)
{
    return from < o->n_caches ? o->caches[from].host : o->origin;
}

xd_usec xd_crowd_rtt(const struct xd_crowd *o, size_t a, size_t b)
{
    const struct xd_crowd_host *p = &o->hosts[a], *q = &o->hosts[b];
    double ms =
        p->access_ms + q->access_ms +
        sqrt((p->x - q->x) * (p->x - q->x) + (p->y - q->y) * (p->y - q->y));

    return a == b ? LOOPBACK_RTT : (xd_usec)(ms * (double)XD_MS);
}

static size_t host_to(const struct xd_crowd *o, const struct xd_transfer *t)
{
    return t->is_fill ? o->caches[t->to].host : o->clients[t->to].host;
}

/* ---- beginning and ending ---- */

static bool make_room(struct xd_crowd_world *w)
{
    size_t n = w->transfers_capacity > 0 ? 2 * w->transfers_capacity : 64;
    struct xd_transfer *transfers =
        xd_realloc(w->transfers, n, sizeof *transfers);

    if (transfers)
        w->transfers = transfers;
    unsigned *lists[] = {w->free_transfers, w->live, w->flowing, w->order};
    bool has_all = transfers != NULL;
    for (unsigned i = 0; i < 4; i++) {
        unsigned *grown = xd_realloc(lists[i], n, sizeof *grown);

        has_all &= grown != NULL;
        lists[i] = grown ? grown : lists[i];
    }
    w->free_transfers = lists[0];
    w->live = lists[1];
    w->flowing = lists[2];
    w->order = lists[3];
    struct xd_share_flow *flows = xd_realloc(w->flows, n, sizeof *flows);
    if (flows)
        w->flows = flows;
    if (!has_all || !flows)
        return false;
    w->transfers_capacity = n;
    return true;
}

static unsigned new_transfer(struct xd_crowd_world *w)
{
    if (w->n_free > 0)
        return w->free_transfers[--w->n_free];
    if (w->n_transfers == w->transfers_capacity && !make_room(w)) {
        w->failed = true;
        return XD_CROWD_NONE;
    }
    return w->n_transfers++;
}

/* Nothing refers to it any longer; its number is free after the step. */
static void release(struct xd_crowd_world *w, struct xd_transfer *t)
{
    w->n_origin -= t->state == XD_TRANSFER_FLOWS && t->from == w->o->n_caches;
    t->state = XD_TRANSFER_FREE;
}

static xd_usec thought(struct xd_crowd_world *w, const struct xd_transfer *t)
{
    uint64_t none = w->n_transfers;
    uint64_t *random = t->is_fill ? &none : &w->guests[t->to].random;

    return THOUGHT + (xd_usec)(xd_sim_uniform(random) * (double)THOUGHT);
}

unsigned xd_crowd_ask(struct xd_crowd_world *w, const struct xd_transfer *q,
                      const struct xd_crowd_rest *connection)
{
    const bool is_new = !connection || connection->window <= 0;
    const size_t from = xd_crowd_host_of(w->o, q->from), to = host_to(w->o, q);
    const xd_usec rtt = xd_crowd_rtt(w->o, from, to);
    const unsigned number = new_transfer(w);

    if (number == XD_CROWD_NONE)
        return number;
    struct xd_transfer *t = &w->transfers[number];
    *t = *q;
    t->state = XD_TRANSFER_ASKED;
    t->at = w->now + (is_new ? 2 : 1) * rtt + thought(w, q);
    t->rtt = (double)rtt / (double)XD_SECOND;
    t->window =
        is_new ? XD_FIRST_WINDOW * XD_SEGMENT_BYTES : connection->window;
    t->flow = (struct xd_share_flow){.n_lines = 0};
    if (from != to) {
        t->flow.lines[0] = 2 * (unsigned)from;
        t->flow.lines[1] = 2 * (unsigned)to + 1;
        t->flow.n_lines = 2;
    }
    w->live[w->n_live++] = number;
    w->out->n_flows++;
    return number;
}

void xd_crowd_drop(struct xd_crowd_world *w, unsigned transfer)
{
    release(w, &w->transfers[transfer]);
}

static void break_off(struct xd_crowd_world *w, unsigned number)
{
    const struct xd_transfer t = w->transfers[number];
    struct xd_crowd_guest *g;

    release(w, &w->transfers[number]);
    if (t.is_fill) {
        xd_crowd_cache_failed(w, &t);
        return;
    }
    g = &w->guests[t.to];
    xd_crowd_ops(g)->ended(w, g, t.tag, number, true);
}

void xd_crowd_break_off(struct xd_crowd_world *w, unsigned cache)
{
    const unsigned n = w->n_live;

    for (unsigned i = 0; i < n; i++) {
        struct xd_transfer *t = &w->transfers[w->live[i]];

        if (t->state == XD_TRANSFER_FREE)
            continue;
        if (t->is_fill && t->to == cache)
            release(w, t);
        else if (t->from == cache && t->state != XD_TRANSFER_ASKED)
            break_off(w, w->live[i]);
    }
}

void xd_crowd_break_chunk(struct xd_crowd_world *w, unsigned cache,
                          unsigned chunk)
{
    const unsigned n = w->n_live;

    for (unsigned i = 0; i < n; i++) {
        const struct xd_transfer *t = &w->transfers[w->live[i]];

        if (t->state == XD_TRANSFER_FLOWS && t->from == cache && !t->is_whole &&
            t->offset / w->o->chunk == chunk)
            break_off(w, w->live[i]);
    }
}

/* ---- connections of clients ---- */

struct xd_crowd_rest xd_crowd_connection(struct xd_crowd_world *w,
                                         struct xd_crowd_guest *g,
                                         unsigned from)
{
    const double rtt =
        (double)xd_crowd_rtt(w->o, g->o->host, xd_crowd_host_of(w->o, from)) /
        (double)XD_SECOND;

    for (size_t i = 0; i < g->n_rests; i++) {
        struct xd_crowd_rest rest = g->rests[i];
        double idle = (double)(w->now - rest.since) / (double)XD_SECOND;

        if (rest.from != from)
            continue;
        g->rests[i] = g->rests[--g->n_rests];
        rest.window *= exp2(-floor(idle / (rtt + LEAST_RTO)));
        rest.window = fmax(rest.window, XD_FIRST_WINDOW * XD_SEGMENT_BYTES);
        return rest;
    }
    return (struct xd_crowd_rest){.from = from};
}

void xd_crowd_keep(struct xd_crowd_world *w, struct xd_crowd_guest *g,
                   const struct xd_transfer *t)
{
    struct xd_crowd_rest *rests =
        g->n_rests < g->rests_capacity
            ? g->rests
            : xd_grow(g->rests, g->n_rests, &g->rests_capacity, sizeof *rests);

    if (!rests) {
        w->failed = true;
        return;
    }
    g->rests = rests;
    g->rests[g->n_rests++] = (struct xd_crowd_rest){t->from, t->window, w->now};
}

/* ---- a step ---- */

/* It has reached the origin, or a cache. */
static void reach(struct xd_crowd_world *w, unsigned number)
{
    struct xd_transfer *t = &w->transfers[number];

    if (t->from < w->o->n_caches) {
        if (w->nodes[t->from].is_dead)
            break_off(w, number);
        else
            xd_crowd_cache_serve(w, number);
        return;
    }
    t->state = XD_TRANSFER_FLOWS;
    w->out->origin_requests++;
    if (t->is_fill)
        w->out->origin_chunks[t->tag]++;
    if (++w->n_origin > w->out->origin_most)
        w->out->origin_most = w->n_origin;
}

static void look_at(struct xd_crowd_world *w, unsigned number)
{
    const struct xd_transfer *t = &w->transfers[number];

    if (t->state == XD_TRANSFER_FREE || t->state == XD_TRANSFER_FLOWS ||
        t->at > w->now)
        return;
    if (t->state == XD_TRANSFER_IS_MUTE)
        break_off(w, number);
    else
        reach(w, number);
}

static uint64_t has_until(const struct xd_crowd_world *w,
                          const struct xd_transfer *t)
{
    return t->from < w->o->n_caches ? xd_crowd_cache_has(w, t) : t->end;
}

/* Its first line says how much may come in this step. */
static void collect(struct xd_crowd_world *w, double seconds)
{
    w->n_flowing = 0;
    for (unsigned i = 0; i < w->n_live; i++) {
        struct xd_transfer *t = &w->transfers[w->live[i]];

        if (t->state != XD_TRANSFER_FLOWS)
            continue;
        const uint64_t there = has_until(w, t) - t->offset;
        if (there == 0)
            continue;
        struct xd_share_flow *f = &w->flows[w->n_flowing];
        *f = t->flow;
        f->cap = fmin(t->flow.n_lines > 0 ? t->window / t->rtt : LOOPBACK_RATE,
                      ((double)there - t->part) / seconds);
        w->flowing[w->n_flowing++] = w->live[i];
    }
}

/* A window grows only where it is what bounds the flow. */
static void grow(struct xd_transfer *t, double rate, double bytes)
{
    if (rate >= 0.999 * t->window / t->rtt)
        t->window = fmin(t->window + bytes, MOST_WINDOW);
}

/* How many whole bytes come. */
static uint64_t move(const struct xd_crowd_world *w, struct xd_transfer *t,
                     double rate, double seconds)
{
    const double left = (double)(has_until(w, t) - t->offset);
    double bytes = t->part + rate * seconds;

    grow(t, rate, rate * seconds);
    if (bytes > left - 0.5)
        bytes = left;
    const uint64_t n = (uint64_t)bytes;
    t->part = bytes - (double)n;
    t->offset += n;
    return n;
}

static void count(struct xd_crowd_world *w, const struct xd_transfer *t,
                  uint64_t n)
{
    if (t->from == w->o->n_caches)
        w->out->origin_bytes += n;
    else
        w->out->caches[t->from].out += n;
    if (!t->is_fill)
        return;
    w->out->caches[t->to].in += n;
    if (t->is_hop)
        w->out->hop_bytes += n;
}

static void finish(struct xd_crowd_world *w, unsigned number)
{
    const struct xd_transfer t = w->transfers[number];
    struct xd_crowd_guest *g;

    release(w, &w->transfers[number]);
    if (t.is_fill) {
        xd_crowd_cache_filled(w, &t);
        return;
    }
    g = &w->guests[t.to];
    xd_crowd_keep(w, g, &t);
    xd_crowd_ops(g)->ended(w, g, t.tag, number, false);
}

static void advance(struct xd_crowd_world *w, unsigned number, double rate,
                    double seconds)
{
    struct xd_transfer *t = &w->transfers[number];

    if (t->state != XD_TRANSFER_FLOWS) /* dropped in this step */
        return;
    const uint64_t n = move(w, t, rate, seconds);
    if (n == 0)
        return;
    count(w, t, n);
    if (t->is_fill) {
        xd_crowd_cache_bytes(w, t, n);
    } else {
        struct xd_crowd_guest *g = &w->guests[t->to];

        g->out->received += n;
        xd_crowd_ops(g)->bytes(w, g, t->tag, n);
    }
    t = &w->transfers[number];
    if (t->state != XD_TRANSFER_FLOWS)
        return;
    if (t->offset == t->end)
        finish(w, number);
    else if (t->from < w->o->n_caches && t->offset % w->o->chunk == 0)
        t->state = XD_TRANSFER_ASKED; /* the next chunk */
}

static void forget(struct xd_crowd_world *w)
{
    unsigned n = 0;

    for (unsigned i = 0; i < w->n_live; i++) {
        const unsigned number = w->live[i];

        if (w->transfers[number].state == XD_TRANSFER_FREE)
            w->free_transfers[w->n_free++] = number;
        else
            w->live[n++] = number;
    }
    w->n_live = n;
}

void xd_crowd_flow(struct xd_crowd_world *w)
{
    const double seconds = (double)w->o->step / (double)XD_SECOND;

    for (unsigned i = 0; i < w->n_live && !w->failed; i++)
        look_at(w, w->live[i]);
    collect(w, seconds);
    xd_share(w->lines, 2 * (unsigned)w->o->n_hosts, w->flows, w->order,
             w->n_flowing);
    for (unsigned i = 0; i < w->n_flowing && !w->failed; i++)
        advance(w, w->flowing[i], w->flows[i].rate, seconds);
    forget(w);
}
