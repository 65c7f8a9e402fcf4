/* SPDX-License-Identifier: MIT */
#include "manifest/model.h"

#include <errno.h>
#include <string.h>

#include "base/alloc.h"
#include "base/array.h"
#include "base/copy_out.h"
#include "base/text.h"
#include "command/manifests.h"
#include "manifest/names.h"
#include "manifest/signed_texts.h"

const struct xd_model_rare xd_model_plain = {.signature = NULL};

struct xd_manifest *xd_manifest_ref(struct xd_manifest *m)
{
    atomic_fetch_add_explicit(&m->refs, 1, memory_order_relaxed);
    return m;
}

void xd_manifest_unref(struct xd_manifest *m)
{
    /* Acquire and release: the freeing thread must see all writes of the
     * others. */
    if (!m || atomic_fetch_sub_explicit(&m->refs, 1, memory_order_acq_rel) > 1)
        return;
    xd_free(m->files);
    if (!m->of || m->warnings_capacity > 0)
        xd_free(m->warnings);
    xd_pool_fini(&m->pool);
    xd_manifest_unref(m->of);
    xd_manifest_unref(m->strings);
    for (size_t i = 0; i < m->n_held; i++)
        xd_manifest_unref(m->held[i]);
    xd_free(m->held);
    xd_free(m);
}

int xd_model_derive(struct xd_manifest **out, struct xd_manifest *of)
{
    struct xd_manifest *m = xd_alloc(1, sizeof *m);
    if (!m)
        return XD_E_NOMEM;
    m->files = xd_alloc(of->n_files, sizeof *m->files);
    if (!m->files) {
        xd_free(m);
        return XD_E_NOMEM;
    }
    atomic_init(&m->refs, 1);
    m->format = of->format;
    m->warnings = of->warnings;
    m->n_warnings = of->n_warnings;
    m->failures = of->failures;
    m->n_left_out = of->n_left_out;
    m->of = xd_manifest_ref(of);
    for (; m->n_files < of->n_files; m->n_files++) {
        struct xd_model_file *f = &m->files[m->n_files];
        const struct xd_model_file *g = &of->files[m->n_files];
        *f = *g;
        f->hashes = NULL;
        f->n_hashes = 0;
    }
    *out = m;
    return 0;
}

int xd_model_take_hashes(struct xd_manifest *m, size_t file, size_t more)
{
    struct xd_model_file *f = &m->files[file];
    const struct xd_model_file *g = &m->of->files[file];
    size_t n = g->n_hashes;
    if (n + more == 0)
        return 0;
    f->hashes = xd_pool_array(&m->pool, n + more, sizeof *f->hashes);
    if (!f->hashes)
        return XD_E_NOMEM;
    if (n > 0)
        memcpy(f->hashes, g->hashes, n * sizeof *f->hashes);
    f->n_hashes = (uint32_t)n;
    return 0;
}

struct xd_manifest *xd_model_new_strings(void)
{
    struct xd_manifest *m = xd_alloc(1, sizeof *m);
    if (m)
        atomic_init(&m->refs, 1);
    return m;
}

int xd_model_hold(struct xd_manifest *m, struct xd_manifest *held)
{
    struct xd_manifest **more;
    if (m->n_held > 0 && m->held[m->n_held - 1] == held)
        return 0;
    more = xd_realloc(m->held, m->n_held + 1, sizeof *more);
    if (!more)
        return XD_E_NOMEM;
    m->held = more;
    m->held[m->n_held++] = xd_manifest_ref(held);
    return 0;
}

int xd_model_sign(struct xd_manifest **out, struct xd_manifest *m, size_t file,
                  struct xd_span signature)
{
    struct xd_manifest *made;
    *out = NULL;
    if (xd_model_derive(&made, m) < 0)
        return XD_E_NOMEM;
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < made->n_files; i++)
        rc = xd_model_take_hashes(made, i, 0);
    struct xd_model_rare *rare = xd_pool_alloc(&made->pool, sizeof *rare);
    const char *copy = xd_pool_copy(&made->pool, signature);
    if (rc < 0 || !rare || !copy) {
        xd_manifest_unref(made);
        return XD_E_NOMEM;
    }
    *rare = *made->files[file].rare;
    rare->signature = copy;
    rare->signature_bytes = signature.len;
    made->files[file].rare = rare;
    *out = made;
    return 0;
}

/* Gives the manifest its own list of warnings.  A derived manifest shares the
 * list until it adds a warning. */
static int own_warnings(struct xd_manifest *m)
{
    const char **own;
    if (!m->of || m->warnings_capacity > 0)
        return 0;
    own = xd_alloc(m->n_warnings + 1, sizeof *own);
    if (!own)
        return XD_E_NOMEM;
    if (m->n_warnings > 0)
        memcpy(own, m->warnings, m->n_warnings * sizeof *own);
    m->warnings = own;
    m->warnings_capacity = m->n_warnings + 1;
    return 0;
}

int xd_model_warn(struct xd_manifest *m, const char *sentence)
{
    if (own_warnings(m) < 0)
        return XD_E_NOMEM;
    const char *copy = xd_pool_copy(&m->pool, xd_span_of(sentence));
    const char **more = xd_grow(m->warnings, m->n_warnings,
                                &m->warnings_capacity, sizeof *more);
    if (more)
        m->warnings = more;
    if (!more || !copy)
        return XD_E_NOMEM;
    m->warnings[m->n_warnings++] = copy;
    return 0;
}

/* Returns whether the server has failed.  A server that was only late may have
 * failed before, which its HTTP status shows.  No server is to blame if this
 * process ran out of descriptors. */
static bool has_failed(const struct xd_error *why)
{
    return why->code < 0 && why->os_errno != EMFILE &&
           why->os_errno != ENFILE && why->code != XD_E_CANCELED &&
           why->code != XD_E_TIMEOUT &&
           (why->code != XD_E_AGAIN || why->http_status != 0);
}

int xd_model_note_failure(struct xd_manifest *m, const struct xd_url *url,
                          const struct xd_error *why)
{
    struct xd_model_failure **end = &m->failures;

    if (!has_failed(why))
        return 0;
    struct xd_model_failure *f = xd_pool_alloc(&m->pool, sizeof *f);
    char *text = xd_pool_copy(&m->pool, xd_span_of(xd_url_secret_text(url)));
    if (!f || !text)
        return XD_E_NOMEM;
    *f = (struct xd_model_failure){.why = *why};
    xd_url_parse(&f->url, text);
    while (*end)
        end = &(*end)->next;
    *end = f;
    return 0;
}

const char *xd_manifest_format(const struct xd_manifest *m)
{
    return m->format;
}

const char *xd_manifest_warning(const struct xd_manifest *m, size_t i)
{
    return i < m->n_warnings ? m->warnings[i] : NULL;
}

size_t xd_manifest_n_files(const struct xd_manifest *m)
{
    return m->n_files;
}

void xd_manifest_info(const struct xd_manifest *m, struct xd_manifest_info *out)
{
    struct xd_manifest_info info = {.struct_size = sizeof info,
                                    .format = m->format,
                                    .n_files = m->n_files,
                                    .n_warnings = m->n_warnings,
                                    .n_left_out = m->n_left_out};

    xd_copy_out(out, &info, sizeof info);
}

/* Fails with INVAL if the caller has not set struct_size. */
int xd_model_copy_row(void *out, const void *row, size_t row_size)
{
    size_t size;
    memcpy(&size, out, sizeof size);
    if (size < sizeof size)
        return XD_E_INVAL;
    xd_copy_out(out, row, row_size);
    return 0;
}

const char *xd_model_name(const struct xd_model_file *f)
{
    return f->path ? xd_path_name(f->path) : NULL;
}

int xd_manifest_file(const struct xd_manifest *m, size_t file,
                     struct xd_file *out)
{
    if (file >= m->n_files)
        return XD_E_INVAL;
    const struct xd_model_file *f = &m->files[file];
    struct xd_file row = {.struct_size = sizeof row,
                          .name = xd_model_name(f),
                          .size = f->size,
                          .n_extents = f->n_extents,
                          .n_hashes = f->n_hashes,
                          .max_connections = f->rare->max_connections,
                          .path = f->path,
                          .signature = f->rare->signature,
                          .signature_bytes = f->rare->signature_bytes,
                          .n_stripes = f->rare->n_stripes,
                          .can_join = xd_manifest_can_join(m, file)};
    if (f->rare->pieces) {
        row.n_pieces = f->rare->pieces->n;
        row.piece_bytes = f->rare->pieces->piece_bytes;
        row.piece_algorithm = f->rare->pieces->algorithm;
    }
    return xd_model_copy_row(out, &row, sizeof row);
}

int xd_manifest_hash(const struct xd_manifest *m, size_t file, size_t hash,
                     struct xd_hash *out)
{
    if (file >= m->n_files || hash >= m->files[file].n_hashes)
        return XD_E_INVAL;
    const struct xd_model_hash *h = &m->files[file].hashes[hash];
    struct xd_hash row = {.struct_size = sizeof row,
                          .algorithm = h->algorithm,
                          .hex = h->hex,
                          .is_given = h->is_given,
                          .is_offered = h->is_offered,
                          .signed_by = h->signed_by};
    return xd_model_copy_row(out, &row, sizeof row);
}

int xd_manifest_extent(const struct xd_manifest *m, size_t file, size_t extent,
                       struct xd_extent *out)
{
    if (file >= m->n_files || extent >= m->files[file].n_extents)
        return XD_E_INVAL;
    const struct xd_model_file *f = &m->files[file];
    const struct xd_model_extent *e = &f->extents[extent];
    struct xd_extent row = {.struct_size = sizeof row,
                            .offset = e->offset,
                            .length = e->length,
                            .n_replicas = e->n_replicas,
                            .sha256 = xd_model_sha256(f, extent)};
    return xd_model_copy_row(out, &row, sizeof row);
}

const struct xd_model_file *xd_model_replica(const struct xd_model_file *f,
                                             const struct xd_model_extent *e,
                                             size_t i, size_t *out_place)
{
    if (f->rare->joined) {
        f = f->rare->joined[e - f->extents];
        e = &f->extents[0];
    }
    *out_place = i + e->first_replica;
    return f;
}

size_t xd_model_n_replicas(const struct xd_model_file *f)
{
    size_t n = 0;

    for (size_t i = 0; i < f->n_extents; i++)
        n += f->extents[i].n_replicas;
    return n;
}

struct xd_replica xd_model_replica_row(const struct xd_model_file *f,
                                       size_t place)
{
    const struct xd_model_replica *r = &f->replicas[place];
    if (r->more)
        return *r->more;
    return (struct xd_replica){.struct_size = sizeof(struct xd_replica),
                               .url = xd_url_secret_text(&f->urls[place]),
                               .object_size = f->size,
                               .priority = r->priority,
                               .location = r->location,
                               .max_connections = r->max_connections,
                               .rights = XD_MAY_READ};
}

int xd_manifest_replica(const struct xd_manifest *m, size_t file, size_t extent,
                        size_t replica, struct xd_replica *out)
{
    if (file >= m->n_files || extent >= m->files[file].n_extents)
        return XD_E_INVAL;
    const struct xd_model_file *f = &m->files[file];
    const struct xd_model_extent *e = &f->extents[extent];
    size_t place;
    if (replica >= e->n_replicas)
        return XD_E_INVAL;
    f = xd_model_replica(f, e, replica, &place);
    const struct xd_replica row = xd_model_replica_row(f, place);
    return xd_model_copy_row(out, &row, sizeof row);
}

const char *xd_manifest_piece(const struct xd_manifest *m, size_t file,
                              size_t piece)
{
    const struct xd_model_pieces *pieces =
        file < m->n_files ? m->files[file].rare->pieces : NULL;
    if (!pieces || piece >= pieces->n)
        return NULL;
    return pieces->hex + piece * pieces->stride;
}
