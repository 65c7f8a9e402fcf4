/* SPDX-License-Identifier: MIT */
/*
 * Divides a store in memory among readers.
 *
 *     A-->|======B-->|====C-->|==ahead==|         D-->|==ahead==|
 *
 * The total is at most the lookahead.  If readers follow each other closely,
 * the gaps between them are kept, so that these bytes are fetched once.  They
 * form a group, and each group gets the same number of bytes ahead of its first
 * reader.  Smaller gaps are kept before larger ones.  A gap is not kept if each
 * group would then get less than an eighth of the lookahead, unless the gap is
 * no longer than the share of a group.
 *
 * Pure.
 */
#ifndef XD_ENGINE_SHARES_H
#define XD_ENGINE_SHARES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct xd_share {
    uint64_t at; /* position of the reader */
    void *of;    /* identifies the reader for the caller */

    /* Set by xd_shares().  The reader gets all bytes up to `front`, and `ahead`
     * bytes after it.  If is_led, the gap to the next reader is kept, and both
     * have the same `front`. */
    bool is_led;
    uint64_t front, ahead;
};

/* Computes the shares.  Sorts `list` by position. */
void xd_shares(struct xd_share *list, size_t n, uint64_t lookahead);

#endif
