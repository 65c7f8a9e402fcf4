/* SPDX-License-Identifier: MIT */
/* xdownload drop and renew: remove copies that put has made, or extend their
 * lifetime. */
#ifndef CLI_UPKEEP_H
#define CLI_UPKEEP_H

#include "args/args.h"

/* Run the commands.  Print what went wrong, and return a status. */
int upkeep_drop(const struct args *a);
int upkeep_renew(const struct args *a);

#endif
