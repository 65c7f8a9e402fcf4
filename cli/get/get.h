/* SPDX-License-Identifier: MIT */
/*
 * The command itself: everything that the arguments name is fetched, one file
 * after another.
 */
#ifndef CLI_GET_H
#define CLI_GET_H

#include "args/args.h"

/* Goes on after a failure; returns the status of the first. */
int get_all(const struct args *a);

#endif
