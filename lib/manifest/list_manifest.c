/* SPDX-License-Identifier: MIT */
/* Makes a manifest from a list.  Both share the strings. */
#include "manifest/list.h"

#include "base/alloc.h"
#include "base/error.h"
#include "command/lists.h"
#include "manifest/format.h"
#include "manifest/model.h"

/* Files with a single URL have no other data, so all of them share these
 * rows. */
struct shared {
    struct xd_model_extent extent;
    struct xd_model_replica replica;
};

static struct shared *make_shared(struct xd_manifest *m)
{
    struct shared *shared = xd_pool_alloc(&m->pool, sizeof *shared);

    if (shared)
        *shared = (struct shared){{.length = XD_SIZE_UNKNOWN, .n_replicas = 1},
                                  {.priority = XD_PRIORITY_NONE}};
    return shared;
}

/* Fills in a file with several URLs. */
static int list_copies(struct xd_manifest *m, struct xd_model_file *f, size_t n,
                       const struct shared *shared)
{
    struct xd_model_extent *extent = xd_pool_alloc(&m->pool, sizeof *extent);

    f->extents = extent;
    f->replicas = xd_pool_array(&m->pool, n, sizeof *f->replicas);
    if (!extent || !f->replicas)
        return XD_E_NOMEM;
    *extent = shared->extent;
    extent->n_replicas = (uint32_t)n;
    for (size_t i = 0; i < n; i++)
        f->replicas[i] = shared->replica;
    return 0;
}

static int add(struct xd_manifest *m, const struct xd_list *l,
               const struct xd_list_row *row, struct shared *shared)
{
    struct xd_model_file *f = &m->files[m->n_files++];

    *f = (struct xd_model_file){.path = row->path,
                                .size = XD_SIZE_UNKNOWN,
                                .n_extents = 1,
                                .extents = &shared->extent,
                                .replicas = &shared->replica,
                                .rare = &xd_model_plain};
    f->urls = xd_pool_array(&m->pool, row->n_urls, sizeof *f->urls);
    if (!f->urls ||
        (row->n_urls > 1 && list_copies(m, f, row->n_urls, shared) < 0))
        return XD_E_NOMEM;
    for (size_t i = 0; i < row->n_urls; i++)
        xd_url_parse(&f->urls[i], l->urls[row->first_url + i]);
    return 0;
}

static int fill(struct xd_manifest *m, const struct xd_list *l)
{
    struct shared *shared = make_shared(m);
    int rc = 0;

    m->files = xd_alloc(l->n, sizeof *m->files);
    if (!m->files || !shared)
        return XD_E_NOMEM;
    for (size_t i = 0; rc == 0 && i < l->n; i++)
        rc = add(m, l, &l->rows[i], shared);
    return rc;
}

int xd_list_manifest(struct xd_manifest **out, const struct xd_list *l,
                     struct xd_error *err)
{
    struct xd_manifest *m = xd_alloc(1, sizeof *m);

    *out = NULL;
    if (!m)
        return xd_fail_nomem(err);
    atomic_init(&m->refs, 1);
    m->format = XD_FORMAT_URLS;
    m->strings = xd_manifest_ref(l->strings);
    if (fill(m, l) < 0) {
        xd_manifest_unref(m);
        return xd_fail_nomem(err);
    }
    *out = m;
    return 0;
}
