/* SPDX-License-Identifier: MIT */
/*
 * Where the command remembers depots when no option says where.
 */
#ifndef CLI_CACHE_H
#define CLI_CACHE_H

#include <xdownload/options.h>

/* Nowhere if the environment names no folder for it.
 * Returns 0, or a status after the reason has been said. */
int cache_set_default(struct xd_options *o);

#endif
