/* SPDX-License-Identifier: MIT */
#ifndef XD_TESTS_SIM_PLAIN_H
#define XD_TESTS_SIM_PLAIN_H

#include "sim/run.h"

/*
 * When so many bytes have come, whichever, if one connection to each depot, or
 * sched.lanes_per_depot where the depot bounds them, sends without end: what
 * TCP itself allows, in the same wires with the same luck.  Depots that lie are
 * left out.  And for how long the player would stand still if they came in
 * order.  XD_NEVER: not within an hour.  Errors: NOMEM.
 */
int xd_sim_plain(const struct xd_scenario *s, const struct xd_sim_options *o,
                 xd_usec *out_took, xd_usec *out_stalled);

#endif
