/* SPDX-License-Identifier: MIT */
/* Prepares uploads with parity: which shards to make, and which hosts may get
 * them. */
#ifndef XD_PUBLISH_MAKE_PARITY_H
#define XD_PUBLISH_MAKE_PARITY_H

#include "publish/overlaps.h"
#include "publish/upload.h"

/* Sets u->coding from the wish.  Errors: INVAL (not a valid code, or in
 * conflict with another option). */
int xd_upload_take_code(struct xd_upload *u, const struct xd_upload_wish *wish,
                        struct xd_error *err);

/* Computes the upload line from the stripes of `f`, the file in the manifest
 * (NULL: none).  Call it after xd_inventory_begin(). If there are no stripes
 * and parity is wanted, creates them with shards of `shard_bytes`, such that no
 * piece of `piece_bytes` spans two shards (1: no restriction).
 * Errors: NOMEM. */
int xd_upload_make_line(struct xd_upload *u, const struct xd_model_file *f,
                        uint64_t shard_bytes, uint64_t piece_bytes,
                        struct xd_error *err);

/* Checks that parity can be added to `f`: `f` has no parity, or lacks some
 * parity of the same code.  With `goes_on`, `f` may have all its parity
 * already.  Errors: STATE. */
int xd_upload_check_parity(const struct xd_upload *u,
                           const struct xd_model_file *f, bool goes_on,
                           struct xd_error *err);

/* Checks that an earlier run with the manifest `f` used the same code.  Errors:
 * STATE. */
int xd_upload_check_code(const struct xd_upload *u,
                         const struct xd_model_file *f, struct xd_error *err);

/* plan_shards() adds all shards of all stripes to the plan.  plan_parity() adds
 * only the parity shards.  A parity shard must not go to a host that is the
 * only one with some bytes of the stripe in `f`.  Errors: INVAL (too few
 * hosts), NOMEM. */
int xd_upload_plan_shards(struct xd_upload *u, struct xd_error *err);
int xd_upload_plan_parity(struct xd_upload *u, const struct xd_model_file *f,
                          struct xd_error *err);

/* Tells the plan the hosts of all stores.  Returns the number of hosts.
 * Errors: NOMEM. */
int64_t xd_upload_set_hosts(struct xd_upload *u, struct xd_error *err);

/* Adds a shard of the upload line to the plan.  Errors: NOMEM. */
int xd_upload_add_shard(struct xd_upload *u, size_t stripe, unsigned number,
                        unsigned wanted, struct xd_error *err);

/* Returns the number of the data shard that contains all of `r`, or
 * XD_SHARD_NONE if `r` spans several shards or leaves the stripe. */
unsigned xd_upload_shard_of(const struct xd_model_stripe *s, struct xd_range r);

/* Tell the plan which hosts have data or parity of the stripe.  This applies to
 * the group begun last.  If a host is the only one with some bytes of a shard,
 * it may get further bytes of that shard only.  Its loss would lose that shard
 * anyway.  `of` has the extents of the stripe.  Bad replicas do not count;
 * `bad` is NULL if no replica is bad. */
void xd_upload_use_data(struct xd_upload *u, const struct xd_overlaps *of,
                        size_t stripe, const bool *bad);
void xd_upload_use_parity(struct xd_upload *u, size_t stripe,
                          const bool *bad_parity);

/* Return whether the host of the store has a copy of the extent, or parity of
 * the stripe.  Bad replicas do not count. */
bool xd_upload_has_data(const struct xd_upload *u, size_t store,
                        const struct xd_model_file *f,
                        const struct xd_model_extent *e, const bool *bad);
bool xd_upload_has_parity(const struct xd_upload *u, size_t store,
                          size_t stripe, const bool *bad_parity);

/* Returns the store that has this parity replica, or n_workers if none of our
 * stores has it. */
size_t xd_upload_store_of_parity(const struct xd_upload *u,
                                 const struct xd_model_shard_replica *r);

/* Counts the parity shards that an earlier run has placed.  Call it after
 * xd_upload_make_room(). */
void xd_upload_count_shards(struct xd_upload *u);

#endif
