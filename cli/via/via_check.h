/* SPDX-License-Identifier: MIT */
/*
 * The option via --check: tests the nodes of a list, and finds out which chunks
 * of a file they hold.
 */
#ifndef CLI_VIA_CHECK_H
#define CLI_VIA_CHECK_H

#include "args/args.h"

/* Tests the nodes.  Returns a status: 0 if all tests passed or were skipped, 1
 * if a test failed. */
int via_check_nodes(const struct args *a);

#endif
