/* SPDX-License-Identifier: MIT */
/*
 * Decides which files are fetched through the mesh, and in which version.
 *
 * Nodes cache chunks under the validator of the file, and keep serving them
 * while the origin is down.  So for a single file, the origin is asked for its
 * strong validator before anything is fetched, unless inspection has asked
 * already.  Every response of a node must then have this validator, unless
 * piece hashes prove the bytes.  For files of a set the origin is not asked.
 * They use the mesh only if hashes prove them.
 *
 * Every function is called with engine.lock held.
 */
#ifndef XD_ENGINE_VIA_ASK_H
#define XD_ENGINE_VIA_ASK_H

#include <stdbool.h>
#include <stddef.h>

#include "base/range.h"

struct xd_engine;
struct xd_model_extent;
struct xd_model_file;

/* Adds the files of a set.  Called after the depots were created and before the
 * scheduler is.  Errors: NOMEM. */
int xd_via_add_set_locked(struct xd_engine *e);

/* Adds a file that joins a running set at `range`.  Returns true if it uses the
 * mesh; its sources then exist and must still be reported to the scheduler.
 * Returns false if it does not, or if the download has failed because memory
 * ran out. */
bool xd_via_add_file_locked(struct xd_engine *e, struct xd_range range,
                            const struct xd_model_file *f);

/*
 * Prepares the mesh before the first byte of a single file is fetched.  Asks
 * the origin for its validator, then makes depots of the nodes and renews the
 * scheduler.  If the mesh is not used, keeps and logs the reason.  Called by
 * the keeper only.  Releases the lock.
 */
void xd_via_open_locked(struct xd_engine *e);

#endif
