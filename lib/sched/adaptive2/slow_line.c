/* SPDX-License-Identifier: MIT */
/*
 * A slow line of the client.  One connection fills it, and the queue in front
 * of it holds seconds of bytes.  Others only make that queue longer, so each
 * depot gets one request at a time.  Then all requests go to a single depot, as
 * a trial: if it delivers less than all did together, the depots were slow, not
 * the line, and all of them are used again.
 */
#include "sched/adaptive2/adaptive2.h"

/* Returns how many requests of other depots are running. */
static unsigned count_others(const struct xd_adaptive2 *p, unsigned depot)
{
    unsigned n = 0;

    for (unsigned i = 0; i < p->book->n_fetches; i++)
        n += p->conns[i].is_running && p->conns[i].depot != depot;
    return n;
}

/* Returns whether bytes of the depot arrived a short time ago. */
static bool is_flowing(const struct xd_adaptive2 *p, unsigned depot)
{
    const struct xd_conn *c = xd_conns_of(p, depot);

    for (unsigned i = 0; i < p->book->o.lanes_per_depot; i++)
        if (c[i].is_open && c[i].bytes > 0 &&
            xd_seconds(p->now - c[i].heard_at) < XD_CALM_S)
            return true;
    return false;
}

/* Returns whether bytes of any depot arrived a short time ago. */
static bool is_line_busy(const struct xd_adaptive2 *p)
{
    for (unsigned slot = 0; slot < p->book->n_slots; slot++)
        if (p->book->slots[slot] < p->book->n_depots &&
            is_flowing(p, p->book->slots[slot]))
            return true;
    return false;
}

/* Returns whether the depot could deliver everything that is wanted. */
static bool has_all(const struct xd_adaptive2 *p, unsigned depot)
{
    const struct xd_holder *d = &p->book->depots[depot];

    return xd_holder_is_ready(d) && d->failures == 0 &&
           xd_rangeset_contains(&d->held, p->book->wanted);
}

/* Returns the depot that has delivered most, of those that could deliver
 * everything; the number of depots if there is none. */
static unsigned find_best(const struct xd_adaptive2 *p)
{
    const struct xd_book *b = p->book;
    unsigned best = b->n_depots;

    for (unsigned slot = 0; slot < b->n_slots; slot++) {
        unsigned i = b->slots[slot];

        if (i < b->n_depots && has_all(p, i) && is_flowing(p, i) &&
            (best == b->n_depots || p->depots[i].bytes > p->depots[best].bytes))
            best = i;
    }
    return best;
}

/* Begins to count what the depot delivers.  Bytes of other depots are still in
 * the queue, so this is done again whenever one of their requests ends. */
static void count_again(struct xd_adaptive2 *p, unsigned n_others)
{
    p->line.n_others = n_others;
    p->line.from = p->now;
    p->line.from_bytes = p->bytes;
}

static void judge(struct xd_adaptive2 *p)
{
    struct xd_slow_line *l = &p->line;
    unsigned n_others = count_others(p, l->depot);
    double bytes = p->bytes - l->from_bytes,
           least = XD_ONE_IS_ENOUGH * l->before * xd_seconds(p->now - l->from);

    if (n_others < l->n_others || l->from == 0) {
        count_again(p, n_others);
    } else if (xd_greater(bytes, least) >= XD_LINE_BYTES) {
        if (bytes < least)
            l->use = XD_LINE_USES_ALL_FOR_GOOD;
        else
            count_again(p, n_others);
    }
}

void xd_watch_line(struct xd_adaptive2 *p)
{
    struct xd_slow_line *l = &p->line;
    unsigned best;

    l->is_busy = is_line_busy(p);
    l->is_slow = xd_bottleneck_is_slow(&p->book->bottleneck, p->now);
    if (l->use == XD_LINE_USES_ALL_FOR_GOOD)
        return;
    if (!l->is_slow || (l->use == XD_LINE_USES_ONE &&
                        (!has_all(p, l->depot) || !l->is_busy))) {
        l->use = XD_LINE_USES_ALL;
    } else if (l->use == XD_LINE_USES_ONE) {
        judge(p);
    } else if (p->book->bottleneck.most > 0 &&
               (best = find_best(p)) < p->book->n_depots) {
        *l = (struct xd_slow_line){.is_slow = true,
                                   .is_busy = l->is_busy,
                                   .use = XD_LINE_USES_ONE,
                                   .depot = best,
                                   .before = p->book->bottleneck.most,
                                   .n_others = count_others(p, best)};
    }
}

bool xd_is_surplus(const struct xd_adaptive2 *p, unsigned depot)
{
    return p->line.use == XD_LINE_USES_ONE && depot != p->line.depot;
}
