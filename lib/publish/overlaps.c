/* SPDX-License-Identifier: MIT */
#include "publish/overlaps.h"

#include "base/alloc.h"
#include "base/error.h"

int xd_overlaps_init(struct xd_overlaps *out, const struct xd_model_file *file,
                     struct xd_error *err)
{
    *out = (struct xd_overlaps){
        .file = file, .list = xd_alloc(file->n_extents + 1, sizeof(size_t))};
    return out->list ? 0 : xd_fail_nomem(err);
}

void xd_overlaps_fini(struct xd_overlaps *o)
{
    xd_free(o->list);
}

static bool ends_behind(const struct xd_model_extent *e, uint64_t at)
{
    return e->length > 0 && e->offset + e->length > at;
}

void xd_overlaps_move(struct xd_overlaps *o, struct xd_range range)
{
    const struct xd_model_file *f = o->file;
    size_t n = 0;

    for (size_t i = 0; i < o->n; i++)
        if (ends_behind(&f->extents[o->list[i]], range.begin))
            o->list[n++] = o->list[i];
    for (; o->next < f->n_extents && f->extents[o->next].offset < range.end;
         o->next++)
        if (ends_behind(&f->extents[o->next], range.begin))
            o->list[n++] = o->next;
    o->n = n;
}
