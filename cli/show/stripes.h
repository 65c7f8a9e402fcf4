/* SPDX-License-Identifier: MIT */
/*
 * Which bytes of a file have parity, how many losses they bear as far as the
 * manifest says, and where it lies: on standard output.
 */
#ifndef CLI_STRIPES_H
#define CLI_STRIPES_H

#include <xdownload/probe.h>

/* In a few lines, however many there are. */
void stripes_put(const struct xd_manifest *m, size_t file);

/* A line for each shard, of parity for those that the manifest names, and one for each
 * replica of parity; `probe` is what their depots said of them, or NULL. */
void stripes_put_shards(const struct xd_manifest *m, size_t file,
                        const struct xd_probe *probe);

#endif
