/* The monotonic clock. */
#ifndef XD_OS_CLOCK_H
#define XD_OS_CLOCK_H

#include "base/time.h"

/* Microseconds since some fixed moment; never runs back. */
xd_usec xd_now(void);

#endif
