/* SPDX-License-Identifier: MIT */
/*
 * How many shards of each stripe stay where replicas are dropped.
 *
 * Pure.
 */
#ifndef XD_PUBLISH_SHARDS_LEFT_H
#define XD_PUBLISH_SHARDS_LEFT_H

#include <stdbool.h>

#include "base/range.h"
#include "manifest/model.h"

struct xd_shards_left {
    uint64_t stripe; /* its number */
    unsigned n, k;   /* shards that would stay, and that it takes */
};

/* The first stripe that would keep fewer than k shards: of data those of which all
 * bytes are `kept`, of parity those with a replica that is not dropped.  False: there
 * is none.  `dropped_parity` has each replica of parity, stripe by stripe. */
bool xd_shards_are_too_few(struct xd_shards_left *out,
                           const struct xd_model_file *f,
                           const struct xd_rangeset *kept,
                           const bool *dropped_parity);

#endif
