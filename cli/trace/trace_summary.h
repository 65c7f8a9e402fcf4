/* SPDX-License-Identifier: MIT */
/* A run of a trace in words: where its time went. */
#ifndef CLI_TRACE_SUMMARY_H
#define CLI_TRACE_SUMMARY_H

#include <stdio.h>

#include "trace/profile.h"

void summary_of_trace(FILE *to, const struct profile *p);

#endif
