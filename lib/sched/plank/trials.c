/* SPDX-License-Identifier: MIT */
#include "sched/plank/trials.h"

#include <string.h>
#include <xdownload/error.h>

#include "base/alloc.h"
#include "base/array.h"

void xd_trials_fini(struct xd_trials *t)
{
    xd_free(t->list);
    *t = (struct xd_trials){.n = 0};
}

/* Returns the index of the first entry at or after (block, depot). */
static size_t find(const struct xd_trials *t, uint64_t block, unsigned depot)
{
    size_t low = 0, high = t->n;

    while (low < high) {
        size_t mid = low + (high - low) / 2;
        const struct xd_trial *at = &t->list[mid];

        if (at->block < block || (at->block == block && at->depot < depot))
            low = mid + 1;
        else
            high = mid;
    }
    return low;
}

bool xd_trials_has(const struct xd_trials *t, uint64_t block, unsigned depot)
{
    size_t i = find(t, block, depot);

    return i < t->n && t->list[i].block == block && t->list[i].depot == depot;
}

int xd_trials_add(struct xd_trials *t, uint64_t block, unsigned depot)
{
    size_t i = find(t, block, depot);
    struct xd_trial *grown;

    if (xd_trials_has(t, block, depot))
        return 0;
    grown = xd_grow(t->list, t->n, &t->capacity, sizeof *grown);
    if (grown == NULL)
        return XD_E_NOMEM;
    t->list = grown;
    memmove(t->list + i + 1, t->list + i, (t->n - i) * sizeof *t->list);
    t->list[i] = (struct xd_trial){block, depot};
    t->n++;
    return 0;
}

bool xd_trials_any(const struct xd_trials *t, uint64_t block)
{
    size_t i = find(t, block, 0);

    return i < t->n && t->list[i].block == block;
}

void xd_trials_forget(struct xd_trials *t, uint64_t block)
{
    size_t begin = find(t, block, 0), end = begin;

    while (end < t->n && t->list[end].block == block)
        end++;
    if (begin == end)
        return;
    memmove(t->list + begin, t->list + end, (t->n - end) * sizeof *t->list);
    t->n -= end - begin;
}
