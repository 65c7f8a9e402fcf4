/* SPDX-License-Identifier: MIT */
/*
 * What a series will cost, as far as that can be said before it.
 */
#ifndef CLI_COST_H
#define CLI_COST_H

#include "bench/series.h"

/* The bytes that a run may fetch: more than one copy where the algorithm asks
 * for several of each block; 0 if the size of the file is not known. */
uint64_t cost_of(const struct run *r, const struct subject *s);

/* Of the pause between two live runs, unless --cool-down says how long it is.
 * More than the longest of queues keeps a sweep waiting for nothing. */
#define COOL_DOWN_LEAST_S 1.0
#define COOL_DOWN_MOST_S 10.0

/* Say it.  Returns 0, or a status if that is more than anybody fetches
 * unawares. */
int cost_print(const struct series *s);

#endif
