/* SPDX-License-Identifier: MIT */
/* Which depots may be asked for a byte, by its tiers: found anew for each run of
 * bytes after each change. */
#include "sim/rules.h"

static void put(struct xd_rules *r, struct xd_rangeset *s,
                struct xd_range range, bool value)
{
    int rc = value ? xd_rangeset_add(s, range) : xd_rangeset_remove(s, range);

    if (rc < 0)
        r->failed = true;
}

void xd_rules_put_tier(struct xd_rules *r, unsigned depot,
                       struct xd_range range, unsigned tier)
{
    r->has_tiers |= tier > 0;
    for (unsigned t = 1; t < XD_TIERS; t++)
        put(r, &r->depots[depot].in[t], range, t == tier);
    xd_rules_put(r, depot, range, true);
}

void xd_rules_put(struct xd_rules *r, unsigned depot, struct xd_range range,
                  bool has)
{
    put(r, &r->depots[depot].has, range, has);
    put(r, &r->depots[depot].holds, range, has);
    r->tiers_are_stale = true;
}

static unsigned tier_at(const struct xd_ruled_depot *d, uint64_t at)
{
    for (unsigned t = 1; t < XD_TIERS; t++)
        if (xd_rules_has(&d->in[t], at))
            return t;
    return 0;
}

/* The lowest in which a usable depot that was not set aside has the byte, and up
 * to where all is as there. */
static unsigned lowest_at(const struct xd_rules *r, uint64_t at, uint64_t *end)
{
    unsigned lowest = XD_TIERS;

    *end = UINT64_MAX;
    for (unsigned i = 0; i < r->n_depots; i++) {
        const struct xd_ruled_depot *d = &r->depots[i];

        xd_rules_nearer(&d->has, at, end);
        for (unsigned t = 1; t < XD_TIERS; t++)
            xd_rules_nearer(&d->in[t], at, end);
        if (!d->is_dropped && !d->is_aside && xd_rules_has(&d->has, at) &&
            tier_at(d, at) < lowest)
            lowest = tier_at(d, at);
    }
    return lowest;
}

void xd_rules_settle_tiers(struct xd_rules *r)
{
    if (!r->has_tiers || !r->tiers_are_stale)
        return;
    r->tiers_are_stale = false;
    for (unsigned i = 0; i < r->n_depots; i++)
        xd_rangeset_fini(&r->depots[i].holds);
    for (uint64_t at = 0, end; at < UINT64_MAX; at = end) {
        unsigned lowest = lowest_at(r, at, &end);

        for (unsigned i = 0; i < r->n_depots; i++) {
            struct xd_ruled_depot *d = &r->depots[i];

            if (!d->is_dropped && xd_rules_has(&d->has, at) &&
                tier_at(d, at) <= lowest)
                put(r, &d->holds, (struct xd_range){at, end}, true);
        }
    }
}

void xd_rules_set_aside(struct xd_rules *r, unsigned depot, bool is_aside)
{
    struct xd_ruled_depot *d = &r->depots[depot];

    r->tiers_are_stale |= d->is_aside != is_aside;
    d->is_aside = is_aside && r->has_tiers;
}

xd_usec xd_rules_mute_at(const struct xd_rules *r,
                         const struct xd_ruled_fetch *f)
{
    const struct xd_ruled_depot *d = &r->depots[f->depot];

    if (!r->has_tiers || !f->is_live || d->is_aside)
        return XD_NEVER;
    return (d->answered_at > f->began_at ? d->answered_at : f->began_at) +
           2 * XD_SECOND;
}

void xd_rules_watch(struct xd_rules *r, xd_usec now)
{
    for (unsigned i = 0; i < r->n_fetches; i++)
        if (xd_rules_mute_at(r, &r->fetches[i]) <= now)
            xd_rules_set_aside(r, r->fetches[i].depot, true);
    xd_rules_settle_tiers(r);
}
