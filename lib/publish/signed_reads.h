/* SPDX-License-Identifier: MIT */
/*
 * Replicas in private buckets of S3, which are read by URLs that are presigned: those
 * that the user's own private manifest records, at the endpoint that the user has
 * set (publish/s3_access.h).  What a manifest of others says is not signed.
 */
#ifndef XD_PUBLISH_SIGNED_READS_H
#define XD_PUBLISH_SIGNED_READS_H

#include "engine/options.h"
#include "publish/inventory.h"

/*
 * `m` with such URLs, in the order that it has; or itself, if it has no such
 * replicas.  To be read only: it is never written.
 * Ownership: *out is the caller's, to release with xd_manifest_unref().
 * Blocks:    on the disk, for the user's credentials; that there are none, or that
 *            they cannot be understood, is no error.
 * Errors:    NOMEM.
 */
int xd_signed_reads(struct xd_manifest **out, struct xd_manifest *m,
                    const struct xd_inventory *own, const struct xd_options *o,
                    struct xd_error *err);

#endif
