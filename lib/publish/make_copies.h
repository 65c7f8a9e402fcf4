/* SPDX-License-Identifier: MIT */
/* Uploads of a file that a manifest names, before they start. */
#ifndef XD_PUBLISH_MAKE_COPIES_H
#define XD_PUBLISH_MAKE_COPIES_H

#include "publish/upload.h"

/* Its stores and manifests.  *out_goes_on: an earlier run of the same command was broken
 * off.  Errors: those of xd_upload_new_copies(). */
int xd_copies_open(struct xd_upload *u, const struct xd_upload_wish *wish,
                   enum xd_inventory_command command, bool *out_goes_on,
                   struct xd_error *err);

/* Where the bytes come from, `good`; and the name of what is made of them.  Errors:
 * likewise. */
int xd_copies_begin(struct xd_upload *u, struct xd_manifest *good,
                    const struct xd_upload_wish *wish, bool goes_on,
                    struct xd_error *err);

/* The file, as the manifest that there is has it. */
const struct xd_model_file *xd_copies_file(const struct xd_upload *u);

#endif
