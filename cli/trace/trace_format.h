/* SPDX-License-Identifier: MIT */
/*
 * What the writer and the reader of traces share.
 */
#ifndef CLI_TRACE_FORMAT_H
#define CLI_TRACE_FORMAT_H

#include <xdownload/download.h>

#define TRACE_FORMAT 1

/* Lane l of depot d is thread 1 + d * TRACE_LANES + l; samples of a depot have
 * its last one.  Readers come after all depots. */
#define TRACE_LANES 64U
#define TRACE_SAMPLES (TRACE_LANES - 1)
#define TRACE_READERS (1U << 30)

/* "next", "hedge"... */
const char *trace_reason(enum xd_fetch_reason reason);

#endif
