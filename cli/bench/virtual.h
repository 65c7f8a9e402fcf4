/* SPDX-License-Identifier: MIT */
/*
 * Carries out runs of bench in virtual time, on all processors.
 */
#ifndef CLI_VIRTUAL_H
#define CLI_VIRTUAL_H

#include "bench/series.h"

/* Carries out the runs of the series, whose subjects are scenarios. */
void run_virtual(struct series *s);

#endif
