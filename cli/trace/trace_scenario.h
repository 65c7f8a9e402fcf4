/* SPDX-License-Identifier: MIT */
/*
 * A run of a trace as a scenario of simulate.h: a line for each depot, with the
 * rate and the round trip that it had, and how its rate changed.  What the trace
 * does not tell, as loss and queues, is in the rates already.
 */
#ifndef CLI_TRACE_SCENARIO_H
#define CLI_TRACE_SCENARIO_H

#include <stdio.h>

#include "trace/profile.h"

/* `path` is the trace's, for a comment.  Returns 0, or a status after the reason
 * was said. */
int scenario_put(FILE *to, const struct profile *p, const char *path);

#endif
