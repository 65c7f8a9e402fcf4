/* SPDX-License-Identifier: MIT */
/*
 * xdownload play: a file is played while it arrives.
 */
#ifndef CLI_PLAY_H
#define CLI_PLAY_H

#include "args/args.h"

/* Returns a status. */
int play_input(const struct args *a);

#endif
