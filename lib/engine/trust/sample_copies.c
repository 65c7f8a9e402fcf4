/* SPDX-License-Identifier: MIT */
#include "engine/trust/sample_copies.h"

#include <string.h>

#include "base/alloc.h"
#include "base/array.h"
#include "base/error.h"
#include "base/scatter.h"

/* Minimum length of a file to be sampled.  A shorter file is complete before a
 * second depot answers. */
#define SMALLEST ((uint64_t)1 << 20)
#define SHARE 1000 /* one in so many bytes is sampled */

/* Chooses places that depend only on the range, and that differ for files of
 * different sizes. */
size_t xd_sample_ranges(struct xd_range wanted,
                        struct xd_range out[XD_SAMPLES_MAX])
{
    uint64_t length = xd_range_length(wanted), bytes = length / SHARE, part;
    size_t n = 1;

    if (length < SMALLEST || wanted.end == XD_SIZE_UNKNOWN)
        return 0;
    if (bytes >= XD_SAMPLE_BYTES) {
        n = bytes / XD_SAMPLE_BYTES < XD_SAMPLES_MAX
                ? (size_t)(bytes / XD_SAMPLE_BYTES)
                : XD_SAMPLES_MAX;
        bytes = XD_SAMPLE_BYTES;
    }
    part = length / n;
    for (size_t i = 0; i < n; i++) {
        uint64_t at = xd_scatter(length + i) % (part - bytes + 1);

        out[i].begin = wanted.begin + i * part + at;
        out[i].end = out[i].begin + bytes;
    }
    return n;
}

void xd_sample_copies_init(struct xd_sample_copies *c, struct xd_range range)
{
    *c = (struct xd_sample_copies){.range = range};
}

void xd_sample_copies_fini(struct xd_sample_copies *c)
{
    for (size_t i = 0; i < c->n; i++)
        xd_free(c->list[i].bytes);
    xd_free(c->list);
    *c = (struct xd_sample_copies){.n = 0};
}

static struct xd_sample_copy *find(const struct xd_sample_copies *c,
                                   unsigned depot)
{
    for (size_t i = 0; i < c->n; i++) {
        if (c->list[i].depot == depot)
            return &c->list[i];
    }
    return NULL;
}

static struct xd_sample_copy *add(struct xd_sample_copies *c, unsigned depot,
                                  unsigned origin)
{
    struct xd_sample_copy *list =
        xd_grow(c->list, c->n, &c->capacity, sizeof *list);
    struct xd_sample_copy *o;
    unsigned char *bytes;

    if (!list)
        return NULL;
    c->list = list;
    bytes = xd_alloc((size_t)xd_range_length(c->range), 1);
    if (!bytes)
        return NULL;
    o = &c->list[c->n++];
    *o = (struct xd_sample_copy){
        .depot = depot, .origin = origin, .bytes = bytes};
    return o;
}

int xd_sample_copies_add(struct xd_sample_copies *c, unsigned depot,
                         unsigned origin, struct xd_range range,
                         const void *data)
{
    struct xd_sample_copy *o = find(c, depot);
    struct xd_range new = {c->range.begin + (o ? o->filled : 0), c->range.end};
    size_t len;

    if (range.end < new.end)
        new.end = range.end;
    if (range.begin > new.begin || new.begin >= new.end)
        return 0;
    if (!o)
        o = add(c, depot, origin);
    if (!o)
        return XD_E_NOMEM;
    len = (size_t)xd_range_length(new);
    memcpy(o->bytes + o->filled,
           (const unsigned char *)data + (new.begin - range.begin), len);
    o->filled += len;
    return 0;
}

void xd_sample_copies_forget(struct xd_sample_copies *c, unsigned depot)
{
    struct xd_sample_copy *o = find(c, depot);

    if (!o)
        return;
    xd_free(o->bytes);
    *o = c->list[--c->n];
}

static bool is_complete(const struct xd_sample_copies *c,
                        const struct xd_sample_copy *o)
{
    return o->filled == xd_range_length(c->range);
}

const struct xd_sample_copy *xd_sample_copies_of(
    const struct xd_sample_copies *c, unsigned depot)
{
    const struct xd_sample_copy *o = find(c, depot);

    return o && is_complete(c, o) ? o : NULL;
}

static bool is_cache(const struct xd_sample_copy *o)
{
    return o->origin != o->depot;
}

const struct xd_sample_copy *xd_sample_copies_first(
    const struct xd_sample_copies *c)
{
    for (size_t i = 0; i < c->n; i++) {
        if (is_complete(c, &c->list[i]))
            return &c->list[i];
    }
    return NULL;
}

size_t xd_sample_copies_count(const struct xd_sample_copies *c)
{
    size_t n = 0;
    bool has_cache = false;

    for (size_t i = 0; i < c->n; i++) {
        if (!is_complete(c, &c->list[i]))
            continue;
        if (is_cache(&c->list[i]))
            has_cache = true;
        else
            n++;
    }
    return n + has_cache;
}

bool xd_sample_copy_differs(const struct xd_sample_copies *c,
                            const struct xd_sample_copy *o,
                            const struct xd_sample_copy *right)
{
    return is_complete(c, o) && memcmp(o->bytes, right->bytes, o->filled) != 0;
}

/* Returns the number of independent copies equal to `o`.  All caches whose
 * origin has no complete copy count as one, and other caches do not count. */
static size_t count(const struct xd_sample_copies *c,
                    const struct xd_sample_copy *o)
{
    size_t n = 0;
    bool has_cache = false;

    for (size_t i = 0; i < c->n; i++) {
        const struct xd_sample_copy *other = &c->list[i];

        if (!is_complete(c, other) || xd_sample_copy_differs(c, other, o))
            continue;
        if (!is_cache(other))
            n++;
        else if (!xd_sample_copies_of(c, other->origin))
            has_cache = true;
    }
    return n + has_cache;
}

bool xd_sample_copies_differ(const struct xd_sample_copies *c)
{
    const struct xd_sample_copy *first = xd_sample_copies_first(c);

    for (size_t i = 0; first && i < c->n; i++)
        if (xd_sample_copy_differs(c, &c->list[i], first))
            return true;
    return false;
}

const struct xd_sample_copy *xd_sample_copies_contradicted(
    const struct xd_sample_copies *c, const struct xd_sample_copy **out_right)
{
    for (size_t i = 0; i < c->n; i++) {
        const struct xd_sample_copy *o = &c->list[i];

        if (!is_cache(o))
            continue;
        *out_right = xd_sample_copies_of(c, o->origin);
        if (*out_right && xd_sample_copy_differs(c, o, *out_right))
            return o;
    }
    return NULL;
}

const struct xd_sample_copy *xd_sample_copies_majority(
    const struct xd_sample_copies *c)
{
    const struct xd_sample_copy *best = NULL;
    size_t most = 1;
    bool is_tied = false;

    for (size_t i = 0; i < c->n; i++) {
        const struct xd_sample_copy *o = &c->list[i];
        size_t n = is_complete(c, o) ? count(c, o) : 0;

        if (n > most) {
            most = n;
            best = o;
            is_tied = false;
        } else if (best && n == most && xd_sample_copy_differs(c, o, best)) {
            is_tied = true;
        }
    }
    return is_tied ? NULL : best;
}
