/* SPDX-License-Identifier: MIT */
/*
 * Decides by vote which of several URLs lead to the same file, according to
 * samples.  Each host has one vote for each file that it has.
 *
 *     a.example/f   size 900, samples 1f.. 07..   file 0 \  two votes: these
 *     b.example/f   size 900, samples 1f.. 07..   file 0 /  are the copies
 *     c.example/f   size 500, samples 3c.. 07..   file 1    one vote
 *     d.example/f   no answer
 *
 * Pure.
 */
#ifndef XD_ENGINE_COPIES_VOTE_H
#define XD_ENGINE_COPIES_VOTE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/url.h"

#define XD_NO_COPY SIZE_MAX

#define XD_COPY_SAMPLES 3

struct xd_copy {
    /* set by the caller */
    const struct xd_url *url;
    bool has_answered;
    uint64_t size; /* or XD_SIZE_UNKNOWN */
    /* Digests of samples, beginning with the sample of the first bytes.  NULL
     * if the sample was not requested or could not be fetched. */
    const char *samples[XD_COPY_SAMPLES];
    /* set by the vote */
    size_t file; /* index of the first copy of the same file, or XD_NO_COPY */
};

struct xd_copies_vote {
    size_t file;     /* the file that most hosts have; XD_NO_COPY if no copy
                        answered */
    size_t other;    /* the file with the second most votes, or XD_NO_COPY */
    bool is_decided; /* `file` has more votes than all others together */
};

struct xd_copies_vote xd_copies_vote(struct xd_copy *list, size_t n);

/* Returns true if the last path components of all URLs, including the query,
 * are equal. */
bool xd_copies_have_one_name(const struct xd_url *urls, size_t n);

#endif
