/* SPDX-License-Identifier: MIT */
/*
 * A manifest with other replicas than one that there is; or the first one of a
 * file.
 */
#ifndef XD_MANIFEST_EDIT_H
#define XD_MANIFEST_EDIT_H

#include <stdbool.h>
#include <stddef.h>
#include <xdownload/manifest.h>

#include "base/range.h"
#include "manifest/model.h"

/* Bytes of the file that an object holds, all of which they are.  Strings may be
 * NULL, but for `read`. */
struct xd_edit_replica {
    struct xd_range range;
    const char *read, *write, *manage; /* URLs, or capabilities of IBP */
    const char *sha256;                /* of these bytes */
    int64_t expires_at;                /* seconds since 1970; 0: never, or it is
                                          not known */
};

/* A shard of parity that an object holds, all of which it is.  Strings as above, but
 * that `sha256` is there. */
struct xd_edit_shard {
    size_t stripe; /* of those that are used, by ascending offset; the new ones
                      among them */
    unsigned number;
    const char *read, *write, *manage;
    const char *sha256;
    int64_t expires_at;
};

struct xd_edit {
    /* Of a file that no manifest describes yet; else not used. */
    const char *path;
    uint64_t size;

    /* Where the manifest has none; or NULL. */
    const char *sha256; /* of all of it */
    const struct xd_model_pieces *pieces;
    const struct xd_model_stripe *stripes; /* that are used, without shards, by
                                              ascending offset; or NULL */
    size_t n_stripes;

    const bool *dropped; /* those of its replicas, extent by extent; or NULL */
    const int64_t *expires_at; /* likewise: until when they live now, in seconds
                                  since 1970; 0: as before; or NULL */
    const char *const *reads; /* likewise: the URL that it is read by now; NULL:
                                  as before; or NULL */
    const struct xd_edit_replica *added;
    size_t n_added;
    const bool *dropped_parity; /* those of the replicas of parity, stripe by
                                   stripe of those that are used; or NULL */
    const int64_t *parity_expires_at; /* likewise, as of those of the file */
    const char *const *parity_reads;
    const struct xd_edit_shard *shards; /* new replicas, by ascending stripe */
    size_t n_shards;
    const char *upload; /* as in struct xd_model_rare; NULL: there is none */
};

/*
 * File number `file` of `m`, or, with NULL, a new one, so edited.  A stripe of which a
 * replica changes is written by its rows: what else stood in it is gone.  Without
 * `upload` one of which no shard is known is left out.
 * Ownership: *out is the caller's, and holds a reference to `m`.
 * Errors:    MANIFEST (no replica is left of some bytes), NOMEM.
 */
int xd_manifest_edit(struct xd_manifest **out, struct xd_manifest *m,
                     size_t file, const struct xd_edit *edit,
                     struct xd_error *err);

#endif
