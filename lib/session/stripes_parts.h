/* SPDX-License-Identifier: MIT */
/* What stripes.c and stripes_need.c share, and no other file sees. */
#ifndef XD_SESSION_STRIPES_PARTS_H
#define XD_SESSION_STRIPES_PARTS_H

#include "session/stripes.h"

/* NULL: it is not open. */
struct xd_open_stripe *xd_stripes_open(const struct xd_stripes *s,
                                       size_t stripe);

/* Whether all of a range of one shard is stored, as data or as parity of `o`, which
 * may be NULL. */
bool xd_stripes_have(const struct xd_open_stripe *o, struct xd_range range,
                     const struct xd_ledger *l);

#endif
