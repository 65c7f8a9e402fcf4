/* SPDX-License-Identifier: MIT */
/*
 * Which replicas an upload replaces: those that an audit has found to be bad.  They
 * are dropped once all of their extent, or their shard, has new copies.
 *
 * Pure.  A zeroed one replaces nothing.
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

/* What an extent of the plan is of: an extent of the file, or a shard of parity. */
struct xd_heal_item {
    size_t extent;
    const struct xd_model_stripe *stripe; /* NULL: it is of that extent */
    const struct xd_model_shard *shard;
    unsigned left; /* copies that are missing */
};

/* How new copies of an extent are cut: as it is; where stripes begin; or, where shards
 * do, one copy, and the others as stripes do. */
enum xd_heal_cut { XD_HEAL_WHOLE, XD_HEAL_STRIPES, XD_HEAL_SHARDS };

struct xd_heal {
    const struct xd_model_file *file; /* or NULL */
    bool *bad, *dropped; /* of each replica of the file, extent by extent */
    bool *made; /* likewise: an earlier run has made it, and it is good */
    bool *bad_parity, *dropped_parity; /* of each of parity, stripe by stripe */
    struct xd_heal_item *items;        /* of each extent of the plan */
    size_t
        *left;  /* of each of the file's extents: copies of extents of the plan
                     that are missing */
    bool *lost; /* of each of them: whether some of its bytes are lost; */
    bool *no_copy; /* or no depot has a good copy of them, though parity may
                      restore them */
    enum xd_heal_cut *cuts;     /* of each of them */
    struct xd_rangeset waiting; /* what an earlier run has made of these bytes
                                   stands for bad replicas (heal_again.h) */
    size_t n, capacity;         /* items */
};

/* For all replicas of `file`, of which none is bad so far.  To be released with fini(),
 * after a failure too.  Errors: NOMEM. */
int xd_heal_init(struct xd_heal *h, const struct xd_model_file *file,
                 struct xd_error *err);

/* The next extent of the plan, of which `left` copies are wanted.  Errors: NOMEM. */
int xd_heal_add(struct xd_heal *h, struct xd_heal_item item,
                struct xd_error *err);

/* Whether copies of an extent of the plan are missing, or it is of no heal. */
bool xd_heal_wants(const struct xd_heal *h, size_t extent);

/* One copy more of an extent of the plan is there, which does not count if none was
 * missing.  Returns whether replicas were dropped for it. */
bool xd_heal_count(struct xd_heal *h, size_t extent);

void xd_heal_fini(struct xd_heal *h);

#endif
