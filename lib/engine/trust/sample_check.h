/* SPDX-License-Identifier: MIT */
/*
 * Bytes that are there already, of an earlier run or of another program, are
 * compared with samples of what depots have before they are used.
 *
 *     held     |######|......|##########################|.........|
 *     samples  [x]  [x]         [x]    [x]    [x]     [x]
 *     depots    0    1           2      0      1       2
 *
 * The two ends of what is there are compared, and one place in each of as many
 * equal parts between them; of several places that could be taken one without
 * any set bit is preferred, and so are the holes of a file: that is what an
 * unfinished file has where its bytes are missing.  The depots share the
 * samples; where one differs the others decide.
 *
 * A depot that gave a validator before, and gives the same one now, spares the
 * comparison.
 */
#ifndef XD_ENGINE_SAMPLE_CHECK_H
#define XD_ENGINE_SAMPLE_CHECK_H

#include <stddef.h>
#include <xdownload/error.h>

#include "base/range.h"
#include "base/time.h"

struct xd_batch;
struct xd_depots;

enum xd_sample_verdict {
    XD_SAMPLES_AGREE,
    XD_SAMPLES_DIFFER,     /* `error` is CORRUPT, and says where */
    XD_SAMPLES_SPARED,     /* a validator says that the file is the same */
    XD_SAMPLES_OUTDATED,   /* a known URL has, twice, another validator: it
                              leads to a new version; `error` names it */
    XD_SAMPLES_IMPOSSIBLE, /* no depot could be asked: `error` says why */
    XD_SAMPLES_CANCELED    /* the batch was canceled */
};

struct xd_sample_check {
    /* Set by the caller. */
    struct xd_batch *batch;
    struct xd_depots *depots;       /* used by no other thread meanwhile */
    const struct xd_rangeset *held; /* bytes of the file */
    /* Reads bytes of the file that are held; 0 or IO. */
    int (*read)(void *user, uint64_t offset, void *data, size_t len,
                struct xd_error *err);
    void *user;
    const struct xd_rangeset *holes; /* places to prefer; or NULL */
    const char *known; /* "URL validator\n" each, of earlier runs; or NULL */
    xd_usec until;     /* XD_NEVER: as long as it takes */

    /* Set by the check. */
    enum xd_sample_verdict verdict;
    size_t n_compared; /* samples that agree */
    struct xd_error error;
};

/* How many requests at a time the batch should allow. */
unsigned xd_sample_check_slots(const struct xd_depots *d);

/*
 * Blocks: until enough depots have answered or failed.
 * Errors: NOMEM, IO (what is there cannot be read).
 */
int xd_sample_check_run(struct xd_sample_check *c, struct xd_error *err);

#endif
