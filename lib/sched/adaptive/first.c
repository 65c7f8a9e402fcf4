/* SPDX-License-Identifier: MIT */
/*
 * The first block, while a reader waits for it, at the start and where it goes
 * elsewhere.  There may be pieces, of which none is good before all of it is
 * here, so all depots bring the first together:
 *
 *     - Who is done with its part takes what others turn out to be late with,
 *       in requests that become smaller, as at the end of a download.
 *     - What lies behind is asked for in short requests and by who has nothing
 *       else to bring, so that it does not stand in the way; not by who has
 *       only begun to say how fast it is, for it may be the best for the first.
 *
 * Where the picture has to stand still in any case, to be quick with the first
 * block would only make it stand still later, and longer.
 */
#include "sched/adaptive/adaptive.h"

/* Of what nobody was asked for, one request takes this share of a depot's part:
 * forecasts are young. */
#define SHARE 0.5

struct xd_range xd_first_block(const struct xd_adaptive *p)
{
    const struct xd_window *w = p->book->window;
    struct xd_range first = {w->jumped_to, w->range.end};

    if (xd_range_length(first) > p->book->o.block_bytes)
        first.end = first.begin + p->book->o.block_bytes;
    if (w->due > p->now || !xd_has_yet_to_begin(p, w) ||
        xd_lateness(p, w) > 0 ||
        xd_ledger_has(p->book->ledger, XD_BYTES_RECEIVED, first))
        first.end = first.begin;
    return first;
}

/* If not, nothing would ever be asked for. */
static bool anything_runs(const struct xd_adaptive *p)
{
    for (unsigned i = 0; i < p->book->n_fetches; i++)
        if (p->flows[i].is_running)
            return true;
    return false;
}

bool xd_leave_to_first(const struct xd_adaptive *p, unsigned depot,
                       struct xd_range *out)
{
    const struct xd_forecast *f = &p->forecasts[depot];
    struct xd_range first = xd_first_block(p);
    double least = xd_least_worth(p, f->rate, xd_seconds(f->latency)), part;

    if (xd_range_is_empty(first))
        return true;
    if (out->begin >= first.end) {
        if (f->rate <= 0)
            return p->depots[depot].heard_at == 0 || !anything_runs(p);
        xd_shorten(out, least);
        return p->depots[depot].owed <= f->rate * xd_seconds(f->latency);
    }
    if (out->end > first.end)
        out->end = first.end;
    if (f->rate <= 0)
        return true;
    part = (double)(xd_range_length(first) -
                    xd_ledger_count(p->book->ledger, XD_BYTES_ASSIGNED, first));
    part *= SHARE * f->rate / p->rate;
    xd_shorten(out, part > least ? part : least);
    return true;
}

double xd_time_for_silent(const struct xd_adaptive *p, const struct xd_flow *f,
                          uint64_t to)
{
    double silent = xd_seconds(p->now - f->asked_at), takes = silent;
    double window = XD_FIRST_WINDOW, sent = window;

    for (; sent < (double)(to - f->range.begin); sent += window) {
        window *= 2;
        takes += silent / 2;
    }
    return takes;
}
