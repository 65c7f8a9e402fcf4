/* SPDX-License-Identifier: MIT */
/*
 * Decides which depots are asked for parity in place of data.
 *
 *     request for parity --> BEGIN ----------> END --> lent depots given back
 *                              |  \             ^
 *                        kept for  depots are   | DISCARD, if data that a depot
 *                        others    LENT at its  | has gives way to lost data
 *                                  positions    |
 *     shards that are late --> depots JOIN -----+
 *
 * A byte of parity can replace the byte at the same position of any data shard,
 * but of only one.  While it replaces one, its depot counts as "lent" at that
 * position: the scheduler does not ask it for other shards there.
 *
 * A request for parity is refused if other shards need the parity more.  Then,
 * too, its depot counts as lent, until a request of the stripe ends or some
 * time has passed.
 *
 * Pure: only decides.  The engine and the simulator report the decisions to the
 * scheduler (struct xd_stripe_ops).  If memory runs out, ops->run_out() is
 * called, and the functions return as if nothing could be done.
 * Threads: not thread-safe; guarded by its owner's lock, also while it calls
 *          the ops.
 */
#ifndef XD_SESSION_STAND_IN_H
#define XD_SESSION_STAND_IN_H

#include "session/stripes.h"

/* Chooses the parity shard to request from the depot in place of these bytes,
 * and the length of the request, at most one shard.  Sets only out->parity and
 * out->range.  Returns false if the depot has no parity of that stripe.  If it
 * returns true, xd_stand_in_begin() may still refuse the request. */
bool xd_stand_in_choose(const struct xd_stripes *s, unsigned depot,
                        struct xd_range range, struct xd_coded_run *out);

/* Starts a request that choose() has returned, for run->fetch at run->depot.
 * Returns false if it must not start, because the parity is reserved for other
 * shards or already replaces one, or because memory ran out.  The caller must
 * then end the request as canceled; it is not recorded here. */
bool xd_stand_in_begin(struct xd_stripes *s, const struct xd_coded_run *run,
                       xd_usec now);

/* Records that parity from the request is stored and replaces `range`.  The
 * range must be WRITING in the ledger, and stays so until the stripe is
 * decoded. */
void xd_stand_in_stored(struct xd_stripes *s, unsigned fetch,
                        struct xd_range range, xd_usec now);

/* Call when a request that began at `byte`, for parity or data, has ended and
 * the scheduler was told. */
void xd_stand_in_ended(struct xd_stripes *s, unsigned fetch, uint64_t byte,
                       xd_usec now);

/* Call when bytes are stored or verified, or when parity that replaces them is
 * stored. */
void xd_stand_in_written(struct xd_stripes *s, struct xd_range range,
                         xd_usec now);

/* Call when a stored run was removed (xd_stripes_take()) because its stripe was
 * decoded.  Its depot can be asked for parity again, because the data may be
 * dropped from memory and be needed once more. */
void xd_stand_in_decoded(struct xd_stripes *s, size_t stripe,
                         const struct xd_coded_run *run);

/* Call when a stored run was removed (xd_stripes_take()).  Reports that its
 * bytes are missing again (ops->discard()), and that its depot can be asked for
 * other bytes. */
void xd_stand_in_release(struct xd_stripes *s, size_t stripe,
                         const struct xd_coded_run *run,
                         enum xd_discard_reason why);

/* drop() drops all stored parity of a depot, or of all depots (XD_STORED),
 * except in stripes that overlap `but`.  drop_stripe() drops all stored parity
 * of one stripe, and returns true if there was any.  Requests in flight are not
 * affected. */
void xd_stand_in_drop(struct xd_stripes *s, unsigned depot, struct xd_range but,
                      enum xd_discard_reason why);
bool xd_stand_in_drop_stripe(struct xd_stripes *s, size_t stripe,
                             enum xd_discard_reason why);

/* Call when the scheduler was told that a depot has nothing of the stripe.
 * Unused parity of this depot can then be requested again. */
void xd_stand_in_hold(struct xd_stripes *s, size_t stripe, unsigned depot);

/* When the last shards of a stripe are late, reports depots with its parity as
 * holders of these shards.  Also allows refused parity again after a while.
 * Returns when to call it again. */
xd_usec xd_stand_in_watch(struct xd_stripes *s, xd_usec now);

/* Call when no depot can be asked for the range.  Returns the first part of it
 * that running parity requests may still make available.  Empty if there is
 * none. */
struct xd_range xd_stand_in_coming(const struct xd_stripes *s,
                                   struct xd_range r);

/* Call when xd_stand_in_coming() returns an empty range.  If possible, frees
 * parity for the byte: parity that was reserved for other shards, or that
 * replaced data which some depot still has.  Returns true if parity for the
 * byte can be requested now. */
bool xd_stand_in_spares(struct xd_stripes *s, uint64_t byte, xd_usec now);

#endif
