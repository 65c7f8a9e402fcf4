/* SPDX-License-Identifier: MIT */
/* The experiments of README.md, each of which prints a table. */
#ifndef SIM_CROWD_TABLES_H
#define SIM_CROWD_TABLES_H

#include "crowds.h"

void crowd_live_table(void);
void crowd_chunks_table(void);
void crowd_coblitz_table(void);
void crowd_planetlab_ours_table(void);
void crowd_fair_table(void);
void crowd_grow_table(void);
void crowd_window_table(void);

/* One row of the usual table. */
void crowd_head(const char *first);
void crowd_row(const char *name, const struct crowd_summary *sum);

double crowd_processor(void); /* seconds of it, so far */
double crowd_peak_mib(void);

#endif
