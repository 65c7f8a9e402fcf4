/* SPDX-License-Identifier: MIT */
/*
 * A heal that goes on from one that was broken off, which has made some of the copies.
 *
 *     replicas of an extent    bad, bad, good, made
 *     wanted                   2, of which 1 is there: `made` stands for a bad one
 *     replicas of an extent    good, made, made (bad)
 *     wanted                   1: those that were bad have left
 *
 * Replicas leave all at once, so that what was made stands for a bad one as long as
 * there is one that it has not made itself, and none of them has left.
 */
#ifndef XD_PUBLISH_HEAL_AGAIN_H
#define XD_PUBLISH_HEAL_AGAIN_H

#include "publish/upload.h"

/*
 * What was made, stands for a bad one and is bad itself leaves, and is wanted no more
 * than once; and what is made from now on has another name, if one of the bad ones has
 * that of this upload: it could not be made beside one that is to be removed, nor in the
 * place of one that is there still.
 * Once all bad ones, and all lost extents, are known.  Errors: IO, NOMEM.
 */
int xd_heal_go_on(struct xd_upload *u, struct xd_error *err);

/* Whether a replica of extent `i` stands for a bad one; and one of parity. */
bool xd_heal_stands(const struct xd_upload *u, size_t i, size_t place);
bool xd_heal_stands_parity(const struct xd_upload *u,
                           const struct xd_model_stripe *s,
                           const struct xd_model_shard *shard, size_t replica);

#endif
