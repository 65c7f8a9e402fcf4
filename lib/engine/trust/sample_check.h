/* SPDX-License-Identifier: MIT */
/*
 * Compares existing bytes, from an earlier run or another program, with
 * samples from the depots before they are used.
 *
 *     held     |######|......|##########################|.........|
 *     samples  [x]  [x]         [x]    [x]    [x]     [x]
 *     depots    0    1           2      0      1       2
 *
 * Both ends of the existing bytes are compared, and one place in each of
 * several equal parts between them.  Places that contain only zeros are
 * preferred, and so are holes, because an unfinished file often has these
 * where bytes are missing.  The samples are spread over the depots.  If a
 * sample differs, other depots are asked for it.
 *
 * If a depot's validator is the same as in an earlier run, nothing is compared,
 * unless the caller requires it (compares_always).  In that case, the file
 * counts as outdated as soon as one depot has another validator than before.
 */
#ifndef XD_ENGINE_SAMPLE_CHECK_H
#define XD_ENGINE_SAMPLE_CHECK_H

#include <stdbool.h>
#include <stddef.h>
#include <xdownload/error.h>

#include "base/range.h"
#include "base/time.h"

struct xd_batch;
struct xd_depots;

enum xd_sample_verdict {
    XD_SAMPLES_AGREE,
    XD_SAMPLES_DIFFER,     /* `error` is CORRUPT and names the place */
    XD_SAMPLES_SPARED,     /* a validator shows that the file is the same, so
                              nothing was compared */
    XD_SAMPLES_OUTDATED,   /* a known URL returned another validator twice, so
                              it has a new version; `error` names the URL */
    XD_SAMPLES_IMPOSSIBLE, /* no depot could be asked; `error` says why */
    XD_SAMPLES_CANCELED    /* the batch was cancelled */
};

struct xd_sample_check {
    /* set by the caller */
    struct xd_batch *batch;
    struct xd_depots *depots;       /* no other thread uses them meanwhile */
    const struct xd_rangeset *held; /* existing bytes of the file */
    /* Reads existing bytes of the file.  Returns 0 or IO. */
    int (*read)(void *user, uint64_t offset, void *data, size_t len,
                struct xd_error *err);
    void *user;
    const struct xd_rangeset *holes; /* places to prefer, or NULL */
    const char *known;     /* lines of the form "URL validator" from earlier
                              runs, or NULL */
    xd_usec until;         /* time limit, or XD_NEVER */
    bool compares_always;  /* compare even if a validator is the same */
    uint64_t sample_bytes; /* length of a sample in bytes, at most 64 KiB; 0:
                              64 KiB */

    /* set by the check */
    enum xd_sample_verdict verdict;
    size_t n_compared; /* number of places where samples agree, even if others
                          differ */
    size_t n_answers;  /* number of responses, including those of objects
                          without ranges */
    int64_t modified;  /* newest modification time in these responses, in
                          seconds since 1970, or 0.  The depots with the
                          validator of an earlier run count as one, with the
                          oldest of their times. */
    struct xd_error error;
};

/* Returns how many simultaneous requests the batch should allow. */
unsigned xd_sample_check_slots(const struct xd_depots *d);

/*
 * Runs the check.
 * Blocks: until enough depots have answered or failed.
 * Errors: NOMEM, IO (the existing bytes cannot be read).
 */
int xd_sample_check_run(struct xd_sample_check *c, struct xd_error *err);

#endif
