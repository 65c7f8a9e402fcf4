/* SPDX-License-Identifier: MIT */
/*
 * The user's config file: $XDG_CONFIG_HOME/xdownload/config, or
 * ~/.config/xdownload/config.  Each line is a long option without its dashes and
 * its value, as in "limit-rate 2m" or "limit-rate = 2m"; # begins a comment.
 *
 * It sets what was not given on the command line.  Options that name files, send
 * credentials or weaken a check are refused in it: a command line shows such a
 * thing, a file is forgotten.
 */
#ifndef CLI_CONFIG_H
#define CLI_CONFIG_H

#include "args/args.h"
#include "args/grammar.h"

/* Obey an option; returns 0 or a status. */
typedef int config_take_fn(struct args *a, const struct option_row *row,
                           char *value);

/* Obey what the file, if there is one, has for this command, whose own options
 * have been read.  Returns 0, or a status after the reason has been said. */
int config_apply(struct args *a, const struct grammar *g, config_take_fn *take);

#endif
