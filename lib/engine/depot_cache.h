/* SPDX-License-Identifier: MIT */
/*
 * What earlier runs saw of the depots: in the file that the option depot-cache
 * names (base/servers.h), if it names one.  Never an error: what cannot be read
 * is not known, what cannot be written is forgotten, and a debug line says so.
 */
#ifndef XD_ENGINE_DEPOT_CACHE_H
#define XD_ENGINE_DEPOT_CACHE_H

#include "engine/engine.h"

/* Rank the depots of an engine that no other thread uses yet.
 * Blocks: on the disk. */
void xd_depot_cache_load(struct xd_engine *e);

/* What is known of the depot's connections by now. */
struct xd_learned xd_depot_cache_learned_locked(const struct xd_engine *e,
                                                const struct xd_depot *depot);

/* Of an engine that has ended.  What another run wrote meanwhile stays.
 * Threads: the keeper.  Blocks: on the disk. */
void xd_depot_cache_save(struct xd_engine *e);

#endif
