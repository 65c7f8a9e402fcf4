/* SPDX-License-Identifier: MIT */
/* One connection that asks for the whole file, and goes on where it broke off. */
#include "world.h"

static void ask(struct xd_crowd_world *w, struct xd_crowd_guest *g)
{
    const struct xd_transfer q = {.from = g->o->server,
                                  .to = g->number,
                                  .owner = XD_CROWD_NONE,
                                  .offset = g->received,
                                  .end = w->o->size};

    g->transfer = xd_crowd_ask(w, &q, NULL);
    g->out->requests++;
}

static int begin(struct xd_crowd_world *w, struct xd_crowd_guest *g)
{
    ask(w, g);
    return g->transfer == XD_CROWD_NONE ? XD_E_NOMEM : 0;
}

static void step(struct xd_crowd_world *w, struct xd_crowd_guest *g)
{
    (void)w, (void)g;
}

static void bytes(struct xd_crowd_world *w, struct xd_crowd_guest *g,
                  unsigned tag, uint64_t n)
{
    (void)w, (void)tag;
    g->received += n;
}

static void ended(struct xd_crowd_world *w, struct xd_crowd_guest *g,
                  unsigned tag, unsigned transfer, bool is_broken)
{
    (void)tag, (void)transfer;
    g->out->failures += is_broken;
    if (is_broken && g->out->failures <= w->o->sched.max_failures)
        ask(w, g);
    else
        xd_crowd_over(w, g, !is_broken);
}

static void fini(struct xd_crowd_guest *g)
{
    (void)g;
}

const struct xd_crowd_kind_ops xd_crowd_plain_ops = {begin, step, bytes, ended,
                                                     fini};
