/* SPDX-License-Identifier: MIT */
/* What became of the replicas: in words, by store, or as JSON. */
#ifndef CLI_UPKEEP_PRINT_H
#define CLI_UPKEEP_PRINT_H

#include <stdbool.h>

#include <xdownload/upkeep.h>

/* On standard error: how many of each kind, and each reason once, with how often
 * that was. */
void upkeep_put_words(const struct xd_upkeep *u, bool drops, const char *path);

/* On standard output: one object in a line. */
void upkeep_put_json(const struct xd_upkeep *u, const char *path);

/* How many are in this state. */
size_t upkeep_count(const struct xd_upkeep *u, enum xd_upkeep_state state);

#endif
