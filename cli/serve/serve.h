/* SPDX-License-Identifier: MIT */
/*
 * xdownload serve: files are offered as URLs on this machine while they arrive.
 */
#ifndef CLI_SERVE_H
#define CLI_SERVE_H

#include "args/args.h"

/* Until a signal comes.  Returns a status. */
int serve_inputs(const struct args *a);

#endif
