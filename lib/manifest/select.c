/* SPDX-License-Identifier: MIT */
#include "manifest/select.h"

#include "base/alloc.h"
#include "base/error.h"
#include "manifest/format.h"
#include "manifest/model.h"

static void add(struct xd_builder *b, const struct xd_model_file *f, size_t i)
{
    const struct xd_model_replica *r = &f->replicas[i];
    struct xd_source s = {.url = xd_span_of(xd_url_secret_text(&f->urls[i])),
                          .length = XD_SIZE_UNKNOWN,
                          .object_size = XD_SIZE_UNKNOWN,
                          .priority = r->priority,
                          .reach = xd_model_reach(f, i)};

    if (r->location)
        s.location = xd_builder_location(b, xd_span_of(r->location));
    xd_builder_source(b, &s);
}

static int build(struct xd_manifest **out, const struct xd_model_file *f,
                 const bool *keeps, uint64_t size, struct xd_error *err)
{
    const char *name = xd_model_name(f);
    struct xd_builder b;
    int rc = xd_builder_init(&b, NULL, err);

    if (rc < 0)
        return rc;
    for (size_t i = 0; i < f->extents[0].n_replicas; i++) {
        if (keeps[i])
            add(&b, f, i);
    }
    if (name)
        xd_builder_name(&b, xd_span_of(name));
    if (size != XD_SIZE_UNKNOWN)
        xd_builder_size(&b, size);
    rc = xd_builder_end_file(&b);
    if (rc == 0)
        rc = xd_builder_finish(&b, XD_FORMAT_URLS, out);
    xd_builder_fini(&b);
    return rc;
}

static int copy_hashes(struct xd_manifest *m, const struct xd_model_file *of)
{
    struct xd_model_file *f = &m->files[0];
    size_t n = of->n_hashes;

    if (n == 0)
        return 0;
    f->hashes = xd_pool_array(&m->pool, n, sizeof *f->hashes);
    if (!f->hashes)
        return XD_E_NOMEM;
    for (; f->n_hashes < n; f->n_hashes++) {
        struct xd_model_hash *h = &f->hashes[f->n_hashes];

        *h = of->hashes[f->n_hashes];
        h->algorithm = xd_pool_copy(&m->pool, xd_span_of(h->algorithm));
        h->hex = xd_pool_copy(&m->pool, xd_span_of(h->hex));
        if (!h->algorithm || !h->hex)
            return XD_E_NOMEM;
    }
    return 0;
}

int xd_manifest_select(struct xd_manifest **out, const struct xd_manifest *m,
                       const bool *keeps, uint64_t size, struct xd_error *err)
{
    struct xd_manifest *made;
    int rc = build(&made, &m->files[0], keeps, size, err);

    *out = NULL;
    if (rc < 0)
        return rc;
    rc = copy_hashes(made, &m->files[0]);
    for (size_t i = 0; rc == 0 && i < m->n_warnings; i++)
        rc = xd_model_warn(made, m->warnings[i]);
    if (rc < 0) {
        xd_manifest_unref(made);
        return xd_fail_nomem(err);
    }
    *out = made;
    return 0;
}
