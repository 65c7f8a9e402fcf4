/* SPDX-License-Identifier: MIT */
/* Adds a depot to a running download, or ranges to a depot.  All arrays with
 * one entry for each depot, slot or fetch grow here. */
#include <string.h>
#include <xdownload/error.h>

#include "base/array.h"
#include "base/check.h"
#include "sched/core.h"

struct xd_range xd_core_held_range(const struct xd_sched *s, struct xd_range r)
{
    if (s->size_is_unknown)
        return (struct xd_range){s->book.wanted.begin, UINT64_MAX};
    return xd_core_clip(r, s->book.wanted);
}

/* A free slot contains n_depots, which has changed. */
static void rename_none(struct xd_book *b, unsigned before)
{
    for (unsigned i = 0; i < b->n_slots; i++)
        if (b->slots[i] == before)
            b->slots[i] = b->n_depots;
}

/* Adds a depot that holds nothing yet, with the next number. */
static int add_depot(struct xd_sched *s)
{
    struct xd_book *b = &s->book;
    unsigned n = b->n_depots;

    if (xd_lengthen(&b->depots, n, n + 1, sizeof *b->depots) < 0 ||
        xd_lengthen(&b->backing_off, n, n + 1, sizeof *b->backing_off) < 0 ||
        xd_depot_set_grow(&b->usable, n + 1) < 0 ||
        xd_depot_set_grow(&b->fresh, n + 1) < 0 ||
        xd_depot_set_grow(&b->tried, n + 1) < 0 ||
        xd_depot_set_grow(&b->unseen, n + 1) < 0 ||
        xd_depot_set_grow(&b->unseen_tried, n + 1) < 0 ||
        xd_depot_set_grow(&b->proven, n + 1) < 0 ||
        xd_depot_set_grow(&b->without_ranges, n + 1) < 0)
        return XD_E_NOMEM;
    if (b->has_pings && xd_lengthen(&b->near, n, n + 1, sizeof *b->near) < 0)
        return XD_E_NOMEM;
    b->depots[n].slot = XD_NO_SLOT;
    b->depots[n].idle_to = b->wanted.begin;
    b->n_depots++;
    rename_none(b, n);
    return b->has_tiers ? xd_tiers_know(s, n) : 0;
}

/* Allows one more depot in use. */
static int add_slot(struct xd_sched *s)
{
    struct xd_book *b = &s->book;
    unsigned n = b->n_slots, lanes = b->o.lanes_per_depot;

    if (xd_lengthen(&b->slots, n, n + 1, sizeof *b->slots) < 0 ||
        xd_lengthen(&s->fetches, b->n_fetches, b->n_fetches + lanes,
                    sizeof *s->fetches) < 0 ||
        xd_lengthen(&b->assigned, b->n_fetches, b->n_fetches + lanes,
                    sizeof *b->assigned) < 0)
        return XD_E_NOMEM;
    b->slots[n] = b->n_depots;
    b->n_slots++;
    b->n_fetches += lanes;
    return 0;
}

static int grow(struct xd_sched *s)
{
    const struct xd_book *b = &s->book;
    unsigned n_depots = b->n_depots, n_fetches = b->n_fetches;
    int rc = add_depot(s);

    if (rc == 0 && b->n_slots < b->o.max_open)
        rc = add_slot(s);
    if (rc == 0 && b->o.policy->grown)
        rc = b->o.policy->grown(s->policy, n_depots, n_fetches);
    if (rc == 0)
        xd_core_place(s, n_depots);
    return rc;
}

/* The bytes on both sides may be in different objects of a depot. */
static int add_cut(struct xd_sched *s, uint64_t at)
{
    struct xd_book *b = &s->book;
    size_t i;

    if (at <= b->wanted.begin || at >= b->wanted.end)
        return 0;
    i = xd_count_up_to(at, s->cuts, b->n_cuts, sizeof *s->cuts, 0);
    if (i > 0 && s->cuts[i - 1] == at)
        return 0;
    if (xd_lengthen(&s->cuts, b->n_cuts, b->n_cuts + 1, sizeof *s->cuts) < 0)
        return XD_E_NOMEM;
    memmove(s->cuts + i + 1, s->cuts + i, (b->n_cuts - i) * sizeof *s->cuts);
    s->cuts[i] = at;
    b->cuts = s->cuts;
    b->n_cuts++;
    return 0;
}

static unsigned stricter(unsigned a, unsigned b)
{
    return a == 0 || (b > 0 && b < a) ? b : a;
}

int xd_core_extend(struct xd_sched *s, struct xd_range more)
{
    struct xd_book *b = &s->book;

    XD_ASSERT(more.begin == b->wanted.end && b->o.window_bytes == 0 &&
              !s->size_is_unknown && b->n_windows == 1);
    s->added_from = more.begin;
    b->wanted.end = more.end;
    if (add_cut(s, more.begin) < 0)
        return XD_E_NOMEM;
    if (!xd_core_extend_horizon(s))
        b->windows[0].range.end = more.end;
    xd_core_forget_searches(s);
    return 0;
}

/* Returns whether the range was not wanted before.  Then a depot for it does
 * not help with bytes that were given up. */
static bool is_added(const struct xd_sched *s, struct xd_range r)
{
    return s->added_from > 0 && r.begin >= s->added_from &&
           xd_range_is_empty(xd_rangeset_next(&s->unavailable, r));
}

int xd_core_join(struct xd_sched *s, const struct xd_sched_event *ev)
{
    struct xd_range range = xd_core_held_range(s, ev->range);
    struct xd_holder *d;

    XD_ASSERT(ev->depot <= s->book.n_depots);
    if (ev->depot == s->book.n_depots && grow(s) < 0)
        return XD_E_NOMEM;
    d = &s->book.depots[ev->depot];
    d->max_lanes = stricter(d->max_lanes, ev->max_lanes);
    if (xd_tiers_hold(s, ev->depot, range, ev->tier) < 0 ||
        add_cut(s, range.begin) < 0 || add_cut(s, range.end) < 0)
        return XD_E_NOMEM;
    if (d->state == XD_HOLDER_DROPPED || !is_added(s, range))
        xd_rangeset_fini(&s->unavailable);
    if (d->state == XD_HOLDER_DROPPED)
        xd_core_take_back(s, ev->depot);
    xd_core_forget_searches(s);
    XD_NOTIFY(s, lost, ev->depot);
    xd_tiers_report(s);
    return 0;
}
