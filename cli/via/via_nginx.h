/* SPDX-License-Identifier: MIT */
/*
 * via --nginx: a folder with the list of nodes for clients, and a folder for each
 * node with its configuration.
 */
#ifndef CLI_VIA_NGINX_H
#define CLI_VIA_NGINX_H

#include "args/args.h"

/* Returns a status. */
int via_nginx(const struct args *a);

#endif
