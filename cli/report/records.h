/* SPDX-License-Identifier: MIT */
/*
 * The lines of -v: one for each request that has ended.
 */
#ifndef CLI_RECORDS_H
#define CLI_RECORDS_H

#include <stdio.h>

#include "common/snapshot.h"
#include "trace/trace.h"

/*
 * A line for each new record of `d`: depot, first byte of the file that was
 * asked for, how many, seconds, and one word for what came of it: "ok",
 * "redundant" (all of it had come from elsewhere), "canceled", or the name of
 * the error code in small letters.  `s` names the depots.
 * `run` records them too, if it is not NULL.
 */
void records_put(FILE *to, struct xd_download *d, const struct snapshot *s,
                 struct trace_run *run);

#endif
