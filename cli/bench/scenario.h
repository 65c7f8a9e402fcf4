/* SPDX-License-Identifier: MIT */
/*
 * Finds the text of a scenario (lab/simulate.h) by its name.
 */
#ifndef CLI_SCENARIO_H
#define CLI_SCENARIO_H

#include <stdbool.h>
#include <stddef.h>

#include "bench/subset.h"

/*
 * Reads a scenario.  A word with a '/' is a path.  Any other word names a file
 * in the folders of the environment variable XDOWNLOAD_SCENARIOS (separated by
 * colons), or an installed scenario.  Returns 0; after a failure, prints the
 * error and returns the exit status.
 * Ownership: *out is the caller's, to be freed.
 */
int scenario_read(char **out, const char *word);

/*
 * Returns the names of the depots in order, or NULL if memory runs out.
 * Ownership: the names and the list are the caller's, to be freed.
 */
char **scenario_depots(const char *text, size_t *out_n);

/* Returns the scenario with only these depots, or NULL if memory runs out.
 * Ownership: the caller frees the text. */
char *scenario_cut(const char *text, subset depots);

#endif
