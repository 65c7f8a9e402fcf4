#include "engine/trust/jury.h"

#include <string.h>

#include "base/alloc.h"
#include "base/array.h"
#include "base/error.h"
#include "base/scatter.h"

/* A shorter file is here sooner than a second depot has answered. */
#define SMALLEST ((uint64_t)1 << 20)
#define SHARE 1000 /* one byte of so many is looked at */

/* No two files have their samples at the same places, and nothing but the file
 * decides on them. */
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

void xd_case_init(struct xd_case *c, struct xd_range range)
{
    *c = (struct xd_case){.range = range};
}

void xd_case_fini(struct xd_case *c)
{
    for (size_t i = 0; i < c->n; i++)
        xd_free(c->opinions[i].bytes);
    xd_free(c->opinions);
    *c = (struct xd_case){.n = 0};
}

static struct xd_opinion *find(const struct xd_case *c, unsigned depot)
{
    for (size_t i = 0; i < c->n; i++) {
        if (c->opinions[i].depot == depot)
            return &c->opinions[i];
    }
    return NULL;
}

static struct xd_opinion *add(struct xd_case *c, unsigned depot)
{
    struct xd_opinion *list =
        xd_grow(c->opinions, c->n, &c->capacity, sizeof *list);
    struct xd_opinion *o;
    unsigned char *bytes;

    if (!list)
        return NULL;
    c->opinions = list;
    bytes = xd_alloc((size_t)xd_range_length(c->range), 1);
    if (!bytes)
        return NULL;
    o = &c->opinions[c->n++];
    *o = (struct xd_opinion){.depot = depot, .bytes = bytes};
    return o;
}

int xd_case_hear(struct xd_case *c, unsigned depot, struct xd_range range,
                 const void *data)
{
    struct xd_opinion *o = find(c, depot);
    struct xd_range new = {c->range.begin + (o ? o->filled : 0), c->range.end};
    size_t len;

    if (range.end < new.end)
        new.end = range.end;
    if (range.begin > new.begin || new.begin >= new.end)
        return 0;
    if (!o)
        o = add(c, depot);
    if (!o)
        return XD_E_NOMEM;
    len = (size_t)xd_range_length(new);
    memcpy(o->bytes + o->filled,
           (const unsigned char *)data + (new.begin - range.begin), len);
    o->filled += len;
    return 0;
}

void xd_case_forget(struct xd_case *c, unsigned depot)
{
    struct xd_opinion *o = find(c, depot);

    if (!o)
        return;
    xd_free(o->bytes);
    *o = c->opinions[--c->n];
}

static bool is_complete(const struct xd_case *c, const struct xd_opinion *o)
{
    return o->filled == xd_range_length(c->range);
}

const struct xd_opinion *xd_case_of(const struct xd_case *c, unsigned depot)
{
    const struct xd_opinion *o = find(c, depot);

    return o && is_complete(c, o) ? o : NULL;
}

size_t xd_case_voices(const struct xd_case *c)
{
    size_t n = 0;

    for (size_t i = 0; i < c->n; i++)
        n += is_complete(c, &c->opinions[i]);
    return n;
}

bool xd_case_differs(const struct xd_case *c, const struct xd_opinion *o,
                     const struct xd_opinion *right)
{
    return is_complete(c, o) && memcmp(o->bytes, right->bytes, o->filled) != 0;
}

/* How many hold the opinion. */
static size_t count(const struct xd_case *c, const struct xd_opinion *o)
{
    size_t n = 0;

    for (size_t i = 0; i < c->n; i++)
        n += is_complete(c, &c->opinions[i]) &&
             !xd_case_differs(c, &c->opinions[i], o);
    return n;
}

bool xd_case_is_disputed(const struct xd_case *c)
{
    for (size_t i = 0; i < c->n; i++) {
        if (is_complete(c, &c->opinions[i]))
            return count(c, &c->opinions[i]) < xd_case_voices(c);
    }
    return false;
}

const struct xd_opinion *xd_case_majority(const struct xd_case *c)
{
    const struct xd_opinion *best = NULL;
    size_t most = 1;
    bool is_tied = false;

    for (size_t i = 0; i < c->n; i++) {
        const struct xd_opinion *o = &c->opinions[i];
        size_t n = is_complete(c, o) ? count(c, o) : 0;

        if (n > most) {
            most = n;
            best = o;
            is_tied = false;
        } else if (best && n == most && xd_case_differs(c, o, best)) {
            is_tied = true;
        }
    }
    return is_tied ? NULL : best;
}
