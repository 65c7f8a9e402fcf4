/* SPDX-License-Identifier: MIT */
/*
 * Nodes of a mesh that others are not to wait for.
 *
 * All nodes ask the owner of a chunk for it: if that is far slower than the others, or
 * hangs, they are as slow for its share of the chunks, and whatever else waits for
 * those there.  So it is named no more, and nodes ask the next by rank, in place of
 * what they wait for.  It is asked itself still, as far as it is worth that.
 */
#ifndef XD_ENGINE_VIA_WATCH_H
#define XD_ENGINE_VIA_WATCH_H

#include "base/time.h"

struct xd_engine;
struct xd_via;

/* Before a decision; requests that wait for such a node are stopped.  With
 * engine.lock. */
void xd_via_watch_locked(struct xd_engine *e, xd_usec now);

/* A part of that: note which they are; of each node at how many others requests wait
 * for it. */
void xd_via_note_avoided(struct xd_via *v, const unsigned *n_waiting,
                         xd_usec now);

#endif
