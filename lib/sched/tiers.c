/* SPDX-License-Identifier: MIT */
/*
 * Tiers: who of all that have a byte hold it, that is, are asked for it.
 *
 *     A        |==0==|......|--1--|             what it has, and in which tier
 *     B        |--1--|--1---|--1--|--1--|
 *     C        |..2..|..2...|..2..|..2..|..2..|
 *
 *     held by     A      B    A, B    B     C   while all three are usable
 *
 *     covered[0]  |=====|
 *     covered[1]  |=======================|     what usable depots have in this
 *     covered[2]  |=============================|   tier or a lower one
 *
 * A byte that loses its last holder is taken out of all of `covered`, and those
 * that have it enter anew; so a change costs what it changes, times the depots.
 */
#include <xdownload/error.h>

#include "base/alloc.h"
#include "base/check.h"
#include "sched/core.h"

static const struct xd_range everything = {0, UINT64_MAX};

static bool is_usable(const struct xd_sched *s, unsigned depot)
{
    return s->book.depots[depot].state != XD_HOLDER_DROPPED;
}

static int set_held(struct xd_sched *s, unsigned depot, struct xd_range r,
                    bool holds)
{
    struct xd_holder *d = &s->book.depots[depot];
    uint64_t before = d->held.bytes;
    int rc =
        holds ? xd_rangeset_add(&d->held, r) : xd_rangeset_remove(&d->held, r);

    s->steps++;
    d->tiers->is_changed |= d->held.bytes != before;
    return rc;
}

/* The depot holds r, which no usable depot has in a lower tier; those that have
 * it in a higher one give way. */
static int take(struct xd_sched *s, unsigned depot, struct xd_range r,
                unsigned tier)
{
    int rc = set_held(s, depot, r, true);
    struct xd_range gap;

    while (rc == 0 && (gap = xd_rangeset_next_gap(&s->covered[tier], r),
                       !xd_range_is_empty(gap))) {
        bool had_holders = !xd_range_is_empty(
            xd_rangeset_next(&s->covered[XD_TIERS - 1], gap));

        for (unsigned i = 0; rc == 0 && had_holders && i < s->book.n_depots;
             i++)
            if (i != depot)
                rc = set_held(s, i, gap, false);
        for (unsigned t = tier; rc == 0 && t < XD_TIERS; t++)
            rc = xd_rangeset_add(&s->covered[t], gap);
        r.begin = gap.end;
    }
    return rc;
}

/* A usable depot has all of r in that tier. */
static int enter_run(struct xd_sched *s, unsigned depot, struct xd_range r,
                     unsigned tier)
{
    int rc = 0;

    while (rc == 0 && !xd_range_is_empty(r)) {
        struct xd_range run = r;

        if (tier > 0)
            run = xd_rangeset_next_gap(&s->covered[tier - 1], r);
        if (!xd_range_is_empty(run))
            rc = take(s, depot, run, tier);
        r.begin = run.end;
    }
    return rc;
}

/* The first run within r that is in both. */
static struct xd_range next_in_both(const struct xd_rangeset *a,
                                    const struct xd_rangeset *b,
                                    struct xd_range r)
{
    struct xd_range run;

    do {
        run = xd_rangeset_next(a, r);
        r.begin = run.end;
        run = xd_rangeset_next(b, run);
    } while (xd_range_is_empty(run) && !xd_range_is_empty(r));
    return run;
}

/* A usable depot may have become able to hold what it has of r. */
static int enter_tier(struct xd_sched *s, unsigned depot, struct xd_range r,
                      unsigned tier)
{
    const struct xd_tiers *t = s->book.depots[depot].tiers;
    struct xd_range run;
    int rc = 0;

    s->steps++;
    while (rc == 0 && (run = next_in_both(&t->in[tier], &t->has, r),
                       !xd_range_is_empty(run))) {
        rc = enter_run(s, depot, run, tier);
        r.begin = run.end;
    }
    return rc;
}

/* What the depot has of r counts, if it is usable. */
static int enter(struct xd_sched *s, unsigned depot, struct xd_range r)
{
    int rc = 0;

    for (unsigned tier = 0; rc == 0 && tier < XD_TIERS && is_usable(s, depot);
         tier++)
        rc = enter_tier(s, depot, r, tier);
    return rc;
}

int xd_tiers_fill(struct xd_sched *s, struct xd_range r)
{
    int rc = 0;

    for (unsigned tier = 0; rc == 0 && tier < XD_TIERS; tier++)
        for (unsigned i = 0; rc == 0 && i < s->book.n_depots; i++)
            if (is_usable(s, i))
                rc = enter_tier(s, i, r, tier);
    return rc;
}

/* The first run within r that no depot holds. */
static struct xd_range next_unheld(struct xd_sched *s, struct xd_range r)
{
    const struct xd_book *b = &s->book;
    unsigned n_asked = 0;

    /* Until none of them all holds the first byte. */
    for (unsigned i = 0; n_asked < b->n_depots && !xd_range_is_empty(r);
         i = (i + 1) % b->n_depots, n_asked++) {
        struct xd_range run = xd_rangeset_next(&b->depots[i].held, r);

        s->steps++;
        if (run.begin > r.begin || xd_range_is_empty(run))
            continue;
        r.begin = run.end;
        n_asked = 0;
    }
    for (unsigned i = 0; i < b->n_depots && !xd_range_is_empty(r); i++)
        r.end = xd_rangeset_next(&b->depots[i].held, r).begin;
    return r;
}

/* A depot has ceased to hold r. */
static int replace(struct xd_sched *s, struct xd_range r)
{
    struct xd_range gap;
    int rc = 0;

    while (rc == 0 && (gap = next_unheld(s, r), !xd_range_is_empty(gap))) {
        for (unsigned t = 0; rc == 0 && t < XD_TIERS; t++)
            rc = xd_rangeset_remove(&s->covered[t], gap);
        if (rc == 0)
            rc = xd_tiers_fill(s, gap);
        r.begin = gap.end;
    }
    return rc;
}

static int leave(struct xd_sched *s, unsigned depot, struct xd_range r)
{
    struct xd_range run;
    int rc = 0;

    while (rc == 0 && (run = xd_rangeset_next(&s->book.depots[depot].held, r),
                       !xd_range_is_empty(run))) {
        rc = set_held(s, depot, run, false);
        if (rc == 0)
            rc = replace(s, run);
        r.begin = run.end;
    }
    return rc;
}

/* What was not said to be in a tier is in tier 0. */
int xd_tiers_know(struct xd_sched *s, unsigned depot)
{
    struct xd_holder *d = &s->book.depots[depot];

    d->tiers = xd_alloc(1, sizeof *d->tiers);
    if (d->tiers == NULL)
        return XD_E_NOMEM;
    return xd_rangeset_add(&d->tiers->in[0], everything);
}

void xd_tiers_fini(struct xd_tiers *t)
{
    if (t == NULL)
        return;
    xd_rangeset_fini(&t->has);
    for (unsigned i = 0; i < XD_TIERS; i++)
        xd_rangeset_fini(&t->in[i]);
    xd_free(t);
}

static int copy(struct xd_rangeset *to, const struct xd_rangeset *from)
{
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < from->n; i++)
        rc = xd_rangeset_add(to, from->ranges[i]);
    return rc;
}

/* All depots have been in tier 0. */
static int begin(struct xd_sched *s)
{
    struct xd_book *b = &s->book;
    int rc = 0;

    b->has_tiers = true;
    for (unsigned i = 0; rc == 0 && i < b->n_depots; i++) {
        struct xd_holder *d = &b->depots[i];

        rc = xd_tiers_know(s, i);
        if (rc == 0)
            rc = copy(&d->tiers->has, &d->held);
        if (!is_usable(s, i))
            xd_rangeset_fini(&d->held);
    }
    for (unsigned i = 0; rc == 0 && i < b->n_depots; i++)
        for (unsigned t = 0; rc == 0 && t < XD_TIERS; t++)
            rc = copy(&s->covered[t], &b->depots[i].held);
    return rc;
}

int xd_tiers_note(struct xd_sched *s, unsigned depot, struct xd_range r,
                  unsigned tier)
{
    struct xd_holder *d = &s->book.depots[depot];
    int rc = 0;

    XD_ASSERT(tier < XD_TIERS);
    if (!s->book.has_tiers && tier == 0)
        return xd_rangeset_add(&d->held, r);
    if (xd_range_is_empty(r))
        return 0;
    if (!s->book.has_tiers)
        rc = begin(s);
    for (unsigned t = 0; rc == 0 && t < XD_TIERS; t++)
        rc = t == tier ? xd_rangeset_add(&d->tiers->in[t], r)
                       : xd_rangeset_remove(&d->tiers->in[t], r);
    return rc < 0 ? rc : xd_rangeset_add(&d->tiers->has, r);
}

int xd_tiers_hold(struct xd_sched *s, unsigned depot, struct xd_range r,
                  unsigned tier)
{
    int rc = s->book.has_tiers ? xd_tiers_lose(s, depot, r) : 0;

    if (rc == 0)
        rc = xd_tiers_note(s, depot, r, tier);
    return rc == 0 && s->book.has_tiers ? enter(s, depot, r) : rc;
}

int xd_tiers_enter(struct xd_sched *s, unsigned depot)
{
    return s->book.has_tiers ? enter(s, depot, everything) : 0;
}

int xd_tiers_leave(struct xd_sched *s, unsigned depot)
{
    return s->book.has_tiers ? leave(s, depot, everything) : 0;
}

int xd_tiers_lose(struct xd_sched *s, unsigned depot, struct xd_range r)
{
    struct xd_holder *d = &s->book.depots[depot];

    if (!s->book.has_tiers)
        return xd_rangeset_remove(&d->held, r);
    if (xd_rangeset_remove(&d->tiers->has, r) < 0)
        return XD_E_NOMEM;
    return leave(s, depot, r);
}

int xd_tiers_regain(struct xd_sched *s, unsigned depot, struct xd_range r)
{
    struct xd_holder *d = &s->book.depots[depot];

    if (!s->book.has_tiers)
        return xd_rangeset_add(&d->held, r);
    if (xd_rangeset_add(&d->tiers->has, r) < 0)
        return XD_E_NOMEM;
    return enter(s, depot, r);
}

void xd_tiers_report(struct xd_sched *s)
{
    bool any = false;

    for (unsigned i = 0; s->book.has_tiers && i < s->book.n_depots; i++) {
        struct xd_tiers *t = s->book.depots[i].tiers;

        if (!t->is_changed)
            continue;
        t->is_changed = false;
        any = true;
        XD_NOTIFY(s, lost, i);
    }
    if (any)
        xd_core_forget_searches(s);
}
