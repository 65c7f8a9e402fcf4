/* SPDX-License-Identifier: MIT */
/*
 * Wrong bytes from a node of a mesh that had them from another one.
 *
 *     client --a chunk, which n0 owns--> n1 --> n0 --> origin
 *
 * n1 has no means to find out that n0 sends it wrong bytes, or another version: n0
 * is blamed.  Requests name it no more as an owner, so that nodes ask the next by
 * rank, and what came by way of it is fetched again.  It is asked itself still, as all
 * nodes are, for it may be n1 that sends wrong bytes: a node is excused a few times
 * only.
 */
#ifndef XD_ENGINE_RELAYED_H
#define XD_ENGINE_RELAYED_H

#include <stdbool.h>
#include <stddef.h>

#include "base/range.h"

struct xd_depot;
struct xd_engine;
struct xd_error;

/* The node itself has sent what is wrong: what others have from it counts for no more.
 * With engine.lock. */
void xd_relayed_distrust_locked(struct xd_engine *e, size_t node);

/* What `depot` sent of `range` was wrong, as `why` says: true if another node is to
 * blame.  With engine.lock. */
bool xd_relayed_excuses_locked(struct xd_engine *e, struct xd_depot *depot,
                               struct xd_range range,
                               const struct xd_error *why);

#endif
