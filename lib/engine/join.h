/* SPDX-License-Identifier: MIT */
/*
 * Adds a replica to a download after xd_download_new().
 */
#ifndef XD_ENGINE_JOIN_H
#define XD_ENGINE_JOIN_H

#include <stdbool.h>
#include <xdownload/manifest.h>

#include "base/range.h"

struct xd_depot;
struct xd_engine;
struct xd_via_file;

/* Implements xd_download_add_replica().  Call it without the lock. */
int xd_engine_join(struct xd_engine *e, const struct xd_replica *replica,
                   const struct xd_extent *extent, struct xd_error *err);

/* Ensures that one more depot can be added.  Errors: NOMEM. */
int xd_join_make_room_locked(struct xd_engine *e);

/* Tells the scheduler and all parts of the engine that `depot`, which may be
 * new, holds `range`.  max_connections limits its connections; 0 leaves the
 * limit unchanged. */
void xd_join_depot_locked(struct xd_engine *e, struct xd_depot *depot,
                          bool is_new, struct xd_range range,
                          unsigned max_connections);

/* Calls xd_join_depot_locked() for all nodes that hold bytes of `f`, the file
 * added last. */
void xd_join_via_locked(struct xd_engine *e, const struct xd_via_file *f);

#endif
