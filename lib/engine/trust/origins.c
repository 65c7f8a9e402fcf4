#include "engine/trust/origins.h"

#include <string.h>
#include <xdownload/error.h>

#include "base/alloc.h"
#include "base/array.h"

void xd_origins_fini(struct xd_origins *o)
{
    xd_free(o->runs);
    *o = (struct xd_origins){0};
}

size_t xd_origins_find(const struct xd_origins *o, uint64_t byte)
{
    return xd_count_up_to(byte, o->runs, o->n, sizeof *o->runs,
                          offsetof(struct xd_origin, range.end));
}

static int reserve(struct xd_origins *o)
{
    struct xd_origin *runs = xd_grow(o->runs, o->n, &o->capacity, sizeof *runs);

    if (!runs)
        return XD_E_NOMEM;
    o->runs = runs;
    return 0;
}

static void take_out(struct xd_origins *o, size_t first, size_t n)
{
    if (n == 0)
        return; /* there may be no runs yet */
    memmove(o->runs + first, o->runs + first + n,
            (o->n - first - n) * sizeof *o->runs);
    o->n -= n;
}

static void put_in(struct xd_origins *o, size_t at, struct xd_origin run)
{
    memmove(o->runs + at + 1, o->runs + at, (o->n - at) * sizeof *o->runs);
    o->runs[at] = run;
    o->n++;
}

int xd_origins_add(struct xd_origins *o, struct xd_range range, unsigned depot)
{
    size_t at = xd_origins_find(o, range.begin);
    bool joins_before = at > 0 && o->runs[at - 1].depot == depot &&
                        o->runs[at - 1].range.end == range.begin;
    bool joins_after = at < o->n && o->runs[at].depot == depot &&
                       o->runs[at].range.begin == range.end;

    if (xd_range_is_empty(range))
        return 0;
    if (joins_before && joins_after) {
        o->runs[at - 1].range.end = o->runs[at].range.end;
        take_out(o, at, 1);
    } else if (joins_before) {
        o->runs[at - 1].range.end = range.end;
    } else if (joins_after) {
        o->runs[at].range.begin = range.begin;
    } else {
        if (reserve(o) < 0)
            return XD_E_NOMEM;
        put_in(o, at, (struct xd_origin){range, depot});
    }
    return 0;
}

/* Make `byte` the edge of a run, if it lies inside one. */
static int cut(struct xd_origins *o, uint64_t byte)
{
    size_t at = xd_origins_find(o, byte);
    struct xd_origin behind;

    if (at == o->n || o->runs[at].range.begin >= byte)
        return 0;
    if (reserve(o) < 0)
        return XD_E_NOMEM;
    behind = o->runs[at];
    behind.range.begin = byte;
    o->runs[at].range.end = byte;
    put_in(o, at + 1, behind);
    return 0;
}

int xd_origins_remove(struct xd_origins *o, struct xd_range range)
{
    size_t first, end;

    if (xd_range_is_empty(range))
        return 0;
    if (cut(o, range.begin) < 0 || cut(o, range.end) < 0)
        return XD_E_NOMEM;
    first = xd_origins_find(o, range.begin);
    end = first;
    while (end < o->n && o->runs[end].range.end <= range.end)
        end++;
    take_out(o, first, end - first);
    return 0;
}

int xd_origins_copy(struct xd_origins *o, const struct xd_origins *from,
                    struct xd_range range)
{
    for (size_t i = xd_origins_find(from, range.begin);
         i < from->n && from->runs[i].range.begin < range.end; i++) {
        const struct xd_origin *run = &from->runs[i];

        if (xd_origins_add(o, xd_range_clip(run->range, range), run->depot) < 0)
            return XD_E_NOMEM;
    }
    return 0;
}
