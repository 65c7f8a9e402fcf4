/* SPDX-License-Identifier: MIT */
/*
 * Carries out a series in virtual time, on all processors.
 */
#ifndef CLI_RUN_VIRTUAL_H
#define CLI_RUN_VIRTUAL_H

#include "bench/series.h"

/* Until it has ended, or a signal has come. */
void run_virtual(struct series *s);

#endif
