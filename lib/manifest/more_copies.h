/* SPDX-License-Identifier: MIT */
/* Copies of a manifest's files that other manifests name, those of its metaurl
 * elements. */
#ifndef XD_MANIFEST_MORE_COPIES_H
#define XD_MANIFEST_MORE_COPIES_H

#include "manifest/model.h"

/* What a metaurl led to. */
struct xd_more_copies {
    size_t file;                   /* which the metaurl stands in */
    const struct xd_metaurl *from; /* this one */
    struct xd_manifest *manifest;  /* or NULL: there is none of use, */
    struct xd_error why;           /* for this reason */
    enum xd_reach reach;           /* how near what it names may be */
};

/* Whether copies from anywhere are held against a strong hash of the file:
 * without one none are added. */
bool xd_manifest_has_strong_hash(const struct xd_manifest *m, size_t file);

/*
 * All copies that the `n` manifests name of the same file, behind its own; a
 * manifest with another hash of it, or another size, is not used, with a
 * warning.  Nothing else of them counts.
 * Ownership: *out is the caller's, and holds references to `m` and to them.
 * Errors: NOMEM.
 */
int xd_manifest_add_copies(struct xd_manifest **out, struct xd_manifest *m,
                           const struct xd_more_copies *list, size_t n,
                           struct xd_error *err);

#endif
