/* SPDX-License-Identifier: MIT */
/*
 * xdownload show: what was understood of a manifest, on standard output.
 */
#ifndef CLI_SHOW_H
#define CLI_SHOW_H

#include "args/args.h"

/* Returns a status. */
int show_manifest(const struct args *a);

#endif
