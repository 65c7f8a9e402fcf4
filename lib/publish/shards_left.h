/* SPDX-License-Identifier: MIT */
/*
 * Counts the shards of each stripe that remain when replicas are dropped.
 *
 * Pure.
 */
#ifndef XD_PUBLISH_SHARDS_LEFT_H
#define XD_PUBLISH_SHARDS_LEFT_H

#include <stdbool.h>

#include "base/range.h"
#include "manifest/model.h"

struct xd_shards_left {
    uint64_t stripe; /* number of the stripe in the manifest */
    /* number of remaining shards, and of shards needed to restore the stripe */
    unsigned n, k;
};

/* Finds the first stripe that would keep fewer than k shards.  Returns false if
 * there is none.  A data shard remains if all its bytes are `kept`.  A parity
 * shard remains if it has a replica that is not dropped.  `dropped_parity` has
 * an entry for each parity replica, stripe by stripe. */
bool xd_shards_are_too_few(struct xd_shards_left *out,
                           const struct xd_model_file *f,
                           const struct xd_rangeset *kept,
                           const bool *dropped_parity);

#endif
