/* SPDX-License-Identifier: MIT */
/*
 * A player without a picture: it begins after --prebuffer, consumes --rate to
 * the end, and writes nothing.  What is not here when it is due stops it until
 * it is.
 */
#ifndef CLI_PLAY_SIMULATED_H
#define CLI_PLAY_SIMULATED_H

#include <xdownload/stream.h>

#include "args/args.h"
#include "trace/trace.h"

/* Play to the end, or until a signal.  Returns a status after a failure was
 * reported.  `trace`, if it is not NULL, records it. */
int play_simulated(const struct args *a, struct xd_reader *r,
                   struct trace_run *trace);

#endif
