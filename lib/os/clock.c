/* SPDX-License-Identifier: MIT */
#include "os/clock.h"

#include <stdlib.h>
#include <time.h>

xd_usec xd_now(void)
{
    struct timespec t;

    if (clock_gettime(CLOCK_MONOTONIC, &t) != 0)
        abort();
    return (xd_usec)t.tv_sec * XD_SECOND + (xd_usec)t.tv_nsec / 1000;
}

uint64_t xd_unix_time(void)
{
    time_t now = time(NULL);

    return now > 0 ? (uint64_t)now : 0;
}
