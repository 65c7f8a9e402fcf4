/* SPDX-License-Identifier: MIT */
/*
 * Statistics of depots from earlier runs, in the file named by the option
 * depot-cache (base/servers.h).  Nothing here fails: if the file cannot be
 * read or written, a debug line is logged.
 */
#ifndef XD_ENGINE_DEPOT_CACHE_H
#define XD_ENGINE_DEPOT_CACHE_H

#include "engine/engine.h"

/* Reads the file and ranks the depots.  Call it before another thread uses the
 * engine.  Blocks: on the disk. */
void xd_depot_cache_load(struct xd_engine *e);

/* Returns what is known now about connections to the depot. */
struct xd_learned xd_depot_cache_learned_locked(const struct xd_engine *e,
                                                const struct xd_depot *depot);

/*
 * Writes the statistics of a download that has ended, and keeps entries that
 * other runs wrote meanwhile.
 * Threads: the keeper.  Blocks: on the disk.
 */
void xd_depot_cache_save(struct xd_engine *e);

#endif
