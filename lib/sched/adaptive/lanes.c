/* SPDX-License-Identifier: MIT */
/*
 * How the lanes of a depot are used as its connections, or as the requests
 * that share one: what connections.c decides, for the other files of
 * this policy.
 */
#include "sched/adaptive/adaptive.h"

#include <math.h>

/* A connection more is worth it if it has so much to bring, and so many always
 * are. */
#define WORTH ((double)(1 << 20))
#define LEAST_LANES 2

/* Depots to none of which a connection was made within this time are far.  Over
 * random scenarios with round trips of 300 to 800 ms a download takes 11 % less
 * time than where that is found out at 420 ms.  Where round trips are 200 ms and
 * lines fast, the scenario long-fat, more connections only lose packets: it would
 * take 8 % more. */
#define FAR_RTT (250 * XD_MS)

/* The part of its time for which a connection may wait.  The others do not carry
 * more meanwhile: their TCP is at the speed that they have beside it.  In 200 random
 * scenarios with objects of 128 to 700 KiB downloads take 3 % less time than where a
 * connection may wait for half of its time, and 1 % less than with a tenth. */
#define WAITS 0.05

/* For short objects so many are opened before the rate is known: each finds its speed
 * in one of them.  Over the same scenarios that saves 0.6 % of the time, and 7 % where
 * a far depot decides. */
#define FIRST_SHORT 4

/* So many objects tell how long those are that come next. */
#define OBJECTS_SEEN 16

/* What comes is to be so many times what is shown. */
#define ENOUGH 1.2

/* What comes is as much as a limit allows from this part of it on. */
#define NEARLY 0.8

/* Whether a picture is shown faster than bytes come, so that it stands still or
 * will. */
static bool is_needed(const struct xd_adaptive *p)
{
    for (unsigned i = 0; i < p->book->n_windows; i++) {
        const struct xd_window *w = &p->book->windows[i];

        if (xd_is_played(w) && p->rate > 0 &&
            p->rate < ENOUGH * (double)w->bytes_per_s)
            return true;
    }
    return false;
}

/* By a limit of its user's. */
static bool is_held_back(const struct xd_adaptive *p)
{
    double limit = (double)p->book->limit_rate;

    return limit > 0 && p->rate >= NEARLY * limit;
}

/* A depot that serves readers alone is asked over one; and where requests share
 * a connection there is mostly one of them. */
static unsigned usual_of(const struct xd_adaptive *p, unsigned depot)
{
    return xd_shares(p, depot) ||
                   (p->book->o.window_bytes > 0 && xd_is_alone(p, depot))
               ? 1
               : p->book->o.first_lanes;
}

/* Requests that began before each was given a connection of its own share
 * one. */
static unsigned count_beside(const struct xd_adaptive *p, unsigned depot)
{
    unsigned n = p->depots[depot].n_sharing;

    return xd_shares(p, depot) || n == 0 ? 0 : n - 1;
}

unsigned xd_lanes_in_use(const struct xd_adaptive *p, unsigned depot)
{
    return p->depots[depot].n_running - count_beside(p, depot);
}

static bool has_connected(const struct xd_adaptive *p)
{
    const struct xd_book *b = p->book;

    for (unsigned slot = 0; slot < b->n_slots; slot++)
        if (b->slots[slot] < b->n_depots &&
            b->depots[b->slots[slot]].has_connected)
            return true;
    return false;
}

static void see_if_far(struct xd_adaptive *p)
{
    xd_usec at;

    if (p->heard_at > 0 || p->began_at == XD_NEVER || !xd_opens_both(p) ||
        has_connected(p))
        return;
    at = p->began_at + FAR_RTT;
    p->is_far = p->now >= at;
    if (!p->is_far && at < p->wake_at)
        p->wake_at = at;
}

/* The mean length of the places of the next objects of which nobody was asked for a
 * byte; where there are none, no number is as large. */
static double length_of_places(const struct xd_adaptive *p)
{
    const struct xd_book *b = p->book;
    uint64_t from;
    size_t i, end;

    if (b->n_cuts == 0)
        return HUGE_VAL;
    from = xd_ledger_first_gap(b->ledger, XD_BYTES_ASSIGNED, b->wanted);
    i = xd_count_up_to(from, b->cuts, b->n_cuts, sizeof *b->cuts, 0);
    end = i + OBJECTS_SEEN < b->n_cuts ? i + OBJECTS_SEEN : b->n_cuts;
    if (end < i + 2)
        return HUGE_VAL;
    return (double)(b->cuts[end - 1] - b->cuts[i]) / (double)(end - 1 - i);
}

/* The same of the objects: of unknown size they are like those before them. */
static double length_of_objects(const struct xd_adaptive *p)
{
    const double length = length_of_places(p);
    const struct xd_book *b = p->book;

    return b->n_sized > 0 && b->mean_size < length ? b->mean_size : length;
}

/* How many connections of the depot keep its line busy although each waits for its
 * next object for a latency; 0: objects are as long that TCP only looks for its
 * speed in them.  Requests that share a connection cost nothing: as many as are worth
 * another one are under way before the rate is known.  200 files of 2 KB take 30 % less
 * time over 30 ms. */
static unsigned count_for_short(const struct xd_adaptive *p, unsigned depot,
                                double object)
{
    const struct xd_forecast *f = &p->forecasts[depot];
    unsigned most = p->book->o.lanes_per_depot;
    double n = f->rate > 0 ? f->rate * xd_seconds(f->latency) / (WAITS * object)
                           : FIRST_SHORT;

    if (object >= WORTH || f->latency == 0)
        return 0;
    if (xd_shares(p, depot) && n < WORTH / object)
        n = WORTH / object;
    return n < most ? (unsigned)ceil(n) : most;
}

static void decide(struct xd_adaptive *p, unsigned slot, unsigned depot)
{
    struct xd_connections_facts facts = {
        .now = p->now,
        .first_lane = slot * p->book->o.lanes_per_depot,
        .n_running = xd_lanes_in_use(p, depot),
        .n_usual = usual_of(p, depot),
        .n_streams = p->book->o.lanes_per_depot,
        .can_share = p->book->depots[depot].shares,
        .is_far = p->is_far,
        .n_short = p->depots[depot].n_short,
        .is_held_back = is_held_back(p),
        .is_needed = is_needed(p),
        .latency = p->forecasts[depot].latency,
        .ceiling = p->book->depots[depot].ceiling,
        .ceiling_spreads = p->book->depots[depot].ceiling_spreads,
        .time_left = p->time_left,
        .bytes_left = p->unasked / p->n_open};
    xd_usec at = xd_connections_decide(&p->connections, depot, &facts);

    if (at < p->wake_at)
        p->wake_at = at;
}

/* The fastest that holds everything, or the one that is asked already. */
static unsigned best_of(const struct xd_adaptive *p)
{
    const struct xd_book *b = p->book;
    unsigned best = b->n_depots;

    if (xd_surplus_is_one(&p->surplus))
        return p->surplus.depot;
    for (unsigned slot = 0; slot < b->n_slots; slot++) {
        unsigned i = b->slots[slot];

        if (i < b->n_depots && p->forecasts[i].rate > 0 &&
            (best == b->n_depots ||
             p->forecasts[i].rate > p->forecasts[best].rate))
            best = i;
    }
    return best;
}

static bool brings_all(const struct xd_adaptive *p, unsigned depot)
{
    const struct xd_book *b = p->book;

    return depot < b->n_depots && xd_holder_is_ready(&b->depots[depot]) &&
           !p->depots[depot].is_overdue &&
           xd_rangeset_contains(&b->depots[depot].held, b->wanted);
}

static void decide_surplus(struct xd_adaptive *p)
{
    unsigned best = best_of(p);
    struct xd_surplus_facts facts = {.now = p->now,
                                     .is_slow = xd_line_is_slow(p),
                                     .best = best,
                                     .is_well = brings_all(p, best),
                                     .rate = p->book->bottleneck.most};

    for (unsigned i = 0; i < p->book->n_fetches; i++)
        facts.n_others += p->flows[i].is_running && p->flows[i].depot != best;
    xd_surplus_decide(&p->surplus, &facts);
}

void xd_decide_connections(struct xd_adaptive *p)
{
    const struct xd_book *b = p->book;
    double object = length_of_objects(p);

    decide_surplus(p);
    see_if_far(p);
    p->visits += b->n_slots;
    for (unsigned slot = 0; slot < b->n_slots; slot++)
        if (b->slots[slot] < b->n_depots) {
            unsigned depot = b->slots[slot];

            p->depots[depot].n_short = count_for_short(p, depot, object);
            decide(p, slot, depot);
        }
}

/* Where its user wants all, as many as have enough to bring, or as keep the line busy
 * with short objects.  Those that have enough are opened with the first one: a round
 * trip later, a download over sixteen takes 1 to 3 % more time.  A server that bans for that may not have served any for longer than the
 * others, and is asked over one from then on. */
static unsigned most_worth(const struct xd_adaptive *p, unsigned depot)
{
    double bytes = (double)xd_range_length(p->book->wanted) / p->n_open;
    unsigned least = p->depots[depot].n_short;

    if (least < LEAST_LANES)
        least = LEAST_LANES;
    return bytes < least * WORTH ? least : (unsigned)(bytes / WORTH);
}

/* Whether a slow line needs no other depot; unless the last bytes are late and
 * the line is idle. */
static bool is_surplus(const struct xd_adaptive *p, unsigned depot)
{
    return xd_surplus_is_one(&p->surplus) && depot != p->surplus.depot &&
           (p->unasked > 0 || !xd_line_is_silent(p));
}

bool xd_lane_is_allowed(const struct xd_adaptive *p, unsigned fetch,
                        unsigned depot)
{
    unsigned lane = fetch % p->book->o.lanes_per_depot;
    unsigned allowed = xd_connections_allowed(&p->connections, depot);

    if (is_surplus(p, depot))
        return false;
    if (xd_line_is_slow(p))
        allowed = 1;
    if (p->book->o.first_lanes == 0 && allowed > most_worth(p, depot))
        allowed = most_worth(p, depot);
    return (lane < allowed + count_beside(p, depot) || allowed == 1) &&
           xd_lanes_in_use(p, depot) < allowed;
}

bool xd_lane_is_probe(const struct xd_adaptive *p, unsigned depot)
{
    return xd_connections_want_probe(&p->connections, depot,
                                     xd_lanes_in_use(p, depot));
}

bool xd_connections_bound(const struct xd_adaptive *p, unsigned depot)
{
    return xd_connections_are_bound(&p->connections, depot);
}

bool xd_has_free_connection(const struct xd_adaptive *p, unsigned depot)
{
    return xd_connections_bound(p, depot) &&
           xd_lanes_in_use(p, depot) <
               xd_connections_allowed(&p->connections, depot);
}

double xd_rate_of_lane(const struct xd_adaptive *p, unsigned depot)
{
    double rate = p->forecasts[depot].rate;
    unsigned n = xd_lanes_in_use(p, depot);

    return xd_connections_bound(p, depot) && n > 1 ? rate / n : rate;
}
