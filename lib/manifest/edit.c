/* SPDX-License-Identifier: MIT */
#include "manifest/edit.h"

#include "base/error.h"
#include "base/text.h"
#include "manifest/builder.h"
#include "manifest/edit_parity.h"
#include "manifest/exnode.h"
#include "manifest/hashes.h"
#include "manifest/xml_copy.h"

static void *allocate(struct xd_builder *b, size_t size)
{
    void *p = xd_pool_alloc(&b->manifest->pool, size);

    b->out_of_memory |= p == NULL;
    return p;
}

/* ---- unchanged parts ---- */

/* Copies the parts that the model does not represent. */
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
    b->draft.signature = xd_span(f->rare->signature, f->rare->signature_bytes);
}

/* Shifts the secrets after `at`, where `old_len` bytes are replaced by
 * `new_len`.  No secret lies within the old bytes. */
static void move_secrets(struct xd_builder *b, struct xd_exnode_part *p,
                         size_t at, size_t old_len, size_t new_len)
{
    struct xd_xml_secret *moved =
        p->n_secrets > 0 ? allocate(b, p->n_secrets * sizeof *moved) : NULL;
    size_t n = 0;

    for (size_t i = 0; moved && i < p->n_secrets; i++) {
        struct xd_xml_secret s = p->secrets[i];

        if (s.begin >= at + old_len) {
            s.begin += new_len - old_len;
            s.end += new_len - old_len;
        } else if (s.begin >= at) {
            continue;
        }
        moved[n++] = s;
    }
    p->secrets = moved;
    p->n_secrets = n;
}

/* Sets the expiry date in a mapping that is stored as text. */
static void set_end(struct xd_builder *b, struct xd_exnode_part *p,
                    const char *date)
{
    const bool is_there = p->end_end > 0;
    const size_t at = is_there ? p->end_begin : p->metadata_at;
    const size_t old_len = is_there ? p->end_end - p->end_begin : 0;
    struct xd_text t = {.s = NULL};
    size_t new_len;

    xd_text_add(&t, p->xml, at);
    if (is_there)
        xd_text_addf(&t, "%s", date);
    else
        xd_text_addf(&t,
                     "<exnode:metadata name=\"" XD_EXNODE_END
                     "\" type=\"string\">%s</exnode:metadata>",
                     date);
    new_len = t.len - at;
    xd_text_addf(&t, "%s", p->xml + at + old_len);
    if (!t.failed)
        p->xml = xd_builder_copy(b, xd_span(t.s, t.len));
    b->out_of_memory |= t.failed;
    xd_text_fini(&t);
    move_secrets(b, p, at, old_len, new_len);
}

static const char *url_of(const struct xd_model_file *f, size_t place,
                          const struct xd_edit *edit)
{
    return edit->reads && edit->reads[place]
               ? edit->reads[place]
               : xd_url_secret_text(&f->urls[place]);
}

static void copy_replica(struct xd_builder *b, const struct xd_model_file *f,
                         const struct xd_model_extent *e, size_t place,
                         const struct xd_edit *edit)
{
    const int64_t expires_at = edit->expires_at ? edit->expires_at[place] : 0;
    const struct xd_replica row = xd_model_replica_row(f, place);
    const struct xd_exnode_part *part =
        f->rare->mappings ? f->rare->mappings[place] : NULL;
    struct xd_exnode_part *copy = part ? allocate(b, sizeof *copy) : NULL;
    const char *date = xd_edit_date(b, expires_at);

    if (copy)
        *copy = *part;
    if (copy && copy->xml && date)
        set_end(b, copy, date);
    xd_builder_source(
        b, &(struct xd_source){
               .offset = e->offset,
               .length = e->length,
               .url = xd_span_of(url_of(f, place, edit)),
               .object_offset = row.offset,
               .object_size = row.object_size,
               .priority = row.priority,
               .location = row.location,
               .sha256 = xd_model_sha256(f, (size_t)(e - f->extents)),
               .max_connections = row.max_connections,
               .framing = row.framing,
               .expires = date ? date : row.expires,
               .functions = row.functions,
               .part = copy,
               .rights = row.rights,
               .expires_at = date ? (uint64_t)expires_at : row.expires_at,
               .reach = f->rare->reaches ? f->rare->reaches[place]
                                         : XD_REACH_MACHINE});
}

static void copy_file(struct xd_builder *b, const struct xd_model_file *f,
                      const struct xd_edit *edit)
{
    const bool *dropped = edit->dropped;

    if (f->path)
        xd_builder_name(b, xd_span_of(f->path));
    xd_builder_size(b, f->size);
    xd_builder_max_connections(b, f->rare->max_connections);
    for (size_t i = 0; i < f->n_hashes; i++)
        xd_builder_hash(b, xd_span_of(f->hashes[i].algorithm),
                        xd_span_of(f->hashes[i].hex));
    xd_builder_copy_pieces(b, f->rare->pieces);
    copy_parts(b, f);
    for (size_t i = 0; i < f->n_extents; i++) {
        const struct xd_model_extent *e = &f->extents[i];

        for (size_t k = 0; k < e->n_replicas; k++) {
            const size_t place = e->first_replica + k;

            if (!dropped || !dropped[place])
                copy_replica(b, f, e, place, edit);
        }
    }
}

/* ---- new parts ---- */

static void begin_file(struct xd_builder *b, const struct xd_edit *edit)
{
    xd_builder_name(b, xd_span_of(edit->path));
    xd_builder_size(b, edit->size);
}

/* Adds hashes that the file does not have yet; `f` may be NULL. */
static void add_hashes(struct xd_builder *b, const struct xd_model_file *f,
                       const struct xd_edit *edit)
{
    if (edit->sha256 && (!f || f->n_hashes == 0))
        xd_builder_hash(b, xd_span_of("sha-256"), xd_span_of(edit->sha256));
    if (!f || !f->rare->pieces)
        xd_builder_copy_pieces(b, edit->pieces);
}

/* Stores the write and manage capabilities, at least one of which is given. */
static struct xd_exnode_part *make_part(struct xd_builder *b,
                                        const struct xd_edit_replica *r)
{
    struct xd_exnode_part *part = allocate(b, sizeof *part);

    if (!part)
        return NULL;
    part->write = xd_edit_text(b, r->write);
    part->manage = xd_edit_text(b, r->manage);
    return part;
}

static void add_replica(struct xd_builder *b, const struct xd_edit_replica *r)
{
    const uint64_t length = xd_range_length(r->range);
    const bool is_secret = r->write || r->manage;
    xd_builder_source(
        b, &(struct xd_source){
               .offset = r->range.begin,
               .length = length,
               .url = xd_span_of(r->read),
               .object_size = length,
               .priority = XD_PRIORITY_NONE,
               .sha256 = xd_edit_text(b, r->sha256),
               .expires = xd_edit_date(b, r->expires_at),
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
        copy_file(&b, &m->files[file], edit);
    else
        begin_file(&b, edit);
    add_hashes(&b, m ? &m->files[file] : NULL, edit);
    xd_edit_parity(&b, m ? &m->files[file] : NULL, edit);
    b.draft.upload = xd_edit_text(&b, edit->upload);
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
