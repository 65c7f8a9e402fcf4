/* SPDX-License-Identifier: MIT */
#include "base/alloc.h"
#include "world.h"

/* ---- least recently used ---- */

static void unlink_chunk(struct xd_crowd_node *n, unsigned chunk)
{
    const struct xd_chunk *c = &n->chunks[chunk];

    if (c->newer == XD_CROWD_NONE)
        n->newest = c->older;
    else
        n->chunks[c->newer].older = c->older;
    if (c->older == XD_CROWD_NONE)
        n->oldest = c->newer;
    else
        n->chunks[c->older].newer = c->newer;
}

static void link_newest(struct xd_crowd_node *n, unsigned chunk)
{
    struct xd_chunk *c = &n->chunks[chunk];

    c->newer = XD_CROWD_NONE;
    c->older = n->newest;
    if (n->newest == XD_CROWD_NONE)
        n->oldest = chunk;
    else
        n->chunks[n->newest].newer = chunk;
    n->newest = chunk;
}

static void hold(struct xd_crowd_world *w, unsigned cache, unsigned chunk)
{
    struct xd_crowd_node *n = &w->nodes[cache];
    const uint64_t memory = w->o->caches[cache].memory;

    n->chunks[chunk].state = XD_CHUNK_HELD;
    n->held += xd_range_length(xd_crowd_chunk(w->o, chunk));
    link_newest(n, chunk);
    while (memory > 0 && n->held > memory) {
        const unsigned oldest = n->oldest;

        unlink_chunk(n, oldest);
        n->chunks[oldest].state = XD_CHUNK_ABSENT;
        n->held -= xd_range_length(xd_crowd_chunk(w->o, oldest));
        w->out->caches[cache].evictions++;
    }
}

/* ---- what it begins with ---- */

/* Whether a warm cache has the chunk: it is one of those that clients ask. */
static bool is_warm_with(const struct xd_crowd *o, unsigned cache,
                         unsigned chunk)
{
    const struct xd_crowd_peers *peers = &o->caches[cache].peers;

    for (unsigned i = 0; i < o->copies; i++) {
        const unsigned other = o->routing == XD_CROWD_PEERS
                                   ? xd_crowd_peer(o, peers, cache, chunk, i)
                                   : xd_crowd_rank(o, chunk, i);

        if (other == cache)
            return true;
    }
    return false;
}

int xd_crowd_cache_init(struct xd_crowd_world *w, unsigned cache)
{
    struct xd_crowd_node *n = &w->nodes[cache];
    const unsigned n_chunks = xd_crowd_n_chunks(w->o);

    n->newest = n->oldest = XD_CROWD_NONE;
    n->chunks = xd_alloc(n_chunks, sizeof *n->chunks);
    if (!n->chunks)
        return XD_E_NOMEM;
    for (unsigned i = 0; w->o->caches[cache].is_warm && i < n_chunks; i++)
        if (is_warm_with(w->o, cache, i))
            hold(w, cache, i);
    return 0;
}

void xd_crowd_cache_fini(struct xd_crowd_node *n)
{
    xd_free(n->chunks);
}

/* ---- filling ---- */

/* The cache that is asked for what this one lacks; n_caches: the origin. */
static unsigned upstream(const struct xd_crowd *o, unsigned cache,
                         const struct xd_transfer *t)
{
    const unsigned origin = (unsigned)o->n_caches;

    if (t->is_hop)
        return origin;
    if (o->routing == XD_CROWD_PEERS) {
        unsigned first =
            xd_crowd_peer(o, &o->caches[cache].peers, cache, t->name, 0);

        return first == cache ? origin : first;
    }
    if (o->hops < 2 || t->owner == cache || t->owner >= o->n_caches)
        return origin;
    return t->owner;
}

static void ask_for_chunk(struct xd_crowd_world *w, unsigned cache,
                          unsigned chunk, unsigned from)
{
    const struct xd_range range = xd_crowd_chunk(w->o, chunk);
    const struct xd_transfer q = {.is_fill = true,
                                  .is_hop = from < w->o->n_caches,
                                  .from = from,
                                  .to = cache,
                                  .tag = chunk,
                                  .owner = from,
                                  .offset = range.begin,
                                  .end = range.end};

    xd_crowd_ask(w, &q, NULL);
}

static void wait_for_lock(struct xd_crowd_world *w, struct xd_transfer *t)
{
    w->out->caches[t->from].waits += t->state == XD_TRANSFER_ASKED;
    t->state = XD_TRANSFER_LOCKED;
    t->at = w->now + w->o->lock_poll;
}

static void send_held(struct xd_crowd_world *w, struct xd_transfer *t,
                      unsigned chunk)
{
    struct xd_crowd_node *n = &w->nodes[t->from];

    w->out->caches[t->from].hits += t->state == XD_TRANSFER_ASKED;
    unlink_chunk(n, chunk);
    link_newest(n, chunk);
    t->is_whole = true;
    t->state = XD_TRANSFER_FLOWS;
}

static void begin_fill(struct xd_crowd_world *w, struct xd_transfer *t,
                       unsigned chunk)
{
    struct xd_chunk *c = &w->nodes[t->from].chunks[chunk];
    const unsigned cache = t->from;

    w->out->caches[cache].misses++;
    c->state = XD_CHUNK_FILLS;
    c->serial++;
    c->received = 0;
    t->serial = c->serial;
    t->is_whole = false;
    t->state = XD_TRANSFER_FLOWS;
    ask_for_chunk(w, cache, chunk, upstream(w->o, cache, t));
}

void xd_crowd_cache_serve(struct xd_crowd_world *w, unsigned transfer)
{
    struct xd_transfer *t = &w->transfers[transfer];
    const unsigned chunk = (unsigned)(t->offset / w->o->chunk);

    if (w->nodes[t->from].is_mute) {
        t->state = XD_TRANSFER_IS_MUTE;
        t->at = t->is_fill ? w->now + w->o->upstream_silence : XD_NEVER;
        return;
    }
    switch (w->nodes[t->from].chunks[chunk].state) {
    case XD_CHUNK_HELD:
        send_held(w, t, chunk);
        break;
    case XD_CHUNK_FILLS:
        wait_for_lock(w, t);
        break;
    case XD_CHUNK_ABSENT:
        begin_fill(w, t, chunk);
        break;
    }
}

/* A chunk that was evicted, or is filled anew, was there when it began. */
uint64_t xd_crowd_cache_has(const struct xd_crowd_world *w,
                            const struct xd_transfer *t)
{
    const unsigned chunk = (unsigned)(t->offset / w->o->chunk);
    const struct xd_chunk *c = &w->nodes[t->from].chunks[chunk];
    const struct xd_range range = xd_crowd_chunk(w->o, chunk);
    uint64_t until = range.end < t->end ? range.end : t->end;

    if (t->is_whole || c->serial != t->serial || c->state != XD_CHUNK_FILLS)
        return until;
    until =
        range.begin + c->received < until ? range.begin + c->received : until;
    return until > t->offset ? until : t->offset;
}

void xd_crowd_cache_bytes(struct xd_crowd_world *w, const struct xd_transfer *t,
                          uint64_t n)
{
    w->nodes[t->to].chunks[t->tag].received += n;
}

void xd_crowd_cache_filled(struct xd_crowd_world *w,
                           const struct xd_transfer *t)
{
    hold(w, t->to, t->tag);
}

/* The origin is asked in place of an owner that has said nothing; an answer that
 * has broken off is not continued. */
void xd_crowd_cache_failed(struct xd_crowd_world *w,
                           const struct xd_transfer *t)
{
    struct xd_chunk *c = &w->nodes[t->to].chunks[t->tag];

    if (t->is_hop && c->received == 0) {
        ask_for_chunk(w, t->to, t->tag, (unsigned)w->o->n_caches);
        return;
    }
    c->state = XD_CHUNK_ABSENT;
    xd_crowd_break_chunk(w, t->to, t->tag);
}

void xd_crowd_cache_dies(struct xd_crowd_world *w, unsigned cache)
{
    w->nodes[cache].is_dead = true;
    xd_crowd_break_off(w, cache);
}
