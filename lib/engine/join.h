/* SPDX-License-Identifier: MIT */
/*
 * A replica that is added to a download after xd_download_new().
 */
#ifndef XD_ENGINE_JOIN_H
#define XD_ENGINE_JOIN_H

#include <xdownload/manifest.h>

struct xd_engine;

/* As xd_download_add_replica().  Without the lock. */
int xd_engine_join(struct xd_engine *e, const struct xd_replica *replica,
                   const struct xd_extent *extent, struct xd_error *err);

#endif
