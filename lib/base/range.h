/* SPDX-License-Identifier: MIT */
/*
 * Byte ranges and sets of ranges.
 *
 *     begin           end
 *       |=============)          end is excluded; begin == end is empty
 *
 * A set holds disjoint ranges in ascending order; adjacent ranges are merged.
 * Look-ups take O(log n), changes O(n) for n ranges.  For the states of all
 * bytes of a file see lib/ledger.
 * Threads: not thread-safe.
 */
#ifndef XD_BASE_RANGE_H
#define XD_BASE_RANGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct xd_range {
    uint64_t begin, end;
};

static inline uint64_t xd_range_length(struct xd_range r)
{
    return r.end - r.begin;
}

static inline bool xd_range_is_empty(struct xd_range r)
{
    return r.begin >= r.end;
}

/* Returns the intersection; empty if the ranges do not overlap. */
static inline struct xd_range xd_range_clip(struct xd_range a,
                                            struct xd_range b)
{
    a.begin = a.begin > b.begin ? a.begin : b.begin;
    a.end = a.end < b.end ? a.end : b.end;
    if (a.end < a.begin)
        a.end = a.begin;
    return a;
}

struct xd_rangeset {
    struct xd_range *ranges; /* callers may only read them */
    size_t n, capacity;
    uint64_t bytes; /* sum of the lengths */
};

/* Prepare and free a set.  A zeroed struct is an empty set, too. */
void xd_rangeset_init(struct xd_rangeset *s);
void xd_rangeset_fini(struct xd_rangeset *s);

/* Return 0, or NOMEM with the set unchanged. */
int xd_rangeset_add(struct xd_rangeset *s, struct xd_range r);
int xd_rangeset_remove(struct xd_rangeset *s, struct xd_range r);

/* Returns whether the set contains all of r.  True for an empty range. */
bool xd_rangeset_contains(const struct xd_rangeset *s, struct xd_range r);

/* Return the first range or gap of the set within `within`; empty at within.end
 * if there is none. */
struct xd_range xd_rangeset_next(const struct xd_rangeset *s,
                                 struct xd_range within);
struct xd_range xd_rangeset_next_gap(const struct xd_rangeset *s,
                                     struct xd_range within);

#endif
