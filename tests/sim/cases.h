/* SPDX-License-Identifier: MIT */
/* How many cases a test of the simulator runs. */
#ifndef SIM_CASES_H
#define SIM_CASES_H

#include <stdlib.h>

/* All of them where tests may take long. */
static inline int sim_cases(int quick, int all)
{
    return getenv("XD_SLOW") ? all : quick;
}

#endif
