/* SPDX-License-Identifier: MIT */
/* What stripes.c, stripes_need.c and stand_in.c share, and no other file sees. */
#ifndef XD_SESSION_STRIPES_PARTS_H
#define XD_SESSION_STRIPES_PARTS_H

#include "session/stripes.h"

/* NULL: it is not open. */
struct xd_open_stripe *xd_stripes_open(const struct xd_stripes *s,
                                       size_t stripe);

/* Its own, to be changed.  NULL: there is no memory. */
struct xd_stripe_state *xd_stripes_state(struct xd_stripes *s, size_t stripe);

/* Whether all of a range of one shard is stored, as data or as parity. */
bool xd_stripes_have(const struct xd_stripes *s, size_t stripe,
                     struct xd_range range);

#endif
