/* SPDX-License-Identifier: MIT */
/* xdownload drop and renew: fewer of the copies that put has placed, or for
 * longer. */
#ifndef CLI_UPKEEP_H
#define CLI_UPKEEP_H

#include "args/args.h"

/* Each returns a status; what went wrong was said. */
int upkeep_drop(const struct args *a);
int upkeep_renew(const struct args *a);

#endif
