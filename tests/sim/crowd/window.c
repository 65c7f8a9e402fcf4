/* SPDX-License-Identifier: MIT */
/*
 * The agent of CoBlitz, as sections 3.3 and 5.5 of its paper have it: chunks in
 * the order of the file, so many at a time as its window says; a chunk that is
 * late is asked for once more, of another cache, and at most two requests for it
 * are under way.  The window grows by 1/log(window) with each chunk that takes
 * less than the mean time, and shrinks by one with each whose first request was
 * not the one that delivered it.
 *
 * What the paper does not say: it begins with a window of one chunk, means are
 * moving ones (1/8, and 1/4 for deviations, as TCP has them), the logarithm is
 * natural and at least 1.
 */
#include <math.h>

#include "base/alloc.h"
#include "world.h"
#include "sim/net.h"

#define MOST_WINDOW 60.0
#define FIRST_DEADLINE (3 * XD_SECOND)
#define LATEST_DEADLINE (10 * XD_SECOND)
#define LEAST_DEADLINE (XD_SECOND / 10)
#define LN2 0.6931471805599453

static double most_of(const struct xd_crowd *o)
{
    return o->window.most > 0 ? o->window.most : MOST_WINDOW;
}

static double log_of(double x)
{
    return fmax(1, log2(x) * LN2);
}

/* ---- which cache it asks ---- */

/* The `i`th by rank of those that live: dead ones leave the list of peers. */
static unsigned candidate(const struct xd_crowd_world *w,
                          const struct xd_crowd_guest *g, unsigned chunk,
                          unsigned i)
{
    const struct xd_crowd_peers *peers = &g->o->peers;
    unsigned cache = XD_CROWD_NONE;

    for (unsigned k = 0; k < w->o->n_caches; k++) {
        const unsigned c = xd_crowd_rank(w->o, chunk, k);

        if (w->nodes[c].is_dead || (peers->has && !peers->has[c]))
            continue;
        cache = c;
        if (i-- == 0)
            break;
    }
    return cache;
}

/* A chunk is asked for by another name from the second retry on, so that other
 * caches are in charge of it.  One that has it by its first name serves it here,
 * which is more than CoBlitz did. */
static unsigned name_of(const struct xd_crowd_world *w,
                        const struct xd_crowd_try *t)
{
    if (w->o->routing != XD_CROWD_PEERS || t->n_ever < 2)
        return t->chunk;
    return (unsigned)((t->chunk + 7919 * (size_t)t->n_ever) % w->out->n_chunks);
}

static unsigned choose(struct xd_crowd_world *w, struct xd_crowd_guest *g,
                       const struct xd_crowd_try *t)
{
    const unsigned name = name_of(w, t);
    const unsigned n =
        w->o->window.replicas > 0 ? w->o->window.replicas : w->o->copies;
    const unsigned i = (unsigned)(xd_sim_random(&g->random) % n);
    unsigned cache = candidate(w, g, name, i);

    if (t->n_ever > 0 && cache == t->last_from)
        cache = candidate(w, g, name, i + 1);
    return cache;
}

/* ---- requests ---- */

static xd_usec latest(const struct xd_crowd *o)
{
    return o->window.latest > 0 ? o->window.latest : LATEST_DEADLINE;
}

static xd_usec pause_of(const struct xd_crowd *o,
                        const struct xd_crowd_guest *g)
{
    double seconds = g->mean + o->window.deadline_devs * g->deviation;
    xd_usec pause = (xd_usec)(seconds * (double)XD_SECOND);

    if (g->n_timed == 0)
        pause = FIRST_DEADLINE;
    if (pause < LEAST_DEADLINE)
        pause = LEAST_DEADLINE;
    return xd_earlier(pause, latest(o));
}

static void ask(struct xd_crowd_world *w, struct xd_crowd_guest *g,
                unsigned number)
{
    struct xd_crowd_try *t = &g->tries[number];
    const struct xd_range range = xd_crowd_chunk(w->o, t->chunk);
    const unsigned from = choose(w, g, t);
    const struct xd_crowd_rest rest = xd_crowd_connection(w, g, from);
    const struct xd_transfer q = {.from = from,
                                  .to = g->number,
                                  .tag = number,
                                  .owner = candidate(w, g, t->chunk, 0),
                                  .name = name_of(w, t),
                                  .offset = range.begin,
                                  .end = range.end};

    t->last_from = from;
    t->transfers[1] = xd_crowd_ask(w, &q, &rest);
    if (t->n_ever++ == 0)
        t->first = t->transfers[1];
    t->deadline = w->now + t->pause;
    t->pause = xd_earlier(2 * t->pause, latest(w->o));
    g->out->requests++;
}

static void miss(const struct xd_crowd *o, struct xd_crowd_guest *g,
                 struct xd_crowd_try *t)
{
    if (!t->has_missed && !o->window.is_fixed)
        g->window = fmax(1, g->window - 1);
    t->has_missed = true;
}

/* The older of two makes place. */
static void ask_again(struct xd_crowd_world *w, struct xd_crowd_guest *g,
                      unsigned number)
{
    struct xd_crowd_try *t = &g->tries[number];

    if (t->transfers[0] != XD_CROWD_NONE) {
        xd_crowd_drop(w, t->transfers[0]);
        miss(w->o, g, t);
    }
    t->transfers[0] = t->transfers[1];
    g->out->retries++;
    ask(w, g, number);
}

static bool may_begin(const struct xd_crowd_world *w,
                      const struct xd_crowd_guest *g)
{
    return g->next_chunk < w->out->n_chunks && g->n_live + 1 <= g->window &&
           (!w->o->window.is_in_order ||
            g->next_chunk < g->first_missing + (unsigned)most_of(w->o));
}

static void begin_chunk(struct xd_crowd_world *w, struct xd_crowd_guest *g)
{
    unsigned number = 0;

    while (g->tries[number].is_live)
        number++;
    g->tries[number] =
        (struct xd_crowd_try){.is_live = true,
                              .chunk = g->next_chunk++,
                              .transfers = {XD_CROWD_NONE, XD_CROWD_NONE},
                              .began = w->now,
                              .pause = pause_of(w->o, g)};
    g->n_live++;
    ask(w, g, number);
}

static void step(struct xd_crowd_world *w, struct xd_crowd_guest *g)
{
    for (unsigned i = 0; i < g->n_tries; i++)
        if (g->tries[i].is_live && g->tries[i].deadline <= w->now &&
            g->n_live <= g->window)
            ask_again(w, g, i);
    while (!w->failed && may_begin(w, g))
        begin_chunk(w, g);
}

/* ---- ends ---- */

static void measure(struct xd_crowd_guest *g, double seconds)
{
    const double off = fabs(seconds - g->mean);

    if (g->n_timed++ == 0) {
        g->mean = seconds;
        g->deviation = seconds / 2;
        return;
    }
    g->mean += (seconds - g->mean) / 8;
    g->deviation += (off - g->deviation) / 4;
}

static void complete(struct xd_crowd_world *w, struct xd_crowd_guest *g,
                     struct xd_crowd_try *t, unsigned transfer)
{
    const double seconds = (double)(w->now - t->began) / (double)XD_SECOND;
    const unsigned other = t->transfers[t->transfers[0] == transfer];

    if (other != XD_CROWD_NONE)
        xd_crowd_drop(w, other);
    if (transfer != t->first)
        miss(w->o, g, t);
    else if (!w->o->window.is_fixed && g->n_timed > 0 && seconds < g->mean)
        g->window = fmin(most_of(w->o), g->window + 1 / log_of(g->window));
    measure(g, seconds);
    t->is_live = false;
    g->n_live--;
    g->n_here++;
    g->is_here[t->chunk] = true;
    while (g->first_missing < w->out->n_chunks && g->is_here[g->first_missing])
        g->first_missing++;
    if (g->n_here == w->out->n_chunks)
        xd_crowd_over(w, g, true);
}

static void ended(struct xd_crowd_world *w, struct xd_crowd_guest *g,
                  unsigned tag, unsigned transfer, bool is_broken)
{
    struct xd_crowd_try *t = &g->tries[tag];

    if (!is_broken) {
        complete(w, g, t, transfer);
        return;
    }
    g->out->failures++;
    if (transfer == t->first)
        miss(w->o, g, t);
    if (transfer == t->transfers[1])
        t->transfers[1] = t->transfers[0];
    t->transfers[0] = XD_CROWD_NONE;
    if (t->transfers[1] == XD_CROWD_NONE)
        ask(w, g, tag);
}

static void bytes(struct xd_crowd_world *w, struct xd_crowd_guest *g,
                  unsigned tag, uint64_t n)
{
    (void)w, (void)g, (void)tag, (void)n;
}

static int begin(struct xd_crowd_world *w, struct xd_crowd_guest *g)
{
    g->n_tries = (unsigned)most_of(w->o) + 1;
    g->tries = xd_alloc(g->n_tries, sizeof *g->tries);
    g->is_here = xd_alloc(w->out->n_chunks, sizeof *g->is_here);
    g->window = w->o->window.is_fixed ? most_of(w->o) : 1;
    return g->tries && g->is_here ? 0 : XD_E_NOMEM;
}

static void fini(struct xd_crowd_guest *g)
{
    xd_free(g->tries);
    xd_free(g->is_here);
}

const struct xd_crowd_kind_ops xd_crowd_window_ops = {begin, step, bytes, ended,
                                                      fini};
