/* SPDX-License-Identifier: MIT */
#include "manifest/edit_parity.h"

#include "base/date.h"

const char *xd_edit_text(struct xd_builder *b, const char *s)
{
    return s ? xd_builder_copy(b, xd_span_of(s)) : NULL;
}

const char *xd_edit_date(struct xd_builder *b, int64_t at)
{
    char date[XD_DATE_SIZE];

    if (at <= 0)
        return NULL;
    xd_date_format((uint64_t)at, date);
    return date[0] ? xd_builder_copy(b, xd_span_of(date)) : NULL;
}

static void *allocate(struct xd_builder *b, size_t n, size_t size)
{
    void *p = xd_pool_array(&b->manifest->pool, n, size);

    b->out_of_memory |= p == NULL;
    return p;
}

static bool is_dropped(const struct xd_edit *edit, size_t place)
{
    return edit->dropped_parity && edit->dropped_parity[place];
}

/* With what is new of it, which is a text that the manifest holds. */
static void edit_replica(struct xd_builder *b, struct xd_model_shard_replica *r,
                         size_t place, const struct xd_edit *edit)
{
    const int64_t at =
        edit->parity_expires_at ? edit->parity_expires_at[place] : 0;
    const char *date = xd_edit_date(b, at);
    const char *read = edit->parity_reads ? edit->parity_reads[place] : NULL;

    if (read)
        (void)xd_builder_url(b, xd_span_of(read), &r->url);
    if (!date)
        return;
    r->expires = date;
    r->expires_at = (uint64_t)at;
}

/* What is known of one that has no replica left, its hash, stays known. */
static void edit_shard(struct xd_builder *b, struct xd_model_shard *shard,
                       const struct xd_model_stripe *from,
                       struct xd_model_shard_replica *to, uint32_t *n,
                       const struct xd_edit *edit)
{
    const uint32_t first = *n;

    for (size_t i = 0; i < shard->n_replicas; i++) {
        const size_t k = shard->first_replica + i;

        if (is_dropped(edit, from->first_place + k))
            continue;
        to[*n] = from->replicas[k];
        edit_replica(b, &to[(*n)++], from->first_place + k, edit);
    }
    shard->first_replica = first;
    shard->n_replicas = *n - first;
}

static bool is_changed(const struct xd_model_stripe *s,
                       const struct xd_edit *edit)
{
    for (size_t i = 0; s->is_used && i < s->n_replicas; i++) {
        const size_t place = s->first_place + i;

        if (is_dropped(edit, place) ||
            (edit->parity_expires_at && edit->parity_expires_at[place] > 0) ||
            (edit->parity_reads && edit->parity_reads[place]))
            return true;
    }
    return false;
}

/* What else stood in one that is changed is not kept: it may not hold any more. */
static struct xd_model_stripe edit_stripe(struct xd_builder *b,
                                          const struct xd_model_stripe *from,
                                          const struct xd_edit *edit)
{
    struct xd_model_stripe s = *from;
    struct xd_model_shard *shards;
    struct xd_model_shard_replica *replicas;

    if (!is_changed(from, edit))
        return s;
    shards = allocate(b, s.n_shards, sizeof *shards);
    replicas = allocate(b, s.n_replicas, sizeof *replicas);
    if (!shards || !replicas)
        return s;
    s.n_replicas = 0;
    for (size_t i = 0; i < s.n_shards; i++) {
        shards[i] = s.shards[i];
        edit_shard(b, &shards[i], from, replicas, &s.n_replicas, edit);
    }
    s.shards = shards;
    s.replicas = replicas;
    s.part = NULL;
    return s;
}

void xd_edit_parity(struct xd_builder *b, const struct xd_model_file *f,
                    const struct xd_edit *edit)
{
    const size_t n = f ? f->rare->n_stripes + f->rare->n_unused_stripes : 0;

    for (size_t i = 0; i < n; i++) {
        const struct xd_model_stripe s =
            edit_stripe(b, &f->rare->stripes[i], edit);

        xd_builder_stripe(b, &s);
    }
}
