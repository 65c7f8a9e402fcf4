/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/array.h"
#include "base/check.h"
#include "base/error.h"
#include "publish/plan_state.h"

int xd_plan_new(struct xd_plan **out, size_t n_stores, bool stripes,
                struct xd_error *err)
{
    struct xd_plan *p = xd_alloc(1, sizeof *p);

    *out = NULL;
    if (!p)
        return xd_fail_nomem(err);
    p->n_stores = n_stores;
    p->groups.n_hosts = n_stores;
    p->group = XD_PLAN_NO_GROUP;
    p->stripes = stripes;
    p->stores = xd_alloc(n_stores, sizeof *p->stores);
    if (!p->stores) {
        xd_free(p);
        return xd_fail_nomem(err);
    }
    *out = p;
    return 0;
}

void xd_plan_free(struct xd_plan *p)
{
    if (!p)
        return;
    xd_free(p->stores);
    xd_free(p->extents);
    xd_free(p->places);
    xd_free(p->hosts);
    xd_free(p->by_begin);
    xd_free(p->reach);
    xd_free(p->barred);
    xd_groups_fini(&p->groups);
    xd_free(p);
}

int xd_plan_set_hosts(struct xd_plan *p, const size_t *hosts,
                      struct xd_error *err)
{
    p->hosts = xd_alloc(p->n_stores, sizeof *p->hosts);
    if (!p->hosts)
        return xd_fail_nomem(err);
    memcpy(p->hosts, hosts, p->n_stores * sizeof *p->hosts);
    return 0;
}

int xd_plan_begin_group(struct xd_plan *p, struct xd_error *err)
{
    const int rc = xd_groups_add(&p->groups, err);

    if (rc < 0)
        return rc;
    p->group = p->groups.n - 1;
    p->shard = XD_SHARD_NONE;
    p->more_of = 0;
    p->has_more = false;
    return 0;
}

void xd_plan_begin_shard(struct xd_plan *p, unsigned number)
{
    p->shard = number;
    p->more_of = 0;
}

void xd_plan_begin_more(struct xd_plan *p, unsigned n_data)
{
    p->shard = XD_SHARD_NONE;
    p->more_of = n_data;
    p->has_more = true;
}

bool xd_plan_is_more(const struct xd_plan *p, size_t extent)
{
    return p->extents[extent].more_of > 0;
}

/* Adds the extents of the current group to the sums, or subtracts them from the
 * sums. */
static void count_begun(struct xd_plan *p, bool is_in)
{
    if (p->group != XD_PLAN_NO_GROUP && p->n > 0 &&
        p->extents[p->n - 1].group == p->group)
        xd_plan_count_group(p, p->n - 1, is_in);
}

void xd_plan_use_host(struct xd_plan *p, size_t host, unsigned shard)
{
    count_begun(p, false);
    xd_groups_use(&p->groups, p->group, host, shard);
    count_begun(p, true);
}

void xd_plan_end_group(struct xd_plan *p)
{
    p->group = XD_PLAN_NO_GROUP;
    p->more_of = 0;
    p->has_more = false;
}

void xd_plan_look_from(struct xd_plan *p, size_t extent)
{
    const size_t group = p->extents[extent].group;

    while (group != XD_PLAN_NO_GROUP && extent > 0 &&
           p->extents[extent - 1].group == group)
        extent--;
    if (extent < p->window)
        p->window = extent;
}

/* use_host() records that a store has an extent.  unuse_host() removes the
 * record. */
static void use_host(struct xd_plan *p, size_t extent, size_t store)
{
    const struct xd_plan_extent *e = &p->extents[extent];

    xd_plan_look_from(p, extent);
    xd_plan_bar(p, extent, store, true);
    if (e->group == XD_PLAN_NO_GROUP)
        return;
    if (e->more_of > 0)
        xd_groups_use_more(&p->groups, e->group, p->hosts[store]);
    else
        xd_groups_use(&p->groups, e->group, p->hosts[store], e->shard);
}

static void unuse_host(struct xd_plan *p, size_t extent, size_t store)
{
    const struct xd_plan_extent *e = &p->extents[extent];

    xd_plan_look_from(p, extent);
    xd_plan_bar(p, extent, store, false);
    if (e->group == XD_PLAN_NO_GROUP)
        return;
    if (e->more_of > 0)
        xd_groups_unuse_more(&p->groups, e->group, p->hosts[store]);
    else
        xd_groups_unuse(&p->groups, e->group, p->hosts[store]);
}

static void become_piece(struct xd_plan *p, size_t extent)
{
    if (p->extents[extent].is_piece)
        return;
    xd_plan_count_one(p, extent, false);
    p->extents[extent].is_piece = true;
    xd_plan_count_one(p, extent, true);
}

/* If the shard of the last extent has other extents too, marks all extents of
 * the shard as pieces. */
static void mark_pieces(struct xd_plan *p)
{
    struct xd_plan_extent *last = &p->extents[p->n - 1];

    for (size_t host = 0; host < p->n_stores; host++)
        last->is_piece |=
            xd_groups_has(&p->groups, last->group, host, last->shard);
    for (size_t i = p->n - 1; i > 0 && p->extents[i - 1].group == last->group;
         i--) {
        if (p->extents[i - 1].shard != last->shard)
            continue;
        last->is_piece = true;
        become_piece(p, i - 1);
    }
}

/* Adds the extra copies before number `n` of the current group to the sums, or
 * subtracts them from the sums.  Extra copies wait for the shards of their
 * group. */
static void count_more(struct xd_plan *p, size_t n, bool is_in)
{
    for (size_t i = n;
         p->has_more && i > 0 && p->extents[i - 1].group == p->group; i--) {
        if (p->extents[i - 1].more_of > 0)
            xd_plan_count_one(p, i - 1, is_in);
    }
}

int xd_plan_add(struct xd_plan *p, struct xd_range range, unsigned wanted,
                struct xd_error *err)
{
    const size_t n = p->n;
    struct xd_plan_extent *extents =
        xd_grow(p->extents, p->n, &p->capacity, sizeof *extents);

    if (!extents)
        return xd_fail_nomem(err);
    p->extents = extents;
    if (p->n == p->places_capacity &&
        xd_lengthen(&p->places, p->n * p->n_stores, p->capacity * p->n_stores,
                    sizeof *p->places) < 0)
        return xd_fail_nomem(err);
    p->places_capacity = p->capacity;
    count_more(p, n, false);
    extents[p->n++] = (struct xd_plan_extent){
        .range = range,
        .wanted = wanted,
        .group = p->group,
        .shard = p->shard,
        /* the choice of stores for it depends on all hosts */
        .is_piece = p->more_of > 0,
        .more_of = p->more_of};
    if (p->group != XD_PLAN_NO_GROUP && p->shard != XD_SHARD_NONE)
        mark_pieces(p);
    p->n_missing += wanted;
    count_more(p, n, true);
    xd_plan_count_one(p, n, true);
    return 0;
}

static void pass_complete(struct xd_plan *p)
{
    while (p->first < p->n &&
           p->extents[p->first].n_copies >= p->extents[p->first].wanted)
        p->first++;
}

bool xd_plan_hold(struct xd_plan *p, size_t extent, size_t store)
{
    struct xd_plan_extent *e = &p->extents[extent];

    if (*xd_plan_place(p, extent, store) == XD_PLACE_HELD)
        return false;
    xd_plan_count(p, extent, store, false);
    *xd_plan_place(p, extent, store) = XD_PLACE_HELD;
    use_host(p, extent, store);
    p->n_missing -= e->n_copies < e->wanted;
    e->n_copies++;
    xd_plan_count(p, extent, store, true);
    pass_complete(p);
    return true;
}

static void refuse(struct xd_plan *p, size_t extent, size_t store,
                   enum xd_plan_place why)
{
    if (*xd_plan_place(p, extent, store) != XD_PLACE_FREE)
        return;
    xd_plan_count(p, extent, store, false);
    *xd_plan_place(p, extent, store) = (unsigned char)why;
    p->extents[extent].is_forbidden = true;
    xd_plan_count(p, extent, store, true);
}

void xd_plan_forbid(struct xd_plan *p, size_t extent, size_t store)
{
    refuse(p, extent, store, XD_PLACE_FORBIDDEN);
}

void xd_plan_keep_apart(struct xd_plan *p, size_t extent, size_t store)
{
    refuse(p, extent, store, XD_PLACE_APART);
}

void xd_plan_ready(struct xd_plan *p, size_t n)
{
    p->n_ready = n;
}

bool xd_plan_is_ready(const struct xd_plan *p, size_t extent)
{
    return extent < p->n_ready;
}

size_t xd_plan_n_extents(const struct xd_plan *p)
{
    return p->n;
}

struct xd_range xd_plan_range(const struct xd_plan *p, size_t extent)
{
    return p->extents[extent].range;
}

struct begun {
    uint64_t begin;
    size_t extent;
};

static int by_begin(const void *left, const void *right)
{
    const struct begun *a = left, *b = right;

    if (a->begin != b->begin)
        return a->begin < b->begin ? -1 : 1;
    return (a->extent > b->extent) - (a->extent < b->extent);
}

int xd_plan_sort(struct xd_plan *p, struct xd_error *err)
{
    struct begun *list = xd_alloc(p->n + 1, sizeof *list);

    p->by_begin = xd_alloc(p->n + 1, sizeof *p->by_begin);
    if (!list || !p->by_begin) {
        xd_free(list);
        return xd_fail_nomem(err);
    }
    for (size_t i = 0; i < p->n; i++)
        list[i] = (struct begun){p->extents[i].range.begin, i};
    qsort(list, p->n, sizeof *list, by_begin);
    for (size_t i = 0; i < p->n; i++)
        p->by_begin[i] = list[i].extent;
    xd_free(list);
    return xd_plan_find_common(p, err);
}

size_t xd_plan_sorted(const struct xd_plan *p, size_t i)
{
    return p->by_begin[i];
}

size_t xd_plan_sorted_from(const struct xd_plan *p, uint64_t begin)
{
    size_t low = 0, high = p->n;

    while (low < high) {
        const size_t mid = low + (high - low) / 2;

        if (p->extents[p->by_begin[mid]].range.begin < begin)
            low = mid + 1;
        else
            high = mid;
    }
    return low;
}

size_t xd_plan_find(const struct xd_plan *p, struct xd_range range)
{
    for (size_t i = xd_plan_sorted_from(p, range.begin); i < p->n; i++) {
        const struct xd_range r = p->extents[p->by_begin[i]].range;

        if (r.begin != range.begin)
            break;
        if (r.end == range.end)
            return p->by_begin[i];
    }
    return XD_PLAN_NONE;
}

size_t xd_plan_find_begun(const struct xd_plan *p, struct xd_range range,
                          size_t store)
{
    size_t found = XD_PLAN_NONE;

    for (size_t i = xd_plan_sorted_from(p, range.begin); i < p->n; i++) {
        const size_t extent = p->by_begin[i];
        const struct xd_range r = p->extents[extent].range;

        if (r.begin != range.begin)
            break;
        if (!xd_plan_is_put_off(p, extent, store) &&
            !xd_plan_may_get(p, extent, store))
            continue;
        if (r.end == range.end)
            return extent;
        if (found == XD_PLAN_NONE)
            found = extent;
    }
    return found;
}

bool xd_plan_is_put_off(const struct xd_plan *p, size_t extent, size_t store)
{
    return extent < p->n &&
           *xd_plan_place(p, extent, store) == XD_PLACE_PUT_OFF;
}

bool xd_plan_take(struct xd_plan *p, size_t extent, size_t store)
{
    const bool is_put_off = xd_plan_is_put_off(p, extent, store);

    if (extent >= p->n || (!is_put_off && !xd_plan_may_get(p, extent, store)))
        return false;
    xd_plan_count(p, extent, store, false);
    *xd_plan_place(p, extent, store) = XD_PLACE_UNDER_WAY;
    p->extents[extent].n_copies += !is_put_off;
    p->n_open += !is_put_off;
    if (!is_put_off)
        use_host(p, extent, store);
    xd_plan_count(p, extent, store, true);
    pass_complete(p);
    p->stores[store].under_way += xd_range_length(p->extents[extent].range);
    return true;
}

void xd_plan_sent(struct xd_plan *p, size_t store, uint64_t bytes, xd_usec now)
{
    xd_rate_add(&p->stores[store].rate, now, bytes);
    p->stores[store].sent += bytes;
}

/* Marks the extent as no longer in progress at the store.  Bytes sent beyond
 * its length belong to the other extents in progress at the store, if there are
 * any. */
static void end(struct xd_plan *p, size_t extent, size_t store, xd_usec now)
{
    struct xd_plan_store *s = &p->stores[store];
    const uint64_t length = xd_range_length(p->extents[extent].range);

    XD_ASSERT(*xd_plan_place(p, extent, store) == XD_PLACE_UNDER_WAY);
    s->under_way -= length;
    s->sent = s->under_way == 0 || s->sent < length ? 0 : s->sent - length;
    if (s->under_way > 0)
        return;
    s->known = xd_plan_rate(s, now);
    s->rate = (struct xd_rate){.first = 0};
}

void xd_plan_done(struct xd_plan *p, size_t extent, size_t store, xd_usec now)
{
    end(p, extent, store, now);
    *xd_plan_place(p, extent, store) = XD_PLACE_HELD;
    p->n_open--;
    p->n_missing--;
}

void xd_plan_failed(struct xd_plan *p, size_t extent, size_t store, xd_usec now)
{
    end(p, extent, store, now);
    xd_plan_count(p, extent, store, false);
    *xd_plan_place(p, extent, store) = XD_PLACE_FREE;
    unuse_host(p, extent, store);
    p->extents[extent].n_copies--;
    xd_plan_count(p, extent, store, true);
    p->n_open--;
    if (extent < p->first)
        p->first = extent;
}

void xd_plan_put_off(struct xd_plan *p, size_t extent, size_t store,
                     xd_usec now)
{
    end(p, extent, store, now);
    *xd_plan_place(p, extent, store) = XD_PLACE_PUT_OFF;
}

static void count_all(struct xd_plan *p, bool is_in)
{
    for (size_t i = 0; i < p->n; i++)
        if (i == 0 || p->extents[i].group == XD_PLAN_NO_GROUP ||
            p->extents[i].group != p->extents[i - 1].group)
            xd_plan_count_group(p, i, is_in);
}

void xd_plan_drop(struct xd_plan *p, size_t store)
{
    /* pieces of a shard may go to another host now */
    count_all(p, false);
    p->stores[store].is_dropped = true;
    p->window = p->first;
    count_all(p, true);
}

bool xd_plan_is_dropped(const struct xd_plan *p, size_t store)
{
    return p->stores[store].is_dropped;
}

size_t xd_plan_missing(const struct xd_plan *p)
{
    return p->n_missing;
}
