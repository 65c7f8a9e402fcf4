/* SPDX-License-Identifier: MIT */
/*
 * Writes a run of a trace as a scenario (see lab/simulate.h).  A depot gets a
 * line with its rate and round-trip time, and a line for each change of the rate.  A
 * trace does not show losses and queues, but the rates include their effect.
 */
#ifndef CLI_TRACE_SCENARIO_H
#define CLI_TRACE_SCENARIO_H

#include <stdio.h>

#include "trace/profile.h"

/* Writes the scenario.  `path` is the name of the trace for messages.  Returns
 * 0; after a failure, prints the error and returns the exit status. */
int scenario_put(FILE *to, const struct profile *p, const char *path);

#endif
