/* SPDX-License-Identifier: MIT */
/*
 * Constants for both the writer and the reader of traces.
 */
#ifndef CLI_TRACE_FORMAT_H
#define CLI_TRACE_FORMAT_H

#define TRACE_FORMAT 1

/* Thread numbers in the trace.  Lane l of depot d has the number 1 + d *
 * TRACE_LANES + l.  Samples use the last lane of their depot.  Numbers from
 * TRACE_READERS on are readers of served files. */
#define TRACE_LANES 64U
#define TRACE_SAMPLES (TRACE_LANES - 1)
#define TRACE_READERS (1U << 30)

#endif
