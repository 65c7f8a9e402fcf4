/* SPDX-License-Identifier: MIT */
/*
 * The steps that prepare any kind of upload.
 *
 *     begin() -> an origin -> open() -> extents -> plan() -> end()
 */
#ifndef XD_PUBLISH_MAKE_UPLOAD_H
#define XD_PUBLISH_MAKE_UPLOAD_H

#include "publish/upload.h"

/* Default length of an object, in bytes. */
#define XD_UPLOAD_EXTENT ((uint64_t)256 << 20)

/* Returns the number of copies wanted. */
unsigned xd_wish_copies(const struct xd_upload_wish *w);

/* Returns "exnode" or "metalink". */
const char *xd_wish_format(const struct xd_upload_wish *w);

/* Returns the length of extents for a file of `size` bytes. */
uint64_t xd_wish_extent_bytes(const struct xd_upload_wish *w, uint64_t size);

/*
 * Creates an upload without stores and files, and copies the known fields of
 * `wish` to *out_wish.
 * Ownership: *out is the caller's; release it with xd_upload_unmake().
 * Errors: INVAL (the wish cannot be fulfilled), NOMEM.
 */
int xd_upload_begin(struct xd_upload **out, struct xd_upload_wish *out_wish,
                    const struct xd_upload_wish *wish,
                    const struct xd_options *o, struct xd_error *err);

/* Opens the stores and the existing manifests, and locks the manifests against
 * other uploads.  Errors: INVAL (a URL that does not name a store, a store
 * given twice), IO, MANIFEST, NOMEM. */
int xd_upload_open(struct xd_upload *u, const struct xd_upload_wish *wish,
                   struct xd_error *err);

/* Chooses a random name prefix for the objects.  Errors: IO, NOMEM. */
int xd_upload_make_name(struct xd_upload *u, struct xd_error *err);

/* Fills in the note for later runs, with a random name prefix.  Errors: IO,
 * NOMEM. */
int xd_upload_make_note(struct xd_upload *u, uint64_t extent_bytes,
                        struct xd_error *err);

/* Plans `wanted` copies of each extent of the range.  Errors: NOMEM. */
int xd_upload_add_extents(struct xd_upload *u, struct xd_range range,
                          unsigned wanted, struct xd_error *err);

/* Returns the store that has a replica, or n_workers if none of our stores has
 * it. */
size_t xd_upload_store_of(const struct xd_upload *u,
                          const struct xd_model_file *f, size_t place);

/* Allocates the tables for the extents.  Call it after adding all extents.
 * Errors: NOMEM. */
int xd_upload_make_room(struct xd_upload *u, struct xd_error *err);

/* Counts a copy of the extent that the store already has.  `sha256` is its
 * hash, or NULL. */
void xd_upload_count_extent(struct xd_upload *u, size_t i, const char *sha256,
                            size_t store);

/* A replica of the file. */
struct xd_there {
    bool is_there;
    bool counts;  /* an earlier run of this upload made the replica */
    size_t store; /* number of its store; set by xd_upload_count_replicas() */
};

/* Counts existing replicas.  there[] has one entry for each replica of the
 * file.  Replicas made by an earlier run count as copies of this upload.  A
 * store with any other replica gets no copy of the same bytes.  Call it after
 * xd_upload_make_room().  Errors: NOMEM. */
int xd_upload_count_replicas(struct xd_upload *u, const struct xd_model_file *f,
                             struct xd_there *there, struct xd_error *err);

#endif
