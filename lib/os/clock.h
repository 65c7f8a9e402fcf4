/* SPDX-License-Identifier: MIT */
/* The monotonic clock and the wall clock. */
#ifndef XD_OS_CLOCK_H
#define XD_OS_CLOCK_H

#include "base/time.h"

/* Returns microseconds since an arbitrary fixed moment.  Never decreases. */
xd_usec xd_now(void);

/* Returns seconds since 1970 by the wall clock, which may be set back. */
uint64_t xd_unix_time(void);

#endif
