/* SPDX-License-Identifier: MIT */
/* Samples: hashes of a few ranges of objects, to compare copies without storing
 * their bytes. */
#ifndef XD_TRANSFER_SAMPLE_H
#define XD_TRANSFER_SAMPLE_H

#include <stdbool.h>

#include "io/hash.h"
#include "transfer/batch.h"

#define XD_SAMPLE_HASH "sha-256"

/* Depots without ranges also send everything before a sample.  At most this
 * much is read for one sample. */
#define XD_SAMPLE_SKIP_MAX ((uint64_t)1 << 20)

struct xd_sample {
    /* set by the caller; its length must be known */
    struct xd_request request;

    /* Results.  A sample was taken if the verdict is OK. */
    struct xd_outcome outcome;
    /* bytes; less than the length if the object ends earlier */
    uint64_t received;
    char digest[XD_HASH_HEX_MAX + 1];
    uint64_t object_size; /* from the response header, or XD_SIZE_UNKNOWN */
    char *validator;      /* from the response header, or NULL */
    bool has_head; /* the depot answered with the object or a part of it */
    /* from the response header: see xd_head in io/transport.h */
    int64_t modified;
    struct xd_hasher *hasher;
};

/*
 * Takes all samples of `list` that have a URL.
 * Ownership: call xd_samples_fini() in any case; it does not release the list.
 * Blocks:    as long as the runs of the batch.
 * Errors:    NOMEM.  Errors of a sample are in its outcome.
 */
int xd_samples_take(struct xd_batch *batch, struct xd_sample *list, size_t n,
                    const struct xd_batch_times *times, struct xd_error *err);

void xd_samples_fini(struct xd_sample *list, size_t n);

static inline bool xd_sample_was_taken(const struct xd_sample *s)
{
    return s->outcome.verdict == XD_VERDICT_OK && !s->outcome.is_cut;
}

/* Returns whether the depot does not support ranges. */
static inline bool xd_sample_needs_whole(const struct xd_sample *s)
{
    return s->outcome.verdict == XD_VERDICT_NO_RANGES ||
           s->outcome.verdict == XD_VERDICT_REFUSED_RANGE;
}

#endif
