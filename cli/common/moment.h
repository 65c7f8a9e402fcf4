/* SPDX-License-Identifier: MIT */
/* The monotonic clock. */
#ifndef CLI_MOMENT_H
#define CLI_MOMENT_H

/* Seconds since some moment in the past. */
double moment_s(void);

#endif
