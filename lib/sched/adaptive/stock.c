/* SPDX-License-Identifier: MIT */
#include "sched/adaptive/adaptive.h"

#include <math.h>
#include <xdownload/error.h>

#include "base/array.h"

/* No request is worth less than this part of a block. */
#define LEAST_PARTS 64

#define FOR_EVER 1e9

/* A line that is full of what others bring is never silent for so long; one
 * depot alone is, while it brings again what was lost. */
#define ALIVE XD_SECOND

xd_usec xd_flow_heard_at(const struct xd_adaptive *p, const struct xd_flow *f)
{
    xd_usec at = f->has_begun ? f->heard_at : f->asked_at;

    if (xd_flow_shares(p, f) && at < p->depots[f->depot].heard_at)
        return p->depots[f->depot].heard_at;
    return at;
}

bool xd_line_is_silent(const struct xd_adaptive *p)
{
    return p->now >= p->heard_at + ALIVE;
}

xd_usec xd_patience(const struct xd_adaptive *p, unsigned depot)
{
    xd_usec patience = xd_forecast_patience(&p->forecasts[depot]);
    xd_usec queue = xd_bottleneck_queue_time(&p->book->bottleneck, p->now);

    bool explains = !xd_line_is_silent(p) || xd_surplus_is_one(&p->surplus);

    return queue > patience && explains ? queue : patience;
}

xd_usec xd_flow_overdue_at(const struct xd_adaptive *p, const struct xd_flow *f)
{
    return xd_flow_heard_at(p, f) + xd_patience(p, f->depot);
}

/* More is wanted than may be begun now. */
static bool is_bounded(const struct xd_book *b)
{
    return b->o.window_bytes == 0 && b->n_windows > 0 &&
           b->windows[0].range.end < b->wanted.end;
}

/* Each is divided among requests, on the average. */
static bool are_objects_long(const struct xd_book *b)
{
    const struct xd_range r = b->windows[0].range;

    if (b->n_sized > 0 && b->mean_size < (double)b->o.block_bytes)
        return false;
    return r.end - xd_ledger_first_gap(b->ledger, XD_BYTES_DONE, r) >=
           b->o.block_bytes * b->o.most_objects;
}

bool xd_waits_for_objects(const struct xd_adaptive *p)
{
    return is_bounded(p->book) && !are_objects_long(p->book);
}

/* Bytes of the windows that nobody was asked for.  Long objects are divided as if
 * no others came after those that may be begun; of short ones a request takes
 * one, and others do come. */
static double unasked(const struct xd_adaptive *p)
{
    const struct xd_book *b = p->book;
    double bytes = 0;

    if (b->o.window_bytes == 0 &&
        (!is_bounded(b) || !are_objects_long(b))) /* there are no readers */
        return (double)(xd_range_length(b->wanted) -
                        xd_ledger_bytes(b->ledger, XD_BYTES_ASSIGNED));
    for (unsigned i = 0; i < b->n_windows; i++) {
        struct xd_range r = b->windows[i].range;

        bytes +=
            (double)(xd_range_length(r) -
                     xd_ledger_count(p->book->ledger, XD_BYTES_ASSIGNED, r));
    }
    return bytes;
}

/* A request may be lost on a connection, and the others of its depot be well. */
static bool is_silent(const struct xd_adaptive *p, unsigned depot)
{
    return p->now >= p->depots[depot].heard_at + xd_patience(p, depot);
}

/* Where there is another lane, that may change what it does. */
static xd_usec far_at(const struct xd_adaptive *p, const struct xd_flow *f)
{
    xd_usec at = f->asked_at + XD_FAR;

    if (p->book->o.lanes_per_depot == 1 || p->book->o.window_bytes > 0 ||
        p->forecasts[f->depot].latency > 0 || at <= p->now)
        return XD_NEVER;
    return at;
}

/* Whether it was asked for all of a place that an object of unknown size may have: of
 * one of known size that is longer a request has a part. */
static bool is_of_place(const struct xd_book *b, const struct xd_flow *f)
{
    const uint64_t begin = f->range.begin;
    const size_t i =
        xd_count_up_to(begin, b->cuts, b->n_cuts, sizeof *b->cuts, 0);
    const uint64_t end = i < b->n_cuts ? b->cuts[i] : b->wanted.end;

    return (i > 0 ? b->cuts[i - 1] : 0) == begin && f->asked_end == end &&
           end - begin <= b->o.block_bytes;
}

double xd_flow_owes(const struct xd_adaptive *p, const struct xd_flow *f)
{
    const struct xd_book *b = p->book;
    const double left = xd_flow_left(f), mean = b->mean_size + 1;

    return b->n_sized > 0 && left > mean && is_of_place(b, f) ? mean : left;
}

static void count_flows(struct xd_adaptive *p)
{
    p->overdue = 0;
    p->wake_at = XD_NEVER;
    for (unsigned i = 0; i < p->book->n_fetches; i++) {
        const struct xd_flow *f = &p->flows[i];
        struct xd_stock *d = &p->depots[f->depot];
        xd_usec overdue_at;

        if (!f->is_running)
            continue;
        overdue_at = xd_flow_overdue_at(p, f);
        d->n_running++;
        d->n_sharing += p->book->depots[f->depot].shares &&
                        !f->owns_connection && !f->begins_anew;
        d->is_offered |= xd_flow_is_offered(p, f);
        d->far_at = f->asked_at + XD_FAR;
        p->wake_at = xd_earlier(p->wake_at, far_at(p, f));
        if (overdue_at > p->now) {
            d->owed += xd_flow_owes(p, f);
            p->wake_at = xd_earlier(p->wake_at, overdue_at);
            continue;
        }
        d->is_overdue |= is_silent(p, f->depot);
        p->overdue += xd_flow_kept(p, f);
    }
}

/* What those that are open and well bring; returns the bytes that they owe. */
static double count_depots(struct xd_adaptive *p)
{
    const struct xd_book *b = p->book;
    double owed = 0, soonest = HUGE_VAL;

    p->rate = 0;
    p->n_open = p->n_well = 0;
    p->soonest = b->n_depots;
    p->best_rate = 0;
    p->best_latency = XD_NEVER;
    for (unsigned slot = 0; slot < b->n_slots; slot++) {
        unsigned i = b->slots[slot];
        const struct xd_forecast *f = &p->forecasts[i];
        double done;

        if (i == b->n_depots)
            continue;
        p->n_open++;
        if (p->depots[i].is_overdue)
            continue;
        p->n_well++;
        if (f->rate <= 0)
            continue;
        owed += p->depots[i].owed;
        p->rate += f->rate;
        if (f->rate > p->best_rate)
            p->best_rate = f->rate;
        if (f->latency < p->best_latency)
            p->best_latency = f->latency;
        done = xd_time_to_bring(p, i, 0);
        if (!p->depots[i].is_offered && done < soonest) {
            soonest = done;
            p->soonest = i;
        }
    }
    return owed;
}

void xd_take_stock(struct xd_adaptive *p, xd_usec now)
{
    const struct xd_book *b = p->book;
    double left;

    p->now = now;
    for (unsigned slot = 0; slot < b->n_slots; slot++)
        if (b->slots[slot] < b->n_depots) {
            struct xd_stock *d = &p->depots[b->slots[slot]];

            *d = (struct xd_stock){.heard_at = d->heard_at,
                                   .search = d->search,
                                   .taken_to = d->taken_to,
                                   .hint = d->hint};
        }
    count_flows(p);
    p->unasked = unasked(p);
    left = p->unasked + p->overdue + count_depots(p);
    p->time_left = p->rate > 0 ? left / p->rate : FOR_EVER;
    p->late_is_known = false;
    p->visits += b->n_fetches + 2 * b->n_slots;
}

double xd_least_worth(const struct xd_adaptive *p, double rate, double latency)
{
    double part = (double)p->book->o.block_bytes / LEAST_PARTS + 1;
    double least = rate * (latency > XD_LEAST_S ? latency : XD_LEAST_S);

    return least > part ? least : part;
}

double xd_time_to_bring(const struct xd_adaptive *p, unsigned depot,
                        double bytes)
{
    double latency = xd_seconds(p->forecasts[depot].latency);
    double rate = p->forecasts[depot].rate;

    if (xd_has_free_connection(p, depot))
        return latency + bytes / xd_rate_of_lane(p, depot);
    return latency + (p->depots[depot].owed + bytes) / rate;
}

static bool brings(const struct xd_adaptive *p, unsigned i, struct xd_range r,
                   double within)
{
    return i < p->book->n_depots && xd_holder_is_ready(&p->book->depots[i]) &&
           !p->depots[i].is_overdue && !p->depots[i].is_offered &&
           p->forecasts[i].rate > 0 &&
           xd_time_to_bring(p, i, (double)xd_range_length(r)) < within &&
           xd_rangeset_contains(&p->book->depots[i].held, r);
}

bool xd_others_bring(struct xd_adaptive *p, unsigned depot, struct xd_range r,
                     double within)
{
    if (p->soonest != depot && brings(p, p->soonest, r, within))
        return true;
    p->visits += p->book->n_slots;
    for (unsigned slot = 0; slot < p->book->n_slots; slot++)
        if (p->book->slots[slot] != depot &&
            brings(p, p->book->slots[slot], r, within))
            return true;
    return false;
}

void xd_search_anew(struct xd_adaptive *p)
{
    p->search++;
}

int xd_offer(struct xd_adaptive *p, const struct xd_flow *f, struct xd_range r)
{
    xd_search_anew(p);
    return xd_book_offer(p->book, (unsigned)(f - p->flows), r);
}
