/* SPDX-License-Identifier: MIT */
/*
 * xdownload depot: serves the files of a folder to many clients.
 */
#ifndef CLI_DEPOT_H
#define CLI_DEPOT_H

#include "args/args.h"

/* Serves files until a signal arrives.  Returns a status. */
int depot_serve(const struct args *a);

#endif
