/* SPDX-License-Identifier: MIT */
/*
 * Prints the texts of --help and --version on standard output.
 */
#ifndef CLI_HELP_H
#define CLI_HELP_H

#include "args/args.h"

/* Prints the help of this command if `topic` is NULL.  Otherwise prints the
 * help of the topic: a group of options, "all", or another command.  Returns 0,
 * or STATUS_USAGE after printing that the topic does not exist. */
int help_print(enum command command, const char *topic);

/* Returns topic number `i`, or NULL after the last topic. */
const char *help_topic(size_t i);

void help_version(void);

#endif
