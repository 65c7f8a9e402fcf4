/* SPDX-License-Identifier: MIT */
/*
 * A depot that serves a crowd says which bytes it would best be asked for next: they
 * are in its memory.  What it says may be a lie, so it changes only which of the
 * bytes that nobody was asked for are asked of it first, in a request that is as
 * long as any other.
 *
 *     blocks   |       |       |       |       |       |
 *     missing  ====|         |======================|
 *     hint                           ###
 *     request                        |=======|
 *
 * What is left on both sides is none or a block at least, or small requests would
 * cost more than a lie may; so it begins and ends with blocks.  Towards the end of the
 * file, where requests become smaller, they are made in order.
 */
#include "sched/adaptive/adaptive.h"

/* Where the bytes begin that lie before this one, at most so many, and nobody was
 * asked for. */
static uint64_t begin_of_gap(struct xd_adaptive *p, uint64_t at, uint64_t most)
{
    const uint64_t first = p->book->window->range.begin;
    struct xd_range before = {at - first > most ? at - most : first, at}, run;

    while (p->visits++,
           run = xd_ledger_next(p->book->ledger, XD_BYTES_ASSIGNED, before),
           !xd_range_is_empty(run))
        before.begin = run.end;
    return before.begin;
}

/* Where a request of so many bytes begins that is to have the first of these, with
 * some before them where fewer are left. */
static uint64_t begin_of(struct xd_adaptive *p, struct xd_range r,
                         uint64_t bytes)
{
    const uint64_t block = p->book->o.block_bytes;
    const uint64_t gap = begin_of_gap(p, r.begin, bytes + block);
    uint64_t begin = r.begin;

    if (xd_range_length(r) < bytes)
        begin = r.end > bytes ? r.end - bytes : 0;
    begin -= begin % block;
    return begin < gap + block ? gap : begin;
}

/* And where it ends. */
static uint64_t end_of(const struct xd_adaptive *p, struct xd_range r,
                       uint64_t bytes)
{
    const uint64_t block = p->book->o.block_bytes;
    uint64_t end = r.begin + bytes + block - 1;

    end -= end % block;
    return r.end < end + block ? r.end : end;
}

bool xd_choose_hinted(struct xd_adaptive *p, unsigned fetch, unsigned depot,
                      struct xd_range *out)
{
    struct xd_range *hint = &p->depots[depot].hint;
    double most = xd_most_of(p, depot), size;

    if (xd_range_is_empty(*hint))
        return false;
    if (!xd_find_unasked(p, depot, hint->begin, out) ||
        out->begin >= hint->end ||
        !xd_find_unasked(p, depot, begin_of(p, *out, (uint64_t)most), out)) {
        *hint = (struct xd_range){0, 0};
        return false;
    }
    *out = xd_book_cut(p->book, *out);
    size = xd_request_size(p, fetch, depot, *out);
    if (size < most)
        return false;
    out->end = end_of(p, *out, (uint64_t)size);
    if (hint->begin < out->end)
        hint->begin = out->end;
    return true;
}

void xd_adaptive_hinted(void *policy, unsigned depot, struct xd_range r)
{
    struct xd_adaptive *p = policy;

    p->depots[depot].hint = r;
}
