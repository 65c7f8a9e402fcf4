/* SPDX-License-Identifier: MIT */
/*
 * xdownload show: prints the contents of a manifest.
 */
#ifndef CLI_SHOW_H
#define CLI_SHOW_H

#include "args/args.h"

/* Runs the command.  Returns a status. */
int show_manifest(const struct args *a);

#endif
