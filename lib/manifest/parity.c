/* SPDX-License-Identifier: MIT */
#include "manifest/parity.h"

#include <stdlib.h>
#include <xdpublish/parity.h>

#include "base/array.h"
#include "base/error.h"

typedef unsigned long long ull;

void xd_builder_stripe(struct xd_builder *b, const struct xd_model_stripe *s)
{
    struct xd_draft *d = &b->draft;
    struct xd_draft_stripe *more =
        xd_grow(d->stripes, d->n_stripes, &d->stripes_capacity, sizeof *more);

    if (!more) {
        b->out_of_memory = true;
        return;
    }
    d->stripes = more;
    more[d->n_stripes] =
        (struct xd_draft_stripe){.row = *s, .order = d->n_stripes};
    d->n_stripes++;
}

/* Compares stripes by offset.  Used stripes come first. */
static int by_offset(const void *left, const void *right)
{
    const struct xd_draft_stripe *a = left, *b = right;

    if (a->row.is_used != b->row.is_used)
        return a->row.is_used ? -1 : 1;
    if (a->row.is_used && a->row.offset != b->row.offset)
        return a->row.offset < b->row.offset ? -1 : 1;
    return (a->order > b->order) - (a->order < b->order);
}

/* Checks the used stripes in order.  Returns how many remain. */
static size_t check_places(struct xd_builder *b, uint64_t file_size)
{
    struct xd_draft *d = &b->draft;
    const struct xd_model_stripe *last = NULL;
    size_t n = 0;

    for (size_t i = 0; i < d->n_stripes && d->stripes[i].row.is_used; i++) {
        struct xd_model_stripe *s = &d->stripes[i].row;

        if (s->offset + s->length > file_size)
            xd_builder_warn(b,
                            "stripe %llu: it ends at byte %llu, but the file "
                            "has %llu; it is not used",
                            (ull)s->number, (ull)(s->offset + s->length),
                            (ull)file_size);
        else if (last && s->offset < last->offset + last->length)
            xd_builder_warn(b,
                            "stripe %llu: it overlaps stripe %llu; it is not "
                            "used",
                            (ull)s->number, (ull)last->number);
        else
            last = s;
        s->is_used = last == s;
        n += s->is_used;
    }
    return n;
}

void xd_parity_take(struct xd_builder *b, const struct xd_model_file *f,
                    struct xd_model_rare *rare)
{
    struct xd_draft *d = &b->draft;
    struct xd_model_stripe *list;
    size_t used = 0, unused, place = 0;

    if (d->n_stripes == 0)
        return;
    qsort(d->stripes, d->n_stripes, sizeof *d->stripes, by_offset);
    unused = rare->n_stripes = check_places(b, f->size);
    list = xd_pool_array(&b->manifest->pool, d->n_stripes, sizeof *list);
    if (!list) {
        b->out_of_memory = true;
        return;
    }
    for (size_t i = 0; i < d->n_stripes; i++) {
        struct xd_model_stripe *s = &d->stripes[i].row;

        s->first_place = place;
        place += s->is_used ? s->n_replicas : 0;
        list[s->is_used ? used++ : unused++] = *s;
    }
    rare->stripes = list;
    rare->n_unused_stripes = d->n_stripes - rare->n_stripes;
}

/* ---- queries ---- */

const struct xd_model_shard *xd_stripe_shard(const struct xd_model_stripe *s,
                                             unsigned number)
{
    size_t low = 0, high = s->n_shards;

    while (low < high) {
        const size_t mid = low + (high - low) / 2;

        if (s->shards[mid].number == number)
            return &s->shards[mid];
        if (s->shards[mid].number < number)
            low = mid + 1;
        else
            high = mid;
    }
    return NULL;
}

/* The product below cannot overflow: it is less than the stripe's length. */
uint64_t xd_stripe_data_length(const struct xd_model_stripe *s, unsigned number)
{
    if ((s->length - 1) / s->shard_bytes < number)
        return 0;
    const uint64_t rest = s->length - s->shard_bytes * number;

    return rest < s->shard_bytes ? rest : s->shard_bytes;
}

unsigned xd_stripe_n_losses(const struct xd_model_stripe *s)
{
    unsigned n = 0;

    for (size_t i = 0; i < s->n_shards; i++)
        n += s->shards[i].n_replicas > 0;
    return n;
}

size_t xd_stripes_n_replicas(const struct xd_model_file *f)
{
    const size_t n = f->rare->n_stripes;
    const struct xd_model_stripe *last =
        n > 0 ? &f->rare->stripes[n - 1] : NULL;

    return last ? last->first_place + last->n_replicas : 0;
}

static int compare_extent(const struct xd_model_extent *e, uint64_t offset,
                          uint64_t length)
{
    if (e->offset != offset)
        return e->offset < offset ? -1 : 1;
    return (e->length > length) - (e->length < length);
}

static const char *extent_sha256(const struct xd_model_file *f, uint64_t offset,
                                 uint64_t length)
{
    size_t low = 0, high = f->n_extents;

    while (low < high) {
        const size_t mid = low + (high - low) / 2;
        const int c = compare_extent(&f->extents[mid], offset, length);

        if (c == 0)
            return xd_model_sha256(f, mid);
        if (c < 0)
            low = mid + 1;
        else
            high = mid;
    }
    return NULL;
}

const char *xd_stripe_sha256(const struct xd_model_file *f,
                             const struct xd_model_stripe *s, unsigned number)
{
    const struct xd_model_shard *shard = xd_stripe_shard(s, number);
    const uint64_t length =
        number < s->k ? xd_stripe_data_length(s, number) : 0;

    if (shard && shard->sha256)
        return shard->sha256;
    return length > 0
               ? extent_sha256(f, s->offset + s->shard_bytes * number, length)
               : NULL;
}

/* ---- getters ---- */

static const struct xd_model_stripe *find_stripe(const struct xd_manifest *m,
                                                 size_t file, size_t stripe)
{
    return file < m->n_files && stripe < m->files[file].rare->n_stripes
               ? &m->files[file].rare->stripes[stripe]
               : NULL;
}

int xd_manifest_stripe(const struct xd_manifest *m, size_t file, size_t stripe,
                       struct xd_stripe *out)
{
    const struct xd_model_stripe *s = find_stripe(m, file, stripe);

    if (!s)
        return XD_E_INVAL;
    const struct xd_stripe row = {.struct_size = sizeof row,
                                  .number = s->number,
                                  .offset = s->offset,
                                  .length = s->length,
                                  .shard_bytes = s->shard_bytes,
                                  .k = s->k,
                                  .n = s->n,
                                  .n_losses = xd_stripe_n_losses(s)};
    return xd_model_copy_row(out, &row, sizeof row);
}

int xd_manifest_shard(const struct xd_manifest *m, size_t file, size_t stripe,
                      size_t shard, struct xd_shard *out)
{
    const struct xd_model_stripe *s = find_stripe(m, file, stripe);

    if (!s || shard >= s->n)
        return XD_E_INVAL;
    const unsigned number = (unsigned)shard;
    const struct xd_model_shard *named = xd_stripe_shard(s, number);
    struct xd_shard row = {.struct_size = sizeof row,
                           .length = s->shard_bytes,
                           .sha256 =
                               xd_stripe_sha256(&m->files[file], s, number),
                           .n_replicas = named ? named->n_replicas : 0};
    if (number < s->k) {
        row.length = xd_stripe_data_length(s, number);
        row.offset =
            s->offset + (row.length > 0 ? s->shard_bytes * number : s->length);
    }
    return xd_model_copy_row(out, &row, sizeof row);
}

static unsigned rights_of(const struct xd_model_shard_replica *r)
{
    return XD_MAY_READ | (r->write ? XD_MAY_WRITE : 0) |
           (r->manage ? XD_MAY_MANAGE : 0);
}

int xd_manifest_shard_replica(const struct xd_manifest *m, size_t file,
                              size_t stripe, size_t shard, size_t replica,
                              struct xd_replica *out)
{
    const struct xd_model_stripe *s = find_stripe(m, file, stripe);
    const struct xd_model_shard *named =
        s && shard < s->n ? xd_stripe_shard(s, (unsigned)shard) : NULL;

    if (!named || replica >= named->n_replicas)
        return XD_E_INVAL;
    const struct xd_replica row =
        xd_stripe_replica(&s->replicas[named->first_replica + replica]);
    return xd_model_copy_row(out, &row, sizeof row);
}

struct xd_replica xd_stripe_replica(const struct xd_model_shard_replica *r)
{
    return (struct xd_replica){.struct_size = sizeof(struct xd_replica),
                               .url = xd_url_secret_text(&r->url),
                               .offset = r->offset,
                               .object_size = XD_SIZE_UNKNOWN,
                               .priority = XD_PRIORITY_NONE,
                               .rights = rights_of(r),
                               .expires = r->expires,
                               .expires_at = r->expires_at};
}
