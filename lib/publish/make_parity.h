/* SPDX-License-Identifier: MIT */
/* Uploads with parity, before they start: which shards there are to be, and which
 * hosts may get them. */
#ifndef XD_PUBLISH_MAKE_PARITY_H
#define XD_PUBLISH_MAKE_PARITY_H

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

/* Whether parity can be added to `f`: it has none, or what an earlier run of the same
 * has left, if `goes_on`.  Errors: INVAL, STATE. */
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

/* Shards of parity that an earlier run has placed; after xd_upload_make_room(). */
void xd_upload_count_shards(struct xd_upload *u);

#endif
