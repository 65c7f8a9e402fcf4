/* SPDX-License-Identifier: MIT */
/* The monotonic clock. */
#ifndef CLI_MOMENT_H
#define CLI_MOMENT_H

/* Returns seconds since an arbitrary moment. */
double moment_s(void);

#endif
