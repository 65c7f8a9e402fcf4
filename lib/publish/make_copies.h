/* SPDX-License-Identifier: MIT */
/* Prepares uploads of a file that has a manifest. */
#ifndef XD_PUBLISH_MAKE_COPIES_H
#define XD_PUBLISH_MAKE_COPIES_H

#include "publish/upload.h"

/* Opens the stores and manifests.  Sets *out_goes_on if an earlier run of the
 * same command was interrupted.  Errors: like xd_upload_new_copies(). */
int xd_copies_open(struct xd_upload *u, const struct xd_upload_wish *wish,
                   enum xd_inventory_command command, bool *out_goes_on,
                   struct xd_error *err);

/* Prepares reading the bytes from the replicas of `good`, and chooses the name
 * prefix of the new objects.  Errors: like xd_upload_new_copies(). */
int xd_copies_begin(struct xd_upload *u, struct xd_manifest *good,
                    const struct xd_upload_wish *wish, bool goes_on,
                    struct xd_error *err);

/* Returns the file as the existing manifest describes it. */
const struct xd_model_file *xd_copies_file(const struct xd_upload *u);

#endif
