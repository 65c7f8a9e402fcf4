/* SPDX-License-Identifier: MIT */
/*
 * The paper's figures, of results, drawn by gnuplot.
 */
#ifndef CLI_PLOT_H
#define CLI_PLOT_H

#include "args/args.h"

/* Returns the exit status. */
int plot_results(const struct args *a);

#endif
