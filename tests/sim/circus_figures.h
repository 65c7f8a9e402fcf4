/* SPDX-License-Identifier: MIT */
/* The figures of Circus (FAST 2004), each of which is a table: README.md. */
#ifndef SIM_CIRCUS_FIGURES_H
#define SIM_CIRCUS_FIGURES_H

#include "one_depot.h"

struct circus_figures {
    struct one_depot o; /* the paper's, but for what was changed by options */
    unsigned n_runs;    /* seeds, whose mean is printed */
    bool is_data;       /* for gnuplot: columns, a line that begins with # */
};

void circus_loads(const struct circus_figures *f);      /* 8, 9 and 10 */
void circus_sizes(const struct circus_figures *f);      /* 11 */
void circus_files(const struct circus_figures *f);      /* 12 */
void circus_blocks(const struct circus_figures *f);     /* 14 */
void circus_queues(const struct circus_figures *f);     /* 15 */
void circus_thresholds(const struct circus_figures *f); /* 16 */
void circus_leapfront(const struct circus_figures *f);  /* 17 */
void circus_memory(const struct circus_figures *f);     /* not the paper's */
void circus_hints(const struct circus_figures *f);      /* nor is this */

#endif
