/* SPDX-License-Identifier: MIT */
/*
 * Which bytes of a file have parity, how many losses they bear as far as the
 * manifest says, and where it lies: on standard output.
 */
#ifndef CLI_STRIPES_H
#define CLI_STRIPES_H

#include <xdownload/manifest.h>

/* In a few lines, however many there are. */
void stripes_put(const struct xd_manifest *m, size_t file);

/* A line for each shard; of parity for those that the manifest names. */
void stripes_put_shards(const struct xd_manifest *m, size_t file);

#endif
