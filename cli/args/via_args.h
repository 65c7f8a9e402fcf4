/* SPDX-License-Identifier: MIT */
/* The options of via. */
#ifndef CLI_VIA_ARGS_H
#define CLI_VIA_ARGS_H

#include "args/args.h"
#include "args/options.h"

/* Obey one of them.  Returns 0, or a status after the reason was said. */
int via_take(struct via_args *v, const struct option_row *row,
             const char *value);

/* Whether what was given goes together. */
int via_check(const struct args *a);

#endif
