/* SPDX-License-Identifier: MIT */
/*
 * The download command: downloads the files that the arguments describe.
 */
#ifndef CLI_GET_H
#define CLI_GET_H

#include "args/args.h"

/* Downloads all files.  Continues after a failure.  Returns the status of the
 * first failure. */
int get_all(const struct args *a);

#endif
