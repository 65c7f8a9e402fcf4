/* SPDX-License-Identifier: MIT */
#include "crowd.h"

#include "base/alloc.h"
#include "world.h"
#include "sim/net.h"

unsigned xd_crowd_n_chunks(const struct xd_crowd *o)
{
    return (unsigned)((o->size + o->chunk - 1) / o->chunk);
}

struct xd_range xd_crowd_chunk(const struct xd_crowd *o, unsigned chunk)
{
    const uint64_t begin = chunk * o->chunk, end = begin + o->chunk;

    return (struct xd_range){begin, end < o->size ? end : o->size};
}

unsigned xd_crowd_peer(const struct xd_crowd *o,
                       const struct xd_crowd_peers *peers, unsigned self,
                       unsigned chunk, unsigned i)
{
    for (unsigned k = 0; k < o->n_caches; k++) {
        const unsigned cache = xd_crowd_rank(o, chunk, k);

        if ((cache == self || (peers->has && peers->has[cache])) && i-- == 0)
            return cache;
    }
    return self;
}

const struct xd_crowd_kind_ops *xd_crowd_ops(const struct xd_crowd_guest *g)
{
    switch (g->o->kind) {
    case XD_CROWD_SESSION:
        return &xd_crowd_session_ops;
    case XD_CROWD_WINDOW:
        return &xd_crowd_window_ops;
    case XD_CROWD_PLAIN:
        break;
    }
    return &xd_crowd_plain_ops;
}

void xd_crowd_over(struct xd_crowd_world *w, struct xd_crowd_guest *g,
                   bool is_complete)
{
    if (g->is_over)
        return;
    g->is_over = true;
    g->out->is_complete = is_complete;
    if (is_complete)
        g->out->took = w->now - g->out->arrived;
}

/* ---- time ---- */

static void fall_mute(struct xd_crowd_world *w, unsigned cache)
{
    w->nodes[cache].is_mute = true;
    for (unsigned i = 0; i < w->n_live; i++) {
        struct xd_transfer *t = &w->transfers[w->live[i]];

        if (t->from != cache ||
            (t->state != XD_TRANSFER_FLOWS && t->state != XD_TRANSFER_LOCKED))
            continue;
        t->state = XD_TRANSFER_IS_MUTE;
        t->at = t->is_fill ? w->now + w->o->upstream_silence : XD_NEVER;
    }
}

/* Packets have headers. */
static double payload(double rate)
{
    return rate * (double)XD_SEGMENT_BYTES / XD_PACKET_BYTES;
}

static void change(struct xd_crowd_world *w, const struct xd_crowd_change *c)
{
    switch (c->kind) {
    case XD_CROWD_RATE:
        w->lines[2 * c->number].rate = payload(c->rate);
        w->lines[2 * c->number + 1].rate = payload(c->rate);
        break;
    case XD_CROWD_DIES:
        xd_crowd_cache_dies(w, (unsigned)c->number);
        break;
    case XD_CROWD_IS_MUTE:
        fall_mute(w, (unsigned)c->number);
        break;
    }
}

static void arrive(struct xd_crowd_world *w, struct xd_crowd_guest *g)
{
    g->has_arrived = true;
    g->out->arrived = w->now;
    w->failed |= xd_crowd_ops(g)->begin(w, g) < 0;
}

/* What a client has is not needed once it is over. */
static void leave(struct xd_crowd_world *w, struct xd_crowd_guest *g)
{
    for (unsigned i = 0; i < w->n_live; i++) {
        struct xd_transfer *t = &w->transfers[w->live[i]];

        if (!t->is_fill && t->to == g->number && t->state != XD_TRANSFER_FREE)
            xd_crowd_drop(w, w->live[i]);
    }
    xd_crowd_ops(g)->fini(g);
    xd_free(g->rests);
    g->has_left = true;
}

/* Returns how many clients are left. */
static unsigned step(struct xd_crowd_world *w)
{
    const struct xd_crowd *o = w->o;
    unsigned left = 0;

    for (; w->next_change < o->n_changes &&
           o->changes[w->next_change].at <= w->now;
         w->next_change++)
        change(w, &o->changes[w->next_change]);
    xd_crowd_flow(w);
    for (size_t i = 0; i < o->n_clients && !w->failed; i++) {
        struct xd_crowd_guest *g = &w->guests[i];

        if (!g->has_arrived && g->o->arrives <= w->now)
            arrive(w, g);
        if (g->has_arrived && !g->is_over)
            xd_crowd_ops(g)->step(w, g);
        if (g->is_over && !g->has_left)
            leave(w, g);
        left += !g->is_over;
    }
    w->out->n_steps++;
    return left;
}

/* ---- beginning and end ---- */

static int make_results(const struct xd_crowd *o, struct xd_crowd_result *out)
{
    *out = (struct xd_crowd_result){.n_clients = o->n_clients,
                                    .n_caches = o->n_caches,
                                    .n_chunks = xd_crowd_n_chunks(o)};
    out->clients = xd_alloc(o->n_clients, sizeof *out->clients);
    out->caches = xd_alloc(o->n_caches + 1, sizeof *out->caches);
    out->origin_chunks = xd_alloc(out->n_chunks, sizeof *out->origin_chunks);
    for (size_t i = 0; out->clients && i < o->n_clients; i++)
        out->clients[i].took = XD_NEVER;
    return out->clients && out->caches && out->origin_chunks ? 0 : XD_E_NOMEM;
}

static int begin(struct xd_crowd_world *w)
{
    const struct xd_crowd *o = w->o;
    uint64_t random = o->seed;
    int rc = 0;

    w->lines = xd_alloc(2 * o->n_hosts, sizeof *w->lines);
    w->nodes = xd_alloc(o->n_caches + 1, sizeof *w->nodes);
    w->guests = xd_alloc(o->n_clients, sizeof *w->guests);
    if (!w->lines || !w->nodes || !w->guests)
        return XD_E_NOMEM;
    for (size_t i = 0; i < o->n_hosts; i++) {
        w->lines[2 * i].rate = payload(o->hosts[i].up);
        w->lines[2 * i + 1].rate = payload(o->hosts[i].down);
    }
    for (size_t i = 0; i < o->n_clients; i++)
        w->guests[i] =
            (struct xd_crowd_guest){.o = &o->clients[i],
                                    .out = &w->out->clients[i],
                                    .number = (unsigned)i,
                                    .random = xd_sim_random(&random)};
    for (unsigned i = 0; rc == 0 && i < o->n_caches; i++)
        rc = xd_crowd_cache_init(w, i);
    return rc;
}

static void end(struct xd_crowd_world *w)
{
    for (size_t i = 0; w->guests && i < w->o->n_clients; i++) {
        struct xd_crowd_guest *g = &w->guests[i];

        if (!g->has_arrived || g->has_left)
            continue;
        xd_crowd_ops(g)->fini(g);
        xd_free(g->rests);
    }
    for (size_t i = 0; w->nodes && i < w->o->n_caches; i++)
        xd_crowd_cache_fini(&w->nodes[i]);
    xd_free(w->lines);
    xd_free(w->nodes);
    xd_free(w->guests);
    xd_free(w->transfers);
    xd_free(w->free_transfers);
    xd_free(w->live);
    xd_free(w->flows);
    xd_free(w->flowing);
    xd_free(w->order);
}

int xd_crowd_run(const struct xd_crowd *o, struct xd_crowd_result *out)
{
    struct xd_crowd_world w = {.o = o, .out = out};
    int rc = make_results(o, out);

    if (rc == 0)
        rc = begin(&w);
    while (rc == 0 && !w.failed && step(&w) > 0 && w.now < o->most_time)
        w.now += o->step;
    out->took = w.now;
    end(&w);
    return w.failed ? XD_E_NOMEM : rc;
}

void xd_crowd_result_fini(struct xd_crowd_result *r)
{
    xd_free(r->clients);
    xd_free(r->caches);
    xd_free(r->origin_chunks);
    *r = (struct xd_crowd_result){.n_clients = 0};
}
