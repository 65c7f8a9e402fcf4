/* SPDX-License-Identifier: MIT */
#include "manifest/edit_parity.h"

#include "base/date.h"
#include "manifest/parity.h"

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

/* A stripe that is being edited. */
struct change {
    struct xd_builder *b;
    const struct xd_edit *edit;
    const struct xd_model_stripe *from;
    const struct xd_edit_shard *added; /* new replicas of this stripe */
    size_t n_added;
    struct xd_model_shard *shards;
    struct xd_model_shard_replica *replicas;
    uint32_t n_shards, n_replicas;
};

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

static void keep_replicas(struct change *c, const struct xd_model_shard *shard)
{
    for (size_t i = 0; i < shard->n_replicas; i++) {
        const size_t k = shard->first_replica + i;
        const size_t place = c->from->first_place + k;

        if (is_dropped(c->edit, place))
            continue;
        c->replicas[c->n_replicas] = c->from->replicas[k];
        edit_replica(c->b, &c->replicas[c->n_replicas++], place, c->edit);
    }
}

static void add_replica(struct change *c, const struct xd_edit_shard *s)
{
    struct xd_model_shard_replica *r = &c->replicas[c->n_replicas];
    const char *why;

    *r = (struct xd_model_shard_replica){
        .expires = xd_edit_date(c->b, s->expires_at),
        .expires_at = s->expires_at > 0 ? (uint64_t)s->expires_at : 0,
        .write = xd_edit_text(c->b, s->write),
        .manage = xd_edit_text(c->b, s->manage)};
    why = xd_builder_url(c->b, xd_span_of(s->read), &r->url);
    if (why)
        xd_builder_warn(c->b, "stripe %llu: a replica of its shard %u: %s",
                        (unsigned long long)c->from->number, s->number, why);
    else
        c->n_replicas++;
}

/* Adds a shard with its remaining and new replicas.  It keeps its hash even if
 * no replica is left. */
static void make_shard(struct change *c, unsigned number)
{
    const struct xd_model_shard *before = xd_stripe_shard(c->from, number);
    struct xd_model_shard s = {.number = number,
                               .first_replica = c->n_replicas,
                               .sha256 = before ? before->sha256 : NULL};

    if (before)
        keep_replicas(c, before);
    for (size_t i = 0; i < c->n_added; i++) {
        if (c->added[i].number != number)
            continue;
        if (!s.sha256)
            s.sha256 = xd_edit_text(c->b, c->added[i].sha256);
        add_replica(c, &c->added[i]);
    }
    s.n_replicas = c->n_replicas - s.first_replica;
    if (s.n_replicas > 0 || s.sha256)
        c->shards[c->n_shards++] = s;
}

static bool is_changed(const struct change *c)
{
    const struct xd_edit *edit = c->edit;

    for (size_t i = 0; i < c->from->n_replicas; i++) {
        const size_t place = c->from->first_place + i;

        if (is_dropped(edit, place) ||
            (edit->parity_expires_at && edit->parity_expires_at[place] > 0) ||
            (edit->parity_reads && edit->parity_reads[place]))
            return true;
    }
    return c->n_added > 0;
}

/* Returns the edited stripe.  Unknown metadata of a changed stripe is dropped,
 * because it may no longer be true. */
static struct xd_model_stripe make_stripe(struct change *c)
{
    struct xd_model_stripe s = *c->from;

    if (!is_changed(c))
        return s;
    c->shards = allocate(c->b, s.n_shards + c->n_added, sizeof *c->shards);
    c->replicas =
        allocate(c->b, s.n_replicas + c->n_added, sizeof *c->replicas);
    if (!c->shards || !c->replicas)
        return s;
    for (unsigned i = 0; i < s.n; i++)
        make_shard(c, i);
    s.shards = c->shards;
    s.n_shards = c->n_shards;
    s.replicas = c->replicas;
    s.n_replicas = c->n_replicas;
    s.part = NULL;
    return s;
}

/* Returns how many of the added shards, from `at`, belong to this stripe. */
static size_t count_of(const struct xd_edit *edit, size_t at, size_t stripe)
{
    size_t n = 0;

    while (at + n < edit->n_shards && edit->shards[at + n].stripe == stripe)
        n++;
    return n;
}

static void add_stripes(struct xd_builder *b, const struct xd_edit *edit,
                        const struct xd_model_stripe *list, size_t n)
{
    size_t at = 0;

    for (size_t i = 0; i < n && !b->out_of_memory; i++) {
        struct change c = {.b = b,
                           .edit = edit,
                           .from = &list[i],
                           .added = edit->shards ? edit->shards + at : NULL,
                           .n_added = count_of(edit, at, i)};
        const struct xd_model_stripe s = make_stripe(&c);

        if (s.n_shards > 0 || s.part || edit->upload)
            xd_builder_stripe(b, &s);
        at += c.n_added;
    }
}

void xd_edit_parity(struct xd_builder *b, const struct xd_model_file *f,
                    const struct xd_edit *edit)
{
    if (f && f->rare->n_stripes > 0)
        add_stripes(b, edit, f->rare->stripes, f->rare->n_stripes);
    else
        add_stripes(b, edit, edit->stripes, edit->n_stripes);
    for (size_t i = 0; f && i < f->rare->n_unused_stripes; i++)
        xd_builder_stripe(b, &f->rare->stripes[f->rare->n_stripes + i]);
}
