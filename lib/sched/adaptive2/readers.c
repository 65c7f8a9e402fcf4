/* SPDX-License-Identifier: MIT */
/*
 * How long requests for a reader may take.  A byte must arrive before the
 * reader needs it, and not long after the bytes in front of it.
 */
#include "sched/adaptive2/adaptive2.h"

#include <math.h>

bool xd_is_read(const struct xd_adaptive2 *p, const struct xd_window *w)
{
    return p->book->o.window_bytes > 0 && w->due != XD_NEVER;
}

/* Returns the first block after a reader has started or jumped, as far as it is
 * in the window.  It may be a piece that must be complete before any of it can
 * be verified and read. */
static struct xd_range first_block(const struct xd_adaptive2 *p,
                                   const struct xd_window *w)
{
    struct xd_range r = {w->jumped_to, w->jumped_to + p->book->o.block_bytes};

    return xd_range_clip(r, w->range);
}

double xd_shown_in(const struct xd_adaptive2 *p, const struct xd_window *w,
                   uint64_t byte)
{
    double in = w->due > p->now ? xd_seconds(w->due - p->now) : 0;

    if (w->bytes_per_s > 0 && byte >= first_block(p, w).end &&
        byte > w->range.begin)
        in += (double)(byte - w->range.begin) / (double)w->bytes_per_s;
    return in;
}

/* Returns the seconds until all bytes of the window in front of this one have
 * arrived, at the total throughput. */
static double time_before(const struct xd_adaptive2 *p,
                          const struct xd_window *w, uint64_t byte)
{
    struct xd_range front = {w->range.begin, byte};

    if (p->total <= 0 || xd_range_is_empty(front))
        return 0;
    return (double)(xd_range_length(front) - xd_ledger_count(p->book->ledger,
                                                             XD_BYTES_RECEIVED,
                                                             front)) /
           p->total;
}

double xd_time_allowed(const struct xd_adaptive2 *p, const struct xd_window *w,
                       uint64_t byte)
{
    if (!xd_ledger_has(p->book->ledger, XD_BYTES_RECEIVED, first_block(p, w)))
        return byte < first_block(p, w).end ? XD_READ_S : XD_BESIDE_S;
    return xd_greater(XD_READ_S,
                      xd_greater(XD_NEED_PART * xd_shown_in(p, w, byte),
                                 time_before(p, w, byte)));
}

/* Returns whether a player shows the bytes of the window at a known rate. */
static bool is_played(const struct xd_window *w)
{
    return w->due != XD_NEVER && w->bytes_per_s > 0;
}

/* Returns whether the player will not wait even if the throughput falls to
 * XD_SPARE_PART. */
static bool has_spare(const struct xd_adaptive2 *p, const struct xd_window *w)
{
    struct xd_range gap =
        xd_ledger_next_gap(p->book->ledger, XD_BYTES_RECEIVED, w->range);
    uint64_t end = p->book->wanted.end;

    if (xd_range_is_empty(gap))
        return true;
    return p->rate > 0 && xd_shown_in(p, w, gap.begin) > XD_SPARE_S &&
           time_before(p, w, end) < XD_SPARE_PART * xd_shown_in(p, w, end);
}

bool xd_may_ask_for(const struct xd_adaptive2 *p, const struct xd_window *w)
{
    const struct xd_book *b = p->book;

    if (is_played(w) || p->n_running == 0)
        return true;
    for (unsigned i = 0; i < b->n_windows; i++)
        if (is_played(&b->windows[i]) && !has_spare(p, &b->windows[i]))
            return false;
    return true;
}

/* Returns how many seconds the best open connection needs to deliver `bytes` in
 * its next request.  A busy one first finishes its current request. */
static double soonest(const struct xd_adaptive2 *p, double bytes)
{
    double best = HUGE_VAL;

    for (unsigned i = 0; i < p->book->n_fetches; i++) {
        const struct xd_conn *c = &p->conns[i];
        double at;

        if (!c->is_open || c->is_leaving)
            continue;
        at = c->is_running ? xd_end_in(p, c) + xd_wait_of(p, c->depot)
                           : xd_byte_in(p, c);
        best = xd_lesser(best, at + bytes / xd_rate_of(p, c));
    }
    return best;
}

uint64_t xd_skip_to(const struct xd_adaptive2 *p, const struct xd_conn *c,
                    const struct xd_window *w, uint64_t from, double takes)
{
    double bytes = xd_rate_of(p, c) * (takes - xd_byte_in(p, c));
    double to = (double)from;

    if (XD_RENEW * soonest(p, bytes) >= takes)
        return from; /* no other connection would be much faster */
    to += (takes - time_before(p, w, from)) * p->total;
    if (w->bytes_per_s > 0)
        to = xd_lesser(
            to, (double)w->range.begin +
                    (takes / XD_NEED_PART - xd_shown_in(p, w, w->range.begin)) *
                        (double)w->bytes_per_s);
    if (to >= (double)w->range.end)
        return w->range.end;
    return to > (double)from ? (uint64_t)to : from;
}
