/* SPDX-License-Identifier: MIT */
/*
 * Handles wrong bytes that a mesh node got from another node.
 *
 *     client --a chunk, which n0 owns--> n1 --> n0 --> origin
 *
 * n1 cannot find out that n0 sends wrong bytes, or another version.  So n0 is
 * blamed: requests stop naming it as an owner, nodes fetch from the next node
 * by rank, and bytes that came through n0 are fetched again.  n0 still gets
 * requests, like all nodes, because n1 may be the one that sends wrong bytes.
 * For that reason a node is excused only a few times.
 */
#ifndef XD_ENGINE_RELAYED_H
#define XD_ENGINE_RELAYED_H

#include <stdbool.h>
#include <stddef.h>

#include "base/range.h"

struct xd_depot;
struct xd_engine;
struct xd_error;

/* Discards what other nodes got from `node`, which has sent wrong bytes itself.
 * Call it with engine.lock held. */
void xd_relayed_distrust_locked(struct xd_engine *e, size_t node);

/* Returns true if another node is to blame for wrong bytes of `range` that
 * `depot` sent.  `why` is the error.  Call it with engine.lock held. */
bool xd_relayed_excuses_locked(struct xd_engine *e, struct xd_depot *depot,
                               struct xd_range range,
                               const struct xd_error *why);

#endif
