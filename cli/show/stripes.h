/* SPDX-License-Identifier: MIT */
/*
 * Prints which bytes of a file have parity, how many lost shards they can
 * survive according to the manifest, and where the parity is stored.
 */
#ifndef CLI_STRIPES_H
#define CLI_STRIPES_H

#include <xdpublish/probe.h>

/* Prints a summary in a few lines. */
void stripes_put(const struct xd_manifest *m, size_t file);

/* Prints a line for each shard that the manifest lists, and for each parity
 * replica.  `probe` has the answers of the depots, or is NULL. */
void stripes_put_shards(const struct xd_manifest *m, size_t file,
                        const struct xd_probe *probe);

#endif
