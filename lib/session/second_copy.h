/* SPDX-License-Identifier: MIT */
/*
 * What a depot delivers of bytes that another has delivered already.  Each byte
 * is kept once: the second copy is compared with the stored one, run by run.
 *
 *     second copy   |===================================|
 *     stored, of    |- itself -|--- d3 ---|- none -|-d1-|
 *                              |== run ===|        |run=|
 *
 * Pure: its user reads each run back, and may release its lock meanwhile.
 */
#ifndef XD_SESSION_SECOND_COPY_H
#define XD_SESSION_SECOND_COPY_H

#include "ledger/ledger.h"

/* No run is longer: room for it is made only where there is a second copy. */
#define XD_SECOND_COPY_MOST ((size_t)64 * 1024)

struct xd_second_copy {
    /* Set by its user, the rest zero. */
    const struct xd_ledger *ledger;
    unsigned depot;
    struct xd_range range;
    const unsigned char *data; /* for `range` */

    /* What is compared now. */
    struct xd_range run;
    unsigned deliverer; /* of the stored one */
};

enum xd_second_copy_result {
    XD_SECOND_COPY_VOID, /* the stored one is another's now, or discarded */
    XD_SECOND_COPY_EQUAL,
    XD_SECOND_COPY_DIFFERS
};

/* The next run is to be read; false: there is none. */
bool xd_second_copy_next(struct xd_second_copy *c);

/* It was read.  DIFFERS: *out is the first part of it that does, of those of
 * `part_bytes` each that it consists of. */
enum xd_second_copy_result xd_second_copy_compare(
    const struct xd_second_copy *c, const unsigned char *stored,
    size_t part_bytes, struct xd_range *out);

#endif
