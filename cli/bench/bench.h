/* SPDX-License-Identifier: MIT */
/*
 * bench: downloads of one file with many settings, and what they came to.
 */
#ifndef CLI_BENCH_H
#define CLI_BENCH_H

#include "args/args.h"

/* Returns the exit status. */
int bench_run(const struct args *a);

#endif
