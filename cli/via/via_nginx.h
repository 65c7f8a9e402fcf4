/* SPDX-License-Identifier: MIT */
/*
 * The option via --nginx: writes the list of nodes for clients, and for each
 * node a folder with its configuration.
 */
#ifndef CLI_VIA_NGINX_H
#define CLI_VIA_NGINX_H

#include "args/args.h"

/* Writes the files.  Returns a status. */
int via_nginx(const struct args *a);

#endif
