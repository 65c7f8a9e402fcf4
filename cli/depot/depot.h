/* SPDX-License-Identifier: MIT */
/*
 * xdownload depot: the files of a folder, served to a crowd.
 */
#ifndef CLI_DEPOT_H
#define CLI_DEPOT_H

#include "args/args.h"

/* Until a signal comes.  Returns a status. */
int depot_serve(const struct args *a);

#endif
