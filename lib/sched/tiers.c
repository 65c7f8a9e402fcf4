/* SPDX-License-Identifier: MIT */
/*
 * Computes which of the depots that have a byte hold it, which means that they
 * are asked for it.
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
 * A depot that was set aside, because it fails or is silent, covers nothing.
 * It keeps what it holds, and depots in higher tiers hold these bytes as well.
 *
 * When a byte loses the last depot that covers it, it is removed from all
 * `covered`, and all depots that have it are entered again.  So the cost of a
 * change is proportional to the changed ranges times the depots.
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

/* Returns whether its holdings exclude depots in higher tiers. */
static bool covers(const struct xd_sched *s, unsigned depot)
{
    return is_usable(s, depot) && !s->book.depots[depot].is_aside;
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

/* Returns the first run inside r that is in both sets. */
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

/* Removes from the depot's holdings what it has of r in higher tiers than
 * `tier`. */
static int give_way(struct xd_sched *s, unsigned depot, struct xd_range r,
                    unsigned tier)
{
    const struct xd_holder *d = &s->book.depots[depot];
    int rc = 0;

    for (unsigned t = tier + 1; rc == 0 && t < XD_TIERS; t++) {
        struct xd_range rest = r, run;

        while (rc == 0 && (run = next_in_both(&d->tiers->in[t], &d->held, rest),
                           !xd_range_is_empty(run))) {
            rc = set_held(s, depot, run, false);
            rest.begin = run.end;
        }
    }
    return rc;
}

/* Marks r as covered in this tier.  `is_anew`: nothing of it was covered
 * before, and lower tiers were entered first. */
static int cover(struct xd_sched *s, struct xd_range r, unsigned tier,
                 bool is_anew)
{
    struct xd_range gap;
    int rc = 0;

    while (rc == 0 && (gap = xd_rangeset_next_gap(&s->covered[tier], r),
                       !xd_range_is_empty(gap))) {
        for (unsigned i = 0; rc == 0 && !is_anew && i < s->book.n_depots; i++)
            rc = give_way(s, i, gap, tier);
        for (unsigned t = tier; rc == 0 && t < XD_TIERS; t++)
            rc = xd_rangeset_add(&s->covered[t], gap);
        r.begin = gap.end;
    }
    return rc;
}

/* Adds r to the holdings of a usable depot that has all of it in this tier. */
static int enter_run(struct xd_sched *s, unsigned depot, struct xd_range r,
                     unsigned tier, bool is_anew)
{
    int rc = 0;

    while (rc == 0 && !xd_range_is_empty(r)) {
        struct xd_range run = r;

        if (tier > 0)
            run = xd_rangeset_next_gap(&s->covered[tier - 1], r);
        if (!xd_range_is_empty(run))
            rc = set_held(s, depot, run, true);
        if (rc == 0 && covers(s, depot))
            rc = cover(s, run, tier, is_anew);
        r.begin = run.end;
    }
    return rc;
}

/* Adds to the holdings of a usable depot what it has of r in this tier. */
static int enter_tier(struct xd_sched *s, unsigned depot, struct xd_range r,
                      unsigned tier, bool is_anew)
{
    const struct xd_tiers *t = s->book.depots[depot].tiers;
    struct xd_range run;
    int rc = 0;

    s->steps++;
    while (rc == 0 && (run = next_in_both(&t->in[tier], &t->has, r),
                       !xd_range_is_empty(run))) {
        rc = enter_run(s, depot, run, tier, is_anew);
        r.begin = run.end;
    }
    return rc;
}

/* Adds what a usable depot has of r, in all tiers. */
static int enter(struct xd_sched *s, unsigned depot, struct xd_range r)
{
    int rc = 0;

    for (unsigned tier = 0; rc == 0 && tier < XD_TIERS && is_usable(s, depot);
         tier++)
        rc = enter_tier(s, depot, r, tier, false);
    return rc;
}

int xd_tiers_fill(struct xd_sched *s, struct xd_range r)
{
    int rc = 0;

    for (unsigned tier = 0; rc == 0 && tier < XD_TIERS; tier++)
        for (unsigned i = 0; rc == 0 && i < s->book.n_depots; i++)
            if (is_usable(s, i))
                rc = enter_tier(s, i, r, tier, true);
    return rc;
}

/* Returns the first run inside r that no depot covers. */
static struct xd_range next_uncovered(struct xd_sched *s, struct xd_range r)
{
    const struct xd_book *b = &s->book;

    /* Repeat until no depot holds the first byte. */
    for (unsigned i = 0, n = 0; n < b->n_depots && !xd_range_is_empty(r);
         i = (i + 1) % b->n_depots, n++) {
        struct xd_range run = xd_rangeset_next(&b->depots[i].held, r);

        s->steps++;
        if (!covers(s, i) || run.begin > r.begin)
            continue;
        r.begin = run.end;
        n = 0;
    }
    for (unsigned i = 0; i < b->n_depots && !xd_range_is_empty(r); i++)
        if (covers(s, i))
            r.end = xd_rangeset_next(&b->depots[i].held, r).begin;
    return r;
}

/* Handles that a depot no longer covers r, which it held. */
static int uncover(struct xd_sched *s, struct xd_range r)
{
    struct xd_range gap;
    int rc = 0;

    while (rc == 0 && (gap = next_uncovered(s, r), !xd_range_is_empty(gap))) {
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
    const struct xd_holder *d = &s->book.depots[depot];
    struct xd_range run;
    int rc = 0;

    while (rc == 0 &&
           (run = xd_rangeset_next(&d->held, r), !xd_range_is_empty(run))) {
        rc = set_held(s, depot, run, false);
        if (rc == 0 && !d->is_aside)
            rc = uncover(s, run);
        r.begin = run.end;
    }
    return rc;
}

/* Ranges without a tier are in tier 0. */
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

/* Introduces tiers: until now all depots were in tier 0. */
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
    if (!s->book.has_tiers)
        rc = begin(s);
    if (xd_range_is_empty(r))
        return rc;
    for (unsigned t = 0; rc == 0 && t < XD_TIERS; t++)
        rc = t == tier ? xd_rangeset_add(&d->tiers->in[t], r)
                       : xd_rangeset_remove(&d->tiers->in[t], r);
    return rc < 0 ? rc : xd_rangeset_add(&d->tiers->has, r);
}

int xd_tiers_hold(struct xd_sched *s, unsigned depot, struct xd_range r,
                  unsigned tier)
{
    int rc = 0;

    if (tier > 0 && !s->book.has_tiers)
        rc = begin(s);
    if (rc == 0 && s->book.has_tiers)
        rc = xd_tiers_lose(s, depot, r);
    if (rc == 0)
        rc = xd_tiers_note(s, depot, r, tier);
    return rc == 0 && s->book.has_tiers ? enter(s, depot, r) : rc;
}

void xd_tiers_leave(struct xd_sched *s, unsigned depot)
{
    if (s->book.has_tiers && leave(s, depot, everything) < 0)
        s->is_out_of_memory = true;
}

void xd_tiers_return(struct xd_sched *s, unsigned depot)
{
    s->book.depots[depot].is_aside = false;
    if (s->book.has_tiers && enter(s, depot, everything) < 0)
        s->is_out_of_memory = true;
}

void xd_tiers_set_aside(struct xd_sched *s, unsigned depot)
{
    struct xd_holder *d = &s->book.depots[depot];
    struct xd_range rest = everything, run;
    int rc = 0;

    if (!s->book.has_tiers || d->is_aside)
        return;
    d->is_aside = true;
    while (rc == 0 &&
           (run = xd_rangeset_next(&d->held, rest), !xd_range_is_empty(run))) {
        rc = uncover(s, run);
        rest.begin = run.end;
    }
    s->is_out_of_memory |= rc < 0;
    xd_tiers_report(s);
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

/* A depot that was asked and is silent for this long may be dead.  A cache that
 * waits for its origin may be silent on one request, but answers others
 * meanwhile. */
#define MUTE (2 * XD_SECOND)

xd_usec xd_tiers_watch(struct xd_sched *s, xd_usec now)
{
    xd_usec wake_at = XD_NEVER;

    for (unsigned i = 0; s->book.has_tiers && i < s->book.n_fetches; i++) {
        const struct xd_fetch_state *f = &s->fetches[i];
        const struct xd_holder *d = &s->book.depots[f->depot];
        xd_usec at;

        if (!f->is_live || d->is_aside)
            continue;
        at = MUTE + (d->asked_since > d->answered_at ? d->asked_since
                                                     : d->answered_at);
        if (at <= now)
            xd_tiers_set_aside(s, f->depot);
        else if (at < wake_at)
            wake_at = at;
    }
    return wake_at;
}
