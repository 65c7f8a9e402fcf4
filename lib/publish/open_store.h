/* SPDX-License-Identifier: MIT */
/* A store, asked with what its user has said. */
#ifndef XD_PUBLISH_OPEN_STORE_H
#define XD_PUBLISH_OPEN_STORE_H

#include "engine/options.h"
#include "store/store.h"

/*
 * Like xd_store_new(), with what of its config the options, the environment and
 * the profile of the user say (publish/s3_access.h).
 * Blocks:  on the disk, for two small files; of S3 alone.
 * Errors:  as xd_store_new(), and as xd_s3_access_find().
 */
int xd_open_store(struct xd_store **out, const struct xd_url *target,
                  const struct xd_options *o, uint64_t lifetime_s,
                  struct xd_error *err);

#endif
