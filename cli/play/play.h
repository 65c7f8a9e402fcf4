/* SPDX-License-Identifier: MIT */
/*
 * xdownload play: plays files while they are being downloaded.
 */
#ifndef CLI_PLAY_H
#define CLI_PLAY_H

#include "args/args.h"

/* Runs the command.  Returns a status. */
int play_inputs(const struct args *a);

#endif
