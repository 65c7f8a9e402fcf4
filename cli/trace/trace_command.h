/* SPDX-License-Identifier: MIT */
/*
 * `xdownload trace`: shows a trace as a picture, in words, or as a scenario.
 */
#ifndef CLI_TRACE_COMMAND_H
#define CLI_TRACE_COMMAND_H

#include "args/args.h"

/* Runs the command.  Returns a status. */
int trace_command(const struct args *a);

#endif
