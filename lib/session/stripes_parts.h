/* SPDX-License-Identifier: MIT */
/* Shared by stripes.c, stripes_need.c and stand_in.c only. */
#ifndef XD_SESSION_STRIPES_PARTS_H
#define XD_SESSION_STRIPES_PARTS_H

#include "session/stripes.h"

/* Returns NULL if the stripe is not open. */
struct xd_open_stripe *xd_stripes_open(const struct xd_stripes *s,
                                       size_t stripe);

/* Returns the stripe's state for modification; NULL if out of memory. */
struct xd_stripe_state *xd_stripes_state(struct xd_stripes *s, size_t stripe);

/* Returns the first byte of the range that is neither received nor replaced by
 * stored parity, or the end of the range. */
uint64_t xd_stripes_have_to(const struct xd_stripes *s, size_t stripe,
                            struct xd_range range);

/* Returns whether the range, within one shard, is stored as data or parity. */
bool xd_stripes_have(const struct xd_stripes *s, size_t stripe,
                     struct xd_range range);

#endif
