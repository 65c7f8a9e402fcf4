/* SPDX-License-Identifier: MIT */
/* The bytes that each depot of a scenario holds, and their tiers. */
#ifndef XD_SIM_HOLDINGS_H
#define XD_SIM_HOLDINGS_H

#include "sim/run.h"

/* Returns 0 or NOMEM.  Release *out with fini() in any case. */
int xd_sim_holding(const struct xd_scenario *s, const struct xd_sim_options *o,
                   size_t depot, struct xd_holding *out);
void xd_sim_holding_fini(struct xd_holding *h);

/* Returns the first run within `r` that the depot has as data, not only as
 * parity; empty at r.end if there is none. */
struct xd_range xd_sim_next_own(const struct xd_scenario *s,
                                const struct xd_sim_options *o, size_t depot,
                                struct xd_range r);

/* Returns which shard of a stripe the depot has; numbers below k are data
 * shards.  Returns n if the depot has none.  Call it only if there is a
 * code. */
unsigned xd_sim_shard_of(const struct xd_sim_code *c, size_t depot,
                         size_t stripe);

/* Returns the depot that has this shard of the stripe. */
unsigned xd_sim_depot_of(const struct xd_sim_code *c, size_t stripe,
                         unsigned shard);

#endif
