/* SPDX-License-Identifier: MIT */
/* Finds the depots that may be asked for each byte.  These are the depots that
 * have the byte in the lowest tier.  The result is updated after every
 * change. */
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

/* Returns the lowest tier in which a usable depot has the byte, and the end of
 * the run of bytes with the same tier. */
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
