/* SPDX-License-Identifier: MIT */
/* The options of the commands that place copies. */
#ifndef CLI_PUBLISH_H
#define CLI_PUBLISH_H

#include "args/args.h"
#include "args/options.h"

/* Obey one of them.  Returns 0, or a status after the reason was said. */
int publish_take(struct publish_args *p, const struct option_row *row,
                 char *value);

/* Whether what was given goes together, and what follows from it. */
int publish_check(struct args *a);
int publish_check_add(struct args *a);
int publish_check_heal(struct args *a);
int publish_check_drop(struct args *a);
int publish_check_renew(struct args *a);

void publish_fini(struct publish_args *p);

#endif
