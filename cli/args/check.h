/* SPDX-License-Identifier: MIT */
/*
 * Checks whether the options and inputs of a command line can be combined.
 */
#ifndef CLI_ARGS_CHECK_H
#define CLI_ARGS_CHECK_H

#include "args/args.h"

/* Checks the command line and completes it: moves files from the inputs to
 * their fields, and allows sending credentials to the servers of the given
 * URLs.  Returns 0, or a status after printing what is wrong. */
int args_check(struct args *a);

#endif
