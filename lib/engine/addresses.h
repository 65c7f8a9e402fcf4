/* SPDX-License-Identifier: MIT */
/*
 * A depot whose name has several addresses: what requests tell of them
 * (base/addresses.h), and what new connections are to pass over.
 */
#ifndef XD_ENGINE_ADDRESSES_H
#define XD_ENGINE_ADDRESSES_H

struct xd_depot;
struct xd_engine;
struct xd_lane;

/* A request begins: lane->passes_over. */
void xd_addresses_begin_locked(struct xd_depot *depot, struct xd_lane *lane);

/* It goes on, at lane->address.  If another was shown to be faster than one that it
 * tries, or much faster, it is stopped: what it lacks is asked for elsewhere. */
void xd_addresses_look_locked(struct xd_engine *e, struct xd_depot *depot,
                              struct xd_lane *lane);

/* It has ended.  What has failed at one address of several, and not at others,
 * ends as if it was taken back: it is made again elsewhere. */
void xd_addresses_end_locked(struct xd_depot *depot, struct xd_lane *lane);

#endif
