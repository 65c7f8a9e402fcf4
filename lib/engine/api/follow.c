/* SPDX-License-Identifier: MIT */
/*
 * Fetches the Metalinks to which a manifest refers, and adds the copies that
 * they list.  Metalinks to which those Metalinks refer are not fetched.
 */
#include <xdownload/manifest.h>

#include "base/error.h"
#include "base/url.h"
#include "command/inspect.h"
#include "command/manifests.h"
#include "command/settings.h"
#include "engine/api/copies_check.h"
#include "engine/api/named_manifests.h"
#include "engine/api/text_fetch.h"
#include "manifest/more_copies.h"

/* Limit on the requests that a malicious manifest can cause. */
#define MOST_FOLLOWED 32

struct followed {
    struct xd_named_manifest named[MOST_FOLLOWED];
    struct xd_more_copies more[MOST_FOLLOWED]; /* more[i] belongs to named[i] */
    size_t n;
    bool must; /* wait longer, because some file has no other copies */
};

static void collect_of(struct followed *out, const struct xd_manifest *m,
                       size_t file)
{
    const struct xd_metaurl *u = m->files[file].rare->metaurls;

    if (!u || !xd_manifest_has_strong_hash(m, file))
        return;
    for (; u && out->n < MOST_FOLLOWED; u = u->next) {
        out->named[out->n] =
            (struct xd_named_manifest){.url = &u->url, .reach = u->reach};
        out->more[out->n] = (struct xd_more_copies){.file = file, .from = u};
        out->n++;
    }
    out->must |= m->files[file].n_extents == 0;
}

/* Collects the metaurls to follow: only the first MOST_FOLLOWED of them. */
static void collect(struct followed *out, const struct xd_manifest *m)
{
    for (size_t i = 0; i < m->n_files; i++)
        collect_of(out, m, i);
}

static void take_answer(struct xd_more_copies *to,
                        const struct xd_named_manifest *from, bool was_cut)
{
    to->manifest = from->manifest;
    to->reach = from->reach;
    to->why = from->error;
    if (was_cut && from->error.code == XD_E_TIMEOUT)
        xd_fail(&to->why, XD_E_TIMEOUT, "%s: has not answered within a second",
                xd_url_name(from->url).s);
}

static int follow(struct xd_manifest **out, struct xd_manifest *m,
                  struct followed *f, const struct xd_options *o,
                  struct xd_error *err)
{
    int rc = xd_named_manifests_fetch(
        f->named, f->n, f->must ? XD_NEVER : XD_NAMED_GRACE, o, err);

    for (size_t i = 0; i < f->n; i++)
        take_answer(&f->more[i], &f->named[i], !f->must);
    if (rc == 0)
        rc = xd_manifest_add_copies(out, m, f->more, f->n, err);
    for (size_t i = 0; i < f->n; i++)
        xd_manifest_unref(f->named[i].manifest);
    return rc;
}

int xd_manifest_follow(struct xd_manifest **out, struct xd_manifest *m,
                       const struct xd_options *o, struct xd_error *err)
{
    struct followed f = {.n = 0};

    *out = NULL;
    if (!o || !o->no_metalink)
        collect(&f, m);
    if (f.n > 0)
        return follow(out, m, &f, o, err);
    *out = xd_manifest_ref(m);
    return 0;
}

static int take_only(struct xd_manifest **out, const struct xd_inspection *in,
                     const char *const *urls, size_t n_urls,
                     struct xd_error *err)
{
    int64_t n = xd_inspection_n_manifests(in, err);
    struct xd_url first;

    xd_url_parse(&first, urls[0]);
    if (n > 1)
        return xd_fail(err, XD_E_INVAL,
                       "%s: it is a manifest, as are others of the %zu URLs: "
                       "fetch each by itself",
                       xd_url_name(&first).s, n_urls);
    return n < 0 ? (int)n : xd_inspection_manifest(out, in, 0, err);
}

int xd_copies_find(struct xd_manifest **out, struct xd_manifest *m,
                   const struct xd_options *o, struct xd_error *err)
{
    struct xd_manifest *compared;
    int rc = xd_copies_check(&compared, m, o, err);

    *out = NULL;
    if (rc < 0)
        return rc;
    rc = xd_manifest_follow(out, compared, o, err);
    xd_manifest_unref(compared);
    return rc;
}

static int open_urls(struct xd_manifest **out, const char *const *urls,
                     size_t n, const struct xd_options *o, struct xd_error *err)
{
    struct xd_manifest *m = NULL;
    struct xd_inspection *in;
    int rc = xd_inspect(&in, urls, n, false, o, err);

    *out = NULL;
    if (rc < 0)
        return rc;
    rc = take_only(&m, in, urls, n, err);
    if (rc == 0)
        rc = xd_copies_find(out, m, o, err);
    xd_manifest_unref(m);
    xd_inspection_free(in);
    return rc;
}

static int open_path(struct xd_manifest **out, const char *path,
                     const struct xd_options *o, struct xd_error *err)
{
    struct xd_manifest *m;
    int rc = xd_manifest_read(&m, path, err);

    if (rc < 0)
        return rc;
    rc = xd_copies_find(out, m, o, err);
    xd_manifest_unref(m);
    return rc;
}

int xd_manifest_open(struct xd_manifest **out, const char *const *sources,
                     size_t n, const struct xd_options *o, struct xd_error *err)
{
    int rc = o ? xd_options_check(o, err) : 0;

    *out = NULL;
    if (rc < 0)
        return rc;
    for (size_t i = 0; i < n; i++)
        if (!sources[i] || *sources[i] == '\0')
            return xd_fail(err, XD_E_INVAL,
                           "a URL or the path of a manifest is needed");
    if (n == 1 && !xd_names_url(sources[0]))
        return open_path(out, sources[0], o, err);
    return open_urls(out, sources, n, o, err);
}
