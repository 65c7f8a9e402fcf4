/* SPDX-License-Identifier: MIT */
/*
 * Resumes a heal that was interrupted after it had made some copies.
 *
 *     replicas of an extent    bad, bad, good, made
 *     wanted                   2 copies, 1 of which exists: `made` replaces a
 *                              bad replica
 *     replicas of an extent    good, made, made but bad
 *     wanted                   1 copy; the replicas that were bad before the
 *                              first run were dropped already
 *
 * `made` is a copy that the interrupted run made.  The bad replicas of an
 * extent are dropped together.  So each copy that the heal has made replaces
 * one bad replica, as long as the extent has bad replicas that the heal has not
 * made itself.
 */
#ifndef XD_PUBLISH_HEAL_AGAIN_H
#define XD_PUBLISH_HEAL_AGAIN_H

#include "publish/upload.h"

/*
 * Counts the copies that an earlier run made.  Call it when all bad replicas
 * and lost extents are known.
 *
 * Copies of the earlier run that are bad themselves are dropped.  Only the bad
 * replicas that these copies were to replace still count as bad.  If a bad
 * replica has the object name of this upload, new objects get another name,
 * because an object cannot be created while an object of that name still
 * exists.
 *
 * Errors: IO, NOMEM.
 */
int xd_heal_go_on(struct xd_upload *u, struct xd_error *err);

/* Return true if an earlier run made a replica of extent `i`, or a parity
 * replica, to replace a bad replica that is still in the manifest. */
bool xd_heal_stands(const struct xd_upload *u, size_t i, size_t place);
bool xd_heal_stands_parity(const struct xd_upload *u,
                           const struct xd_model_stripe *s,
                           const struct xd_model_shard *shard, size_t replica);

#endif
