/* SPDX-License-Identifier: MIT */
/* Times and durations as numbers.  The clock itself is in os/clock.h. */
#ifndef XD_BASE_TIME_H
#define XD_BASE_TIME_H

#include <stdint.h>

typedef uint64_t xd_usec; /* microseconds since an arbitrary fixed moment */

#define XD_NEVER UINT64_MAX
#define XD_MS ((xd_usec)1000)
#define XD_SECOND ((xd_usec)1000000)

static inline xd_usec xd_earlier(xd_usec a, xd_usec b)
{
    return a < b ? a : b;
}

static inline double xd_seconds(xd_usec t)
{
    return (double)t / (double)XD_SECOND;
}

#endif
