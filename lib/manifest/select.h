/* SPDX-License-Identifier: MIT */
/* Removes URLs from a list if they turned out not to be copies of the file. */
#ifndef XD_MANIFEST_SELECT_H
#define XD_MANIFEST_SELECT_H

#include <stdbool.h>
#include <xdownload/manifest.h>

/*
 * Makes a manifest from `m`, a list of URLs of one file.  It has `size` bytes
 * and the replicas for which `keeps` is true, at least one.  Name, hashes and
 * warnings are those of `m`.
 * Ownership: release *out with xd_manifest_unref().
 * Errors: NOMEM.
 */
int xd_manifest_select(struct xd_manifest **out, const struct xd_manifest *m,
                       const bool *keeps, uint64_t size, struct xd_error *err);

#endif
