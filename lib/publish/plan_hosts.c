/* SPDX-License-Identifier: MIT */
/* Decides which store may get an extent of a group. */
#include "publish/plan_state.h"

static unsigned missing_copies(const struct xd_plan_extent *e)
{
    return e->n_copies < e->wanted ? e->wanted - e->n_copies : 0;
}

static bool has_store(const struct xd_plan *p, size_t host)
{
    for (size_t i = 0; i < p->n_stores; i++) {
        if (p->hosts[i] == host && !p->stores[i].is_dropped)
            return true;
    }
    return false;
}

/* Returns the number of hosts that may get an extent of the group. */
static size_t count_hosts(const struct xd_plan *p, size_t group)
{
    size_t n = 0;

    for (size_t host = 0; host < p->n_stores; host++)
        n += xd_groups_is_free(&p->groups, group, host) && has_store(p, host);
    return n;
}

size_t xd_plan_n_hosts(const struct xd_plan *p)
{
    return count_hosts(p, p->groups.n - 1);
}

/* Returns whether the host already has some bytes of the extent, or is not
 * allowed to get them. */
static bool has_bytes(const struct xd_plan *p, size_t extent, size_t host)
{
    const struct xd_plan_extent *e = &p->extents[extent];
    size_t i = extent;

    for (size_t store = 0; p->barred && store < p->n_stores; store++) {
        if (p->hosts[store] == host && xd_plan_is_barred(p, extent, store))
            return true;
    }
    while (i > 0 && p->extents[i - 1].group == e->group)
        i--;
    for (; i < p->n && p->extents[i].group == e->group; i++) {
        if (xd_range_is_empty(xd_range_clip(p->extents[i].range, e->range)))
            continue;
        for (size_t store = 0; store < p->n_stores; store++) {
            if (p->hosts[store] == host &&
                *xd_plan_place(p, i, store) != XD_PLACE_FREE)
                return true;
        }
    }
    return false;
}

/* Returns whether the host has other pieces of the shard and may get this piece
 * too. */
static bool may_join(const struct xd_plan *p, size_t extent, size_t host)
{
    const struct xd_plan_extent *e = &p->extents[extent];

    return xd_groups_has(&p->groups, e->group, host, e->shard) &&
           has_store(p, host) && !has_bytes(p, extent, host);
}

static bool may_join_any(const struct xd_plan *p, size_t extent)
{
    for (size_t host = 0; host < p->n_stores; host++) {
        if (may_join(p, extent, host))
            return true;
    }
    return false;
}

/* Returns whether the group lacks a shard that could go to this host. */
static bool waits_for(const struct xd_plan *p, size_t extent, size_t host)
{
    const size_t group = p->extents[extent].group;
    size_t i = extent;

    while (i > 0 && p->extents[i - 1].group == group)
        i--;
    for (; i < p->n && p->extents[i].group == group; i++) {
        if (p->extents[i].more_of > 0 || missing_copies(&p->extents[i]) == 0)
            continue;
        for (size_t store = 0; store < p->n_stores; store++) {
            if (p->hosts[store] == host && !p->stores[store].is_dropped &&
                *xd_plan_place(p, i, store) == XD_PLACE_FREE &&
                !xd_plan_is_barred(p, i, store))
                return true;
        }
    }
    return false;
}

/* Returns whether the host may get this extra copy.  Extra copies must not take
 * a host that a missing shard could use. */
static bool may_take_more(const struct xd_plan *p, size_t extent, size_t host)
{
    const struct xd_plan_extent *e = &p->extents[extent];

    if (!xd_groups_takes_more(&p->groups, e->group, host, e->more_of) ||
        has_bytes(p, extent, host))
        return false;
    return !xd_groups_is_free(&p->groups, e->group, host) ||
           !waits_for(p, extent, host);
}

/* Returns whether the host may get the extent.  Pieces of a shard share a host
 * if possible, so that enough hosts remain for other shards. */
static bool may_lie_on(const struct xd_plan *p, size_t extent, size_t host)
{
    const struct xd_plan_extent *e = &p->extents[extent];

    if (e->more_of > 0)
        return may_take_more(p, extent, host);
    if (xd_groups_is_free(&p->groups, e->group, host))
        return !e->is_piece || !may_join_any(p, extent);
    return e->is_piece && may_join(p, extent, host);
}

bool xd_plan_is_free(const struct xd_plan *p, size_t extent, size_t store)
{
    return *xd_plan_place(p, extent, store) == XD_PLACE_FREE &&
           !xd_plan_is_barred(p, extent, store) &&
           (p->extents[extent].group == XD_PLAN_NO_GROUP ||
            may_lie_on(p, extent, p->hosts[store]));
}

/* Returns how many more hosts a group needs.  All pieces of a shard can share
 * hosts, so they need no more hosts than one piece. */
static size_t hosts_needed(const struct xd_plan *p, size_t extent)
{
    const size_t group = p->extents[extent].group;
    size_t n = 0, of_shard = 0;

    while (extent > 0 && p->extents[extent - 1].group == group)
        extent--;
    for (size_t i = extent; i < p->n && p->extents[i].group == group; i++) {
        const struct xd_plan_extent *e = &p->extents[i];
        size_t missing = e->more_of > 0 ? 0 : missing_copies(e);

        if (e->is_piece && missing > 0 && may_join_any(p, i))
            missing--;
        if (i == extent || e->shard == XD_SHARD_NONE || e->shard != e[-1].shard)
            of_shard = 0;
        n += missing > of_shard ? missing - of_shard : 0;
        of_shard = missing > of_shard ? missing : of_shard;
    }
    return n;
}

bool xd_plan_needs_all(const struct xd_plan *p, size_t extent)
{
    const size_t group = p->extents[extent].group;

    return group != XD_PLAN_NO_GROUP &&
           count_hosts(p, group) <= hosts_needed(p, extent);
}

bool xd_plan_may_get(const struct xd_plan *p, size_t extent, size_t store)
{
    const struct xd_plan_extent *e = &p->extents[extent];

    return e->n_copies < e->wanted && xd_plan_is_free(p, extent, store);
}

static void count_at(struct xd_plan *p, size_t extent, size_t store, bool is_in)
{
    const struct xd_plan_extent *e = &p->extents[extent];
    const uint64_t length = xd_range_length(e->range);

    p->visits++;
    if (xd_plan_missing_of(e) > 0 && xd_plan_is_free(p, extent, store))
        p->stores[store].unsent += is_in ? length : -length;
}

void xd_plan_count_one(struct xd_plan *p, size_t extent, bool is_in)
{
    const uint64_t missing = xd_plan_missing_of(&p->extents[extent]);

    p->unsent += is_in ? missing : -missing;
    for (size_t i = 0; missing > 0 && i < p->n_stores; i++)
        count_at(p, extent, i, is_in);
}

static size_t first_of_group(const struct xd_plan *p, size_t extent)
{
    const size_t group = p->extents[extent].group;

    while (extent > 0 && p->extents[extent - 1].group == group)
        extent--;
    return extent;
}

void xd_plan_count_group(struct xd_plan *p, size_t extent, bool is_in)
{
    const size_t group = p->extents[extent].group;

    if (group == XD_PLAN_NO_GROUP) {
        xd_plan_count_one(p, extent, is_in);
        return;
    }
    for (size_t i = first_of_group(p, extent);
         i < p->n && p->extents[i].group == group; i++)
        xd_plan_count_one(p, i, is_in);
}

/* Returns true if the choice of a store for the extent depends on all hosts.
 * For any other extent, it depends only on the host of that store. */
static bool depends_on_all(const struct xd_plan_extent *e)
{
    return e->is_piece || e->more_of > 0;
}

/* Counts the other extents of the group for this store: adds them to its sum of
 * unsent bytes, or subtracts them.  Skips extents whose choice of stores
 * depends on all hosts. */
static void count_others(struct xd_plan *p, size_t extent, size_t store,
                         bool is_in)
{
    const size_t group = p->extents[extent].group;

    for (size_t i = first_of_group(p, extent);
         i < p->n && p->extents[i].group == group; i++)
        if (i != extent && !depends_on_all(&p->extents[i]))
            count_at(p, i, store, is_in);
}

/* Most other extents of the group depend only on the objects of this host, so
 * they are counted only for this host.  Counting them for all hosts would be
 * slow for a code with many shards. */
void xd_plan_count(struct xd_plan *p, size_t extent, size_t store, bool is_in)
{
    const size_t group = p->extents[extent].group;

    xd_plan_count_one(p, extent, is_in);
    if (group == XD_PLAN_NO_GROUP)
        return;
    for (size_t i = first_of_group(p, extent);
         i < p->n && p->extents[i].group == group; i++)
        if (i != extent && depends_on_all(&p->extents[i]))
            xd_plan_count_one(p, i, is_in);
    for (size_t i = 0; i < p->n_stores; i++)
        if (p->hosts[i] == p->hosts[store])
            count_others(p, extent, i, is_in);
}
