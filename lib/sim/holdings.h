/* SPDX-License-Identifier: MIT */
/* Which depot of a scenario holds what, and in which tier. */
#ifndef XD_SIM_HOLDINGS_H
#define XD_SIM_HOLDINGS_H

#include "sim/run.h"

/* 0 or NOMEM.  *out is released with fini() in any case. */
int xd_sim_holding(const struct xd_scenario *s, const struct xd_sim_options *o,
                   size_t depot, struct xd_holding *out);
void xd_sim_holding_fini(struct xd_holding *h);

/* The first run within `r` that the depot has itself, and not only as parity; empty
 * at r.end: there is none. */
struct xd_range xd_sim_next_own(const struct xd_scenario *s,
                                const struct xd_sim_options *o, size_t depot,
                                struct xd_range r);

/* With a code: the number of the shard of that stripe which the depot has, of data
 * if it is below k; n, if it has none. */
unsigned xd_sim_shard_of(const struct xd_sim_code *c, size_t depot,
                         size_t stripe);

/* The depot that has that shard of the stripe. */
unsigned xd_sim_depot_of(const struct xd_sim_code *c, size_t stripe,
                         unsigned shard);

#endif
