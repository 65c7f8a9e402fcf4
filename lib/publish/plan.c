/* SPDX-License-Identifier: MIT */
#include "publish/plan.h"

#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/array.h"
#include "base/check.h"
#include "base/error.h"
#include "base/rate.h"

/* What a store has to do with an extent. */
enum place { FREE, UNDER_WAY, PUT_OFF, HELD, FORBIDDEN };

struct extent {
    struct xd_range range;
    unsigned wanted, n_copies; /* there, and under way */
    size_t group;              /* or NO_GROUP */
};

#define NO_GROUP SIZE_MAX

/* With groups a store looks no further than so many extents beyond the first that
 * copies are missing of: what is read for parity is read together. */
#define LOOKS_AHEAD 1024u

struct store {
    struct xd_rate rate; /* since something is under way */
    double known;        /* bytes per second, as it was before; 0: not known */
    uint64_t under_way;  /* bytes, of which so many were sent: */
    uint64_t sent;
    bool is_dropped;
};

struct xd_plan {
    /* Constant after new(). */
    size_t n_stores;
    bool stripes;

    struct store *stores;
    struct extent *extents;
    unsigned char *places; /* of each extent at each store: an enum place */
    size_t n, capacity, places_capacity, n_ready;
    size_t n_missing; /* copies */
    size_t n_open;    /* under way, and put off */
    size_t first;     /* of those before none is missing */

    size_t *hosts;  /* of each store; NULL: there are no groups */
    unsigned *used; /* of each group at each host: how many of its extents are
                       there, or why else it gets none */
    size_t n_groups, groups_capacity;
    size_t group; /* of extents that are added; or NO_GROUP */
};

static unsigned char *place_of(const struct xd_plan *p, size_t extent,
                               size_t store)
{
    return &p->places[extent * p->n_stores + store];
}

int xd_plan_new(struct xd_plan **out, size_t n_stores, bool stripes,
                struct xd_error *err)
{
    struct xd_plan *p = xd_alloc(1, sizeof *p);

    *out = NULL;
    if (!p)
        return xd_fail_nomem(err);
    p->n_stores = n_stores;
    p->group = NO_GROUP;
    p->stripes = stripes;
    p->stores = xd_alloc(n_stores, sizeof *p->stores);
    if (!p->stores) {
        xd_free(p);
        return xd_fail_nomem(err);
    }
    *out = p;
    return 0;
}

void xd_plan_free(struct xd_plan *p)
{
    if (!p)
        return;
    xd_free(p->stores);
    xd_free(p->extents);
    xd_free(p->places);
    xd_free(p->hosts);
    xd_free(p->used);
    xd_free(p);
}

int xd_plan_set_hosts(struct xd_plan *p, const size_t *hosts,
                      struct xd_error *err)
{
    p->hosts = xd_alloc(p->n_stores, sizeof *p->hosts);
    if (!p->hosts)
        return xd_fail_nomem(err);
    memcpy(p->hosts, hosts, p->n_stores * sizeof *p->hosts);
    return 0;
}

static unsigned *used_of(const struct xd_plan *p, size_t group, size_t host)
{
    return &p->used[group * p->n_stores + host];
}

int xd_plan_begin_group(struct xd_plan *p, struct xd_error *err)
{
    if (p->n_groups == p->groups_capacity) {
        const size_t more = 2 * p->groups_capacity + 1;

        if (xd_lengthen(&p->used, p->n_groups * p->n_stores, more * p->n_stores,
                        sizeof *p->used) < 0)
            return xd_fail_nomem(err);
        p->groups_capacity = more;
    }
    p->group = p->n_groups++;
    return 0;
}

void xd_plan_forbid_host(struct xd_plan *p, size_t host)
{
    ++*used_of(p, p->group, host);
}

void xd_plan_end_group(struct xd_plan *p)
{
    p->group = NO_GROUP;
}

static bool has_store(const struct xd_plan *p, size_t host)
{
    for (size_t i = 0; i < p->n_stores; i++) {
        if (p->hosts[i] == host && !p->stores[i].is_dropped)
            return true;
    }
    return false;
}

/* That may get an extent of the group. */
static size_t count_hosts(const struct xd_plan *p, size_t group)
{
    size_t n = 0;

    for (size_t host = 0; host < p->n_stores; host++)
        n += *used_of(p, group, host) == 0 && has_store(p, host);
    return n;
}

size_t xd_plan_n_hosts(const struct xd_plan *p)
{
    return count_hosts(p, p->n_groups - 1);
}

/* An extent of a group is at a store, or is no more. */
static void use_host(struct xd_plan *p, size_t extent, size_t store, int change)
{
    const size_t group = p->extents[extent].group;

    if (group != NO_GROUP)
        *used_of(p, group, p->hosts[store]) += (unsigned)change;
}

static bool is_free(const struct xd_plan *p, size_t extent, size_t store)
{
    const size_t group = p->extents[extent].group;

    return *place_of(p, extent, store) == FREE &&
           (group == NO_GROUP || *used_of(p, group, p->hosts[store]) == 0);
}

int xd_plan_add(struct xd_plan *p, struct xd_range range, unsigned wanted,
                struct xd_error *err)
{
    struct extent *extents =
        xd_grow(p->extents, p->n, &p->capacity, sizeof *extents);

    if (!extents)
        return xd_fail_nomem(err);
    p->extents = extents;
    if (p->n == p->places_capacity &&
        xd_lengthen(&p->places, p->n * p->n_stores, p->capacity * p->n_stores,
                    sizeof *p->places) < 0)
        return xd_fail_nomem(err);
    p->places_capacity = p->capacity;
    extents[p->n++] =
        (struct extent){.range = range, .wanted = wanted, .group = p->group};
    p->n_missing += wanted;
    return 0;
}

static void pass_complete(struct xd_plan *p)
{
    while (p->first < p->n &&
           p->extents[p->first].n_copies >= p->extents[p->first].wanted)
        p->first++;
}

bool xd_plan_hold(struct xd_plan *p, size_t extent, size_t store)
{
    struct extent *e = &p->extents[extent];

    if (*place_of(p, extent, store) == HELD)
        return false;
    *place_of(p, extent, store) = HELD;
    use_host(p, extent, store, 1);
    p->n_missing -= e->n_copies < e->wanted;
    e->n_copies++;
    pass_complete(p);
    return true;
}

void xd_plan_forbid(struct xd_plan *p, size_t extent, size_t store)
{
    if (*place_of(p, extent, store) == FREE)
        *place_of(p, extent, store) = FORBIDDEN;
}

void xd_plan_ready(struct xd_plan *p, size_t n)
{
    p->n_ready = n;
}

bool xd_plan_is_ready(const struct xd_plan *p, size_t extent)
{
    return extent < p->n_ready;
}

size_t xd_plan_n_extents(const struct xd_plan *p)
{
    return p->n;
}

struct xd_range xd_plan_range(const struct xd_plan *p, size_t extent)
{
    return p->extents[extent].range;
}

size_t xd_plan_find(const struct xd_plan *p, uint64_t begin)
{
    for (size_t i = 0; i < p->n; i++)
        if (p->extents[i].range.begin == begin)
            return i;
    return XD_PLAN_NONE;
}

static uint64_t missing_of(const struct extent *e)
{
    return e->n_copies < e->wanted
               ? xd_range_length(e->range) * (e->wanted - e->n_copies)
               : 0;
}

/* Bytes of the copies that are missing, and not under way. */
static uint64_t unsent(const struct xd_plan *p)
{
    uint64_t bytes = 0;

    for (size_t i = p->first; i < p->n; i++)
        bytes += missing_of(&p->extents[i]);
    return bytes;
}

/* Of them, how many the store may get. */
static uint64_t unsent_for(const struct xd_plan *p, size_t store)
{
    uint64_t bytes = 0;

    for (size_t i = p->first; i < p->n; i++)
        if (missing_of(&p->extents[i]) > 0 && is_free(p, i, store))
            bytes += xd_range_length(p->extents[i].range);
    return bytes;
}

/* A rate is one once it was measured for so long. */
#define MEASURE (XD_SECOND / 2)

/* Bytes per second; 0: not known. */
static double rate_of(struct store *s, xd_usec now)
{
    const bool is_measured =
        s->rate.first > 0 && now >= s->rate.first + MEASURE;

    return s->known > 0 && !is_measured ? s->known : xd_rate_get(&s->rate, now);
}

static uint64_t left_at(const struct store *s)
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
        struct store *s = &p->stores[i];
        const double rate = rate_of(s, now);

        if (i == store || s->is_dropped || rate <= 0 || !is_free(p, extent, i))
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
        double bytes = (double)unsent(p), rates = 0;

        for (size_t i = 0; i < p->n_stores; i++) {
            struct store *s = &p->stores[i];
            const double rate = rate_of(s, now), left = (double)left_at(s);
            const double most = (double)unsent_for(p, i);

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

/* Copies that are missing of the extents of a group, which follow each other. */
static size_t missing_in_group(const struct xd_plan *p, size_t extent)
{
    const size_t group = p->extents[extent].group;
    size_t n = 0;

    while (extent > 0 && p->extents[extent - 1].group == group)
        extent--;
    for (; extent < p->n && p->extents[extent].group == group; extent++) {
        const struct extent *e = &p->extents[extent];

        n += e->n_copies < e->wanted ? e->wanted - e->n_copies : 0;
    }
    return n;
}

/* Whether each host that is left has to take an extent of that group. */
static bool needs_all(const struct xd_plan *p, size_t extent)
{
    const size_t group = p->extents[extent].group;

    return group != NO_GROUP &&
           count_hosts(p, group) <= missing_in_group(p, extent);
}

/* Whether the others would have sent the extent before the store could. */
static bool is_late(const struct xd_plan *p, size_t extent, size_t store,
                    xd_usec now)
{
    struct store *s = &p->stores[store];
    const double rate = rate_of(s, now);
    const uint64_t bytes =
        left_at(s) + xd_range_length(p->extents[extent].range);
    const double own = rate > 0 ? (double)bytes / rate : 0;
    const double soonest = soonest_end(p, extent, store, now);

    return soonest >= 0 && own > soonest && !needs_all(p, extent) &&
           own > others_end(p, store, now);
}

static bool may_get(const struct xd_plan *p, size_t extent, size_t store)
{
    const struct extent *e = &p->extents[extent];

    return e->n_copies < e->wanted && is_free(p, extent, store);
}

/* With whole copies: so many of the stores that are left are used as an extent
 * wants copies; the first ones. */
static bool stands_by(const struct xd_plan *p, size_t extent, size_t store)
{
    size_t before = 0;

    for (size_t i = 0; i < store; i++)
        before += !p->stores[i].is_dropped;
    return before >= p->extents[extent].wanted;
}

/*
 * How much the extent needs this store: the copies that it wants yet, against what
 * the other stores that may have them can send.  So a slow store takes what a fast
 * one has, and leaves to that what it has not.
 */
static double need(const struct xd_plan *p, size_t extent, size_t store,
                   xd_usec now)
{
    const struct extent *e = &p->extents[extent];
    double others = 1; /* byte per second */

    for (size_t i = 0; i < p->n_stores; i++) {
        struct store *s = &p->stores[i];

        if (i != store && !s->is_dropped && is_free(p, extent, i))
            others += rate_of(s, now);
    }
    return (double)(e->wanted - e->n_copies) / others;
}

/* Of extents before `end`, those that may be next. */
static size_t looked_at_to(const struct xd_plan *p, size_t end)
{
    if (p->hosts && end > p->first && end - p->first > LOOKS_AHEAD)
        return p->first + LOOKS_AHEAD;
    return end;
}

static size_t choose(const struct xd_plan *p, size_t store, xd_usec now)
{
    const size_t end = looked_at_to(p, p->n_ready);
    size_t best = XD_PLAN_NONE;
    double most = 0;

    for (size_t i = p->first; i < end; i++) {
        if (!may_get(p, i, store))
            continue;
        if (!p->stripes) {
            if (!stands_by(p, i, store))
                return i;
        } else if (need(p, i, store, now) > most) {
            most = need(p, i, store, now);
            best = i;
        }
    }
    return best != XD_PLAN_NONE && !is_late(p, best, store, now) ? best
                                                                 : XD_PLAN_NONE;
}

bool xd_plan_is_put_off(const struct xd_plan *p, size_t extent, size_t store)
{
    return extent < p->n && *place_of(p, extent, store) == PUT_OFF;
}

bool xd_plan_take(struct xd_plan *p, size_t extent, size_t store)
{
    const bool is_put_off = xd_plan_is_put_off(p, extent, store);

    if (extent >= p->n || (!is_put_off && !may_get(p, extent, store)))
        return false;
    *place_of(p, extent, store) = UNDER_WAY;
    p->extents[extent].n_copies += !is_put_off;
    p->n_open += !is_put_off;
    if (!is_put_off)
        use_host(p, extent, store, 1);
    pass_complete(p);
    p->stores[store].under_way += xd_range_length(p->extents[extent].range);
    return true;
}

size_t xd_plan_next(struct xd_plan *p, size_t store, xd_usec now)
{
    const size_t i =
        p->stores[store].is_dropped ? XD_PLAN_NONE : choose(p, store, now);

    if (i != XD_PLAN_NONE)
        (void)xd_plan_take(p, i, store);
    return i;
}

void xd_plan_sent(struct xd_plan *p, size_t store, uint64_t bytes, xd_usec now)
{
    xd_rate_add(&p->stores[store].rate, now, bytes);
    p->stores[store].sent += bytes;
}

xd_usec xd_plan_left(struct xd_plan *p, size_t store, xd_usec now)
{
    struct store *s = &p->stores[store];
    const double rate = rate_of(s, now);

    if (left_at(s) == 0)
        return 0;
    return rate > 0 ? (xd_usec)((double)left_at(s) / rate * (double)XD_SECOND)
                    : XD_NEVER;
}

/* It is under way no more.  What was sent of it has to do with the rest only if
 * more than one is. */
static void end(struct xd_plan *p, size_t extent, size_t store, xd_usec now)
{
    struct store *s = &p->stores[store];
    const uint64_t length = xd_range_length(p->extents[extent].range);

    XD_ASSERT(*place_of(p, extent, store) == UNDER_WAY);
    s->under_way -= length;
    s->sent = s->under_way == 0 || s->sent < length ? 0 : s->sent - length;
    if (s->under_way > 0)
        return;
    s->known = rate_of(s, now);
    s->rate = (struct xd_rate){.first = 0};
}

void xd_plan_done(struct xd_plan *p, size_t extent, size_t store, xd_usec now)
{
    end(p, extent, store, now);
    *place_of(p, extent, store) = HELD;
    p->n_open--;
    p->n_missing--;
}

void xd_plan_failed(struct xd_plan *p, size_t extent, size_t store, xd_usec now)
{
    end(p, extent, store, now);
    *place_of(p, extent, store) = FREE;
    use_host(p, extent, store, -1);
    p->extents[extent].n_copies--;
    p->n_open--;
    if (extent < p->first)
        p->first = extent;
}

void xd_plan_put_off(struct xd_plan *p, size_t extent, size_t store,
                     xd_usec now)
{
    end(p, extent, store, now);
    *place_of(p, extent, store) = PUT_OFF;
}

void xd_plan_drop(struct xd_plan *p, size_t store)
{
    p->stores[store].is_dropped = true;
}

bool xd_plan_is_dropped(const struct xd_plan *p, size_t store)
{
    return p->stores[store].is_dropped;
}

size_t xd_plan_missing(const struct xd_plan *p)
{
    return p->n_missing;
}

bool xd_plan_is_stuck(const struct xd_plan *p)
{
    if (p->n_open > 0)
        return false;
    /* What next() does not look at cannot be sent before those are. */
    for (size_t i = p->first; i < looked_at_to(p, p->n); i++) {
        for (size_t k = 0; k < p->n_stores; k++) {
            if (may_get(p, i, k) && !p->stores[k].is_dropped)
                return false;
        }
    }
    return p->n_missing > 0;
}
