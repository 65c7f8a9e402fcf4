/* SPDX-License-Identifier: MIT */
/* Rules for FETCH: lane, depot and bytes. */
#include "sim/rules.h"

/* Returns how many requests to a depot in a row may end without a byte.
 * Requests that run in parallel count as one, so the row may be longer by one
 * request for each other lane, both at its beginning and at its end. */
static unsigned most_without_byte(const struct xd_rules *r)
{
    unsigned most = r->o.max_failures > 10 ? r->o.max_failures : 10;

    return most + 2 * (r->o.lanes_per_depot - 1);
}

static enum xd_rule check_place(const struct xd_rules *r,
                                const struct xd_sched_action *a, xd_usec now)
{
    const struct xd_ruled_depot *d = &r->depots[a->depot];

    if (a->fetch >= r->n_fetches || r->fetches[a->fetch].is_live)
        return XD_RULE_NUMBER;
    for (unsigned i = 0; i < r->n_fetches; i++)
        if (r->fetches[i].is_live && r->fetches[i].depot == a->depot &&
            r->fetches[i].lane == a->lane)
            return XD_RULE_LANE;
    if (a->lane >= r->o.lanes_per_depot)
        return XD_RULE_LANE;
    if (xd_rules_running(r, a->depot) >=
        xd_rules_lanes(r, a->depot, a->owns_connection && d->shares))
        return XD_RULE_LIMIT;
    if (d->n_without_byte >= most_without_byte(r))
        return XD_RULE_VAIN;
    if (!d->is_open || d->is_dropped || !xd_rules_is_awake(r, a->depot, now))
        return XD_RULE_USABLE;
    return XD_RULE_NONE;
}

bool xd_rules_crosses_cut(const struct xd_rules *r, struct xd_range range)
{
    for (size_t i = 0; i < r->n_cuts; i++)
        if (r->cuts[i] > range.begin && r->cuts[i] < range.end)
            return true;
    return false;
}

static enum xd_rule check_range(const struct xd_rules *r,
                                const struct xd_sched_action *a)
{
    const struct xd_ruled_depot *d = &r->depots[a->depot];
    uint64_t end = a->range.end;

    if (a->range.begin >= end || a->range.begin < r->wanted.begin ||
        end > r->wanted.end)
        return XD_RULE_WANTED;
    if (!xd_rangeset_contains(&d->has, a->range))
        return XD_RULE_HELD;
    if (!xd_rangeset_contains(&d->holds, a->range))
        return XD_RULE_TIER;
    if (xd_rules_crosses_cut(r, a->range))
        return XD_RULE_CUT;
    if (!d->no_ranges)
        return xd_rules_is_wanted(r, a->range) ? XD_RULE_NONE : XD_RULE_WINDOW;
    for (uint64_t at = a->range.begin; at < end; at = xd_rules_run(r, at, end))
        if (!xd_rules_has(&r->arrived, at) &&
            !xd_rules_could_deliver(r, a->depot, at))
            return XD_RULE_RANGES;
    return XD_RULE_NONE;
}

/* Returns true if the request counts as a copy of the same bytes from `depot`.
 * Depots with and without ranges are counted separately, because a depot
 * without ranges must first prove itself. */
static bool counts_as_copy(const struct xd_rules *r,
                           const struct xd_ruled_fetch *f, unsigned depot)
{
    return r->depots[f->depot].no_ranges == r->depots[depot].no_ranges;
}

static enum xd_rule check_copies(const struct xd_rules *r,
                                 const struct xd_sched_action *a)
{
    uint64_t end = a->range.end;

    for (uint64_t at = a->range.begin; at < end;
         at = xd_rules_run(r, at, end)) {
        unsigned copies = 1;

        for (unsigned i = 0; i < r->n_fetches; i++) {
            const struct xd_ruled_fetch *f = &r->fetches[i];

            if (!f->is_live || f->got > at || f->range.end <= at)
                continue;
            if (f->depot == a->depot)
                return XD_RULE_TWICE;
            copies += counts_as_copy(r, f, a->depot);
        }
        if (r->o.redundancy > 0 && copies > r->o.redundancy)
            return XD_RULE_COPIES;
    }
    return XD_RULE_NONE;
}

static enum xd_rule check_needed(const struct xd_rules *r,
                                 const struct xd_sched_action *a)
{
    uint64_t first = a->range.begin, last = a->range.end - 1;
    bool is_copy = false;

    for (unsigned i = 0; i < r->n_fetches; i++)
        is_copy |= r->fetches[i].is_live &&
                   r->fetches[i].range.begin < a->range.end &&
                   a->range.begin < r->fetches[i].range.end;
    if (is_copy && r->o.whole_blocks && r->is_papers)
        return XD_RULE_NONE; /* paper.c checks this */
    if (xd_rules_has(&r->verified, first) || xd_rules_has(&r->verified, last))
        return XD_RULE_NEEDED;
    if (!is_copy &&
        (xd_rules_has(&r->arrived, first) || xd_rules_has(&r->arrived, last)))
        return XD_RULE_NEEDED;
    return XD_RULE_NONE;
}

static enum xd_rule check_whole(const struct xd_rules *r,
                                const struct xd_sched_action *a)
{
    for (unsigned i = 0; i < r->n_fetches; i++)
        if (r->fetches[i].is_live)
            return XD_RULE_COPIES;
    return a->range.begin == r->wanted.begin && a->range.end == UINT64_MAX
               ? XD_RULE_NONE
               : XD_RULE_WANTED;
}

static enum xd_rule check_bytes(const struct xd_rules *r,
                                const struct xd_sched_action *a, xd_usec now)
{
    enum xd_rule rule;

    if (r->size_is_unknown)
        return check_whole(r, a);
    rule = check_range(r, a);
    if (rule == XD_RULE_NONE)
        rule = check_copies(r, a);
    if (rule == XD_RULE_NONE)
        rule = check_needed(r, a);
    if (rule == XD_RULE_NONE && r->is_papers && !r->depots[a->depot].no_ranges)
        rule = xd_paper_check(r, a, now);
    return rule;
}

enum xd_rule xd_rules_fetch(struct xd_rules *r, const struct xd_sched_action *a,
                            xd_usec now)
{
    enum xd_rule rule = check_place(r, a, now);

    if (rule == XD_RULE_NONE)
        rule = check_bytes(r, a, now);
    if (rule != XD_RULE_NONE)
        return rule;
    r->fetches[a->fetch] = (struct xd_ruled_fetch){
        .is_live = true,
        .depot = a->depot,
        .lane = a->lane,
        .block = r->is_papers && !r->depots[a->depot].no_ranges
                     ? xd_paper_begin(r, a)
                     : UINT64_MAX,
        .range = a->range,
        .got = a->range.begin};
    return XD_RULE_NONE;
}
