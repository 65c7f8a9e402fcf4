/* SPDX-License-Identifier: MIT */
/*
 * Estimates the bytes and the time of a series before it runs.
 */
#ifndef CLI_COST_H
#define CLI_COST_H

#include "bench/series.h"

/* Returns the number of bytes that a run may download, or 0 if the size of the
 * file is unknown.  An algorithm that requests each block several times may
 * download several copies. */
uint64_t cost_of(const struct run *r, const struct subject *s);

/* Limits in seconds of the pause between two live runs if --cool-down is not
 * given.  Within the upper limit, any queue in the network drains. */
#define COOL_DOWN_LEAST_S 1.0
#define COOL_DOWN_MOST_S 10.0

/* Prints the estimate.  Returns 0, or a status if the user must confirm the
 * cost first. */
int cost_print(const struct series *s);

#endif
