/* The choices of section 3.2 of Plank, Atchley, Ding and Beck (2003), made by
 * looking at every block. */
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

/* The cut behind `at`, or the end. */
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
    return &r->tried[block * r->n_depots + depot];
}

static void forget_tried(struct xd_rules *r, uint64_t block)
{
    memset(tried(r, block, 0), 0, r->n_depots * sizeof *r->tried);
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

static bool may_take(const struct xd_rules *r, uint64_t block, unsigned depot,
                     xd_usec now)
{
    uint64_t at = first_missing(r, block);

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

uint64_t xd_paper_choice(const struct xd_rules *r, unsigned depot, xd_usec now)
{
    uint64_t late = r->n_blocks, fresh = r->n_blocks, thin = r->n_blocks;
    uint64_t later_done = 0, chosen;

    for (uint64_t i = r->n_blocks; i-- > 0;) {
        unsigned number;

        if (is_complete(r, i)) {
            later_done++;
            continue;
        }
        number = download_number(r, i);
        if (number >= r->o.redundancy || !may_take(r, i, depot, now))
            continue;
        thin = i;
        if (number == 0)
            fresh = i;
        if (r->o.progress == 0 || later_done > r->o.progress)
            late = i;
    }
    chosen = late < r->n_blocks ? late : fresh < r->n_blocks ? fresh : thin;
    if (chosen < r->n_blocks && r->blocks[chosen + 1] > xd_rules_limit(r))
        return r->n_blocks;
    return chosen;
}

enum xd_rule xd_paper_check(const struct xd_rules *r,
                            const struct xd_sched_action *a, xd_usec now)
{
    uint64_t block = xd_paper_choice(r, a->depot, now), at;

    if (block == r->n_blocks || a->range.begin < r->blocks[block] ||
        a->range.end > r->blocks[block + 1])
        return XD_RULE_CHOICE;
    at = first_missing(r, block);
    return a->range.begin > at || a->range.end <= at ? XD_RULE_CHOICE
                                                     : XD_RULE_NONE;
}

static uint64_t block_at(const struct xd_rules *r, uint64_t byte)
{
    uint64_t block = 0;

    while (r->blocks[block + 1] <= byte)
        block++;
    return block;
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
