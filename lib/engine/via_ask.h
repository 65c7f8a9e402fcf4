/* SPDX-License-Identifier: MIT */
/*
 * Which files go through the mesh, and in which version.
 *
 * Of a file that comes alone the origin is asked before anything is fetched, unless
 * inspection has: for its strong validator, which each answer of a node must have.  It is
 * not asked about one of many, which hashes must prove.  Every function is called
 * with engine.lock held.
 */
#ifndef XD_ENGINE_VIA_ASK_H
#define XD_ENGINE_VIA_ASK_H

#include <stdbool.h>
#include <stddef.h>

#include "base/range.h"

struct xd_engine;
struct xd_model_extent;
struct xd_model_file;

/* Files of a set, whose depots are made and whose scheduler is not.
 * Errors: NOMEM. */
int xd_via_add_set_locked(struct xd_engine *e);

/* A file that is added to a set at `range`: true if it goes through the mesh; its
 * sources are there then, and were not reported.  False: it does not, or the
 * download has failed for want of memory. */
bool xd_via_add_file_locked(struct xd_engine *e, struct xd_range range,
                            const struct xd_model_file *f);

/*
 * Before the first byte of a file that comes alone: its origin is asked, and the
 * nodes become depots, with a new scheduler; or the reason why not is kept and
 * logged.  Only the keeper calls this.  Releases the lock.
 */
void xd_via_open_locked(struct xd_engine *e);

#endif
