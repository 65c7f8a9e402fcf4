/* SPDX-License-Identifier: MIT */
/*
 * The ends of requests are brought together: whoever would end last gives to
 * others what they will bring sooner.
 */
#include "sched/adaptive/adaptive.h"

#include <math.h>

/* When no more time than this is left to ask for, ends are brought together.
 * Before, who is cut would lose a connection that has found its speed, and need
 * another. */
#define END_S 0.1

/* What a server has written ahead, and a shared connection brings though it was
 * cut: nginx was seen to write half a second's bytes. */
#define WRITTEN_S 0.5

/* By this part later than all others may a request end. */
#define SLACK 0.25

/* For so many of a depot's latencies its rate grows, and for longer if each of
 * them brings so many times what the one before did. */
#define GROWTH_LATENCIES 4
#define ROUND_GROWTH 1.1

/* A tail that would end so much later is given away whatever is on the wire. */
#define WORTH_WASTE_S 0.5

/* More bytes than were meant for it may come twice if they are no more than this
 * part of what all depots bring in the time that it saves. */
#define WORTH 0.1

/* A request of one of several connections is in time for a player if it takes no
 * more than this part of the time until its last block is needed; if it is not, it
 * keeps what it delivers in that part of the time until its next byte is. */
#define IN_TIME 0.9
#define KEEP_SHARE 0.5

/* Who asks for bytes that are under way brings them so many times sooner. */
#define HEDGE_GAIN 2

static double latency_of(const struct xd_adaptive *p, const struct xd_flow *f)
{
    double latency = xd_seconds(p->forecasts[f->depot].latency);

    return f->is_new ? latency * XD_NEW_LATENCIES : latency;
}

/* A connection that is slow to find its speed is slower than its depot; if it has
 * to share that, it will have more when others are done.  Before there is a
 * forecast, it goes on as it began. */
static double rate_of(const struct xd_adaptive *p, const struct xd_flow *f)
{
    double rate = p->forecasts[f->depot].rate;
    double own = xd_flow_shares(p, f) ? 0 : f->forecast.rate;
    double left = xd_flow_owes(p, f), owed = p->depots[f->depot].owed, share;

    if (xd_connections_bound(p, f->depot) && rate > 0)
        return own > 0 ? own : xd_rate_of_lane(p, f->depot);

    if (rate <= 0 && p->now > f->asked_at)
        return (double)(f->got - f->range.begin) /
               xd_seconds(p->now - f->asked_at);
    share = owed > left ? rate * left / owed : 0;
    if (own < share)
        own = share;
    return own > 0 && own < rate ? own : rate;
}

/* How long it goes on coming after it was cut. */
static double on_wire(const struct xd_adaptive *p, const struct xd_flow *f)
{
    return xd_flow_shares(p, f) ? WRITTEN_S
                                : xd_seconds(p->forecasts[f->depot].latency);
}

/* The last of those that share a connection: it is the least written of all. */
static bool is_last(const struct xd_adaptive *p, const struct xd_flow *f)
{
    unsigned n = p->book->o.lanes_per_depot;
    const struct xd_flow *lane = &p->flows[p->book->depots[f->depot].slot * n];

    for (unsigned i = 0; i < n; i++)
        if (lane[i].is_running && !lane[i].owns_connection &&
            lane[i].asked_at > f->asked_at)
            return false;
    return true;
}

static bool may_be_cut(const struct xd_adaptive *p, const struct xd_flow *f)
{
    return xd_flow_shares(p, f) ? is_last(p, f) : f->has_begun;
}

/* It has been heard for so short a time that its TCP may still be finding its
 * speed. */
static bool is_young(const struct xd_adaptive *p, unsigned depot)
{
    const struct xd_forecast *f = &p->forecasts[depot];

    return f->watched < GROWTH_LATENCIES * f->latency;
}

/* TCP is still finding its speed, so that the depot may be far better than it
 * seems.  Who is cut has to begin anew, or brings all that was cut: twice what
 * came in the last latency is on the wire. */
static bool is_growing(const struct xd_adaptive *p, const struct xd_flow *f)
{
    return is_young(p, f->depot) ||
           f->round.bytes > ROUND_GROWTH * f->round.before;
}

/* Whether what is on the wire may come in vain, so that a request ends so much
 * sooner.  Where connections bound a depot that delays no other bytes. */
static bool may_waste(const struct xd_adaptive *p, const struct xd_flow *f,
                      double waste, double saved)
{
    return p->wasted + waste <= p->most_hedged || saved >= WORTH_WASTE_S ||
           (xd_connections_bound(p, f->depot) &&
            waste <= saved * p->rate * WORTH);
}

/*
 * A request that would end after all others gives the tail that it will not
 * bring until then.  What is on the wire already is left to it.
 */
static bool trim(struct xd_adaptive *p, struct xd_flow *f)
{
    double latency = xd_seconds(p->forecasts[f->depot].latency);
    double left = xd_flow_owes(p, f), rate = rate_of(p, f), keep, waste;
    struct xd_range tail = f->range;

    if (left / rate < p->time_left * (1 + SLACK) + XD_LEAST_S ||
        (is_growing(p, f) && p->unasked > 0))
        return false;
    keep = rate * (p->time_left > latency ? p->time_left : latency);
    waste = rate * on_wire(p, f);
    if (waste > left - keep)
        waste = left - keep;
    if (left - keep < xd_least_worth(p, rate, latency) ||
        !may_waste(p, f, waste, left / rate - p->time_left))
        return false;
    tail.begin = f->got + (uint64_t)keep + 1;
    if ((!xd_has_free_connection(p, f->depot) &&
         !xd_others_bring(p, f->depot, tail, HUGE_VAL)) ||
        xd_offer(p, f, tail) < 0)
        return false;
    p->wasted += waste;
    f->range.end = tail.begin;
    return true;
}

/* By when the last block of a request is needed, for it may be a piece, of
 * which nothing is shown before all of it is there. */
static double last_needed_in(const struct xd_adaptive *p,
                             const struct xd_window *w, const struct xd_flow *f)
{
    uint64_t last = f->range.end - f->range.begin > p->book->o.block_bytes
                        ? f->range.end - p->book->o.block_bytes
                        : f->range.begin;

    return xd_needed_in(p, w, last);
}

/*
 * Where each connection of a depot is capped, a request that a player would have
 * to wait for keeps what it delivers in time; the tail goes to the connections
 * that were opened since.
 */
static bool trim_for_player(struct xd_adaptive *p, const struct xd_window *w,
                            struct xd_flow *f)
{
    double latency = xd_seconds(p->forecasts[f->depot].latency);
    double rate = rate_of(p, f), left = xd_flow_left(f), keep;
    struct xd_range tail = f->range;

    if (rate <= 0 || f->range.begin >= w->range.end ||
        f->got < w->range.begin ||
        left / rate <= IN_TIME * last_needed_in(p, w, f))
        return false;
    keep = KEEP_SHARE * xd_needed_in(p, w, f->got);
    keep = rate * (keep > 2 * latency ? keep : 2 * latency);
    if (left - keep < xd_least_worth(p, rate, latency))
        return false;
    tail.begin = f->got + (uint64_t)keep + 1;
    if (xd_offer(p, f, tail) < 0)
        return false;
    f->range.end = tail.begin;
    return true;
}

static const struct xd_window *played_window(const struct xd_adaptive *p)
{
    for (unsigned i = 0; i < p->book->n_windows; i++)
        if (xd_is_played(&p->book->windows[i]))
            return &p->book->windows[i];
    return NULL;
}

static bool shorten_for_player(struct xd_adaptive *p, unsigned *fetch,
                               uint64_t *end)
{
    const struct xd_window *w = played_window(p);

    if (!w)
        return false;
    p->visits += p->book->n_fetches;
    for (unsigned i = 0; i < p->book->n_fetches; i++) {
        struct xd_flow *f = &p->flows[i];

        if (!f->is_running || f->is_canceled || xd_flow_is_offered(p, f) ||
            !f->has_begun || !xd_connections_bound(p, f->depot) ||
            !trim_for_player(p, w, f))
            continue;
        *fetch = i;
        *end = f->range.end;
        xd_take_stock(p, p->now);
        return true;
    }
    return false;
}

bool xd_adaptive_shorten(void *policy, unsigned *fetch, uint64_t *end)
{
    struct xd_adaptive *p = policy;

    if (xd_begin_anew(p, fetch, end) || xd_separate(p, fetch, end) ||
        shorten_for_player(p, fetch, end))
        return true;
    if (xd_is_small(p->book) || xd_player_has_time(p) || p->rate <= 0 ||
        p->unasked > p->rate * END_S || xd_line_is_slow(p))
        return false;
    p->visits += p->book->n_fetches;
    for (unsigned i = 0; i < p->book->n_fetches; i++) {
        struct xd_flow *f = &p->flows[i];

        if (!f->is_running || f->is_canceled || !may_be_cut(p, f) ||
            xd_flow_is_offered(p, f) || xd_flow_overdue_at(p, f) <= p->now ||
            rate_of(p, f) <= 0 || !trim(p, f))
            continue;
        *fetch = i;
        *end = f->range.end;
        xd_take_stock(p, p->now);
        return true;
    }
    return false;
}

/* How long until its first byte should come. */
static double wait_for(const struct xd_adaptive *p, const struct xd_flow *f)
{
    double wait = latency_of(p, f) - xd_seconds(p->now - f->asked_at);

    return f->has_begun || wait < 0 ? 0 : wait;
}

double xd_time_for_flow(const struct xd_adaptive *p, const struct xd_flow *f,
                        uint64_t to)
{
    double silent = xd_seconds(p->now - xd_flow_heard_at(p, f));
    double wait = wait_for(p, f), rate = rate_of(p, f);

    if (rate <= 0)
        return silent;
    if (!f->has_begun && !f->is_queued && wait == 0)
        silent -= latency_of(p, f);
    return (wait > 0 ? wait : silent) +
           (double)(to > f->got ? to - f->got : 0) / rate;
}

/* How many bytes will come twice if others ask for all that is left and need so
 * long: what it brings meanwhile, and what is on the wire then. */
static double cost_of(const struct xd_adaptive *p, const struct xd_flow *f,
                      double time)
{
    double rate = rate_of(p, f), left = xd_flow_owes(p, f);
    double twice = XD_FIRST_WINDOW;

    if (time > wait_for(p, f))
        twice += rate * (time - wait_for(p, f));
    if (f->has_begun)
        twice += rate * on_wire(p, f);
    return twice < left ? twice : left;
}

/* Whether bytes that come twice are few, or little against what all depots bring
 * in the time that is saved. */
static bool is_worth(const struct xd_adaptive *p, double spent, double cost,
                     double saved)
{
    return spent + cost <= p->most_hedged || cost <= saved * p->rate * WORTH;
}

/* Who could bring in others' place: how fast, and after how many other bytes. */
struct helper {
    double rate, latency, first;
};

static double time_of(const struct xd_adaptive *p, const struct helper *h,
                      const struct xd_flow *f)
{
    return h->latency + (h->first + xd_flow_owes(p, f)) / h->rate;
}

/* Whether a packet of its last bytes was lost: its TCP waits for as long as the
 * queue of a slow line took, and the line is idle.  What another TCP sends at once
 * costs that line little. */
static bool is_lost_tail(const struct xd_adaptive *p, const struct xd_flow *f)
{
    return xd_line_is_silent(p) && xd_flow_left(f) <= XD_FIRST_WINDOW;
}

/* Whether others should be asked for it as well: its depot owes us too long, or
 * such a helper brings it so much sooner that a few bytes that come twice do not
 * matter. */
static bool is_late(const struct xd_adaptive *p, const struct xd_flow *f,
                    const struct helper *h)
{
    double time, takes;

    if (!f->is_running || xd_flow_kept(p, f) <= 0)
        return false;
    if (xd_flow_overdue_at(p, f) <= p->now)
        return true;
    if (xd_flow_is_offered(p, f) || h->rate <= 0 ||
        (xd_line_is_slow(p) && !is_lost_tail(p, f)))
        return false;
    time = time_of(p, h, f);
    takes = xd_time_for_flow(p, f, f->got + (uint64_t)xd_flow_owes(p, f));
    return takes > HEDGE_GAIN * time + XD_LEAST_S &&
           is_worth(p, p->hedged, cost_of(p, f, time), takes - time);
}

/* Which requests the best of all depots could hasten, if there were one that
 * has all of their virtues: each lane that has nothing to do looks at these. */
static void find_late(struct xd_adaptive *p)
{
    struct helper best = {p->best_rate, xd_seconds(p->best_latency), 0};

    p->n_late = 0;
    p->late_is_known = true;
    p->visits += p->book->n_fetches;
    for (unsigned i = 0; i < p->book->n_fetches; i++)
        if (is_late(p, &p->flows[i], &best))
            p->late[p->n_late++] = i;
}

/* It has to bring what it owes before, and what it takes over from others. */
int xd_offer_late(struct xd_adaptive *p, unsigned depot)
{
    struct helper h = {p->forecasts[depot].rate,
                       xd_seconds(p->forecasts[depot].latency),
                       p->depots[depot].owed};
    bool has_offered = false;
    int rc = 0;

    if (!p->late_is_known)
        find_late(p);
    p->visits += p->n_late;
    for (unsigned i = 0; rc == 0 && i < p->n_late; i++) {
        struct xd_flow *f = &p->flows[p->late[i]];
        struct xd_range rest = xd_flow_assigned(p, f);

        if (f->depot == depot || !is_late(p, f, &h))
            continue;
        has_offered = true;
        p->depots[f->depot].is_offered = true;
        if (xd_flow_overdue_at(p, f) > p->now)
            p->hedged += cost_of(p, f, time_of(p, &h, f));
        h.first += (double)xd_range_length(rest);
        rc = xd_offer(p, f, rest);
    }
    if (has_offered)
        xd_take_stock(p, p->now);
    return rc;
}

/* To cut it would cost its connection, and nothing is saved: a TCP that finds its
 * speed has twice as much on the wire as came in the last round. */
bool xd_adaptive_spares(void *policy, unsigned fetch)
{
    const struct xd_adaptive *p = policy;
    const struct xd_flow *f = &p->flows[fetch];
    double sent = f->has_begun ? rate_of(p, f) * on_wire(p, f) : 0;

    if (xd_flow_shares(p, f) || xd_is_small(p->book) || p->unasked <= 0)
        return false;
    if (sent < 2 * f->round.bytes)
        sent = 2 * f->round.bytes;
    if (sent < XD_FIRST_WINDOW)
        sent = XD_FIRST_WINDOW;
    return xd_flow_left(f) <= sent && xd_flow_overdue_at(p, f) > p->now;
}
