/* SPDX-License-Identifier: MIT */
/*
 * Prints a summary of results as tables on standard output.
 */
#ifndef CLI_SUMMARIZE_H
#define CLI_SUMMARIZE_H

#include "args/args.h"

/* Prints the summary.  Returns the exit status. */
int summarize_results(const struct args *a);

#endif
