/* SPDX-License-Identifier: MIT */
/*
 * xdownload make: a manifest for copies that exist already.
 */
#ifndef CLI_MAKE_H
#define CLI_MAKE_H

#include "args/args.h"

/* Returns a status. */
int make_manifest(const struct args *a);

#endif
