/* SPDX-License-Identifier: MIT */
/*
 * The summary at the end of a download.  Pure.
 *
 *     fedora.iso: complete, 33.0 MiB in 8.2 s, 4.0 MiB/s, 1.2 % redundant, ...
 *     depot            bytes    share   mean rate  requests  failures
 *     a.example     23.1 MiB   70.0 %   3.0 MiB/s        23         0
 *     b.example      9.9 MiB   30.0 %   1.2 MiB/s        10         0
 *     dead.example       0 B    0.0 %       0 B/s         5         5
 *       failed: http://dead.example/f: connection refused
 *     +3 that delivered nothing (-v has them)
 *     +209 in reserve
 */
#ifndef CLI_SUMMARY_H
#define CLI_SUMMARY_H

#include <stdbool.h>
#include <stdio.h>

#include "common/snapshot.h"

/* Prints the summary.  `outcome` is "complete", "failed" or "interrupted".  If
 * `all` is true, shows all depots that delivered nothing. */
void summary_put(FILE *to, const struct snapshot *s, const char *name,
                 const char *outcome, bool all, unsigned columns);

#endif
