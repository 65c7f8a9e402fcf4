/* SPDX-License-Identifier: MIT */
#include "common/moment.h"

#include <time.h>

double moment_s(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}
