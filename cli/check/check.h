/* SPDX-License-Identifier: MIT */
/*
 * xdownload check: whether the depots of a file still hold it.
 */
#ifndef CLI_CHECK_H
#define CLI_CHECK_H

#include "args/args.h"

/* Returns a status: 0 if all replicas that were asked can be used, 1 if not. */
int check_depots(const struct args *a);

#endif
