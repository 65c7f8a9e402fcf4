/* SPDX-License-Identifier: MIT */
#ifndef XD_TESTS_SIM_CODES_H
#define XD_TESTS_SIM_CODES_H

#include "sim/run.h"

/*
 * Prints tables that compare files with copies, with parity, and with neither, on
 * the same depots, with the same luck: `seeds` runs each, of which each has other
 * depots that are bad.  False: out of memory.
 */
bool xd_print_codes(const struct xd_sim_options *o, unsigned seeds);

#endif
