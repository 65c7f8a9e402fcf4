/* SPDX-License-Identifier: MIT */
/*
 * Detects nodes of a mesh that are slow or hang.
 *
 * All nodes get a chunk from its owner.  If the owner is much slower than the
 * others, or hangs, then all nodes are slow for its chunks, and other requests
 * queue up after these.  So requests stop naming it as the owner.  Nodes then
 * fetch from the next node by rank, even chunks that they already wait for.
 * The slow node itself still gets requests, as long as that helps.
 *
 * A node is slow while its throughput is below a quarter of the median.  Only
 * nodes count that had requests for 10 s in total, and there must be three.
 *
 * A node hangs if all of this is true:
 *
 * - it has sent 2 MiB or more, and nothing for the last 1.9 s of a request;
 * - at least two depots of other nodes wait for it (see n_waiting);
 * - at least two thirds of the other nodes with requests have sent something in
 *   the last 0.5 s.
 *
 * It hangs until it sends another byte.  The constants are in via_watch.c.
 */
#ifndef XD_ENGINE_VIA_WATCH_H
#define XD_ENGINE_VIA_WATCH_H

#include "base/time.h"

struct xd_engine;
struct xd_via;

/* Judges all nodes, and stops requests that wait for a node that is avoided
 * now.  Call it before decisions are made.  Does nothing without a mesh, in a
 * mesh with fewer than two hops, and within 50 ms of the last time.  Call it
 * with engine.lock held. */
void xd_via_watch_locked(struct xd_engine *e, xd_usec now);

/*
 * Judges all nodes and updates v->avoids and v->hung_at.  When a node begins to
 * be avoided, stores the reason in depot->avoided_why of its depots that have
 * delivered bytes.  The reason stays there when the node recovers.
 *
 * n_waiting has v->mesh->n_nodes elements.  n_waiting[i] counts the depots of
 * other nodes that probably wait for node i: they have a request that named
 * node i, and have sent nothing for it for 1.5 s.  (A node is one depot for
 * each of its addresses.)
 *
 * Public for tests only.  Call it with engine.lock held.
 */
void xd_via_note_avoided(struct xd_via *v, const unsigned *n_waiting,
                         xd_usec now);

#endif
