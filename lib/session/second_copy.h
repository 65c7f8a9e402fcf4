/* SPDX-License-Identifier: MIT */
/*
 * Compares bytes that arrive a second time with the stored ones.  Each byte is
 * stored only once.  A second copy from another depot is compared with it, run
 * by run.
 *
 *     second copy   |===================================|
 *     stored, from  |- itself -|--- d3 ---|- none -|-d1-|
 *                              |== run ===|        |run=|
 *
 * Pure: the caller reads each run back, and may release its lock meanwhile.
 */
#ifndef XD_SESSION_SECOND_COPY_H
#define XD_SESSION_SECOND_COPY_H

#include "ledger/ledger.h"

/* Maximum length of a run, and size of the caller's buffer. */
#define XD_SECOND_COPY_MOST ((size_t)64 * 1024)

struct xd_second_copy {
    /* Set by the caller; other fields are initially zero. */
    const struct xd_ledger *ledger;
    unsigned depot;
    struct xd_range range;
    const unsigned char *data; /* the second copy of `range` */

    /* The current comparison. */
    struct xd_range run;
    unsigned deliverer; /* depot of the stored bytes */
};

enum xd_second_copy_result {
    /* the stored bytes have been replaced or discarded meanwhile */
    XD_SECOND_COPY_VOID,
    XD_SECOND_COPY_EQUAL,
    XD_SECOND_COPY_DIFFERS
};

/* Finds the next run to read back.  Returns false if there is none. */
bool xd_second_copy_next(struct xd_second_copy *c);

/* Compares the run with the bytes that were read, in parts of `part_bytes`.  If
 * it DIFFERS, *out is the first part that is different. */
enum xd_second_copy_result xd_second_copy_compare(
    const struct xd_second_copy *c, const unsigned char *stored,
    size_t part_bytes, struct xd_range *out);

#endif
