/* SPDX-License-Identifier: MIT */
/*
 * `xdownload bench`: downloads one file with many combinations of settings, and
 * compares them.
 */
#ifndef CLI_BENCH_H
#define CLI_BENCH_H

#include "args/args.h"

/* Runs the command.  Returns the exit status. */
int bench_run(const struct args *a);

#endif
