/* SPDX-License-Identifier: MIT */
/*
 * Samples: what a few ranges of objects hash to, so that copies can be compared
 * without keeping their bytes.
 */
#ifndef XD_TRANSFER_SAMPLE_H
#define XD_TRANSFER_SAMPLE_H

#include <stdbool.h>

#include "io/hash.h"
#include "transfer/batch.h"

#define XD_SAMPLE_HASH "sha-256"

/* A depot without ranges sends all that lies before a sample: no more than
 * this is read for one. */
#define XD_SAMPLE_SKIP_MAX ((uint64_t)1 << 20)

struct xd_sample {
    struct xd_request request; /* set by the caller; its length is a number */

    /* Filled in.  A sample was taken if the verdict is OK. */
    struct xd_outcome outcome;
    uint64_t received; /* less than the length where the object ends before */
    char digest[XD_HASH_HEX_MAX + 1];
    uint64_t object_size; /* as its head says, or XD_SIZE_UNKNOWN */
    char *validator;      /* of its head, or NULL */
    struct xd_hasher *hasher;
};

/*
 * Take all samples of `list` by runs of `batch`.
 * Ownership: whatever it returns, release with xd_samples_fini() what is in the
 *            list, not the list.
 * Blocks:    as long as the runs do.
 * Errors:    NOMEM.  What is wrong with a sample stands in its outcome.
 */
int xd_samples_take(struct xd_batch *batch, struct xd_sample *list, size_t n,
                    const struct xd_batch_times *times, struct xd_error *err);

void xd_samples_fini(struct xd_sample *list, size_t n);

static inline bool xd_sample_was_taken(const struct xd_sample *s)
{
    return s->outcome.verdict == XD_VERDICT_OK && !s->outcome.is_cut;
}

/* Whether its depot sends no ranges. */
static inline bool xd_sample_needs_whole(const struct xd_sample *s)
{
    return s->outcome.verdict == XD_VERDICT_NO_RANGES ||
           s->outcome.verdict == XD_VERDICT_REFUSED_RANGE;
}

#endif
