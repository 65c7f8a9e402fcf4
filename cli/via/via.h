/* SPDX-License-Identifier: MIT */
/*
 * xdownload via: sets up and tests shared caches.
 */
#ifndef CLI_VIA_H
#define CLI_VIA_H

#include "args/args.h"

/* Runs the command.  Returns 0 if the files were written or all nodes passed,
 * otherwise another status. */
int via_command(const struct args *a);

#endif
