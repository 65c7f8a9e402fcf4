/* SPDX-License-Identifier: MIT */
/*
 * The metadata "parity" of an exNode:
 *
 *     parity > stripe.0 > k, n, ..., shard.4 > sha256, replica.0 > read, ...
 *
 * Each is type="meta", which readers that do not know it pass over.  A stripe that
 * cannot be used is a warning, and is written again as it was.
 */
#ifndef XD_MANIFEST_EXNODE_PARITY_H
#define XD_MANIFEST_EXNODE_PARITY_H

#include "manifest/builder.h"
#include "manifest/xml.h"
#include "manifest/xml_copy.h"

/* A stripe while it is read. */
struct xd_stripe_draft {
    struct xd_model_stripe row;
    bool is_stripe; /* else other metadata, which is kept as it is */
    unsigned given; /* which of its values were: a bit each */
    uint64_t k, n;
    char flaw[200]; /* why it is not used, or "" */
    bool is_listed[XD_SHARDS_MAX];
    bool names_replica[XD_SHARDS_MAX]; /* perhaps one that is not used */
    uint64_t greatest_offset;          /* of those replicas, in its object */
    struct xd_model_shard shards[XD_SHARDS_MAX];
    struct xd_model_shard_replica *replicas;
    size_t replicas_capacity;
    size_t n_held; /* elements that the model holds */
    size_t copy_begin, first_secret, first_element; /* of it, in the copy */
};

/* A rule's functions are called with a struct that begins with this one. */
struct xd_parity_reader {
    struct xd_builder *b;
    struct xd_xml_copy *copy;
    char key[48];      /* of the metadata that is read */
    size_t text_begin; /* in the copy: of its text */
    bool is_open;      /* "parity" is */
    bool in_shard;     /* metadata of the stripe is a shard */
    bool in_replica;   /* metadata of the shard is a replica */
    bool has_children; /* of "parity" */
    size_t head;       /* in the copy: where the content of "parity" begins */
    size_t kept;       /* likewise: what of it was looked at ends */
    struct xd_stripe_draft stripe;
    struct xd_model_shard *shard;          /* NULL: it is not used */
    struct xd_model_shard_replica replica; /* of it */
    bool has_read, has_offset;             /* the replica */
    const char *replica_flaw;              /* or NULL */
    size_t replica_held;                   /* elements of it */
};

void xd_parity_reader_init(struct xd_parity_reader *p, struct xd_builder *b,
                           struct xd_xml_copy *copy);
void xd_parity_reader_fini(struct xd_parity_reader *p);

/* Metadata of the root begins.  It ends: whether it was "parity", and all of it
 * went into the draft. */
void xd_parity_begin(struct xd_parity_reader *p, struct xd_xml *x,
                     const char *key);
bool xd_parity_end(struct xd_parity_reader *p);

/* Of metadata in metadata of the root, and of what lies in that, ever deeper:
 * passed over with all that it holds if it is not of parity. */
xd_xml_begin_fn xd_parity_begin_stripe, xd_parity_begin_metadata,
    xd_parity_begin_of_shard, xd_parity_begin_of_replica;
xd_xml_end_fn xd_parity_end_stripe;
xd_xml_text_fn xd_parity_take_metadata, xd_parity_take_of_shard,
    xd_parity_take_of_replica;

#endif
