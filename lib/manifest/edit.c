/* SPDX-License-Identifier: MIT */
#include "manifest/edit.h"

#include "base/date.h"
#include "base/error.h"
#include "manifest/builder.h"
#include "manifest/hashes.h"

static void *allocate(struct xd_builder *b, size_t size)
{
    void *p = xd_pool_alloc(&b->manifest->pool, size);

    b->out_of_memory |= p == NULL;
    return p;
}

/* ---- what stays ---- */

/* Those that no row holds. */
static void copy_parts(struct xd_builder *b, const struct xd_model_file *f)
{
    for (const struct xd_exnode_part *p = f->rare->parts; p; p = p->next) {
        struct xd_exnode_part *copy = allocate(b, sizeof *copy);

        if (!copy)
            return;
        *copy = *p;
        copy->next = NULL;
        xd_builder_keep_part(&b->draft, copy);
    }
    b->draft.is_exnode = f->rare->is_exnode;
}

static void copy_replica(struct xd_builder *b, const struct xd_model_file *f,
                         const struct xd_model_extent *e, size_t place)
{
    const struct xd_replica row = xd_model_replica_row(f, place);
    const struct xd_exnode_part *part =
        f->rare->mappings ? f->rare->mappings[place] : NULL;
    struct xd_exnode_part *copy = part ? allocate(b, sizeof *copy) : NULL;

    if (copy)
        *copy = *part;
    xd_builder_source(
        b, &(struct xd_source){
               .offset = e->offset,
               .length = e->length,
               .url = xd_span_of(xd_url_secret_text(&f->urls[place])),
               .object_offset = row.offset,
               .object_size = row.object_size,
               .priority = row.priority,
               .location = row.location,
               .sha256 = e->sha256,
               .max_connections = row.max_connections,
               .framing = row.framing,
               .expires = row.expires,
               .functions = row.functions,
               .part = copy,
               .rights = row.rights,
               .expires_at = row.expires_at,
               .reach = f->rare->reaches ? f->rare->reaches[place]
                                         : XD_REACH_MACHINE});
}

static void copy_file(struct xd_builder *b, const struct xd_model_file *f,
                      const bool *dropped)
{
    if (f->path)
        xd_builder_name(b, xd_span_of(f->path));
    xd_builder_size(b, f->size);
    xd_builder_max_connections(b, f->max_connections);
    for (size_t i = 0; i < f->n_hashes; i++)
        xd_builder_hash(b, xd_span_of(f->hashes[i].algorithm),
                        xd_span_of(f->hashes[i].hex));
    xd_builder_copy_pieces(b, f->pieces);
    copy_parts(b, f);
    for (size_t i = 0; i < f->n_extents; i++) {
        const struct xd_model_extent *e = &f->extents[i];

        for (size_t k = 0; k < e->n_replicas; k++) {
            const size_t place = e->first_replica + k;

            if (!dropped || !dropped[place])
                copy_replica(b, f, e, place);
        }
    }
}

/* ---- what is new ---- */

static void begin_file(struct xd_builder *b, const struct xd_edit *edit)
{
    xd_builder_name(b, xd_span_of(edit->path));
    xd_builder_size(b, edit->size);
}

/* Those that were not known before; `f` may be NULL. */
static void add_hashes(struct xd_builder *b, const struct xd_model_file *f,
                       const struct xd_edit *edit)
{
    if (edit->sha256 && (!f || f->n_hashes == 0))
        xd_builder_hash(b, xd_span_of("sha-256"), xd_span_of(edit->sha256));
    if (!f || !f->pieces)
        xd_builder_copy_pieces(b, edit->pieces);
}

static const char *copy_text(struct xd_builder *b, const char *s)
{
    return s ? xd_builder_copy(b, xd_span_of(s)) : NULL;
}

/* Its capabilities, of which there is one at least. */
static struct xd_exnode_part *make_part(struct xd_builder *b,
                                        const struct xd_edit_replica *r)
{
    struct xd_exnode_part *part = allocate(b, sizeof *part);

    if (!part)
        return NULL;
    part->write = copy_text(b, r->write);
    part->manage = copy_text(b, r->manage);
    return part;
}

static void add_replica(struct xd_builder *b, const struct xd_edit_replica *r)
{
    const uint64_t length = xd_range_length(r->range);
    const bool is_secret = r->write || r->manage;
    char date[XD_DATE_SIZE] = "";

    if (r->expires_at > 0)
        xd_date_format((uint64_t)r->expires_at, date);
    xd_builder_source(
        b, &(struct xd_source){
               .offset = r->range.begin,
               .length = length,
               .url = xd_span_of(r->read),
               .object_size = length,
               .priority = XD_PRIORITY_NONE,
               .sha256 = copy_text(b, r->sha256),
               .expires = date[0] ? copy_text(b, date) : NULL,
               .part = is_secret ? make_part(b, r) : NULL,
               .rights = XD_MAY_READ | (r->write ? XD_MAY_WRITE : 0) |
                         (r->manage ? XD_MAY_MANAGE : 0),
               .expires_at = r->expires_at > 0 ? (uint64_t)r->expires_at : 0});
}

int xd_manifest_edit(struct xd_manifest **out, struct xd_manifest *m,
                     size_t file, const struct xd_edit *edit,
                     struct xd_error *err)
{
    struct xd_builder b;
    int rc;

    *out = NULL;
    rc = xd_builder_init(&b, NULL, err);
    if (rc < 0)
        return rc;
    if (m)
        copy_file(&b, &m->files[file], edit->dropped);
    else
        begin_file(&b, edit);
    add_hashes(&b, m ? &m->files[file] : NULL, edit);
    b.draft.upload = copy_text(&b, edit->upload);
    for (size_t i = 0; i < edit->n_added; i++)
        add_replica(&b, &edit->added[i]);
    rc = xd_builder_end_file(&b);
    if (rc == 0 && m && xd_model_hold(b.manifest, m) < 0)
        rc = xd_fail_nomem(err);
    if (rc == 0)
        rc = xd_builder_finish(&b, "exnode", out);
    xd_builder_fini(&b);
    return rc;
}
