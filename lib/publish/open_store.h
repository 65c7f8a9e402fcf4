/* SPDX-License-Identifier: MIT */
/* Opens a store with the settings of the user. */
#ifndef XD_PUBLISH_OPEN_STORE_H
#define XD_PUBLISH_OPEN_STORE_H

#include "engine/options.h"
#include "store/store.h"

/*
 * Like xd_store_new(), with the settings from the options, the environment and
 * the profile of the user (publish/s3_access.h).
 * Blocks: for S3, on the disk, to read two small files.
 * Errors: like xd_store_new() and xd_s3_access_find().
 */
int xd_open_store(struct xd_store **out, const struct xd_url *target,
                  const struct xd_options *o, uint64_t lifetime_s,
                  struct xd_error *err);

#endif
