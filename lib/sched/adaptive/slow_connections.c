/* SPDX-License-Identifier: MIT */
/* Finds requests that are no longer needed, and connections that are slower
 * than a new one would be. */
#include "sched/adaptive/adaptive.h"

/* Returns whether another request is receiving the range that contains the next
 * byte of this one. */
static bool is_replaced(const struct xd_adaptive *p, const struct xd_conn *c)
{
    for (unsigned i = 0; i < p->book->n_fetches; i++) {
        const struct xd_conn *o = &p->conns[i];

        if (o != c && o->is_running && !o->is_leaving && o->has_begun &&
            o->range.begin <= c->got && c->got < p->book->assigned[i].end)
            return true;
    }
    return false;
}

/* Returns whether the request should be canceled.  Either another request has
 * taken over all its remaining bytes, or the next ones have already arrived and
 * skipping them saves more time than connecting again takes. */
static bool is_needless(const struct xd_adaptive *p, const struct xd_conn *c)
{
    struct xd_range rest = {c->got, c->range.end}, gap;

    if (xd_range_is_empty(rest))
        return false;
    if (xd_range_is_empty(xd_conn_rest(p, c)) && is_replaced(p, c))
        return true;
    if (!c->has_begun)
        return false;
    gap = xd_ledger_next_gap(p->book->ledger, XD_BYTES_RECEIVED, rest);
    return (double)(gap.begin - rest.begin) / xd_rate_of(p, c) >
           2 * xd_setup_of(p, c->depot);
}

struct xd_sched_plan xd_drop_needless(const struct xd_adaptive *p)
{
    for (unsigned i = 0; i < p->book->n_fetches; i++) {
        const struct xd_conn *c = &p->conns[i];

        if (c->is_running && !c->is_leaving && is_needless(p, c))
            return xd_make_plan(p, XD_PLAN_CANCEL, c, c->range);
    }
    return xd_no_plan;
}

bool xd_is_only_answer(const struct xd_adaptive *p, const struct xd_conn *c)
{
    const struct xd_depot_record *d = &p->depots[c->depot];

    return c->has_begun && p->book->depots[c->depot].most_flowing <= 1 &&
           (p->book->depots[c->depot].ceiling > 0 ||
            (c->n_requests == 1 && d->n_past == 0));
}

/* Compares the connections of a depot with a new one. */
struct slowness {
    double fresh;                /* expected throughput of a new connection */
    unsigned fast, young;        /* fast connections, and not yet known ones */
    const struct xd_conn *worst; /* slowest of the others, or NULL */
    double worst_rate;           /* its throughput; 0: it is stalled */
};

bool xd_is_young(const struct xd_conn *c)
{
    return c->n_samples < XD_MATURE || c->is_rising || !c->has_begun;
}

/* Returns whether the first bytes of the connection may still wait behind those
 * of other requests: each response begins with a whole congestion window, and
 * the line of the client or that of the depot may be slow. */
static bool waits_for_first_windows(const struct xd_adaptive *p,
                                    const struct xd_conn *c)
{
    const struct xd_depot_record *d = &p->depots[c->depot];
    const double silent = xd_seconds(p->now - c->heard_at);
    double all = xd_rate_meter_of(&p->meter, p->bytes, p->now),
           own = xd_rate_meter_of(&d->meter, d->bytes, p->now);
    unsigned n = 0, n_own = 0;

    for (unsigned i = 0; i < p->book->n_fetches; i++) {
        bool waits = p->conns[i].is_running && !p->conns[i].has_begun;

        n += waits;
        n_own += waits && p->conns[i].depot == c->depot;
    }
    return (all > 0 && silent * all < n * XD_FIRST_WINDOW) ||
           (own > 0 && silent * own < n_own * XD_FIRST_WINDOW);
}

/* Returns whether a shared queue explains the silence of the connection.  If it
 * overflows, TCP waits before it sends again.  Before the first byte of the
 * connection, others of its depot show the queue.  A new connection would wait
 * in the same queue. */
static bool waits_in_queue(const struct xd_adaptive *p, const struct xd_conn *c)
{
    const struct xd_conn *other = xd_conns_of(p, c->depot);

    if (c->has_begun)
        return xd_is_contended(p, c);
    if (waits_for_first_windows(p, c))
        return true;
    for (unsigned i = 0; i < p->book->o.lanes_per_depot; i++)
        if (other[i].is_running && other[i].has_begun &&
            xd_is_queued(p, &other[i]) &&
            xd_seconds(p->now - c->heard_at) <
                XD_QUEUE_WAITS * other[i].rtt_now)
            return true;
    return false;
}

/* Returns whether a queue that the connection shares makes it slow.  A reader
 * soon needs the bytes that a replacement would lose, so for a reader every
 * queue of the depot counts. */
static bool is_slowed_by_queue(const struct xd_adaptive *p,
                               const struct xd_conn *c)
{
    return xd_is_contended(p, c) ||
           (p->book->o.window_bytes > 0 && xd_has_queue(p, c->depot));
}

static void compare(const struct xd_adaptive *p, const struct xd_conn *c,
                    struct slowness *r)
{
    double rate = c->rate;

    if (!c->is_running || c->is_leaving || xd_is_only_answer(p, c))
        return;
    if (xd_is_late(p, c) && !waits_in_queue(p, c)) {
        rate = 0;
    } else if (c->n_samples > 0 && c->rate > r->fresh / XD_RENEW) {
        r->fast++;
        return;
    } else if (is_slowed_by_queue(p, c)) {
        return;
    } else if (xd_is_young(c)) {
        r->young++;
        return;
    }
    if (!r->worst || rate < r->worst_rate) {
        r->worst = c;
        r->worst_rate = rate;
    }
}

/* Returns for how many seconds the connection has been as slow as now. */
static double slow_for(const struct xd_adaptive *p, const struct xd_conn *c)
{
    return xd_seconds(p->now -
                      (c->changed_at > 0 ? c->changed_at : c->opened_at));
}

/* Returns the slowest connection of the depot if replacing it by a new one
 * pays, or NULL.  While more connections are still unknown than are fast, none
 * is replaced. */
static const struct xd_conn *find_slow(const struct xd_adaptive *p,
                                       unsigned depot)
{
    const struct xd_conn *c = xd_conns_of(p, depot);
    struct slowness r = {.fresh = xd_fresh_rate(p, depot)};
    double time = p->time_left - 2 * xd_settles_in(p, depot), lost;

    for (unsigned i = 0; i < p->book->o.lanes_per_depot; i++)
        compare(p, &c[i], &r);
    if (r.fast == 0 && r.worst_rate > 0 && p->now < p->depots[depot].renew_at)
        return NULL;
    if (!r.worst || r.young > r.fast || time <= 0)
        return NULL;
    lost = xd_lesser(xd_in_flight(p, r.worst), xd_conn_left(p, r.worst));
    if (r.worst_rate > 0 &&
        r.fresh < XD_RENEW * (r.worst_rate + r.worst->deviation))
        return NULL;
    if (r.worst_rate > 0)
        time = xd_lesser(time, XD_LASTING * slow_for(p, r.worst));
    if ((r.fresh - r.worst_rate) * time - lost < p->price * p->total)
        return NULL;
    return r.worst;
}

struct xd_sched_plan xd_replace_slow(const struct xd_adaptive *p)
{
    const struct xd_book *b = p->book;

    for (unsigned slot = 0; slot < b->n_slots; slot++) {
        unsigned depot = b->slots[slot];
        const struct xd_conn *c;

        if (depot == b->n_depots || !xd_holder_is_ready(&b->depots[depot]) ||
            b->depots[depot].is_spared || p->depots[depot].rtt <= 0)
            continue;
        c = find_slow(p, depot);
        if (c)
            return xd_make_plan(p, XD_PLAN_RENEW, c, c->range);
    }
    return xd_no_plan;
}
