/* SPDX-License-Identifier: MIT */
/*
 * How readers share a store in memory.
 *
 *     A-->|======B-->|====C-->|==ahead==|         D-->|==ahead==|
 *
 * All that is held is at most the lookahead.  Readers that follow each other
 * have what lies between them, so that it is fetched once; a reader with no other
 * so close in front has as much ahead as the others of its kind.  Of two gaps
 * the smaller is held first, and none that leaves less than an eighth of the
 * lookahead to those in front, unless it is no more than what they had.
 *
 * Pure.
 */
#ifndef XD_ENGINE_SHARES_H
#define XD_ENGINE_SHARES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct xd_share {
    uint64_t at; /* where a reader is */
    void *of;    /* the caller's: which one */

    /* What xd_shares() finds: up to where it, or the reader in front of it,
     * has something, which begins at `front`. */
    bool is_led;
    uint64_t front, ahead;
};

/* Sorts them by their places. */
void xd_shares(struct xd_share *list, size_t n, uint64_t lookahead);

#endif
