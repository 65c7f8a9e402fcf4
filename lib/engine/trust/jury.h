/*
 * When no hash tells which bytes are right: what the copies of several depots
 * say of a sample of the file.
 *
 *     file    |-----------[r0]-------------------[r1]----------[r2]------|
 *     case 0   depot 2: abc..   depot 0: abc..             they agree
 *     case 1   depot 0: xyz..   depot 3: xyw..   ?         a third is asked
 *
 * Pure: bytes in, a judgement out.  Not thread-safe: guarded by engine.lock.
 */
#ifndef XD_ENGINE_JURY_H
#define XD_ENGINE_JURY_H

#include <stdbool.h>
#include <stddef.h>
#include <xdownload/manifest.h>

#include "base/range.h"

#define XD_SAMPLE_BYTES 4096 /* of one range, at most */
#define XD_SAMPLES_MAX 16

/* One depot's copy of the range; complete when all of it was heard. */
struct xd_opinion {
    unsigned depot;
    size_t filled; /* so many of its first bytes were heard */
    unsigned char *bytes;
};

struct xd_case {
    struct xd_range range; /* of the file; of XD_SAMPLE_BYTES at most */
    struct xd_opinion *opinions;
    size_t n, capacity;
};

/*
 * Which ranges of `wanted` are looked at: at most a thousandth of it and 64
 * KiB, one in each of as many parts of equal length; none of less than 1 MiB.
 * The same for the same `wanted`.  Returns how many.
 */
size_t xd_sample_ranges(struct xd_range wanted,
                        struct xd_range out[XD_SAMPLES_MAX]);

void xd_case_init(struct xd_case *c, struct xd_range range);
void xd_case_fini(struct xd_case *c);

/* `depot` has `data` for `range` of the file, which may lie anywhere: what it
 * says of the case is noted, as far as it follows on what was heard before.
 * Errors: NOMEM. */
int xd_case_hear(struct xd_case *c, unsigned depot, struct xd_range range,
                 const void *data);

/* What `depot` said does not count. */
void xd_case_forget(struct xd_case *c, unsigned depot);

/* The complete opinion of `depot`, or NULL. */
const struct xd_opinion *xd_case_of(const struct xd_case *c, unsigned depot);

/* How many have told all of it. */
size_t xd_case_voices(const struct xd_case *c);

/* Whether two of them differ. */
bool xd_case_is_disputed(const struct xd_case *c);

/* The opinion that at least two hold, and more than any other; NULL: none. */
const struct xd_opinion *xd_case_majority(const struct xd_case *c);

/* Whether an opinion is complete and not the same as `right`, which is of the
 * same case. */
bool xd_case_differs(const struct xd_case *c, const struct xd_opinion *o,
                     const struct xd_opinion *right);

#endif
