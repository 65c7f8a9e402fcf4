/* SPDX-License-Identifier: MIT */
/*
 * Prints the lines of -v, one for each request that has ended.
 */
#ifndef CLI_RECORDS_H
#define CLI_RECORDS_H

#include <stdio.h>

#include "common/snapshot.h"
#include "trace/trace.h"

/*
 * Prints a line for each new record of `d`: depot, first byte requested, number
 * of bytes, seconds, and the outcome (outcome.h).  `s` has the names of the
 * depots.  If `run` is not NULL, the records are also added to this trace.
 */
void records_put(FILE *to, struct xd_download *d, const struct snapshot *s,
                 struct trace_run *run);

#endif
