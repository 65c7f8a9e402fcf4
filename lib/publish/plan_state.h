/* SPDX-License-Identifier: MIT */
/* The state of a plan, private to the plan's source files. */
#ifndef XD_PUBLISH_PLAN_STATE_H
#define XD_PUBLISH_PLAN_STATE_H

#include "base/rate.h"
#include "publish/groups.h"
#include "publish/plan.h"

/* The relation of a store to an extent. */
enum xd_plan_place {
    XD_PLACE_FREE,
    XD_PLACE_UNDER_WAY,
    XD_PLACE_PUT_OFF,
    XD_PLACE_HELD,
    XD_PLACE_FORBIDDEN,
    /* forbidden because the host of the store has other shards of the stripe */
    XD_PLACE_APART
};

struct xd_plan_extent {
    struct xd_range range;
    /* number of copies wanted, and of copies that exist or are being sent */
    unsigned wanted, n_copies;
    size_t group;      /* or XD_PLAN_NO_GROUP */
    unsigned shard;    /* number of the shard in its group */
    bool is_forbidden; /* forbidden at one or more stores */
    bool is_piece;     /* the extent is one of several pieces of its shard */
    /* 0, or, for an extra copy of data shards, the number of data shards in the
     * stripe */
    unsigned more_of;
};

#define XD_PLAN_NO_GROUP SIZE_MAX

struct xd_plan_store {
    struct xd_rate rate; /* measured while an extent is being sent */
    double known; /* rate in bytes per second measured earlier; 0: unknown */
    /* total length of the extents being sent, and number of their bytes sent so
     * far */
    uint64_t under_way;
    uint64_t sent;
    uint64_t unsent; /* bytes of missing copies that the store may get */
    bool is_dropped;
};

struct xd_plan {
    /* Constant after new(). */
    size_t n_stores;
    bool stripes;

    struct xd_plan_store *stores;
    struct xd_plan_extent *extents;
    /* for each extent and store: an enum xd_plan_place */
    unsigned char *places;
    size_t n, capacity, places_capacity, n_ready;
    size_t n_missing; /* number of missing copies */
    uint64_t unsent;  /* bytes of missing copies that are not in progress */
    /* number of copies being sent or put off */
    size_t n_open;
    size_t visits; /* number of steps of all searches so far (for tests) */
    size_t first;  /* index of the first extent that may have missing copies */
    /* index of the first extent that a remaining store may get */
    size_t window;

    /* extents in the order of their begins, once all were added */
    size_t *by_begin;

    /* for each entry of by_begin: largest end of this extent and all before
     * it */
    uint64_t *reach;
    /* For each extent and store: number of other extents at the store that
     * overlap the extent.  NULL: no extents overlap. */
    unsigned *barred;

    size_t *hosts; /* host number of each store; NULL: there are no groups */
    struct xd_groups groups;
    size_t group; /* group of the extents being added, or XD_PLAN_NO_GROUP */
    unsigned shard, more_of;
    bool has_more; /* the group being added has extra copies */
};

static inline unsigned char *xd_plan_place(const struct xd_plan *p,
                                           size_t extent, size_t store)
{
    return &p->places[extent * p->n_stores + store];
}

/* Returns whether an overlapping extent is at the store, or is being sent to
 * the store. */
static inline bool xd_plan_is_barred(const struct xd_plan *p, size_t extent,
                                     size_t store)
{
    return p->barred && p->barred[extent * p->n_stores + store] > 0;
}

/* Returns the bytes of the extent's missing copies that are not being sent. */
static inline uint64_t xd_plan_missing_of(const struct xd_plan_extent *e)
{
    return e->n_copies < e->wanted
               ? xd_range_length(e->range) * (e->wanted - e->n_copies)
               : 0;
}

/* In plan_hosts.c.  Returns whether the store may get the extent, given the
 * group's objects on its host. */
bool xd_plan_is_free(const struct xd_plan *p, size_t extent, size_t store);

/* Returns whether the group of the extent needs every host that is left. */
bool xd_plan_needs_all(const struct xd_plan *p, size_t extent);

/* Adds the unsent bytes to the sums, or subtracts them.  Subtract before a
 * change and add again afterwards.  count() handles the extent at this store,
 * and all other extents of its group that are affected.  count_one() handles a
 * single extent, and count_group() the whole group. */
void xd_plan_count(struct xd_plan *p, size_t extent, size_t store, bool is_in);
void xd_plan_count_one(struct xd_plan *p, size_t extent, bool is_in);
void xd_plan_count_group(struct xd_plan *p, size_t extent, bool is_in);

/* Returns the index in by_begin of the first extent that begins at or after
 * `begin`. */
size_t xd_plan_sorted_from(const struct xd_plan *p, uint64_t begin);

/* Restarts the next search at the group of this extent.  Call it when the
 * extent may have become possible to send. */
void xd_plan_look_from(struct xd_plan *p, size_t extent);

/* In plan_apart.c.  Finds overlapping extents; call it once all extents are
 * sorted.
 * Errors: NOMEM. */
int xd_plan_find_common(struct xd_plan *p, struct xd_error *err);

/* Records that a store got the extent, or no longer has it.  Overlapping
 * extents are then excluded from this store, or allowed again. */
void xd_plan_bar(struct xd_plan *p, size_t extent, size_t store, bool is_in);

/* In plan_next.c.  Returns the rate in bytes per second; 0: unknown. */
double xd_plan_rate(struct xd_plan_store *s, xd_usec now);

#endif
