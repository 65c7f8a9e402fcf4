/* SPDX-License-Identifier: MIT */
/*
 * What --help and --version print, on standard output.
 */
#ifndef CLI_HELP_H
#define CLI_HELP_H

#include "args/args.h"

/* Of this command: an overview, or what `topic` names: a group of options,
 * "all", or another command.  Returns 0, or STATUS_USAGE after it was said that
 * there is nothing of this name. */
int help_print(enum command command, const char *topic);

/* The i-th of what may be a topic; NULL: there are no more. */
const char *help_topic(size_t i);

void help_version(void);

#endif
