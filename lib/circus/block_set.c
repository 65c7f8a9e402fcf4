/* SPDX-License-Identifier: MIT */
#include "circus/block_set.h"

#include <stdbool.h>

static bool is_set(const struct xd_block_set *b, size_t i)
{
    return b->bits[i / 64] >> i % 64 & 1;
}

/* The middle byte of block `i`; the last one may be short. */
static uint64_t middle(const struct xd_block_set *b, size_t i)
{
    const uint64_t begin = i * b->block, left = b->size - begin;

    return begin + (left < b->block ? left : b->block) / 2;
}

/* The blocks whose middle is one of the bytes: from *out_i to before the result. */
static size_t blocks_of(const struct xd_block_set *b, uint64_t begin,
                        uint64_t end, size_t *out_i)
{
    if (end > b->size)
        end = b->size;
    if (begin >= end)
        return *out_i = 0;
    size_t i = (size_t)(begin / b->block),
           last = (size_t)((end - 1) / b->block);

    *out_i = i + (middle(b, i) < begin);
    return last + (middle(b, last) < end);
}

void xd_block_set_add(struct xd_block_set *b, uint64_t begin, uint64_t end)
{
    size_t i;
    const size_t to = blocks_of(b, begin, end, &i);

    for (; i < to; i++) {
        b->n_set += !is_set(b, i);
        b->bits[i / 64] |= (uint64_t)1 << i % 64;
    }
}

void xd_block_set_remove(struct xd_block_set *b, uint64_t begin, uint64_t end)
{
    size_t i;
    const size_t to = blocks_of(b, begin, end, &i);

    for (; i < to; i++) {
        b->n_set -= is_set(b, i);
        b->bits[i / 64] &= ~((uint64_t)1 << i % 64);
    }
}

/* The first from `i` to before `end` whose bit is `value`; `end` if none is. */
static size_t find(const struct xd_block_set *b, size_t i, size_t end,
                   bool value)
{
    const uint64_t none = value ? 0 : UINT64_MAX;

    while (i < end) {
        if (i % 64 == 0 && b->bits[i / 64] == none)
            i += 64;
        else if (is_set(b, i) == value)
            return i;
        else
            i++;
    }
    return end;
}

size_t xd_block_set_next_missing(const struct xd_block_set *b, size_t i)
{
    const size_t found = find(b, i, b->n, false);

    if (found < b->n)
        return found;
    const size_t before = find(b, 0, i, false);
    return before < i ? before : b->n;
}

size_t xd_block_set_next(const struct xd_block_set *b, size_t i, size_t end)
{
    return find(b, i, end, true);
}
