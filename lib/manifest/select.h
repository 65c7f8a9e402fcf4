/* SPDX-License-Identifier: MIT */
/* Lists of URLs of which some turned out not to be copies. */
#ifndef XD_MANIFEST_SELECT_H
#define XD_MANIFEST_SELECT_H

#include <stdbool.h>
#include <xdownload/manifest.h>

/*
 * The one file of `m`, which is a list of URLs: of `size` bytes, with the
 * replicas for which `keeps` has true, at least one, and with the name, hashes
 * and warnings of `m`.
 * Ownership: *out is the caller's, to release with xd_manifest_unref().
 * Errors:    NOMEM.
 */
int xd_manifest_select(struct xd_manifest **out, const struct xd_manifest *m,
                       const bool *keeps, uint64_t size, struct xd_error *err);

#endif
