/* SPDX-License-Identifier: MIT */
/* What a plan consists of, for its files alone. */
#ifndef XD_PUBLISH_PLAN_STATE_H
#define XD_PUBLISH_PLAN_STATE_H

#include "base/rate.h"
#include "publish/groups.h"
#include "publish/plan.h"

/* What a store has to do with an extent. */
enum xd_plan_place {
    XD_PLACE_FREE,
    XD_PLACE_UNDER_WAY,
    XD_PLACE_PUT_OFF,
    XD_PLACE_HELD,
    XD_PLACE_FORBIDDEN,
    XD_PLACE_APART /* likewise, for what else its host has */
};

struct xd_plan_extent {
    struct xd_range range;
    unsigned wanted, n_copies; /* there, and under way */
    size_t group;              /* or XD_PLAN_NO_GROUP */
    unsigned shard;            /* of that */
    bool is_forbidden;         /* to a store */
    bool is_piece;             /* some of the shard may be elsewhere; */
    unsigned more_of; /* or these are copies more of shards below that, not of
                         one: then > 0 */
};

#define XD_PLAN_NO_GROUP SIZE_MAX

struct xd_plan_store {
    struct xd_rate rate; /* since something is under way */
    double known;        /* bytes per second, as it was before; 0: not known */
    uint64_t under_way;  /* bytes, of which so many were sent: */
    uint64_t sent;
    uint64_t unsent; /* bytes of the extents that it may get */
    bool is_dropped;
};

struct xd_plan {
    /* Constant after new(). */
    size_t n_stores;
    bool stripes;

    struct xd_plan_store *stores;
    struct xd_plan_extent *extents;
    unsigned char
        *places; /* of each extent at each store: an enum xd_plan_place */
    size_t n, capacity, places_capacity, n_ready;
    size_t n_missing; /* copies */
    uint64_t unsent;  /* bytes of the copies that are missing, not under way */
    size_t n_open;    /* under way, and put off */
    size_t visits;    /* of extents at stores; for tests */
    size_t first;     /* of those before none is missing */
    size_t window;    /* of those before no store that is left may get any */

    size_t *by_begin; /* extents, once all are known: they need not be added in
                         order */

    uint64_t *reach;  /* in that order: where the last ends of all up to it */
    unsigned *barred; /* of each extent at each store: how many there have bytes
                         of it; NULL: none have any in common */

    size_t *hosts; /* of each store; NULL: there are no groups */
    struct xd_groups groups;
    size_t group; /* of extents that are added; or XD_PLAN_NO_GROUP */
    unsigned shard, more_of;
    bool has_more; /* whether that has had copies more */
};

static inline unsigned char *xd_plan_place(const struct xd_plan *p,
                                           size_t extent, size_t store)
{
    return &p->places[extent * p->n_stores + store];
}

/* Whether an extent is there, or is to come there, that has bytes of this one. */
static inline bool xd_plan_is_barred(const struct xd_plan *p, size_t extent,
                                     size_t store)
{
    return p->barred && p->barred[extent * p->n_stores + store] > 0;
}

/* Bytes of its copies that are missing, and not under way. */
static inline uint64_t xd_plan_missing_of(const struct xd_plan_extent *e)
{
    return e->n_copies < e->wanted
               ? xd_range_length(e->range) * (e->wanted - e->n_copies)
               : 0;
}

/* plan_hosts.c: whether the store may have the extent, as far as its host goes and what
 * it has. */
bool xd_plan_is_free(const struct xd_plan *p, size_t extent, size_t store);

/* Whether each host that is left has to take an extent of that group. */
bool xd_plan_needs_all(const struct xd_plan *p, size_t extent);

/* What is unsent of the extent, and what of the others of its group changes with what
 * the store has of it, is in the sums, or out of them: out before that changes, and in
 * again after it.  Or what is unsent of one extent alone; or of all its group. */
void xd_plan_count(struct xd_plan *p, size_t extent, size_t store, bool is_in);
void xd_plan_count_one(struct xd_plan *p, size_t extent, bool is_in);
void xd_plan_count_group(struct xd_plan *p, size_t extent, bool is_in);

/* By place in the order in which extents begin: the first that begins there or behind. */
size_t xd_plan_sorted_from(const struct xd_plan *p, uint64_t begin);

/* An extent may be sent now that could not, or others of its group may. */
void xd_plan_look_from(struct xd_plan *p, size_t extent);

/* plan_apart.c: which extents have bytes in common, once all are in order.
 * Errors: NOMEM. */
int xd_plan_find_common(struct xd_plan *p, struct xd_error *err);

/* The extent is at the store, or is no more: those that have bytes of it must not come
 * there. */
void xd_plan_bar(struct xd_plan *p, size_t extent, size_t store, bool is_in);

/* plan_next.c: bytes per second; 0: not known. */
double xd_plan_rate(struct xd_plan_store *s, xd_usec now);

#endif
