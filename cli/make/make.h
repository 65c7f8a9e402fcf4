/* SPDX-License-Identifier: MIT */
/*
 * xdownload make: makes a manifest for existing copies.
 */
#ifndef CLI_MAKE_H
#define CLI_MAKE_H

#include "args/args.h"

/* Runs the command.  Returns a status. */
int make_manifest(const struct args *a);

#endif
