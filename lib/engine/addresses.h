/* SPDX-License-Identifier: MIT */
/*
 * Depots whose host name has several addresses: collects what requests show
 * about each address (base/addresses.h), and chooses which ones new
 * connections avoid.
 */
#ifndef XD_ENGINE_ADDRESSES_H
#define XD_ENGINE_ADDRESSES_H

struct xd_depot;
struct xd_engine;
struct xd_lane;

/* Call it when a request begins.  Sets lane->passes_over. */
void xd_addresses_begin_locked(struct xd_depot *depot, struct xd_lane *lane);

/* Call it while a request runs.  Stops the request if another address is faster
 * than the one that it tries, or much faster than an established one.  The
 * scheduler then assigns the rest again. */
void xd_addresses_look_locked(struct xd_engine *e, struct xd_depot *depot,
                              struct xd_lane *lane);

/* Call it when a request has ended.  If the host has several addresses, a
 * failure at one of them counts as a cancellation, so that the request is
 * repeated at another. */
void xd_addresses_end_locked(struct xd_depot *depot, struct xd_lane *lane);

#endif
