/* SPDX-License-Identifier: MIT */
/*
 * via --check: the nodes of a list tested, and what they hold of a file.
 */
#ifndef CLI_VIA_CHECK_H
#define CLI_VIA_CHECK_H

#include "args/args.h"

/* Returns a status: 0 if no test of any node failed, 1 if one did. */
int via_check_nodes(const struct args *a);

#endif
