/* SPDX-License-Identifier: MIT */
/* Erasure-coding stripes of a file, and their shards. */
#ifndef XD_MANIFEST_PARITY_H
#define XD_MANIFEST_PARITY_H

#include "manifest/builder.h"
#include "manifest/model.h"

/* Moves the draft's stripes to `rare`, if they lie within `f` and do not
 * overlap an earlier one.  Other stripes are dropped with a warning.  Size and
 * extents of `f` must be set. */
void xd_parity_take(struct xd_builder *b, const struct xd_model_file *f,
                    struct xd_model_rare *rare);

/* Returns the manifest's entry for a shard, or NULL. */
const struct xd_model_shard *xd_stripe_shard(const struct xd_model_stripe *s,
                                             unsigned number);

/* Returns the number of file bytes in a data shard. */
uint64_t xd_stripe_data_length(const struct xd_model_stripe *s,
                               unsigned number);

/* Returns the number of parity shards with a replica. */
unsigned xd_stripe_n_losses(const struct xd_model_stripe *s);

/* Returns the number of parity replicas in all used stripes.  They are numbered
 * from 0, stripe by stripe. */
size_t xd_stripes_n_replicas(const struct xd_model_file *f);

/* Returns the hash of a shard, or NULL.  A data shard without a hash of its own
 * has the hash of an extent with exactly its bytes, if there is one. */
const char *xd_stripe_sha256(const struct xd_model_file *f,
                             const struct xd_model_stripe *s, unsigned number);

/* Returns a parity replica in the form of a file's replica. */
struct xd_replica xd_stripe_replica(const struct xd_model_shard_replica *r);

#endif
