/* SPDX-License-Identifier: MIT */
/*
 * Byte ranges and sets of them.
 *
 *     begin           end
 *       |=============)          end is excluded; begin == end is empty
 *
 * A set holds disjoint ranges in ascending order; ranges that touch are one.
 * Costs: look-ups O(log n); changes O(n) of the ranges held, for sets of which
 * there are few.  What every byte of a file is, lib/ledger knows.
 * Not thread-safe.
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

/* What two have in common; empty if that is nothing. */
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
    struct xd_range *ranges; /* read-only for users */
    size_t n, capacity;
    uint64_t bytes; /* sum of the lengths */
};

/* A zeroed struct is an empty set. */
void xd_rangeset_init(struct xd_rangeset *s);
void xd_rangeset_fini(struct xd_rangeset *s);

/* 0, or NOMEM with the set as before. */
int xd_rangeset_add(struct xd_rangeset *s, struct xd_range r);
int xd_rangeset_remove(struct xd_rangeset *s, struct xd_range r);

/* Whether all of r is in the set; an empty range always is. */
bool xd_rangeset_contains(const struct xd_rangeset *s, struct xd_range r);

/* The first run inside `within` that is in the set, or that is not; empty at
 * within.end if there is none. */
struct xd_range xd_rangeset_next(const struct xd_rangeset *s,
                                 struct xd_range within);
struct xd_range xd_rangeset_next_gap(const struct xd_rangeset *s,
                                     struct xd_range within);

#endif
