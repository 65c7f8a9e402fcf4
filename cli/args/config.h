/* SPDX-License-Identifier: MIT */
/*
 * The user's config file: $XDG_CONFIG_HOME/xdownload/config, or
 * ~/.config/xdownload/config.  Each line is a long option without its dashes
 * and its value, as in "limit-rate 2m" or "limit-rate = 2m"; # begins a
 * comment.
 *
 * The command line overrides the file.  The table of options says which options
 * the file may contain: none that names files, sends credentials or weakens a
 * check, because users forget what is in a file but see it on a command line.
 */
#ifndef CLI_CONFIG_H
#define CLI_CONFIG_H

#include "args/args.h"
#include "args/grammar.h"

/* Applies the settings of the file, if it exists.  Ignores settings that this
 * command does not have or that the command line sets; call it after parsing
 * the command line.  Returns 0, or a status after printing what is wrong. */
int config_apply(struct args *a, const struct grammar *g);

#endif
