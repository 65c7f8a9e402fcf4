/* SPDX-License-Identifier: MIT */
/*
 * Carries out a series against real depots, one run after another.
 */
#ifndef CLI_RUN_LIVE_H
#define CLI_RUN_LIVE_H

#include "bench/series.h"

/* Until it has ended, a budget is spent, or a signal has come. */
void run_live(struct series *s);

#endif
