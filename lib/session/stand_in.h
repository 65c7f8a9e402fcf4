/* SPDX-License-Identifier: MIT */
/*
 * Which depots are asked for parity, which stands in for data.
 *
 *     request for parity --> BEGIN ----------> END --> what was lent is given back
 *                              |  \             ^
 *                        kept for  depots are   | DISCARD, if data that a depot
 *                        others    LENT at its  | holds gives way to lost data
 *                                  positions    |
 *     shards that are late --> depots JOIN -----+
 *
 * A depot with parity can take the place of any shard of data, and of one at each
 * position: meanwhile it is lent, and not asked for the others.  What is refused,
 * as others need it more, is lent as well, and given back when a request of the
 * stripe has ended, or a while later.
 *
 * Pure: decides only.  The engine and the simulator report it to the scheduler
 * (struct xd_stripe_ops).
 */
#ifndef XD_SESSION_STAND_IN_H
#define XD_SESSION_STAND_IN_H

#include "session/stripes.h"

/* Which parity a request for those bytes of the depot is for, and how much of it: no
 * more than one shard.  False: the depot has none of that stripe. */
bool xd_stand_in_choose(const struct xd_stripes *s, unsigned depot,
                        struct xd_range range, struct xd_coded_run *out);

/* It begins.  False: it must not, as its parity is kept for others, or is in the place
 * of one. */
bool xd_stand_in_begin(struct xd_stripes *s, const struct xd_coded_run *run,
                       xd_usec now);

/* What it delivers is in its place at `range`. */
void xd_stand_in_stored(struct xd_stripes *s, unsigned fetch,
                        struct xd_range range, xd_usec now);

/* A request for that byte has ended, of parity or of data, and the scheduler knows
 * that. */
void xd_stand_in_ended(struct xd_stripes *s, unsigned fetch, uint64_t byte,
                       xd_usec now);

/* Bytes are stored, or proved, or parity is in their place. */
void xd_stand_in_written(struct xd_stripes *s, struct xd_range range,
                         xd_usec now);

/* A run that was taken out: its bytes are missing again, and its depot can be asked
 * for others. */
void xd_stand_in_release(struct xd_stripes *s, size_t stripe,
                         const struct xd_coded_run *run,
                         enum xd_discard_reason why);

/* Likewise all that is stored of the depot, or of any (XD_STORED), but of the stripes
 * within `but`; and all of one stripe: whether there was any. */
void xd_stand_in_drop(struct xd_stripes *s, unsigned depot, struct xd_range but,
                      enum xd_discard_reason why);
bool xd_stand_in_drop_stripe(struct xd_stripes *s, size_t stripe,
                             enum xd_discard_reason why);

/* A depot was reported to have nothing of the stripe any more: what is unused of the
 * parity that it still has can be asked for. */
void xd_stand_in_hold(struct xd_stripes *s, size_t stripe, unsigned depot);

/* From when on the last shards of a stripe are late depots with parity join those
 * that hold them; what was refused can be asked for again a while later.  Returns when
 * it is to be called again. */
xd_usec xd_stand_in_watch(struct xd_stripes *s, xd_usec now);

/* No depot can be asked for the range.  For how much of it, from its beginning, the
 * requests for parity that run may yet leave some, or empty. */
struct xd_range xd_stand_in_coming(const struct xd_stripes *s,
                                   struct xd_range r);

/* Nor is any coming: whether some can be asked for now in the place of the byte, since
 * it was kept for others, or taken from the place of data that depots still hold. */
bool xd_stand_in_spares(struct xd_stripes *s, uint64_t byte, xd_usec now);

#endif
