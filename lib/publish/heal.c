/* SPDX-License-Identifier: MIT */
#include "publish/heal.h"

#include "base/alloc.h"
#include "manifest/model.h"

bool xd_heal_count(struct xd_heal *h, size_t extent)
{
    const struct xd_model_extent *e;

    if (extent >= h->n || --h->left[h->extents[extent]] > 0)
        return false;
    e = &h->file->extents[h->extents[extent]];
    for (size_t i = 0; i < e->n_replicas; i++)
        h->dropped[e->first_replica + i] = h->bad[e->first_replica + i];
    return true;
}

void xd_heal_fini(struct xd_heal *h)
{
    xd_free(h->bad);
    xd_free(h->dropped);
    xd_free(h->extents);
    xd_free(h->left);
}
