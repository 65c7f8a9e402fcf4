/* SPDX-License-Identifier: MIT */
/*
 * The first block, while a reader waits for it, at the start and where it goes
 * elsewhere.  There may be pieces, of which none is good before all of it is
 * here, so all depots bring the first together:
 *
 *     - Who is done with its part takes what others turn out to be late with,
 *       in requests that become smaller, as at the end of a download.
 *     - Its first byte is asked for of who answers first: a depot of which a
 *       connection idles does sooner than one that was cut off.
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

/* Whether a request is under way that was not taken back; and whether one can be
 * made over a connection that is there. */
static void look_at_lanes(const struct xd_adaptive *p, unsigned depot,
                          bool *is_busy, bool *is_connected)
{
    const struct xd_book *b = p->book;
    unsigned n = b->o.lanes_per_depot;
    const struct xd_flow *lane = &p->flows[b->depots[depot].slot * n];

    *is_busy = false;
    *is_connected = xd_shares(p, depot);
    for (unsigned i = 0; i < n; i++) {
        *is_busy |= lane[i].is_running && !lane[i].is_canceled;
        *is_connected |= !lane[i].is_running && !lane[i].is_broken;
    }
}

/* How long until it answers; XD_NEVER if it is not known, or busy.  A new
 * connection takes as long as the answer does. */
static xd_usec time_to_answer(const struct xd_adaptive *p, unsigned depot)
{
    xd_usec latency = p->forecasts[depot].latency;
    bool is_busy, is_connected;

    if (!xd_holder_is_ready(&p->book->depots[depot]) || latency == 0)
        return XD_NEVER;
    look_at_lanes(p, depot, &is_busy, &is_connected);
    if (is_busy)
        return XD_NEVER;
    return is_connected ? latency : 2 * latency;
}

unsigned xd_first_to_answer(void *policy)
{
    struct xd_adaptive *p = policy;
    const struct xd_book *b = p->book;
    struct xd_range first = xd_first_block(p);
    unsigned soonest = b->n_depots;
    xd_usec least = XD_NEVER;

    if (xd_range_is_empty(first) ||
        xd_ledger_first_gap(p->book->ledger, XD_BYTES_ASSIGNED, first) !=
            first.begin)
        return soonest;
    p->visits += b->n_fetches;
    for (unsigned slot = 0; slot < b->n_slots; slot++) {
        unsigned i = b->slots[slot];
        xd_usec takes = i < b->n_depots ? time_to_answer(p, i) : XD_NEVER;

        if (takes < least) {
            least = takes;
            soonest = i;
        }
    }
    return soonest;
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
