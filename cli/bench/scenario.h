/* SPDX-License-Identifier: MIT */
/*
 * The text of a scenario (xdownload/simulate.h), found by its name.
 */
#ifndef CLI_SCENARIO_H
#define CLI_SCENARIO_H

#include <stdbool.h>
#include <stddef.h>

#include "bench/subset.h"

/*
 * The text of the scenario that the word means: with a '/' it is a path, else a
 * name in the folders of the environment's XDOWNLOAD_SCENARIOS, which colons
 * separate, or among those that belong to the command, which are found from where
 * it lies.  Returns 0, or a status after the reason was said.
 * Ownership: *out is the caller's, to be freed.
 */
int scenario_read(char **out, const char *word);

/*
 * The names of its depots, in their order, for the caller to free, each and
 * all; NULL without memory.
 */
char **scenario_depots(const char *text, size_t *out_n);

/* The same network with these depots only; to be freed, or NULL without
 * memory. */
char *scenario_cut(const char *text, subset depots);

#endif
