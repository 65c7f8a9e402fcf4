/* SPDX-License-Identifier: MIT */
#ifndef XD_TESTS_SIM_HARM_H
#define XD_TESTS_SIM_HARM_H

#include "sim/run.h"

/*
 * Prints what a depot more costs.  One packet that is lost, or not, is worth more
 * than most bad depots; so each scenario is run `repeats` times, the means are
 * compared, and a row without a bad depot, but with other seeds, shows how much
 * of the rest is luck.  Each run's paths are a little longer or shorter too, for
 * a packet that comes a moment sooner makes the scheduler decide otherwise.  What is
 * more than allowed by three standard errors is no luck.  Bytes that wait in a queue
 * whose rate changes still leave it at the old one: what was faster than the wires
 * allow for that is taken to have been as fast.
 *
 * Scenarios have `seeds` seeds from that of the options on.  `kind` is one of
 * xd_bad_kind_name(), "luck" or "all".  False: out of memory.
 */
bool xd_print_costs(const struct xd_sim_options *o, const char *kind,
                    uint64_t seeds, uint64_t repeats);

#endif
