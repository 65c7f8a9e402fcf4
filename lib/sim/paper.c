/* SPDX-License-Identifier: MIT */
/* The block selection of section 3.2 of Plank, Atchley, Ding and Beck (2003),
 * by checking every block. */
#include <string.h>
#include <xdownload/error.h>

#include "base/alloc.h"
#include "sched/policy.h"
#include "sim/rules.h"

static bool is_papers(const struct xd_policy *p)
{
    return p == &xd_policy_basic || p == &xd_policy_aggressive ||
           p == &xd_policy_progress;
}

/* Returns the first position after `at` that no request may cross, or the end
 * of the wanted range. */
static uint64_t next_cut(const struct xd_rules *r, uint64_t at)
{
    for (size_t i = 0; i < r->n_cuts; i++)
        if (r->cuts[i] > at && r->cuts[i] < r->wanted.end)
            return r->cuts[i];
    return r->wanted.end;
}

static uint64_t next_block(const struct xd_rules *r, uint64_t at)
{
    uint64_t b = r->o.block_bytes, cut = next_cut(r, at);
    uint64_t passed = (at - r->wanted.begin) % b;

    return cut - at > b - passed ? at + (b - passed) : cut;
}

int xd_paper_init(struct xd_rules *r)
{
    uint64_t at;

    r->is_papers = is_papers(r->o.policy) && !r->size_is_unknown;
    if (!r->is_papers)
        return 0;
    for (at = r->wanted.begin; at < r->wanted.end; at = next_block(r, at))
        r->n_blocks++;
    r->blocks = xd_alloc(r->n_blocks + 1, sizeof *r->blocks);
    r->tried = xd_alloc(r->n_blocks * r->n_depots + 1, sizeof *r->tried);
    if (!r->blocks || !r->tried)
        return XD_E_NOMEM;
    at = r->wanted.begin;
    for (uint64_t i = 0; i < r->n_blocks; i++, at = next_block(r, at))
        r->blocks[i] = at;
    r->blocks[r->n_blocks] = r->wanted.end;
    return 0;
}

static bool *tried(const struct xd_rules *r, uint64_t block, unsigned depot)
{
    return &r->tried[depot * r->n_blocks + block];
}

static void forget_tried(struct xd_rules *r, uint64_t block)
{
    for (unsigned i = 0; i < r->n_depots; i++)
        *tried(r, block, i) = false;
}

static uint64_t first_missing(const struct xd_rules *r, uint64_t block)
{
    return xd_rangeset_next_gap(
               &r->arrived,
               (struct xd_range){r->blocks[block], r->blocks[block + 1]})
        .begin;
}

static bool is_complete(const struct xd_rules *r, uint64_t block)
{
    return first_missing(r, block) == r->blocks[block + 1];
}

static bool runs_at(const struct xd_rules *r, uint64_t block, unsigned depot)
{
    for (unsigned i = 0; i < r->n_fetches; i++)
        if (r->fetches[i].is_live && r->fetches[i].block == block &&
            r->fetches[i].depot == depot)
            return true;
    return false;
}

static unsigned download_number(const struct xd_rules *r, uint64_t block)
{
    unsigned n = 0;

    for (unsigned i = 0; i < r->n_fetches; i++)
        n += r->fetches[i].is_live && r->fetches[i].block == block;
    return n;
}

/* Returns how many running requests for blocks include the byte. */
static unsigned number_at(const struct xd_rules *r, uint64_t byte)
{
    unsigned n = 0;

    for (unsigned i = 0; i < r->n_fetches; i++) {
        const struct xd_ruled_fetch *f = &r->fetches[i];

        n += f->is_live && f->block != UINT64_MAX && f->range.begin <= byte &&
             byte < f->range.end;
    }
    return n;
}

static bool may_take(const struct xd_rules *r, uint64_t block, uint64_t at,
                     unsigned depot, xd_usec now)
{
    if (!xd_rules_has(&r->depots[depot].holds, at) || runs_at(r, block, depot))
        return false;
    if (!*tried(r, block, depot))
        return true;
    for (unsigned i = 0; i < r->n_depots; i++)
        if (i != depot && xd_rules_is_ready(r, i, now) &&
            xd_rules_has(&r->depots[i].holds, at) && !*tried(r, block, i) &&
            !runs_at(r, block, i))
            return false;
    return true;
}

/* Returns the part of a block that counts for a window.  Usually that is the
 * whole block.  It can be less if the window begins within the block: then only
 * the part in the window counts, if bytes before the window are missing or the
 * block extends beyond the window. */
static struct xd_range part_of(const struct xd_rules *r, uint64_t block,
                               struct xd_range w)
{
    struct xd_range part = {r->blocks[block], r->blocks[block + 1]};
    bool is_first = part.begin <= w.begin && w.begin < part.end;

    if (!is_first || (part.end <= w.end && first_missing(r, block) >= w.begin))
        return part;
    part.begin = w.begin;
    part.end = part.end < w.end ? part.end : w.end;
    return part;
}

static struct xd_range choice_in(const struct xd_rules *r, unsigned depot,
                                 struct xd_range w, xd_usec now)
{
    struct xd_range late = {0, 0}, fresh = {0, 0}, thin = {0, 0}, chosen;
    uint64_t later_done = 0;

    for (uint64_t i = r->n_blocks; i-- > 0 && r->blocks[i + 1] > w.begin;) {
        struct xd_range part = part_of(r, i, w);
        bool is_part = part.begin > r->blocks[i] || part.end < r->blocks[i + 1];
        uint64_t at = xd_rangeset_next_gap(&r->arrived, part).begin;
        unsigned number = is_part ? number_at(r, at) : download_number(r, i);

        if (at == part.end) {
            later_done += part.end <= w.end;
            continue;
        }
        if (number >= r->o.redundancy || !may_take(r, i, at, depot, now))
            continue;
        thin = part;
        if (number == 0)
            fresh = part;
        if (r->o.progress == 0 || later_done > r->o.progress)
            late = part;
    }
    chosen = late.end > 0 ? late : fresh.end > 0 ? fresh : thin;
    if (chosen.end > w.end)
        chosen.begin = chosen.end;
    return chosen;
}

struct xd_range xd_paper_choice(const struct xd_rules *r, unsigned depot,
                                xd_usec now)
{
    struct xd_range chosen = {0, 0};

    for (size_t i = 0; i < r->n_windows && xd_range_is_empty(chosen); i++)
        chosen = choice_in(r, depot, r->windows[i].range, now);
    return chosen;
}

static bool has_failed(const struct xd_rules *r, uint64_t block)
{
    for (unsigned i = 0; i < r->n_depots; i++)
        if (*tried(r, block, i))
            return true;
    return false;
}

static uint64_t block_at(const struct xd_rules *r, uint64_t byte)
{
    uint64_t block = 0;

    while (r->blocks[block + 1] <= byte)
        block++;
    return block;
}

/* Returns whether the part lies in the only window.  With several windows it is
 * unknown for which of them the scheduler chose the part. */
static bool is_in_only_window(const struct xd_rules *r, struct xd_range part)
{
    struct xd_range w = r->windows[0].range;

    return r->n_windows == 1 && w.begin <= part.begin && part.end <= w.end;
}

/* Returns true if the whole part must be requested, even the bytes before its
 * first missing byte `at`. */
static bool must_be_whole(const struct xd_rules *r, unsigned depot,
                          struct xd_range part, uint64_t at)
{
    if (!r->o.whole_blocks || number_at(r, at) == 0 ||
        has_failed(r, block_at(r, at)) || !is_in_only_window(r, part) ||
        xd_rules_crosses_cut(r, part) ||
        !xd_rangeset_contains(&r->depots[depot].holds, part))
        return false;
    for (uint64_t i = part.begin; i < part.end; i++)
        if (number_at(r, i) >= r->o.redundancy)
            return false;
    return true;
}

enum xd_rule xd_paper_check(const struct xd_rules *r,
                            const struct xd_sched_action *a, xd_usec now)
{
    struct xd_range part = xd_paper_choice(r, a->depot, now);
    uint64_t at = xd_rangeset_next_gap(&r->arrived, part).begin;

    if (a->range.begin < part.begin || a->range.end > part.end ||
        a->range.begin > at || a->range.end <= at)
        return XD_RULE_CHOICE;
    return (a->range.begin > part.begin || a->range.end < part.end) &&
                   must_be_whole(r, a->depot, part, at)
               ? XD_RULE_COPY
               : XD_RULE_NONE;
}

uint64_t xd_paper_begin(struct xd_rules *r, const struct xd_sched_action *a)
{
    uint64_t block = block_at(r, a->range.begin);

    if (*tried(r, block, a->depot))
        forget_tried(r, block);
    return block;
}

void xd_paper_failed(struct xd_rules *r, const struct xd_ruled_fetch *f)
{
    if (f->block != UINT64_MAX && !is_complete(r, f->block))
        *tried(r, f->block, f->depot) = true;
}

void xd_paper_arrived(struct xd_rules *r, struct xd_range range)
{
    if (!r->is_papers || range.begin < r->wanted.begin ||
        range.begin >= r->wanted.end)
        return;
    for (uint64_t i = block_at(r, range.begin);
         i < r->n_blocks && r->blocks[i] < range.end; i++)
        if (is_complete(r, i))
            forget_tried(r, i);
}
