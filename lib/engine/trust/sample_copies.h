/* SPDX-License-Identifier: MIT */
/*
 * Copies of one sample of the file from several depots, to find the right
 * bytes if there is no hash.
 *
 *     file    |-----------[r0]-------------------[r1]----------[r2]------|
 *     [r0]     depot 2: abc..   depot 0: abc..             they agree
 *     [r1]     depot 0: xyz..   depot 3: xyw..   ?         a third is asked
 *
 * Caches are not independent of their origins, so they are counted differently:
 * - xd_sample_copies_count() counts all caches together as one copy.
 * - xd_sample_copies_majority() does so, too, but ignores a cache if its origin
 *   has a complete copy.
 * Caches of different origins are not told apart.
 *
 * Pure.  Not thread-safe: guarded by engine.lock.
 */
#ifndef XD_ENGINE_SAMPLE_COPIES_H
#define XD_ENGINE_SAMPLE_COPIES_H

#include <stdbool.h>
#include <stddef.h>
#include <xdownload/manifest.h>

#include "base/range.h"

#define XD_SAMPLE_BYTES 4096 /* longest range of a sample */
#define XD_SAMPLES_MAX 16

/* One depot's copy of the range.  It is complete when all bytes were
 * received. */
struct xd_sample_copy {
    unsigned depot;
    unsigned origin; /* origin of `depot` if that is a cache; else `depot`
                        itself */
    size_t filled;   /* bytes received from its beginning */
    unsigned char *bytes;
};

struct xd_sample_copies {
    struct xd_range range; /* range of the file, at most XD_SAMPLE_BYTES long */
    struct xd_sample_copy *list;
    size_t n, capacity;
};

/*
 * Chooses ranges of `wanted` to sample, one in each of several equal parts.
 * Together they are at most a thousandth of it and 64 KiB.  None are chosen if
 * it is shorter than 1 MiB.  The result depends only on `wanted`.  Returns the
 * number of ranges.
 */
size_t xd_sample_ranges(struct xd_range wanted,
                        struct xd_range out[XD_SAMPLES_MAX]);

void xd_sample_copies_init(struct xd_sample_copies *c, struct xd_range range);
void xd_sample_copies_fini(struct xd_sample_copies *c);

/* Adds `data`, which `depot` delivered for `range` of the file, to its copy.
 * Ignores bytes outside of the sample, and bytes that do not continue what was
 * received before.  If `depot` is a cache, `origin` is its origin; else it is
 * `depot`.  Errors: NOMEM. */
int xd_sample_copies_add(struct xd_sample_copies *c, unsigned depot,
                         unsigned origin, struct xd_range range,
                         const void *data);

/* Drops the copy of `depot`. */
void xd_sample_copies_forget(struct xd_sample_copies *c, unsigned depot);

/* Returns the complete copy of `depot`, or NULL. */
const struct xd_sample_copy *xd_sample_copies_of(
    const struct xd_sample_copies *c, unsigned depot);

/* Returns any complete copy, or NULL. */
const struct xd_sample_copy *xd_sample_copies_first(
    const struct xd_sample_copies *c);

/* Returns the number of complete copies.  All caches together count as one,
 * even if there is a copy of their origin. */
size_t xd_sample_copies_count(const struct xd_sample_copies *c);

/* Returns true if two complete copies differ. */
bool xd_sample_copies_differ(const struct xd_sample_copies *c);

/* Returns the copy of a cache that differs from the copy of its origin, and
 * sets *out_right to the origin's copy.  NULL if there is none. */
const struct xd_sample_copy *xd_sample_copies_contradicted(
    const struct xd_sample_copies *c, const struct xd_sample_copy **out_right);

/* Returns the copy that most independent depots have, at least two.  NULL if
 * there is none, or if two different copies tie.  All caches without a complete
 * copy of their origin count as one depot, and other caches do not count. */
const struct xd_sample_copy *xd_sample_copies_majority(
    const struct xd_sample_copies *c);

/* Returns true if `o` is complete and differs from `right`, a complete copy of
 * the same sample. */
bool xd_sample_copy_differs(const struct xd_sample_copies *c,
                            const struct xd_sample_copy *o,
                            const struct xd_sample_copy *right);

#endif
