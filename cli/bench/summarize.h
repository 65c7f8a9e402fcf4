/* SPDX-License-Identifier: MIT */
/*
 * What results show, as tables on standard output.
 */
#ifndef CLI_SUMMARIZE_H
#define CLI_SUMMARIZE_H

#include "args/args.h"

/* Returns the exit status. */
int summarize_results(const struct args *a);

#endif
