/* SPDX-License-Identifier: MIT */
/*
 * A file so small that round trips decide, and that may come twice.
 *
 *     |   the rest   | slice n-1 | ... | slice 1 | slice 0 |
 *
 *     - Nothing is known: each depot is asked for a slice, which comes with its
 *       first window and shows who is near.  The first to answer is asked at
 *       once for all that is missing, by a connection that has found its speed
 *       so far: to the nearest depot this costs no round trip.  What others
 *       bring meanwhile lies behind the rest, so that it comes too soon to be
 *       brought again.
 *     - Depots are known from earlier runs: that which should be done first is
 *       asked for everything, and others only when it is late.
 */
#include "sched/adaptive/adaptive.h"

/* What is less than this is small. */
#define SMALL ((uint64_t)1 << 20)

/* What a TCP sends before it is heard of, less what goes before the bytes. */
#define FLIGHT 14000.0

/* What goes before the bytes is as long. */
#define LEAST_SLICE 1024.0

/* Who is known to need longer is asked as if nothing were known. */
#define LONG_S 0.5

/* What was expected may take so many times longer, and so long. */
#define LATE_FACTOR 1.5
#define LATE_S 0.02

bool xd_is_small(const struct xd_book *b)
{
    return b->o.window_bytes == 0 && b->n_cuts == 0 &&
           xd_range_length(b->wanted) < SMALL;
}

static bool holds_all(const struct xd_book *b, unsigned depot)
{
    return xd_rangeset_contains(&b->depots[depot].held, b->wanted);
}

static bool has_answered(const struct xd_adaptive *p, unsigned depot)
{
    return p->depots[depot].heard_at > 0;
}

/* Seconds that so many bytes should take on a new connection, of which each
 * round trip brings twice as many as the one before; 0: not known. */
static double time_anew(const struct xd_forecast *f, double bytes)
{
    double latency = xd_seconds(f->latency), round = FLIGHT;
    double time = 2 * latency;

    if (latency <= 0)
        return 0;
    for (double sum = round; sum < bytes; sum += round) {
        time += latency;
        round *= 2;
    }
    return f->rate > 0 ? time + bytes / f->rate : time;
}

/* The depot that should be done first, of those that are known; n_depots if
 * there is none that is quick. */
static unsigned favourite(struct xd_adaptive *p)
{
    const struct xd_book *b = p->book;
    double size = (double)xd_range_length(b->wanted), least = LONG_S;
    unsigned best = b->n_depots;

    p->visits += b->n_slots;
    for (unsigned slot = 0; slot < b->n_slots; slot++) {
        unsigned i = b->slots[slot];
        double time;

        if (i == b->n_depots || !xd_holder_is_ready(&b->depots[i]) ||
            !holds_all(b, i))
            continue;
        time = time_anew(&p->forecasts[i], size);
        if (time > 0 && time < least) {
            least = time;
            best = i;
        }
    }
    return best;
}

static xd_usec late_after(double seconds)
{
    return (xd_usec)((seconds * LATE_FACTOR + LATE_S) * XD_SECOND);
}

static void trust(struct xd_adaptive *p, unsigned fetch, unsigned depot)
{
    const struct xd_forecast *f = &p->forecasts[depot];
    double size = (double)xd_range_length(p->book->wanted);

    p->trusted = fetch;
    p->first_due = p->now + late_after(time_anew(f, 1));
    p->all_due = p->now + late_after(time_anew(f, size));
}

/* Whether `depot` shall not wait for what a request is to bring. */
static bool is_doubtful(const struct xd_adaptive *p, unsigned i, unsigned depot)
{
    const struct xd_flow *f = &p->flows[i];

    if (!f->is_running || xd_flow_kept(p, f) <= 0 || f->depot == depot)
        return false;
    if (i == p->trusted)
        return p->now >= (f->has_begun ? p->all_due : p->first_due);
    return has_answered(p, depot) && !has_answered(p, f->depot);
}

static int offer_doubtful(struct xd_adaptive *p, unsigned depot)
{
    bool has_offered = false;
    int rc = 0;

    p->visits += p->book->n_fetches;
    for (unsigned i = 0; rc == 0 && i < p->book->n_fetches; i++) {
        struct xd_flow *f = &p->flows[i];
        struct xd_range rest;

        if (!is_doubtful(p, i, depot))
            continue;
        rest = xd_flow_assigned(p, f);
        has_offered = true;
        p->hedged += (double)xd_range_length(rest);
        rc = xd_offer(p, f, rest);
    }
    if (has_offered)
        xd_take_stock(p, p->now);
    return rc;
}

/* What of a request was not offered to others, without what is here at its two
 * ends. */
static struct xd_range missing_of(const struct xd_adaptive *p,
                                  const struct xd_flow *f)
{
    struct xd_range rest = xd_flow_assigned(p, f), missing = {0, 0}, gap;

    while (gap = xd_ledger_next_gap(p->book->ledger, XD_BYTES_RECEIVED, rest),
           !xd_range_is_empty(gap)) {
        if (xd_range_is_empty(missing))
            missing.begin = gap.begin;
        missing.end = rest.begin = gap.end;
    }
    return missing;
}

/* The request that should end last, as far as can be told. */
static struct xd_flow *last_to_end(struct xd_adaptive *p, unsigned depot)
{
    struct xd_flow *last = NULL;
    double most = 0;

    p->visits += p->book->n_fetches;
    for (unsigned i = 0; i < p->book->n_fetches; i++) {
        struct xd_flow *f = &p->flows[i];
        double time;

        if (!f->is_running || f->depot == depot ||
            p->forecasts[f->depot].rate <= 0 ||
            xd_flow_overdue_at(p, f) <= p->now)
            continue;
        time = xd_time_for_flow(p, f, missing_of(p, f).end);
        if (time > most) {
            most = time;
            last = f;
        }
    }
    return last;
}

/* Offer as much of the end of another request as `depot` brings while that
 * brings the beginning.  It is not cut, as its connection would be lost. */
static int offer_end(struct xd_adaptive *p, unsigned depot)
{
    const struct xd_forecast *mine = &p->forecasts[depot];
    struct xd_flow *f = last_to_end(p, depot);
    struct xd_range tail;
    double bytes, time, share;
    int rc;

    if (f == NULL || mine->rate <= 0)
        return 0;
    tail = missing_of(p, f);
    bytes = (double)xd_range_length(tail);
    time = xd_time_for_flow(p, f, tail.end);
    if (bytes <= 0)
        return 0;
    share =
        (time - xd_seconds(mine->latency)) / (1 / mine->rate + time / bytes);
    if (share < FLIGHT || share > bytes ||
        p->hedged + share > (double)xd_range_length(p->book->wanted))
        return 0;
    p->hedged += share;
    tail.begin = tail.end - (uint64_t)share;
    rc = xd_offer(p, f, tail);
    xd_take_stock(p, p->now);
    return rc;
}

/* The first bytes that nobody was asked for, with others behind them if what
 * lies in between takes less time than a round trip. */
static bool take_hull(const struct xd_adaptive *p, struct xd_range *out)
{
    struct xd_range rest = p->book->wanted, gap;
    double between = 0;

    *out = xd_ledger_next_gap(p->book->ledger, XD_BYTES_ASSIGNED, rest);
    for (rest.begin = out->end;
         gap = xd_ledger_next_gap(p->book->ledger, XD_BYTES_ASSIGNED, rest),
        !xd_range_is_empty(gap);
         rest.begin = gap.end) {
        between += (double)(gap.begin - out->end);
        if (between > FLIGHT)
            break;
        out->end = gap.end;
    }
    return !xd_range_is_empty(*out);
}

/* The last bytes that nobody was asked for. */
static bool take_slice(const struct xd_adaptive *p, struct xd_range *out)
{
    struct xd_range rest = p->book->wanted, gap, last = {0, 0};
    double size = (double)xd_range_length(rest) / p->n_well + 1;

    while (gap = xd_ledger_next_gap(p->book->ledger, XD_BYTES_ASSIGNED, rest),
           !xd_range_is_empty(gap)) {
        last = gap;
        rest.begin = gap.end;
    }
    if (size < LEAST_SLICE)
        size = LEAST_SLICE;
    if (size > FLIGHT)
        size = FLIGHT;
    if ((double)xd_range_length(last) > size)
        last.begin = last.end - (uint64_t)size;
    *out = last;
    return !xd_range_is_empty(last);
}

bool xd_may_ask_small(struct xd_adaptive *p, unsigned depot)
{
    unsigned best = p->began_at == XD_NEVER ? favourite(p) : depot;

    return p->depots[depot].owed <= 0 &&
           (best == depot || best == p->book->n_depots);
}

bool xd_choose_small(struct xd_adaptive *p, unsigned fetch, unsigned depot,
                     struct xd_range *out)
{
    if (!holds_all(p->book, depot))
        return false;
    if (p->began_at == XD_NEVER && p->forecasts[depot].latency > 0) {
        trust(p, fetch, depot);
        *out = p->book->wanted;
        return true;
    }
    if (offer_doubtful(p, depot) < 0)
        return false;
    if (!has_answered(p, depot))
        return take_slice(p, out);
    return take_hull(p, out) || (offer_end(p, depot) == 0 && take_hull(p, out));
}
