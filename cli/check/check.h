/* SPDX-License-Identifier: MIT */
/*
 * xdownload check: tests whether the depots of a file still have it.
 */
#ifndef CLI_CHECK_H
#define CLI_CHECK_H

#include "args/args.h"

/* Runs the command.  Returns 0 if all checked replicas are usable, otherwise
 * another status. */
int check_depots(const struct args *a);

#endif
