/*
 * What a series will cost, as far as that can be said before it.
 */
#ifndef CLI_COST_H
#define CLI_COST_H

#include "bench/series.h"

/* The bytes that a run may fetch: more than one copy where the algorithm asks
 * for several of each block; 0 if the size of the file is not known. */
uint64_t cost_of(const struct run *r, const struct subject *s);

/* Say it.  Returns 0, or a status if that is more than anybody fetches
 * unawares. */
int cost_say(const struct series *s);

#endif
