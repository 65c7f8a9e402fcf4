/* SPDX-License-Identifier: MIT */
#include "engine/trust/sample_places.h"

#include <stdbool.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "engine/depot.h"
#include "engine/depots.h"
#include "engine/trust/places.h"
#include "transfer/sample.h"

#define SAMPLE_BYTES ((uint64_t)64 << 10)

/* Number of samples: one for this many bytes, but at least FEWEST and at most
 * MOST. */
#define BYTES_PER_SAMPLE ((uint64_t)64 << 20)
#define FEWEST ((size_t)8)
#define MOST ((size_t)1024)
#define MOST_HOLES ((size_t)16)

/* Number of places that are examined to find one that contains only zeros. */
#define LOOKS 16u

static uint64_t bytes_of_sample(const struct xd_sample_check *c)
{
    return c->sample_bytes > 0 ? c->sample_bytes : SAMPLE_BYTES;
}

struct choosing {
    struct xd_sample_places *p;
    const struct xd_sample_check *c;
};

/* Converts a range of the existing bytes, counted without gaps, to a range of
 * the file.  Returns its first contiguous part. */
static struct xd_range map(const struct xd_rangeset *held, struct xd_range at)
{
    for (size_t i = 0; i < held->n; i++) {
        uint64_t n = xd_range_length(held->ranges[i]);

        if (at.begin < n) {
            struct xd_range found = {held->ranges[i].begin + at.begin,
                                     held->ranges[i].begin + at.end};

            return xd_range_clip(found, held->ranges[i]);
        }
        at.begin -= n;
        at.end -= n;
    }
    return (struct xd_range){0, 0};
}

static int read_place(struct choosing *k, struct xd_range at,
                      struct xd_error *err)
{
    return k->c->read(k->c->user, at.begin, k->p->buffer,
                      (size_t)xd_range_length(at), err);
}

static bool is_blank(const unsigned char *bytes, size_t n)
{
    return n > 0 && bytes[0] == 0 && memcmp(bytes, bytes + 1, n - 1) == 0;
}

/* Chooses one of several places in the same part of the file: one that contains
 * only zeros, or else the first. */
static int choose(struct choosing *k, struct xd_range first, size_t part,
                  const struct xd_places *looks, struct xd_range *out,
                  struct xd_error *err)
{
    *out = first;
    for (size_t look = 0; look < LOOKS; look++) {
        struct xd_range at = map(k->c->held, looks[look].list[part]);
        int rc = read_place(k, at, err);

        if (rc < 0)
            return rc;
        if (is_blank(k->p->buffer, (size_t)xd_range_length(at))) {
            *out = at;
            return 0;
        }
    }
    return 0;
}

static size_t count_places(uint64_t bytes)
{
    uint64_t n = bytes / BYTES_PER_SAMPLE;

    return n < FEWEST ? FEWEST : n > MOST ? MOST : (size_t)n;
}

/* Shortens the place to the part that a depot holds. */
static struct xd_range fit(const struct choosing *k, struct xd_range at)
{
    const struct xd_depots *d = k->c->depots;

    for (; xd_range_length(at) > 1; at.end -= xd_range_length(at) / 2) {
        for (size_t i = 0; i < d->n; i++) {
            if (xd_depot_source(d->list[i], at))
                return at;
        }
    }
    return at;
}

static void add_place(struct choosing *k, struct xd_range at)
{
    if (!xd_range_is_empty(at))
        k->p->list[k->p->n++].at = fit(k, at);
}

static void add_holes(struct choosing *k)
{
    const struct xd_rangeset *holes = k->c->holes;

    for (size_t i = 0; holes && i < holes->n && i < MOST_HOLES; i++) {
        struct xd_range at = xd_rangeset_next(k->c->held, holes->ranges[i]);

        if (xd_range_length(at) > bytes_of_sample(k->c))
            at.end = at.begin + bytes_of_sample(k->c);
        add_place(k, at);
    }
}

static int fill_places(struct choosing *k, const struct xd_places *looks,
                       struct xd_error *err)
{
    const struct xd_places *p = &looks[0];
    int rc = 0;

    k->p->list = xd_alloc(p->n + MOST_HOLES, sizeof *k->p->list);
    if (!k->p->list)
        return xd_fail_nomem(err);
    for (size_t i = 0; rc == 0 && i < p->n; i++) {
        struct xd_range at = map(k->c->held, p->list[i]);

        /* there are alternatives only if places were chosen at random */
        if (i > 0 && i + 1 < p->n && looks[1].n == p->n &&
            looks[1].list[i].begin != p->list[i].begin)
            rc = choose(k, at, i, looks, &at, err);
        add_place(k, at);
    }
    add_holes(k);
    return rc;
}

static int find_places(struct choosing *k, struct xd_error *err)
{
    uint64_t bytes = k->c->held->bytes;
    struct xd_places looks[LOOKS];
    size_t n = 0;
    int rc = 0;

    for (; rc == 0 && n < LOOKS; n++)
        rc = xd_places_init(&looks[n], (struct xd_range){0, bytes},
                            count_places(bytes), bytes_of_sample(k->c),
                            bytes + n * MOST);
    if (rc == 0)
        rc = fill_places(k, looks, err);
    else
        xd_fail_nomem(err);
    while (n > 0)
        xd_places_fini(&looks[--n]);
    return rc;
}

int xd_sample_places_hash(struct xd_sample_places *p,
                          const struct xd_sample_check *c, struct xd_range at,
                          char digest[XD_HASH_HEX_MAX + 1],
                          struct xd_error *err)
{
    struct choosing k = {.p = p, .c = c};

    while (!xd_range_is_empty(at)) {
        struct xd_range part = at;
        int rc;

        if (xd_range_length(part) > SAMPLE_BYTES)
            part.end = part.begin + SAMPLE_BYTES;
        rc = read_place(&k, part, err);
        if (rc < 0)
            return rc;
        xd_hasher_add(p->hasher, p->buffer, (size_t)xd_range_length(part));
        at.begin = part.end;
    }
    xd_hasher_end(p->hasher, digest);
    return 0;
}

int xd_sample_places_init(struct xd_sample_places *p,
                          const struct xd_sample_check *c, struct xd_error *err)
{
    struct choosing k = {.p = p, .c = c};
    int rc;

    *p = (struct xd_sample_places){.buffer = xd_alloc(SAMPLE_BYTES, 1)};
    if (!p->buffer)
        return xd_fail_nomem(err);
    rc = xd_hasher_new(&p->hasher, XD_SAMPLE_HASH, err);
    if (rc == 0)
        rc = find_places(&k, err);
    for (size_t i = 0; rc == 0 && i < p->n; i++)
        rc = xd_sample_places_hash(p, c, p->list[i].at, p->list[i].digest, err);
    return rc;
}

void xd_sample_places_fini(struct xd_sample_places *p)
{
    xd_hasher_free(p->hasher);
    xd_free(p->buffer);
    xd_free(p->list);
    *p = (struct xd_sample_places){0};
}
