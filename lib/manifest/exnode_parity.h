/* SPDX-License-Identifier: MIT */
/*
 * Reads the metadata "parity" of an exNode:
 *
 *     parity > stripe.0 > k, n, ..., shard.4 > sha256, replica.0 > read, ...
 *
 * Each level has type="meta", which other readers ignore.  An unusable stripe
 * causes a warning and is written back unchanged.
 */
#ifndef XD_MANIFEST_EXNODE_PARITY_H
#define XD_MANIFEST_EXNODE_PARITY_H

#include "manifest/builder.h"
#include "manifest/xml.h"
#include "manifest/xml_copy.h"

/* The stripe that is being read. */
struct xd_stripe_draft {
    struct xd_model_stripe row;
    bool is_stripe; /* false: other metadata, kept as text */
    unsigned given; /* bit mask of the values (enum value) that were given */
    uint64_t k, n;
    char flaw[200]; /* reason not to use it, or "" */
    bool is_listed[XD_SHARDS_MAX];
    /* shards with a replica, even one that is not used */
    bool names_replica[XD_SHARDS_MAX];
    /* largest offset of these replicas within their objects */
    uint64_t greatest_offset;
    struct xd_model_shard shards[XD_SHARDS_MAX];
    struct xd_model_shard_replica *replicas;
    size_t replicas_capacity;
    size_t n_held; /* number of elements that the model represents */
    /* where the stripe begins in the copy: offset, number of the first secret,
     * and number of the first element */
    size_t copy_begin, first_secret, first_element;
};

/* State of the reader of "parity".  The struct that the functions below get as
 * `user` begins with this one. */
struct xd_parity_reader {
    struct xd_builder *b;
    struct xd_xml_copy *copy;
    char key[48];      /* name of the metadata being read */
    size_t text_begin; /* position in the copy of the text of that metadata */
    bool is_open;      /* the reader is within "parity" */
    bool in_shard;     /* the reader is within a shard of the stripe */
    bool in_replica;   /* the reader is within a replica of the shard */
    bool has_children; /* "parity" has children */
    size_t head;       /* position in the copy of the content of "parity" */
    size_t kept; /* everything in the copy before this position was handled */
    struct xd_stripe_draft stripe;
    struct xd_model_shard *shard; /* current shard; NULL: it is ignored */
    struct xd_model_shard_replica replica; /* current replica of `shard` */
    bool has_read, has_offset; /* whether the replica has these fields */
    const char *replica_flaw;  /* reason not to use the replica, or NULL */
    /* number of elements of the replica that the model represents */
    size_t replica_held;
};

void xd_parity_reader_init(struct xd_parity_reader *p, struct xd_builder *b,
                           struct xd_xml_copy *copy);
void xd_parity_reader_fini(struct xd_parity_reader *p);

/* Call when metadata of the root begins and ends.  xd_parity_end() returns
 * whether it was "parity" and is completely represented in the draft. */
void xd_parity_begin(struct xd_parity_reader *p, struct xd_xml *x,
                     const char *key);
bool xd_parity_end(struct xd_parity_reader *p);

/* Functions for the rules of metadata nested in metadata of the root, one for
 * each level.  Anything outside of "parity" is skipped. */
xd_xml_begin_fn xd_parity_begin_stripe, xd_parity_begin_metadata,
    xd_parity_begin_of_shard, xd_parity_begin_of_replica;
xd_xml_end_fn xd_parity_end_stripe;
xd_xml_text_fn xd_parity_take_metadata, xd_parity_take_of_shard,
    xd_parity_take_of_replica;

#endif
