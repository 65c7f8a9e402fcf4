/* SPDX-License-Identifier: MIT */
/*
 * Computes when each block of a file was complete.  Blocks are examined in
 * order, together with the parts of the file that overlap them:
 *
 *     parts   |=====a=====|        |==c==|
 *                    |=====b======|
 *     block        |-----------------|
 *     edges        ^ ^    ^       ^^ ^
 *
 * Between two edges, the same parts have all bytes.  Each part delivers its
 * bytes in order, so the last byte before each edge arrives last.
 */
#include "lab/playback.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/range.h"
#include "command/records.h"

/* Bytes that one request received in order, at a constant rate. */
struct part {
    struct xd_range range;
    double begin_s, end_s;
};

static int by_begin(const void *a, const void *b)
{
    const struct part *p = a, *q = b;

    return (p->range.begin > q->range.begin) -
           (p->range.begin < q->range.begin);
}

/* Returns when the bytes of the part up to `end` had arrived. */
static double time_of(const struct part *p, uint64_t end)
{
    double share =
        (double)(end - p->range.begin) / (double)xd_range_length(p->range);

    return p->begin_s + (p->end_s - p->begin_s) * share;
}

/* Returns the next edge of a part after `at`, at most `end`. */
static uint64_t next_edge(const struct part *parts, size_t n, uint64_t at,
                          uint64_t end)
{
    for (size_t i = 0; i < n; i++) {
        struct xd_range r = parts[i].range;

        if (r.begin > at && r.begin < end)
            end = r.begin;
        if (r.end > at && r.end < end)
            end = r.end;
    }
    return end;
}

/* Returns when the bytes between two edges first arrived; < 0 if they never
 * did. */
static double first_time(const struct part *parts, size_t n, struct xd_range r)
{
    double first = -1;

    for (size_t i = 0; i < n; i++)
        if (parts[i].range.begin <= r.begin && r.end <= parts[i].range.end) {
            double at = time_of(&parts[i], r.end);

            if (first < 0 || at < first)
                first = at;
        }
    return first;
}

/* Returns when a block was complete.  Returns < 0 if it never was, and sets
 * *out_missing to its first missing byte. */
static double block_time(const struct part *parts, size_t n,
                         struct xd_range block, uint64_t *out_missing)
{
    double latest = 0;

    while (block.begin < block.end) {
        struct xd_range run = {block.begin,
                               next_edge(parts, n, block.begin, block.end)};
        double at = first_time(parts, n, run);

        if (at < 0) {
            *out_missing = run.begin;
            return -1;
        }
        if (at > latest)
            latest = at;
        block.begin = run.end;
    }
    return latest;
}

/* Removes parts that end before `byte`. */
static size_t drop_before(struct part *parts, size_t n, uint64_t byte)
{
    size_t kept = 0;

    for (size_t i = 0; i < n; i++)
        if (parts[i].range.end > byte)
            parts[kept++] = parts[i];
    return kept;
}

struct player {
    uint64_t size, block_bytes;
    double bytes_per_s, prebuffer_s;
};

/* Simulates playback.  `active` has memory for all parts. */
static int play(const struct player *player, const struct part *parts,
                size_t n_parts, struct part *active, double *out,
                struct xd_error *err)
{
    struct xd_range block = {0, 0};
    size_t n_active = 0, next = 0;
    uint64_t missing = 0;
    double delay = 0;

    for (; block.begin < player->size; block.begin = block.end) {
        double at, due = player->prebuffer_s +
                         (double)block.begin / player->bytes_per_s;

        block.end = player->size - block.begin > player->block_bytes
                        ? block.begin + player->block_bytes
                        : player->size;
        n_active = drop_before(active, n_active, block.begin);
        for (; next < n_parts && parts[next].range.begin < block.end; next++)
            active[n_active++] = parts[next];
        at = block_time(active, n_active, block, &missing);
        if (at < 0)
            return xd_fail(err, XD_E_INVAL,
                           "records: no request has delivered byte %llu",
                           (unsigned long long)missing);
        if (at - due > delay)
            delay = at - due;
    }
    *out = delay;
    return 0;
}

/* Collects the requests that delivered bytes, sorted by position. */
static size_t fill(struct part *parts, const struct xd_fetch_record *records,
                   size_t n_records)
{
    size_t n = 0;

    for (size_t i = 0; i < n_records; i++) {
        const struct xd_fetch_record *r = &records[i];

        if (r->received == 0 || r->first_byte_s < 0)
            continue;
        parts[n++] = (struct part){
            {r->begin, r->begin + r->received}, r->first_byte_s, r->end_s};
    }
    qsort(parts, n, sizeof *parts, by_begin);
    return n;
}

static int check(const struct player *p, struct xd_error *err)
{
    if (p->size == 0 || p->block_bytes == 0)
        return xd_fail(err, XD_E_INVAL,
                       "a file of %llu bytes in blocks of %llu bytes cannot be "
                       "played",
                       (unsigned long long)p->size,
                       (unsigned long long)p->block_bytes);
    if (!(p->bytes_per_s > 0 && p->prebuffer_s >= 0))
        return xd_fail(err, XD_E_INVAL,
                       "nothing is played at %g bytes per second after %g s",
                       p->bytes_per_s, p->prebuffer_s);
    return 0;
}

int xd_playback_delay(double *out_s, const struct xd_fetch_record *records,
                      size_t n_records, uint64_t size, uint64_t block_bytes,
                      double bytes_per_s, double prebuffer_s,
                      struct xd_error *err)
{
    struct player player = {size, block_bytes, bytes_per_s, prebuffer_s};
    struct part *parts, *active;
    int rc = check(&player, err);

    if (rc < 0)
        return rc;
    parts = xd_alloc(n_records, sizeof *parts);
    active = xd_alloc(n_records, sizeof *active);
    if (parts && active)
        rc = play(&player, parts, fill(parts, records, n_records), active,
                  out_s, err);
    else
        rc = xd_fail_nomem(err);
    xd_free(parts);
    xd_free(active);
    return rc;
}
