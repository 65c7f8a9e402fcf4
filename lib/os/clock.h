/* SPDX-License-Identifier: MIT */
/* The monotonic clock, and what time people say it is. */
#ifndef XD_OS_CLOCK_H
#define XD_OS_CLOCK_H

#include "base/time.h"

/* Microseconds since some fixed moment; never runs back. */
xd_usec xd_now(void);

/* Seconds since 1970, as long as the clock is not set. */
uint64_t xd_unix_time(void);

#endif
