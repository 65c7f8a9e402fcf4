/* SPDX-License-Identifier: MIT */
/*
 * xdownload via: caches that many clients share, set up and tested.
 */
#ifndef CLI_VIA_H
#define CLI_VIA_H

#include "args/args.h"

/* Returns a status: 0 if the files were written, or all nodes are sound. */
int via_command(const struct args *a);

#endif
