/* SPDX-License-Identifier: MIT */
/* Chooses the next extent for a store, using the measured rates of all
 * stores. */
#include <math.h>

#include "publish/plan_state.h"

/* With groups, a store considers only this many extents from xd_plan.window on.
 * So all stores work on nearby stripes, and the data for their parity is read
 * only once. */
#define LOOKS_AHEAD 1024u

/* Time in microseconds after which a measured rate counts. */
#define MEASURE (XD_SECOND / 2)

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

/* Returns the number of seconds in which the fastest other store could have
 * sent the extent; < 0 if unknown. */
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

/* Returns the seconds that the other stores together need to send all missing
 * copies.  A store sends only extents that it may get, so a store that finishes
 * early leaves the rest to the remaining stores.  HUGE_VAL: never. */
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

/* Returns true if other stores would finish sending the extent before this
 * one. */
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

/* Returns whether the store is a spare.  Without `stripes`, each wanted copy of
 * the extent goes to one of the first stores that may have it, and all later
 * stores are spares. */
static bool stands_by(const struct xd_plan *p, size_t extent, size_t store)
{
    size_t before = 0;

    for (size_t i = 0; i < store; i++)
        before += !p->stores[i].is_dropped &&
                  *xd_plan_place(p, extent, i) != XD_PLACE_FORBIDDEN &&
                  *xd_plan_place(p, extent, i) != XD_PLACE_APART;
    return before >= p->extents[extent].wanted;
}

/* Returns how much the extent needs this store: the number of missing copies,
 * divided by the rate of the other stores that may get the extent.  So a slow
 * store takes extents that a fast store already has, and leaves the remaining
 * extents to the fast store. */
static double need(struct xd_plan *p, size_t extent, size_t store, xd_usec now)
{
    const struct xd_plan_extent *e = &p->extents[extent];
    double others = 1; /* bytes per second */

    p->visits += p->n_stores;
    for (size_t i = 0; i < p->n_stores; i++) {
        struct xd_plan_store *s = &p->stores[i];

        if (i != store && !s->is_dropped && xd_plan_is_free(p, extent, i))
            others += xd_plan_rate(s, now);
    }
    return (double)(e->wanted - e->n_copies) / others;
}

bool xd_plan_can_do_without(const struct xd_plan *p, size_t extent,
                            size_t store)
{
    const struct xd_plan_extent *e = &p->extents[extent];
    size_t others = 0;

    for (size_t i = 0; i < p->n_stores; i++)
        others += i != store && !p->stores[i].is_dropped &&
                  xd_plan_may_get(p, extent, i);
    return others + e->n_copies >= e->wanted;
}

static bool may_be_sent(const struct xd_plan *p, size_t extent)
{
    for (size_t i = 0; i < p->n_stores; i++) {
        if (!p->stores[i].is_dropped && xd_plan_may_get(p, extent, i))
            return true;
    }
    return false;
}

/* Returns the first extent that any store may get, or n if there is none. */
static size_t first_to_send(const struct xd_plan *p)
{
    size_t i = p->window;

    while (i < p->n && !may_be_sent(p, i))
        i++;
    return i;
}

/* Returns the end of the range of extents to choose from. */
static size_t looked_at_to(const struct xd_plan *p)
{
    if (p->hosts && p->n_ready > p->window &&
        p->n_ready - p->window > LOOKS_AHEAD)
        return p->window + LOOKS_AHEAD;
    return p->n_ready;
}

/* Returns whether `e` cannot need the store more than `other` does: all other
 * stores that may have `other` may also have `e`. */
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
    /* extent that was examined last */
    const struct xd_plan_extent *before = NULL;
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
            /* Skipping this extent saves time in a code with many shards, which
             * all have the same choice of stores. */
            continue;
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
