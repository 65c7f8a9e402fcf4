/* SPDX-License-Identifier: MIT */
#include "publish/heal.h"

#include "base/alloc.h"
#include "base/array.h"
#include "base/error.h"
#include "manifest/model.h"
#include "manifest/parity.h"

int xd_heal_init(struct xd_heal *h, const struct xd_model_file *file,
                 struct xd_error *err)
{
    const size_t n = xd_model_n_replicas(file) + 1;
    const size_t n_parity = xd_stripes_n_replicas(file) + 1;

    *h = (struct xd_heal){
        .file = file,
        .bad = xd_alloc(n, sizeof *h->bad),
        .dropped = xd_alloc(n, sizeof *h->dropped),
        .made = xd_alloc(n, sizeof *h->made),
        .bad_parity = xd_alloc(n_parity, sizeof *h->bad_parity),
        .dropped_parity = xd_alloc(n_parity, sizeof *h->dropped_parity),
        .left = xd_alloc(file->n_extents + 1, sizeof *h->left),
        .lost = xd_alloc(file->n_extents + 1, sizeof *h->lost),
        .no_copy = xd_alloc(file->n_extents + 1, sizeof *h->no_copy),
        .cuts = xd_alloc(file->n_extents + 1, sizeof *h->cuts)};
    return h->bad && h->dropped && h->bad_parity && h->dropped_parity &&
                   h->made && h->left && h->lost && h->no_copy && h->cuts
               ? 0
               : xd_fail_nomem(err);
}

int xd_heal_add(struct xd_heal *h, struct xd_heal_item item,
                struct xd_error *err)
{
    struct xd_heal_item *items =
        xd_grow(h->items, h->n, &h->capacity, sizeof *items);

    if (!items)
        return xd_fail_nomem(err);
    h->items = items;
    items[h->n++] = item;
    if (!item.stripe)
        h->left[item.extent] += item.left;
    return 0;
}

static void drop(bool *dropped, const bool *bad, size_t first, size_t n)
{
    for (size_t i = first; i < first + n; i++)
        dropped[i] = bad[i];
}

bool xd_heal_wants(const struct xd_heal *h, size_t extent)
{
    return extent >= h->n || h->items[extent].left > 0;
}

bool xd_heal_count(struct xd_heal *h, size_t extent)
{
    struct xd_heal_item *item;

    if (extent >= h->n)
        return false;
    item = &h->items[extent];
    if (item->left == 0)
        return false;
    item->left--;
    if (item->stripe) {
        if (item->left > 0)
            return false;
        drop(h->dropped_parity, h->bad_parity,
             item->stripe->first_place + item->shard->first_replica,
             item->shard->n_replicas);
    } else {
        const struct xd_model_extent *e = &h->file->extents[item->extent];

        if (--h->left[item->extent] > 0)
            return false;
        drop(h->dropped, h->bad, e->first_replica, e->n_replicas);
    }
    return true;
}

void xd_heal_fini(struct xd_heal *h)
{
    xd_rangeset_fini(&h->waiting);
    xd_free(h->bad);
    xd_free(h->dropped);
    xd_free(h->bad_parity);
    xd_free(h->dropped_parity);
    xd_free(h->items);
    xd_free(h->left);
    xd_free(h->lost);
    xd_free(h->no_copy);
    xd_free(h->made);
    xd_free(h->cuts);
}
