/* SPDX-License-Identifier: MIT */
/* Presigned URLs for reading replicas in private S3 buckets.  Only replicas in
 * the user's own private manifest, at the endpoint that the user has set
 * (publish/s3_access.h), get such URLs.  URLs from any other manifest are not
 * signed. */
#ifndef XD_PUBLISH_SIGNED_READS_H
#define XD_PUBLISH_SIGNED_READS_H

#include "engine/options.h"
#include "publish/inventory.h"

/*
 * Returns a copy of `m` with presigned URLs for these replicas, in the same
 * order, or `m` itself if it has no such replicas.  The result must not be
 * written to a file.
 * Ownership: *out is the caller's; release it with xd_manifest_unref().
 * Blocks:    on the disk, for the user's credentials.  Missing or malformed
 *            credentials are no error.
 * Errors:    NOMEM.
 */
int xd_signed_reads(struct xd_manifest **out, struct xd_manifest *m,
                    const struct xd_inventory *own, const struct xd_options *o,
                    struct xd_error *err);

#endif
