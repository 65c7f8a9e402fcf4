/* SPDX-License-Identifier: MIT */
/* Adds copies from other manifests that a manifest names in its metaurl
 * elements. */
#ifndef XD_MANIFEST_MORE_COPIES_H
#define XD_MANIFEST_MORE_COPIES_H

#include "manifest/model.h"

/* The result of fetching a metaurl. */
struct xd_more_copies {
    size_t file; /* number of the file with the metaurl */
    const struct xd_metaurl *from;
    struct xd_manifest *manifest; /* NULL: it could not be used */
    struct xd_error why;          /* the reason, if manifest is NULL */
    enum xd_reach reach;          /* networks to which its URLs may point */
};

/* Returns whether the file has a hash strong enough to accept copies from any
 * server.  Without it no copies are added. */
bool xd_manifest_has_strong_hash(const struct xd_manifest *m, size_t file);

/*
 * Makes a manifest like `m` with the copies of the same files from `n` other
 * manifests, after its own copies.  Manifests with another size or hash are
 * skipped with a warning.  Their other fields are ignored.
 * Ownership: *out is the caller's; it holds references to all of them.
 * Errors: NOMEM.
 */
int xd_manifest_add_copies(struct xd_manifest **out, struct xd_manifest *m,
                           const struct xd_more_copies *list, size_t n,
                           struct xd_error *err);

#endif
