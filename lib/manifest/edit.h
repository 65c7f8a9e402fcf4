/* SPDX-License-Identifier: MIT */
/*
 * Makes an edited copy of a manifest, with replicas added or removed, or
 * makes a new manifest.
 */
#ifndef XD_MANIFEST_EDIT_H
#define XD_MANIFEST_EDIT_H

#include <stdbool.h>
#include <stddef.h>
#include <xdownload/manifest.h>

#include "base/range.h"
#include "manifest/model.h"

/* A new replica: a complete object that holds `range` of the file.  All strings
 * but `read` may be NULL. */
struct xd_edit_replica {
    struct xd_range range;
    const char *read, *write, *manage; /* URLs or IBP capabilities */
    const char *sha256;                /* SHA-256 of these bytes, or NULL */
    /* expiry time in seconds since 1970; 0: never or unknown */
    int64_t expires_at;
};

/* A new replica of a parity shard: a complete object.  Strings may be NULL as
 * in struct xd_edit_replica, but `sha256` is required. */
struct xd_edit_shard {
    /* index among the used stripes, which are sorted by offset; new stripes
     * count too */
    size_t stripe;
    unsigned number;
    const char *read, *write, *manage;
    const char *sha256;
    int64_t expires_at;
};

struct xd_edit {
    /* Only for a new manifest. */
    const char *path;
    uint64_t size;

    /* SHA-256 of the whole file, used if the manifest has none; may be NULL */
    const char *sha256;
    const struct xd_model_pieces *pieces;
    /* stripes, without their shards, sorted by offset; or NULL */
    const struct xd_model_stripe *stripes;
    size_t n_stripes;

    /* replicas to remove, a flag for each replica in the order of the
     * extents; or NULL */
    const bool *dropped;
    /* new expiry times in seconds since 1970, one for each replica (0:
     * unchanged); or NULL */
    const int64_t *expires_at;
    /* new URLs for reading, one for each replica (NULL: unchanged); or NULL */
    const char *const *reads;
    const struct xd_edit_replica *added;
    size_t n_added;
    /* parity replicas to remove, in the order of the used stripes; or NULL */
    const bool *dropped_parity;
    /* new expiry time of each parity replica, as in expires_at */
    const int64_t *parity_expires_at;
    const char *const *parity_reads;
    const struct xd_edit_shard *shards; /* new replicas, by stripe */
    size_t n_shards;
    const char *upload; /* as in struct xd_model_rare; NULL: none */
};

/*
 * Makes an edited copy of file `file` of `m`, or a new file if `m` is NULL.  A
 * stripe with a changed replica keeps only the fields of the model; other
 * metadata in it is lost.  Without `upload`, stripes without a known shard are
 * omitted.
 * Ownership: *out is the caller's; it holds a reference to `m`.
 * Errors: MANIFEST (some bytes would have no replica), NOMEM.
 */
int xd_manifest_edit(struct xd_manifest **out, struct xd_manifest *m,
                     size_t file, const struct xd_edit *edit,
                     struct xd_error *err);

#endif
