/* SPDX-License-Identifier: MIT */
/*
 * Parses the values of options and stores them in struct args.
 */
#ifndef CLI_VALUES_H
#define CLI_VALUES_H

#include "args/args.h"
#include "args/options.h"

/*
 * Applies one option of the command line, the environment or the config file.
 * `value` is NULL for a switch.  It must live as long as `a`, and this function
 * may write to it.  The caller must handle --help.  Returns 0, or a status
 * after printing what is wrong.
 */
int values_take(struct args *a, const struct option_row *row, char *value);

/* Sets an option of the library.  `setting` is NAME=VALUE and must live as long
 * as `a`.  Returns like values_take(). */
int values_set(struct args *a, const char *setting);

#endif
