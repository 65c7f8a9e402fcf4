/* SPDX-License-Identifier: MIT */
/*
 * How uploads are made before they start: what all have in common.
 *
 *     begin() -> an origin -> open() -> extents -> plan() -> end()
 */
#ifndef XD_PUBLISH_MAKE_UPLOAD_H
#define XD_PUBLISH_MAKE_UPLOAD_H

#include "publish/upload.h"

/* The length of objects, where nothing else is wanted. */
#define XD_UPLOAD_EXTENT ((uint64_t)256 << 20)

/* How many copies the wish wants. */
unsigned xd_wish_copies(const struct xd_upload_wish *w);

/* "exnode" or "metalink". */
const char *xd_wish_format(const struct xd_upload_wish *w);

/* The length of extents of a file of `size` bytes. */
uint64_t xd_wish_extent_bytes(const struct xd_upload_wish *w, uint64_t size);

/* An upload that has nothing yet, and what `wish` says as far as it is known: *out
 * is the caller's, to release with xd_upload_unmake().
 * Errors: INVAL (a wish that cannot be granted), NOMEM. */
int xd_upload_begin(struct xd_upload **out, struct xd_upload_wish *out_wish,
                    const struct xd_upload_wish *wish,
                    const struct xd_options *o, struct xd_error *err);

/* Its stores; and the manifests that are there, which are kept from others.
 * Errors: INVAL (a URL that is none of a store, one twice), IO, MANIFEST, NOMEM. */
int xd_upload_open(struct xd_upload *u, const struct xd_upload_wish *wish,
                   struct xd_error *err);

/* A new name for its objects.  Errors: IO, NOMEM. */
int xd_upload_make_name(struct xd_upload *u, struct xd_error *err);

/* What is noted of it, with such a name.  Errors: likewise. */
int xd_upload_make_note(struct xd_upload *u, uint64_t extent_bytes,
                        struct xd_error *err);

/* Of the whole file; `wanted` copies of each extent.  Errors: NOMEM. */
int xd_upload_add_extents(struct xd_upload *u, struct xd_range range,
                          unsigned wanted, struct xd_error *err);

/* The store that a replica lies on; n_workers: none of ours. */
size_t xd_upload_store_of(const struct xd_upload *u,
                          const struct xd_model_file *f, size_t place);

/* Once all extents are known.  Errors: NOMEM. */
int xd_upload_make_room(struct xd_upload *u, struct xd_error *err);

/* The extent of the plan is on the store already, with these bytes, if `sha256` is not
 * NULL. */
void xd_upload_count_extent(struct xd_upload *u, size_t i, const char *sha256,
                            size_t store);

/* A replica of the file. */
struct xd_there {
    bool is_there;
    bool counts;  /* an earlier run of this upload has made it */
    size_t store; /* count_replicas() finds it */
};

/* Of all replicas of the file those that are there: what an earlier run has made counts;
 * where there is another, its store gets no copy of the same bytes.  After make_room().
 * Errors: NOMEM. */
int xd_upload_count_replicas(struct xd_upload *u, const struct xd_model_file *f,
                             struct xd_there *there, struct xd_error *err);

#endif
