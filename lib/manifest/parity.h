/* SPDX-License-Identifier: MIT */
/* Stripes in the order of the file, and what a manifest says of their shards. */
#ifndef XD_MANIFEST_PARITY_H
#define XD_MANIFEST_PARITY_H

#include "manifest/builder.h"
#include "manifest/model.h"

/* The draft's stripes go to `rare`: those within `f`, of which size and extents are
 * there, and which no stripe before them overlaps; a warning of each other. */
void xd_parity_take(struct xd_builder *b, const struct xd_model_file *f,
                    struct xd_model_rare *rare);

/* What the manifest names of a shard; NULL: nothing. */
const struct xd_model_shard *xd_stripe_shard(const struct xd_model_stripe *s,
                                             unsigned number);

/* How many bytes of the file a shard of data has. */
uint64_t xd_stripe_data_length(const struct xd_model_stripe *s,
                               unsigned number);

/* How many shards of parity have a replica. */
unsigned xd_stripe_n_losses(const struct xd_model_stripe *s);

/* How many replicas of parity a file has, of stripes that are used; their places are
 * counted from 0 on, stripe by stripe. */
size_t xd_stripes_n_replicas(const struct xd_model_file *f);

/* The hash of a shard: the stripe's, or, of data, that of the extent of just these
 * bytes; or NULL. */
const char *xd_stripe_sha256(const struct xd_model_file *f,
                             const struct xd_model_stripe *s, unsigned number);

/* Where a shard of parity lies, as the row of a replica. */
struct xd_replica xd_stripe_replica(const struct xd_model_shard_replica *r);

#endif
