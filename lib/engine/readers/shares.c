/* SPDX-License-Identifier: MIT */
#include "engine/readers/shares.h"

#include <stdlib.h>

/* A gap is not kept if each group of readers would then get less than 1 /
 * LEAST_PART of the lookahead. */
#define LEAST_PART 8

static int by_place(const void *a, const void *b)
{
    const struct xd_share *x = a, *y = b;

    return (x->at > y->at) - (x->at < y->at);
}

static uint64_t gap_after(const struct xd_share *s)
{
    return s[1].at - s[0].at;
}

/* Returns the smallest gap that is not kept yet, or NULL. */
static struct xd_share *next_gap(struct xd_share *list, size_t n)
{
    struct xd_share *best = NULL;

    for (size_t i = 0; i + 1 < n; i++)
        if (!list[i].is_led && (!best || gap_after(&list[i]) < gap_after(best)))
            best = &list[i];
    return best;
}

static bool is_worth(uint64_t gap, uint64_t room, size_t fronts,
                     uint64_t lookahead)
{
    if (gap <= room / fronts)
        return true;
    return gap <= room && (room - gap) / (fronts - 1) >= lookahead / LEAST_PART;
}

void xd_shares(struct xd_share *list, size_t n, uint64_t lookahead)
{
    uint64_t room = lookahead;
    size_t fronts = n;
    struct xd_share *s;

    qsort(list, n, sizeof *list, by_place);
    for (size_t i = 0; i < n; i++)
        list[i].is_led = false;
    while (s = next_gap(list, n),
           s && is_worth(gap_after(s), room, fronts, lookahead)) {
        s->is_led = true;
        room -= gap_after(s);
        fronts--;
    }
    for (size_t i = n; i-- > 0;) {
        list[i].front = list[i].is_led ? list[i + 1].front : list[i].at;
        list[i].ahead = room / fronts;
    }
}
