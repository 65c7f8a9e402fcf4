/* SPDX-License-Identifier: MIT */
/*
 * When bytes are needed, and whether a player has to wait for them.
 */
#include "sched/adaptive/adaptive.h"

/* A player that has so much ahead of it does not care about ends. */
#define TIME_S 1.0

/* Where the end is late in any case, bytes that are not needed for so long are
 * asked for early enough that no depot idles. */
#define BULK_S 3.0

/* What nobody waits for takes its time from a player only if that would not be
 * late with this share of what all depots bring. */
#define SPARE_SHARE 0.8

static double greater(double a, double b)
{
    return a > b ? a : b;
}

bool xd_window_is_urgent(const struct xd_book *b, const struct xd_window *w)
{
    return b->o.window_bytes > 0 && w->due != XD_NEVER;
}

/* Seconds until a byte is to be shown if the picture never stands still; below
 * 0 it is late. */
static double shown_in(const struct xd_adaptive *p, const struct xd_window *w,
                       uint64_t byte)
{
    double in = w->due >= p->now ? xd_seconds(w->due - p->now)
                                 : -xd_seconds(p->now - w->due);

    if (w->bytes_per_s > 0)
        in += (double)(byte - w->range.begin) / (double)w->bytes_per_s;
    return in;
}

bool xd_is_played(const struct xd_window *w)
{
    return w->bytes_per_s > 0 && w->due != XD_NEVER;
}

/* Where rates jump, what they are now says little. */
static double lateness_at(const struct xd_adaptive *p,
                          const struct xd_window *w, double share)
{
    struct xd_range wanted = p->book->wanted;
    struct xd_range before = {wanted.begin, w->range.begin};
    double rate = p->rate;
    uint64_t received;

    if (!xd_is_played(w) || rate <= 0)
        return 0;
    if (p->now > p->began_at)
        rate = greater(rate, p->brought / xd_seconds(p->now - p->began_at));
    /* Before the window there are few runs. */
    received = xd_ledger_bytes(p->book->ledger, XD_BYTES_RECEIVED) -
               xd_ledger_count(p->book->ledger, XD_BYTES_RECEIVED, before);
    return greater(0, (double)(wanted.end - w->range.begin - received) /
                              (share * rate) -
                          shown_in(p, w, wanted.end));
}

double xd_lateness(const struct xd_adaptive *p, const struct xd_window *w)
{
    return lateness_at(p, w, 1);
}

uint64_t xd_good_to(const struct xd_adaptive *p, const struct xd_window *w)
{
    return xd_ledger_first_gap(p->book->ledger, XD_BYTES_DONE, w->range);
}

bool xd_has_yet_to_begin(const struct xd_adaptive *p, const struct xd_window *w)
{
    return xd_good_to(p, w) - w->jumped_to < p->book->o.block_bytes;
}

double xd_needed_in(const struct xd_adaptive *p, const struct xd_window *w,
                    uint64_t byte)
{
    double in = shown_in(p, w, byte);

    if (!xd_has_yet_to_begin(p, w))
        in += xd_lateness(p, w);
    return in;
}

bool xd_has_time(const struct xd_adaptive *p, const struct xd_window *w)
{
    return w->due != XD_NEVER && w->bytes_per_s > 0 &&
           xd_needed_in(p, w, xd_good_to(p, w)) > TIME_S;
}

static bool anything_runs(const struct xd_adaptive *p)
{
    for (unsigned i = 0; i < p->book->n_fetches; i++)
        if (p->flows[i].is_running)
            return true;
    return false;
}

/* Whether a depot can be asked for more of a window. */
static bool has_more(const struct xd_adaptive *p, unsigned depot,
                     const struct xd_window *w)
{
    struct xd_range gap =
        xd_ledger_next_gap(p->book->ledger, XD_BYTES_ASSIGNED, w->range);

    return !xd_range_is_empty(
        xd_rangeset_next(&p->book->depots[depot].held, gap));
}

/* Before a rate is known nothing is to spare. */
static bool has_to_spare(const struct xd_adaptive *p, const struct xd_window *w)
{
    return xd_has_time(p, w) && p->rate > 0 &&
           lateness_at(p, w, SPARE_SHARE) <= 0;
}

bool xd_player_waits(const struct xd_adaptive *p, unsigned depot)
{
    const struct xd_book *b = p->book;

    for (unsigned i = 0; i < b->n_windows; i++) {
        const struct xd_window *w = &b->windows[i];

        if (xd_is_played(w) && !has_to_spare(p, w) &&
            !xd_ledger_has(b->ledger, XD_BYTES_RECEIVED, w->range))
            return anything_runs(p) || has_more(p, depot, w);
    }
    return false;
}

bool xd_order_matters(const struct xd_adaptive *p, uint64_t byte)
{
    const struct xd_window *w = p->book->window;

    return xd_lateness(p, w) <= 0 || xd_needed_in(p, w, byte) <= BULK_S;
}

bool xd_player_has_time(const struct xd_adaptive *p)
{
    for (unsigned i = 0; i < p->book->n_windows; i++)
        if (xd_has_time(p, &p->book->windows[i]))
            return true;
    return false;
}
