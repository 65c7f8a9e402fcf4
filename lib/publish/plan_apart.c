/* SPDX-License-Identifier: MIT */
/*
 * Keeps overlapping extents apart.  Extents overlap if copies of a file are cut
 * in two ways.  No store gets two overlapping extents.  If one of two
 * overlapping extents is in a group, they also go to different hosts.
 *
 *     by begin   0        1     2        3
 *     extents    [ 0      [ 1   ]        [ 3
 *                         ]     [ 2      ]     ]
 *     reach      end 0    end 0 end 2    end 3
 *
 * `reach` is the largest end of an extent and all extents before it.
 */
#include "base/alloc.h"
#include "base/error.h"
#include "publish/plan_state.h"

static struct xd_range range_of(const struct xd_plan *p, size_t sorted)
{
    return p->extents[p->by_begin[sorted]].range;
}

int xd_plan_find_common(struct xd_plan *p, struct xd_error *err)
{
    bool has_any = false;
    uint64_t end = 0;

    p->reach = xd_alloc(p->n + 1, sizeof *p->reach);
    if (!p->reach)
        return xd_fail_nomem(err);
    for (size_t i = 0; i < p->n; i++) {
        const struct xd_range r = range_of(p, i);

        has_any |= r.begin < end;
        end = r.end > end ? r.end : end;
        p->reach[i] = end;
    }
    if (!has_any)
        return 0;
    p->barred = xd_alloc(p->n * p->n_stores, sizeof *p->barred);
    return p->barred ? 0 : xd_fail_nomem(err);
}

/* Records that `store` has `extent`, or no longer has it.  The extent `other`
 * overlaps it, so `other` must not go to this store.  If one of the two extents
 * is in a group, `other` must not go to any store on this host. */
static void bar(struct xd_plan *p, size_t extent, size_t other, size_t store,
                bool is_in)
{
    const size_t group = p->extents[extent].group,
                 of_other = p->extents[other].group;
    const bool are_grouped =
        group != XD_PLAN_NO_GROUP || of_other != XD_PLAN_NO_GROUP;

    if (extent == other || (group == of_other && are_grouped))
        return;
    xd_plan_count_group(p, other, false);
    for (size_t i = 0; i < p->n_stores; i++) {
        if (i != store && !(are_grouped && p->hosts[i] == p->hosts[store]))
            continue;
        if (is_in)
            p->barred[other * p->n_stores + i]++;
        else
            p->barred[other * p->n_stores + i]--;
    }
    xd_plan_count_group(p, other, true);
    xd_plan_look_from(p, other);
}

void xd_plan_bar(struct xd_plan *p, size_t extent, size_t store, bool is_in)
{
    const struct xd_range r = p->extents[extent].range;
    size_t i;

    if (!p->barred)
        return;
    i = xd_plan_sorted_from(p, r.begin);
    for (size_t k = i; k < p->n && range_of(p, k).begin < r.end; k++)
        bar(p, extent, p->by_begin[k], store, is_in);
    for (; i > 0 && p->reach[i - 1] > r.begin; i--) {
        if (range_of(p, i - 1).end > r.begin)
            bar(p, extent, p->by_begin[i - 1], store, is_in);
    }
}
