/* SPDX-License-Identifier: MIT */
#include "base/range.h"

#include <string.h>
#include <xdownload/error.h>

#include "base/alloc.h"

void xd_rangeset_init(struct xd_rangeset *s)
{
    *s = (struct xd_rangeset){.ranges = NULL};
}

void xd_rangeset_fini(struct xd_rangeset *s)
{
    xd_free(s->ranges);
    xd_rangeset_init(s);
}

static uint64_t min_u64(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static uint64_t max_u64(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

/* Returns the index of the first range that ends at or after `at`; n if none
 * does. */
static size_t first_ending_from(const struct xd_rangeset *s, uint64_t at)
{
    size_t low = 0, high = s->n;

    while (low < high) {
        size_t mid = low + (high - low) / 2;

        if (s->ranges[mid].end < at)
            low = mid + 1;
        else
            high = mid;
    }
    return low;
}

/* Returns the index of the first range that contains `at` or starts after it.
 * `at` is a byte of a non-empty range, so at + 1 does not overflow. */
static size_t first_past(const struct xd_rangeset *s, uint64_t at)
{
    return first_ending_from(s, at + 1);
}

static int reserve(struct xd_rangeset *s, size_t n)
{
    struct xd_range *grown;
    size_t capacity = s->capacity < 4 ? 8 : s->capacity * 2;

    if (n <= s->capacity)
        return 0;
    if (capacity < n)
        capacity = n;
    grown = xd_realloc(s->ranges, capacity, sizeof *grown);
    if (grown == NULL)
        return XD_E_NOMEM;
    s->ranges = grown;
    s->capacity = capacity;
    return 0;
}

/* Replaces the ranges from `first` up to but excluding `past` by the n ranges
 * at `with`. n is at most one more than the number of ranges replaced. */
static int splice(struct xd_rangeset *s, size_t first, size_t past,
                  const struct xd_range *with, size_t n)
{
    int rc = reserve(s, s->n - (past - first) + n);

    if (rc < 0)
        return rc;
    for (size_t i = first; i < past; i++)
        s->bytes -= xd_range_length(s->ranges[i]);
    memmove(s->ranges + first + n, s->ranges + past,
            (s->n - past) * sizeof *s->ranges);
    s->n = s->n - (past - first) + n;
    for (size_t i = 0; i < n; i++) {
        s->ranges[first + i] = with[i];
        s->bytes += xd_range_length(with[i]);
    }
    return 0;
}

int xd_rangeset_add(struct xd_rangeset *s, struct xd_range r)
{
    size_t first, past;

    if (xd_range_is_empty(r))
        return 0;
    first = past = first_ending_from(s, r.begin);
    while (past < s->n && s->ranges[past].begin <= r.end) {
        r.begin = min_u64(r.begin, s->ranges[past].begin);
        r.end = max_u64(r.end, s->ranges[past].end);
        past++;
    }
    return splice(s, first, past, &r, 1);
}

int xd_rangeset_remove(struct xd_rangeset *s, struct xd_range r)
{
    struct xd_range rest[2];
    size_t first, past, n = 0;

    if (xd_range_is_empty(r))
        return 0;
    first = past = first_past(s, r.begin);
    while (past < s->n && s->ranges[past].begin < r.end)
        past++;
    if (first == past)
        return 0;
    if (s->ranges[first].begin < r.begin)
        rest[n++] = (struct xd_range){s->ranges[first].begin, r.begin};
    if (s->ranges[past - 1].end > r.end)
        rest[n++] = (struct xd_range){r.end, s->ranges[past - 1].end};
    return splice(s, first, past, rest, n);
}

bool xd_rangeset_contains(const struct xd_rangeset *s, struct xd_range r)
{
    size_t i;

    if (xd_range_is_empty(r))
        return true;
    i = first_past(s, r.begin);
    return i < s->n && s->ranges[i].begin <= r.begin &&
           s->ranges[i].end >= r.end;
}

struct xd_range xd_rangeset_next(const struct xd_rangeset *s,
                                 struct xd_range within)
{
    struct xd_range none = {within.end, within.end};
    size_t i;

    if (xd_range_is_empty(within))
        return none;
    i = first_past(s, within.begin);
    if (i == s->n || s->ranges[i].begin >= within.end)
        return none;
    return (struct xd_range){max_u64(s->ranges[i].begin, within.begin),
                             min_u64(s->ranges[i].end, within.end)};
}

struct xd_range xd_rangeset_next_gap(const struct xd_rangeset *s,
                                     struct xd_range within)
{
    struct xd_range gap = within;
    size_t i;

    if (xd_range_is_empty(within))
        return (struct xd_range){within.end, within.end};
    i = first_past(s, within.begin);
    if (i < s->n && s->ranges[i].begin <= within.begin)
        gap.begin = min_u64(s->ranges[i++].end, within.end);
    if (i < s->n)
        gap.end = min_u64(s->ranges[i].begin, within.end);
    return gap;
}
