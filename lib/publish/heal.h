/* SPDX-License-Identifier: MIT */
/*
 * Tracks the bad replicas that a heal replaces.  The audit has found them.  The
 * bad replicas of an extent or shard leave the manifest once all of its new
 * copies exist.
 *
 * Pure.  A zeroed struct replaces nothing.
 */
#ifndef XD_PUBLISH_HEAL_H
#define XD_PUBLISH_HEAL_H

#include <stdbool.h>
#include <stddef.h>
#include <xdownload/error.h>

#include "base/range.h"

struct xd_model_file;
struct xd_model_stripe;
struct xd_model_shard;

/* The owner of an extent of the plan: an extent of the file, or a parity
 * shard. */
struct xd_heal_item {
    size_t extent;
    const struct xd_model_stripe *stripe; /* NULL: a part of `extent` */
    const struct xd_model_shard *shard;
    unsigned left; /* number of missing copies */
};

/* How new copies of an extent are divided.  WHOLE: not at all.  STRIPES: at the
 * borders of stripes.  SHARDS: the first copy at the borders of shards, and
 * every other copy at the borders of stripes. */
enum xd_heal_cut { XD_HEAL_WHOLE, XD_HEAL_STRIPES, XD_HEAL_SHARDS };

struct xd_heal {
    const struct xd_model_file *file; /* or NULL */
    /* for each replica of the file, extent by extent: whether it is bad, and
     * whether it was dropped */
    bool *bad, *dropped;
    bool *made; /* for each replica: it is good, and an earlier run made it */
    /* like bad and dropped, for each parity replica, stripe by stripe */
    bool *bad_parity, *dropped_parity;
    struct xd_heal_item *items; /* one for each extent of the plan */
    /* for each extent of the file: number of missing copies of its plan
     * extents */
    size_t *left;
    bool *lost; /* for each extent: whether some of its bytes are lost */
    /* for each extent: whether some of its bytes have no good copy; parity may
     * restore these bytes */
    bool *no_copy;
    enum xd_heal_cut *cuts; /* for each extent */
    /* bytes of bad replicas that are still in the manifest although an earlier
     * run may have made copies in their place (heal_again.h) */
    struct xd_rangeset waiting;
    size_t n, capacity; /* number and capacity of `items` */
};

/* Prepares for the replicas of `file`.  No replica is marked as bad.  Call
 * fini() even after a failure.  Errors: NOMEM. */
int xd_heal_init(struct xd_heal *h, const struct xd_model_file *file,
                 struct xd_error *err);

/* Adds the next extent of the plan, with `left` missing copies.  Errors:
 * NOMEM. */
int xd_heal_add(struct xd_heal *h, struct xd_heal_item item,
                struct xd_error *err);

/* Returns true if copies of a plan extent are missing, or if no heal is in
 * progress. */
bool xd_heal_wants(const struct xd_heal *h, size_t extent);

/* Counts a new copy of a plan extent, unless no copy was missing.  Returns
 * whether replicas were dropped as a result. */
bool xd_heal_count(struct xd_heal *h, size_t extent);

void xd_heal_fini(struct xd_heal *h);

#endif
