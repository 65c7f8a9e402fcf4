/* SPDX-License-Identifier: MIT */
#include "publish/heal_again.h"

#include "base/error.h"
#include "publish/make_upload.h"

static bool is_own(const struct xd_upload *u, size_t place)
{
    return xd_inventory_is_own(u->inventory,
                               xd_model_manage(u->heal.file, place));
}

static struct xd_range range_of(const struct xd_model_extent *e)
{
    return (struct xd_range){e->offset, e->offset + e->length};
}

/* Returns whether the extent has a bad replica that this heal has not made. */
static bool waits(const struct xd_upload *u, const struct xd_model_extent *e)
{
    for (size_t k = e->first_replica; k < e->first_replica + e->n_replicas; k++)
        if (u->heal.bad[k] && !is_own(u, k))
            return true;
    return false;
}

/* Finds the bytes whose bad replicas are still in the manifest.  The earlier
 * run may have made copies of these bytes, but has not dropped the bad
 * replicas. */
static int find_waiting(struct xd_upload *u, struct xd_error *err)
{
    struct xd_heal *h = &u->heal;
    struct xd_range range;
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < h->file->n_extents; i++) {
        const struct xd_model_extent *e = &h->file->extents[i];

        if (!h->lost[i] && waits(u, e))
            rc = xd_rangeset_add(&h->waiting, range_of(e));
    }
    for (size_t i = 0;
         rc == 0 && xd_inventory_replaced(u->inventory, i, &range); i++)
        rc = xd_rangeset_remove(&h->waiting, range);
    return rc < 0 ? xd_fail_nomem(err) : 0;
}

/* Each copy that an earlier run made is a separate extent, so the range of the
 * extent is the range of the copy. */
bool xd_heal_stands(const struct xd_upload *u, size_t i, size_t place)
{
    const struct xd_heal *h = &u->heal;

    return is_own(u, place) &&
           xd_rangeset_contains(&h->waiting, range_of(&h->file->extents[i]));
}

static bool is_own_parity(const struct xd_upload *u,
                          const struct xd_model_stripe *s, size_t replica)
{
    return xd_inventory_is_own(u->inventory, s->replicas[replica].manage);
}

bool xd_heal_stands_parity(const struct xd_upload *u,
                           const struct xd_model_stripe *s,
                           const struct xd_model_shard *shard, size_t replica)
{
    const size_t first = shard->first_replica;

    if (!is_own_parity(u, s, first + replica))
        return false;
    for (size_t i = first; i < first + shard->n_replicas; i++)
        if (u->heal.bad_parity[s->first_place + i] && !is_own_parity(u, s, i))
            return true;
    return false;
}

/* Drops bad copies that an earlier run of this heal made.  The bad replicas
 * that these copies were to replace are still in the manifest, so new copies
 * are still wanted. */
static void drop_bad(struct xd_upload *u)
{
    struct xd_heal *h = &u->heal;

    for (size_t i = 0; i < h->file->n_extents; i++) {
        const struct xd_model_extent *e = &h->file->extents[i];

        for (size_t k = e->first_replica; k < e->first_replica + e->n_replicas;
             k++)
            h->dropped[k] = h->bad[k] && xd_heal_stands(u, i, k);
    }
}

static void drop_bad_of(struct xd_upload *u, const struct xd_model_stripe *s,
                        const struct xd_model_shard *shard)
{
    struct xd_heal *h = &u->heal;

    for (size_t i = 0; i < shard->n_replicas; i++) {
        const size_t place = s->first_place + shard->first_replica + i;

        h->dropped_parity[place] =
            h->bad_parity[place] && xd_heal_stands_parity(u, s, shard, i);
    }
}

static void drop_bad_parity(struct xd_upload *u)
{
    const struct xd_model_rare *rare = u->heal.file->rare;

    for (size_t i = 0; i < rare->n_stripes; i++)
        for (size_t k = 0; k < rare->stripes[i].n_shards; k++)
            drop_bad_of(u, &rare->stripes[i], &rare->stripes[i].shards[k]);
}

static bool has_named_bad(const struct xd_upload *u)
{
    const struct xd_heal *h = &u->heal;
    const struct xd_model_rare *rare = h->file->rare;

    for (size_t i = 0; i < xd_model_n_replicas(h->file); i++)
        if (h->bad[i] &&
            xd_inventory_has_named(u->inventory, xd_model_manage(h->file, i)))
            return true;
    for (size_t i = 0; i < rare->n_stripes; i++) {
        const struct xd_model_stripe *s = &rare->stripes[i];

        for (size_t k = 0; k < s->n_replicas; k++)
            if (h->bad_parity[s->first_place + k] &&
                xd_inventory_has_named(u->inventory, s->replicas[k].manage))
                return true;
    }
    return false;
}

int xd_heal_go_on(struct xd_upload *u, struct xd_error *err)
{
    int rc = find_waiting(u, err);

    if (rc < 0)
        return rc;
    drop_bad(u);
    drop_bad_parity(u);
    if (!has_named_bad(u))
        return 0;
    rc = xd_inventory_rename(u->inventory, err);
    return rc < 0 ? rc : xd_upload_make_name(u, err);
}
