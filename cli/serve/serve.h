/* SPDX-License-Identifier: MIT */
/*
 * xdownload serve: serves files at URLs of this machine while they are being
 * downloaded.
 */
#ifndef CLI_SERVE_H
#define CLI_SERVE_H

#include "args/args.h"

/* Serves files until a signal arrives.  Returns a status. */
int serve_inputs(const struct args *a);

#endif
