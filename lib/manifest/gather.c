/* SPDX-License-Identifier: MIT */
/*
 * Combines files of several manifests into one.  The result refers to the
 * strings and tables of those manifests and holds references to them.
 */
#include <xdownload/manifest.h>

#include "base/alloc.h"
#include "base/error.h"
#include "command/manifests.h"
#include "manifest/model.h"

static int add(struct xd_manifest *to, struct xd_manifest *m, size_t file,
               const char *path, struct xd_error *err)
{
    struct xd_model_file *f = &to->files[to->n_files];

    if (file >= m->n_files)
        return xd_fail(err, XD_E_INVAL, "a manifest has no file number %zu",
                       file);
    if (xd_model_hold(to, m) < 0)
        return xd_fail_nomem(err);
    *f = m->files[file];
    if (path)
        f->path = xd_pool_copy(&to->pool, xd_span_of(path));
    if (path && !f->path)
        return xd_fail_nomem(err);
    to->n_files++;
    return 0;
}

int xd_manifest_gather(struct xd_manifest **out,
                       struct xd_manifest *const *manifests,
                       const size_t *files, const char *const *paths, size_t n,
                       struct xd_error *err)
{
    struct xd_manifest *m;
    int rc = 0;

    *out = NULL;
    if (n == 0)
        return xd_fail(err, XD_E_INVAL, "no files are gathered");
    m = xd_alloc(1, sizeof *m);
    if (!m)
        return xd_fail_nomem(err);
    atomic_init(&m->refs, 1);
    m->format = manifests[0]->format;
    m->is_gathered = true;
    m->files = xd_alloc(n, sizeof *m->files);
    if (!m->files)
        rc = xd_fail_nomem(err);
    for (size_t i = 0; rc == 0 && i < n; i++)
        rc = add(m, manifests[i], files[i], paths ? paths[i] : NULL, err);
    if (rc < 0)
        xd_manifest_unref(m);
    else
        *out = m;
    return rc;
}
