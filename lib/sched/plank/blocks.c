/* SPDX-License-Identifier: MIT */
#include "sched/plank/blocks.h"

#include <xdownload/error.h>

#include "base/alloc.h"
#include "base/array.h"

int xd_blocks_init(struct xd_blocks *b, struct xd_range whole,
                   uint64_t block_bytes, const uint64_t *cuts, size_t n_cuts)
{
    uint64_t length = xd_range_is_empty(whole) ? 0 : xd_range_length(whole);

    *b = (struct xd_blocks){.whole = whole, .block_bytes = block_bytes};
    b->cuts = xd_alloc(n_cuts, sizeof *b->cuts);
    if (b->cuts == NULL)
        return XD_E_NOMEM;
    for (size_t i = 0; i < n_cuts; i++) {
        if (cuts[i] <= whole.begin || cuts[i] >= whole.end)
            continue;
        if ((cuts[i] - whole.begin) % block_bytes != 0)
            b->cuts[b->n_cuts++] = cuts[i];
    }
    b->n = length / block_bytes + (length % block_bytes != 0) + b->n_cuts;
    return 0;
}

void xd_blocks_fini(struct xd_blocks *b)
{
    xd_free(b->cuts);
    *b = (struct xd_blocks){.n = 0};
}

/* Returns the number of the block that begins at cut k: grid lines up to the
 * cut, plus the cuts before it. */
static uint64_t block_at_cut(const struct xd_blocks *b, size_t k)
{
    return (b->cuts[k] - b->whole.begin) / b->block_bytes + k + 1;
}

static uint64_t block_begin(const struct xd_blocks *b, uint64_t i)
{
    size_t low = 0, high = b->n_cuts;

    if (i >= b->n)
        return b->whole.end;
    /* find how many cuts begin block i or an earlier one */
    while (low < high) {
        size_t mid = low + (high - low) / 2;

        if (block_at_cut(b, mid) <= i)
            low = mid + 1;
        else
            high = mid;
    }
    if (low > 0 && block_at_cut(b, low - 1) == i)
        return b->cuts[low - 1];
    return b->whole.begin + (i - low) * b->block_bytes;
}

struct xd_range xd_blocks_range(const struct xd_blocks *b, uint64_t i)
{
    return (struct xd_range){block_begin(b, i), block_begin(b, i + 1)};
}

uint64_t xd_blocks_find(const struct xd_blocks *b, uint64_t byte)
{
    return (byte - b->whole.begin) / b->block_bytes +
           xd_count_up_to(byte, b->cuts, b->n_cuts, sizeof *b->cuts, 0);
}
