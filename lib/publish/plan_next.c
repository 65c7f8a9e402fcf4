/* SPDX-License-Identifier: MIT */
/* Which extent a store gets next, by the rates of all. */
#include <math.h>

#include "publish/plan_state.h"

/* With groups a store looks no further than so many extents beyond the first that any
 * may get: what is read for parity is read together. */
#define LOOKS_AHEAD 1024u

/* A rate is one once it was measured for so long. */
#define MEASURE (XD_SECOND / 2)

/* Bytes per second; 0: not known. */
double xd_plan_rate(struct xd_plan_store *s, xd_usec now)
{
    const bool is_measured =
        s->rate.first > 0 && now >= s->rate.first + MEASURE;

    return s->known > 0 && !is_measured ? s->known : xd_rate_get(&s->rate, now);
}

static uint64_t left_at(const struct xd_plan_store *s)
{
    return s->under_way > s->sent ? s->under_way - s->sent : 0;
}

/* Seconds until the first of the other stores that may have it could have sent the
 * extent; < 0: not known. */
static double soonest_end(const struct xd_plan *p, size_t extent, size_t store,
                          xd_usec now)
{
    const uint64_t length = xd_range_length(p->extents[extent].range);
    double soonest = -1;

    for (size_t i = 0; i < p->n_stores; i++) {
        struct xd_plan_store *s = &p->stores[i];
        const double rate = xd_plan_rate(s, now);

        if (i == store || s->is_dropped || rate <= 0 ||
            !xd_plan_is_free(p, extent, i))
            continue;
        const double end = (double)(left_at(s) + length) / rate;
        if (soonest < 0 || end < soonest)
            soonest = end;
    }
    return soonest;
}

/*
 * Seconds until the other stores together could have sent all that is missing.  None
 * of them sends more than it may have: those that would be done with that before
 * the others leave the rest to them, and so on.  HUGE_VAL: they never could.
 */
static double others_end(const struct xd_plan *p, size_t store, xd_usec now)
{
    double end = 0;

    for (size_t round = 0; round <= p->n_stores; round++) {
        const double before = end;
        double bytes = (double)p->unsent, rates = 0;

        for (size_t i = 0; i < p->n_stores; i++) {
            struct xd_plan_store *s = &p->stores[i];
            const double rate = xd_plan_rate(s, now), left = (double)left_at(s);
            const double most = (double)s->unsent;

            if (i == store || s->is_dropped || rate <= 0)
                continue;
            if ((left + most) / rate < before) {
                bytes -= most;
            } else {
                bytes += left;
                rates += rate;
            }
        }
        if (bytes <= 0)
            return before;
        if (rates <= 0)
            return HUGE_VAL;
        end = bytes / rates;
        if (end <= before)
            return before;
    }
    return end;
}

/* Whether the others would have sent the extent before the store could. */
static bool is_late(const struct xd_plan *p, size_t extent, size_t store,
                    xd_usec now)
{
    struct xd_plan_store *s = &p->stores[store];
    const double rate = xd_plan_rate(s, now);
    const uint64_t bytes =
        left_at(s) + xd_range_length(p->extents[extent].range);
    const double own = rate > 0 ? (double)bytes / rate : 0;
    const double soonest = soonest_end(p, extent, store, now);

    return soonest >= 0 && own > soonest && !xd_plan_needs_all(p, extent) &&
           own > others_end(p, store, now);
}

/* With whole copies: so many of the stores that are left are used as an extent
 * wants copies; the first ones of those that may have it. */
static bool stands_by(const struct xd_plan *p, size_t extent, size_t store)
{
    size_t before = 0;

    for (size_t i = 0; i < store; i++)
        before += !p->stores[i].is_dropped &&
                  *xd_plan_place(p, extent, i) != XD_PLACE_FORBIDDEN &&
                  *xd_plan_place(p, extent, i) != XD_PLACE_APART;
    return before >= p->extents[extent].wanted;
}

/*
 * How much the extent needs this store: the copies that it wants yet, against what
 * the other stores that may have them can send.  So a slow store takes what a fast
 * one has, and leaves to that what it has not.
 */
static double need(struct xd_plan *p, size_t extent, size_t store, xd_usec now)
{
    const struct xd_plan_extent *e = &p->extents[extent];
    double others = 1; /* byte per second */

    p->visits += p->n_stores;
    for (size_t i = 0; i < p->n_stores; i++) {
        struct xd_plan_store *s = &p->stores[i];

        if (i != store && !s->is_dropped && xd_plan_is_free(p, extent, i))
            others += xd_plan_rate(s, now);
    }
    return (double)(e->wanted - e->n_copies) / others;
}

static bool may_be_sent(const struct xd_plan *p, size_t extent)
{
    for (size_t i = 0; i < p->n_stores; i++) {
        if (!p->stores[i].is_dropped && xd_plan_may_get(p, extent, i))
            return true;
    }
    return false;
}

/* The first extent that a store may get; or n. */
static size_t first_to_send(const struct xd_plan *p)
{
    size_t i = p->window;

    while (i < p->n && !may_be_sent(p, i))
        i++;
    return i;
}

/* Of the extents that are ready those before this one may be next. */
static size_t looked_at_to(const struct xd_plan *p)
{
    if (p->hosts && p->n_ready > p->window &&
        p->n_ready - p->window > LOOKS_AHEAD)
        return p->window + LOOKS_AHEAD;
    return p->n_ready;
}

/* Whether `e` cannot need the store more than the other does, of which it may be sent
 * each: all other stores that may have the other may have this one. */
static bool needs_no_more(const struct xd_plan *p,
                          const struct xd_plan_extent *e,
                          const struct xd_plan_extent *other)
{
    return !p->barred && e->group != XD_PLAN_NO_GROUP &&
           e->group == other->group &&
           e->wanted - e->n_copies <= other->wanted - other->n_copies &&
           !e->is_piece && !e->is_forbidden && e->more_of == 0 &&
           other->more_of == 0;
}

static size_t choose(struct xd_plan *p, size_t store, xd_usec now)
{
    p->window = first_to_send(p);
    const size_t end = looked_at_to(p);
    const struct xd_plan_extent *before = NULL; /* which was looked at */
    size_t best = XD_PLAN_NONE;
    double much, most = 0;

    for (size_t i = p->window; i < end; i++) {
        if (!xd_plan_may_get(p, i, store))
            continue;
        if (!p->stripes) {
            if (!stands_by(p, i, store))
                return i;
            continue;
        }
        if (before && needs_no_more(p, &p->extents[i], before))
            continue; /* a wide code has many shards that are alike */
        before = &p->extents[i];
        much = need(p, i, store, now);
        if (much > most) {
            most = much;
            best = i;
        }
    }
    return best != XD_PLAN_NONE && !is_late(p, best, store, now) ? best
                                                                 : XD_PLAN_NONE;
}

size_t xd_plan_next(struct xd_plan *p, size_t store, xd_usec now)
{
    const size_t i =
        p->stores[store].is_dropped ? XD_PLAN_NONE : choose(p, store, now);

    if (i != XD_PLAN_NONE)
        (void)xd_plan_take(p, i, store);
    return i;
}

xd_usec xd_plan_left(struct xd_plan *p, size_t store, xd_usec now)
{
    struct xd_plan_store *s = &p->stores[store];
    const double rate = xd_plan_rate(s, now);

    if (left_at(s) == 0)
        return 0;
    return rate > 0 ? (xd_usec)((double)left_at(s) / rate * (double)XD_SECOND)
                    : XD_NEVER;
}

enum xd_plan_lack xd_plan_lack(const struct xd_plan *p)
{
    bool has_same = false, has_others = false;

    for (size_t i = p->first; i < p->n; i++) {
        for (size_t k = 0;
             k < p->n_stores && xd_plan_missing_of(&p->extents[i]) > 0; k++) {
            if (p->stores[k].is_dropped)
                continue;
            if (*xd_plan_place(p, i, k) == XD_PLACE_APART)
                has_others = true;
            else if (*xd_plan_place(p, i, k) != XD_PLACE_FREE ||
                     xd_plan_is_barred(p, i, k))
                has_same = true;
            else if (!xd_plan_is_free(p, i, k))
                has_others = true;
        }
    }
    if (!has_others)
        return XD_LACK_NEW_STORES;
    return has_same ? XD_LACK_BOTH : XD_LACK_NEW_HOSTS;
}

bool xd_plan_is_stuck(const struct xd_plan *p)
{
    return p->n_open == 0 && p->n_missing > 0 && first_to_send(p) == p->n;
}
