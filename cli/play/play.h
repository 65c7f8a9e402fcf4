/* SPDX-License-Identifier: MIT */
/*
 * xdownload play: files are played while they arrive.
 */
#ifndef CLI_PLAY_H
#define CLI_PLAY_H

#include "args/args.h"

/* Returns a status. */
int play_inputs(const struct args *a);

#endif
