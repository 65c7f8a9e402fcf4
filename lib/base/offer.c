/* SPDX-License-Identifier: MIT */
#include "base/offer.h"

#include <xdownload/error.h>

#include "base/alloc.h"
#include "base/array.h"

void xd_offer_fini(struct xd_offer *o)
{
    for (size_t i = 0; i < o->n; i++)
        xd_free(o->items[i].url);
    xd_free(o->items);
    *o = (struct xd_offer){.n = 0};
}

void xd_offer_add(struct xd_offer *o, struct xd_offered item)
{
    struct xd_offered *more = NULL;

    if (!o->failed && o->n < XD_OFFERED_MAX) {
        more = xd_grow(o->items, o->n, &o->capacity, sizeof *more);
        o->failed = !more;
    }
    if (!more) {
        xd_free(item.url);
        return;
    }
    o->items = more;
    o->items[o->n++] = item;
}

void xd_offer_add_hash(struct xd_offer *o, const struct xd_offer_hash *hash)
{
    if (o->n_hashes < XD_OFFER_HASHES_MAX)
        o->hashes[o->n_hashes++] = *hash;
}

int xd_offer_copy(struct xd_offer *out, const struct xd_offer *o)
{
    *out = (struct xd_offer){.reach = o->reach, .n_hashes = o->n_hashes};
    for (size_t i = 0; i < o->n_hashes; i++)
        out->hashes[i] = o->hashes[i];
    for (size_t i = 0; i < o->n; i++) {
        struct xd_offered item = o->items[i];

        item.url = xd_url_copy(item.url);
        if (!item.url)
            out->failed = true;
        xd_offer_add(out, item);
    }
    if (!out->failed)
        return 0;
    xd_offer_fini(out);
    return XD_E_NOMEM;
}

static bool is_before(const struct xd_offered *a, const struct xd_offered *b)
{
    if (a->is_preferred != b->is_preferred)
        return a->is_preferred;
    return a->priority < b->priority;
}

/* Uses insertion sort, because it is stable and the list is short. */
void xd_offer_sort(struct xd_offer *o)
{
    for (size_t i = 1; i < o->n; i++) {
        struct xd_offered item = o->items[i];
        size_t at = i;

        for (; at > 0 && is_before(&item, &o->items[at - 1]); at--)
            o->items[at] = o->items[at - 1];
        o->items[at] = item;
    }
}
