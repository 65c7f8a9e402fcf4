/* SPDX-License-Identifier: MIT */
/* Uploads with parity, before they start: which shards there are to be, and which
 * hosts may get them. */
#ifndef XD_PUBLISH_MAKE_PARITY_H
#define XD_PUBLISH_MAKE_PARITY_H

#include "publish/overlaps.h"
#include "publish/upload.h"

/* What the wish says of a code, into u->coding.  Errors: INVAL (it is none, or goes
 * with something else that is wanted not). */
int xd_upload_take_code(struct xd_upload *u, const struct xd_upload_wish *wish,
                        struct xd_error *err);

/* Once the inventory was begun: the line, of the stripes of `f`, what the manifest has
 * (NULL: nothing), or of new ones if there are none and parity is wanted, of shards of
 * so many bytes.  Errors: NOMEM. */
int xd_upload_make_line(struct xd_upload *u, const struct xd_model_file *f,
                        uint64_t shard_bytes, struct xd_error *err);

/* Whether parity can be added to `f`: it has none, or lacks some of the same code; with
 * `goes_on` it may have all.  Errors: STATE. */
int xd_upload_check_parity(const struct xd_upload *u,
                           const struct xd_model_file *f, bool goes_on,
                           struct xd_error *err);

/* Whether an earlier run, whose manifest `f` is, was of the same code.  Errors: STATE. */
int xd_upload_check_code(const struct xd_upload *u,
                         const struct xd_model_file *f, struct xd_error *err);

/* All shards of all stripes go into the plan; or of each stripe those of parity, on
 * hosts that are not the only ones to have some of its bytes, which is said by `f`.
 * Errors: INVAL (there are too few hosts), NOMEM. */
int xd_upload_plan_shards(struct xd_upload *u, struct xd_error *err);
int xd_upload_plan_parity(struct xd_upload *u, const struct xd_model_file *f,
                          struct xd_error *err);

/* The hosts of all stores, for groups of the plan; returns how many there are.
 * Errors: NOMEM. */
int64_t xd_upload_set_hosts(struct xd_upload *u, struct xd_error *err);

/* A shard of the line goes into the plan.  Errors: NOMEM. */
int xd_upload_add_shard(struct xd_upload *u, size_t stripe, unsigned number,
                        unsigned wanted, struct xd_error *err);

/* Of which shard of data, which may be none, all of the range is; or XD_SHARD_NONE. */
unsigned xd_upload_shard_of(const struct xd_model_stripe *s, struct xd_range r);

/* In the group that was begun last: which hosts alone have bytes of the stripe, of which
 * `of` is; they may have more of the same shard.  If such a host is lost, so are they.
 * And which have parity of it.  Replicas that are bad do not count; NULL: none is. */
void xd_upload_use_data(struct xd_upload *u, const struct xd_overlaps *of,
                        size_t stripe, const bool *bad);
void xd_upload_use_parity(struct xd_upload *u, size_t stripe,
                          const bool *bad_parity);

/* Whether the store's host has a copy of the extent; or parity of the stripe;
 * likewise. */
bool xd_upload_has_data(const struct xd_upload *u, size_t store,
                        const struct xd_model_file *f,
                        const struct xd_model_extent *e, const bool *bad);
bool xd_upload_has_parity(const struct xd_upload *u, size_t store,
                          size_t stripe, const bool *bad_parity);

/* Of that replica: the store that it lies on; n_workers: none of ours. */
size_t xd_upload_store_of_parity(const struct xd_upload *u,
                                 const struct xd_model_shard_replica *r);

/* Shards of parity that an earlier run has placed; after xd_upload_make_room(). */
void xd_upload_count_shards(struct xd_upload *u);

#endif
