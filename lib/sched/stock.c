#include "sched/adaptive.h"

#include <xdownload/error.h>

/* No request is worth less than this part of a block. */
#define LEAST_PARTS 64

#define FOR_EVER 1e9

xd_usec xd_flow_overdue_at(const struct xd_adaptive *p, const struct xd_flow *f)
{
    return (f->has_begun ? f->heard_at : f->asked_at) +
           xd_forecast_patience(&p->forecasts[f->depot]);
}

/* Bytes of the windows that nobody was asked for. */
static double unasked(const struct xd_adaptive *p)
{
    const struct xd_book *b = p->book;
    double bytes = 0;

    if (b->o.window_bytes == 0) /* there are no readers */
        return (double)(xd_range_length(b->wanted) - p->taken.bytes);
    for (unsigned i = 0; i < b->n_windows; i++) {
        struct xd_range r = b->windows[i].range;

        bytes +=
            (double)(xd_range_length(r) - xd_rangeset_overlap(&p->taken, r));
    }
    return bytes;
}

void xd_take_stock(struct xd_adaptive *p, xd_usec now)
{
    const struct xd_book *b = p->book;
    double rate = 0;

    for (unsigned i = 0; i < b->n_depots; i++) {
        p->depots[i].owed = 0;
        p->depots[i].is_overdue = false;
    }
    p->unasked = unasked(p);
    p->overdue = 0;
    for (unsigned i = 0; i < b->n_fetches; i++) {
        struct xd_flow *f = &p->flows[i];

        if (!f->is_running)
            continue;
        p->depots[f->depot].owed += xd_flow_left(f);
        if (xd_flow_overdue_at(p, f) > now)
            continue;
        p->depots[f->depot].is_overdue = true;
        if (!f->is_offered)
            p->overdue += xd_flow_left(f);
    }
    p->time_left = p->unasked + p->overdue;
    for (unsigned slot = 0; slot < b->n_slots; slot++) {
        unsigned i = b->slots[slot];

        if (i == b->n_depots || p->depots[i].is_overdue ||
            p->forecasts[i].rate <= 0)
            continue;
        p->time_left += p->depots[i].owed;
        rate += p->forecasts[i].rate;
    }
    p->rate = rate;
    p->time_left = rate > 0 ? p->time_left / rate : FOR_EVER;
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
    return xd_seconds(p->forecasts[depot].latency) +
           (p->depots[depot].owed + bytes) / p->forecasts[depot].rate;
}

bool xd_others_bring(const struct xd_adaptive *p, unsigned depot,
                     struct xd_range r, double within)
{
    double bytes = (double)xd_range_length(r);

    for (unsigned slot = 0; slot < p->book->n_slots; slot++) {
        unsigned i = p->book->slots[slot];

        if (i < p->book->n_depots && i != depot &&
            xd_holder_is_ready(&p->book->depots[i]) &&
            !p->depots[i].is_overdue && p->forecasts[i].rate > 0 &&
            xd_time_to_bring(p, i, bytes) < within &&
            xd_rangeset_contains(&p->book->depots[i].held, r))
            return true;
    }
    return false;
}

void xd_search_anew(struct xd_adaptive *p)
{
    for (unsigned i = 0; i < p->book->n_depots; i++)
        p->depots[i].taken_to = p->book->wanted.begin;
}

int xd_offer(struct xd_adaptive *p, struct xd_range r)
{
    int rc = 0;

    xd_search_anew(p);
    while (rc == 0 && !xd_range_is_empty(r)) {
        struct xd_range gap = xd_rangeset_next_gap(&p->book->arrived, r);

        if (!xd_range_is_empty(gap))
            rc = xd_rangeset_remove(&p->taken, gap);
        r.begin = gap.end;
    }
    return rc;
}
