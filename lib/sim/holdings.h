/* SPDX-License-Identifier: MIT */
/* Which depot of a scenario holds what, and in which tier. */
#ifndef XD_SIM_HOLDINGS_H
#define XD_SIM_HOLDINGS_H

#include "sim/run.h"

/* 0 or NOMEM.  *out is released with fini() in any case. */
int xd_sim_holding(const struct xd_scenario *s, const struct xd_sim_options *o,
                   size_t depot, struct xd_holding *out);
void xd_sim_holding_fini(struct xd_holding *h);

#endif
