/* SPDX-License-Identifier: MIT */
/* Prints the results for the replicas: as text grouped by store, or as JSON. */
#ifndef CLI_UPKEEP_PRINT_H
#define CLI_UPKEEP_PRINT_H

#include <stdbool.h>

#include <xdpublish/upkeep.h>

/* Prints to standard error how many replicas had each result.  Prints each
 * reason once, with the number of replicas. */
void upkeep_put_words(const struct xd_upkeep *u, bool drops, const char *path);

/* Prints one JSON object on one line to standard output. */
void upkeep_put_json(const struct xd_upkeep *u, const char *path);

/* Returns the number of replicas in this state. */
size_t upkeep_count(const struct xd_upkeep *u, enum xd_upkeep_state state);

#endif
