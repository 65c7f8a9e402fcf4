/* SPDX-License-Identifier: MIT */
#include "engine/trust/places.h"

#include "base/alloc.h"
#include "base/error.h"
#include "base/scatter.h"

/* Chooses all of `within`, in ranges of `bytes` each. */
static int take_whole(struct xd_places *p, struct xd_range within,
                      uint64_t bytes)
{
    uint64_t length = xd_range_length(within);
    size_t n = (size_t)((length + bytes - 1) / bytes);

    p->list = xd_alloc(n, sizeof *p->list);
    if (!p->list)
        return XD_E_NOMEM;
    for (; p->n < n; p->n++) {
        uint64_t begin = within.begin + p->n * bytes, end = begin + bytes;

        p->list[p->n] =
            (struct xd_range){begin, end < within.end ? end : within.end};
    }
    return 0;
}

int xd_places_init(struct xd_places *p, struct xd_range within, size_t n,
                   uint64_t bytes, uint64_t seed)
{
    uint64_t length = xd_range_length(within), part, first;

    *p = (struct xd_places){0};
    if (length == 0)
        return 0;
    if (length < XD_COMPARED_WHOLE || length / bytes < n)
        return take_whole(p, within, bytes);
    p->list = xd_alloc(n, sizeof *p->list);
    if (!p->list)
        return XD_E_NOMEM;
    p->n = n;
    p->list[0] = (struct xd_range){within.begin, within.begin + bytes};
    p->list[n - 1] = (struct xd_range){within.end - bytes, within.end};
    part = n > 2 ? (length - 2 * bytes) / (n - 2) : 0;
    for (size_t i = 1; i + 1 < n; i++) {
        first = p->list[0].end + (i - 1) * part;
        first += xd_scatter(seed + i) % (part - bytes + 1);
        p->list[i] = (struct xd_range){first, first + bytes};
    }
    return 0;
}

void xd_places_fini(struct xd_places *p)
{
    xd_free(p->list);
    *p = (struct xd_places){0};
}
