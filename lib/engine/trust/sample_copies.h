/* SPDX-License-Identifier: MIT */
/*
 * The copies that several depots have of one sample of the file, to find the
 * right bytes where no hash decides.
 *
 *     file    |-----------[r0]-------------------[r1]----------[r2]------|
 *     [r0]     depot 2: abc..   depot 0: abc..             they agree
 *     [r1]     depot 0: xyz..   depot 3: xyw..   ?         a third is asked
 *
 * Caches of one origin are no witnesses beside it: all of them together count as
 * one copy, and as none where the origin's own is there.
 *
 * Pure: bytes in, a judgement out.  Not thread-safe: guarded by engine.lock.
 */
#ifndef XD_ENGINE_SAMPLE_COPIES_H
#define XD_ENGINE_SAMPLE_COPIES_H

#include <stdbool.h>
#include <stddef.h>
#include <xdownload/manifest.h>

#include "base/range.h"

#define XD_SAMPLE_BYTES 4096 /* of one range, at most */
#define XD_SAMPLES_MAX 16

/* One depot's copy of the range; complete when all of it was received. */
struct xd_sample_copy {
    unsigned depot;
    unsigned origin; /* the depot of which this one is a cache; or itself */
    size_t filled;   /* so many of its first bytes were received */
    unsigned char *bytes;
};

struct xd_sample_copies {
    struct xd_range range; /* of the file; of XD_SAMPLE_BYTES at most */
    struct xd_sample_copy *list;
    size_t n, capacity;
};

/*
 * Which ranges of `wanted` are looked at: at most a thousandth of it and 64
 * KiB, one in each of as many parts of equal length; none of less than 1 MiB.
 * The same for the same `wanted`.  Returns how many.
 */
size_t xd_sample_ranges(struct xd_range wanted,
                        struct xd_range out[XD_SAMPLES_MAX]);

void xd_sample_copies_init(struct xd_sample_copies *c, struct xd_range range);
void xd_sample_copies_fini(struct xd_sample_copies *c);

/* `depot`, a cache of `origin` or itself that, has `data` for `range` of the file,
 * which may lie anywhere: what it has of the sample is noted, as far as it follows
 * on what was received before.  Errors: NOMEM. */
int xd_sample_copies_add(struct xd_sample_copies *c, unsigned depot,
                         unsigned origin, struct xd_range range,
                         const void *data);

/* The copy of `depot` does not count. */
void xd_sample_copies_forget(struct xd_sample_copies *c, unsigned depot);

/* The complete copy of `depot`, or NULL. */
const struct xd_sample_copy *xd_sample_copies_of(
    const struct xd_sample_copies *c, unsigned depot);

/* A complete copy, or NULL. */
const struct xd_sample_copy *xd_sample_copies_first(
    const struct xd_sample_copies *c);

/* How many copies are complete; those of caches together are one. */
size_t xd_sample_copies_count(const struct xd_sample_copies *c);

/* Whether two of them differ. */
bool xd_sample_copies_differ(const struct xd_sample_copies *c);

/* The copy of a cache that differs from that of its origin, which is then in
 * *out_right; NULL: there is none. */
const struct xd_sample_copy *xd_sample_copies_contradicted(
    const struct xd_sample_copies *c, const struct xd_sample_copy **out_right);

/* The copy that at least two witnesses have, and more than any other; NULL:
 * none. */
const struct xd_sample_copy *xd_sample_copies_majority(
    const struct xd_sample_copies *c);

/* Whether a copy is complete and not the same as `right`, which is of the same
 * sample. */
bool xd_sample_copy_differs(const struct xd_sample_copies *c,
                            const struct xd_sample_copy *o,
                            const struct xd_sample_copy *right);

#endif
