/* SPDX-License-Identifier: MIT */
/*
 * A depot whose line has become faster is known by its first few samples, but
 * its TCPs, which found their speed on the slow line, take seconds to find the
 * new one.  A connection that is new needs a few round trips: one request is cut,
 * so that its lane begins anew.
 */
#include "sched/adaptive/adaptive.h"

/* A request is cut only if others, or a new one, have so many bytes of it to
 * bring: what is on the wire is lost. */
#define WORTH_ANEW (1 << 20)

/* A request that was made later than this had its own look at the line. */
#define OLD (500 * XD_MS)

/* So much it still brings: a packet, for no request is cut to nothing. */
#define LAST_BYTES 1448

/* How long it needs for its rest; 0: it is not to be cut. */
static double time_for_old(const struct xd_adaptive *p, const struct xd_flow *f)
{
    if (!f->is_running || !f->has_begun || f->is_canceled ||
        xd_flow_is_offered(p, f) || f->forecast.rate <= 0 ||
        p->now < f->asked_at + OLD || xd_flow_left(f) < WORTH_ANEW)
        return 0;
    return xd_flow_left(f) / f->forecast.rate;
}

/* Of the depot's requests, the one that would be the last to end; or NULL. */
static struct xd_flow *find_old(struct xd_adaptive *p, unsigned depot)
{
    unsigned n = p->book->o.lanes_per_depot;
    struct xd_flow *lane = &p->flows[p->book->depots[depot].slot * n];
    struct xd_flow *last = NULL;
    double most = 0;

    for (unsigned i = 0; i < n; i++) {
        double time = time_for_old(p, &lane[i]);

        if (time > most) {
            most = time;
            last = &lane[i];
        }
    }
    return last;
}

/* End it where it is, but for its last packet; its lane then connects. */
static bool cut_for_new(struct xd_adaptive *p, struct xd_flow *f,
                        unsigned *fetch, uint64_t *end)
{
    struct xd_range tail = {f->got + LAST_BYTES, f->range.end};

    if (xd_offer(p, f, tail) < 0)
        return false;
    f->range.end = tail.begin;
    f->begins_anew = true;
    *fetch = (unsigned)(f - p->flows);
    *end = tail.begin;
    xd_take_stock(p, p->now);
    return true;
}

bool xd_begin_anew(struct xd_adaptive *p, unsigned *fetch, uint64_t *end)
{
    unsigned depot = p->risen;
    struct xd_flow *f;

    p->risen = p->book->n_depots;
    if (depot == p->book->n_depots || p->book->o.window_bytes > 0 ||
        p->book->o.lanes_per_depot == 1 || xd_shares(p, depot) ||
        xd_connections_bound(p, depot) ||
        p->book->depots[depot].slot == XD_NO_SLOT)
        return false;
    f = find_old(p, depot);
    return f != NULL && cut_for_new(p, f, fetch, end);
}

/* Whether it takes from another request of its depot what their connection
 * carries, and has much to do yet. */
static bool is_beside(const struct xd_adaptive *p, const struct xd_flow *f)
{
    return f->is_running && f->has_begun && !f->is_canceled &&
           !f->owns_connection && !f->begins_anew &&
           !xd_flow_is_offered(p, f) && p->depots[f->depot].n_sharing > 1 &&
           !xd_shares(p, f->depot) && xd_connections_bound(p, f->depot) &&
           xd_flow_left(f) >= WORTH_ANEW;
}

bool xd_separate(struct xd_adaptive *p, unsigned *fetch, uint64_t *end)
{
    if (p->book->o.window_bytes > 0)
        return false;
    p->visits += p->book->n_fetches;
    for (unsigned i = 0; i < p->book->n_fetches; i++)
        if (is_beside(p, &p->flows[i]))
            return cut_for_new(p, &p->flows[i], fetch, end);
    return false;
}
