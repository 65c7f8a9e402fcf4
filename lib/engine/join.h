/* SPDX-License-Identifier: MIT */
/*
 * A replica that is added to a download after xd_download_new().
 */
#ifndef XD_ENGINE_JOIN_H
#define XD_ENGINE_JOIN_H

#include <stdbool.h>
#include <xdownload/manifest.h>

#include "base/range.h"

struct xd_depot;
struct xd_engine;
struct xd_via_file;

/* As xd_download_add_replica().  Without the lock. */
int xd_engine_join(struct xd_engine *e, const struct xd_replica *replica,
                   const struct xd_extent *extent, struct xd_error *err);

/* For what adds something else: there is room for one depot more.  Errors:
 * NOMEM. */
int xd_join_make_room_locked(struct xd_engine *e);

/* The depot, which may be new, can be asked for these bytes as well, for so many at
 * a time (0: as before). */
void xd_join_depot_locked(struct xd_engine *e, struct xd_depot *depot,
                          bool is_new, struct xd_range range,
                          unsigned max_connections);

/* The same for the nodes of a mesh, of a file that goes through it, which was the
 * last to be added. */
void xd_join_via_locked(struct xd_engine *e, const struct xd_via_file *f);

#endif
