/* SPDX-License-Identifier: MIT */
#include "manifest/more_copies.h"

#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/offer.h"
#include "base/text.h"
#include "manifest/described.h"
#include "manifest/hashes.h"

bool xd_manifest_has_strong_hash(const struct xd_manifest *m, size_t file)
{
    const struct xd_model_file *f = &m->files[file];

    for (size_t i = 0; i < f->row.n_hashes; i++) {
        if (xd_algorithm_is_strong(f->hashes[i].algorithm))
            return true;
    }
    return false;
}

/* NULL: its copies are those of `f`. */
static const char *refuse(const struct xd_model_file *f,
                          const struct xd_model_file *other)
{
    const char *why = xd_described_refuse(other, f->row.size);

    for (size_t i = 0; !why && i < f->row.n_hashes; i++) {
        if (xd_described_contradicts(other, f->hashes[i].algorithm,
                                     f->hashes[i].hex))
            why = XD_DESCRIBED_CONTRADICTS;
    }
    return why;
}

static int warn(struct xd_manifest *m, const struct xd_more_copies *more,
                const char *why)
{
    struct xd_text line = {0};
    int rc;

    xd_text_addf(&line, "the Metalink of a metaurl is not used: %s",
                 more->manifest ? xd_url_name(&more->from->url).s : "");
    if (more->manifest)
        xd_text_addf(&line, ": ");
    xd_text_addf(&line, "%s", why);
    rc = line.failed ? XD_E_NOMEM : xd_model_warn(m, line.s);
    xd_text_fini(&line);
    return rc;
}

static size_t n_copies(const struct xd_model_file *f)
{
    return f->row.n_extents > 0 ? f->extents[0].row.n_replicas : 0;
}

/* As many as are looked through for one that is there already. */
static size_t n_more(const struct xd_model_file *other)
{
    return n_copies(other) < XD_OFFERED_MAX ? n_copies(other) : XD_OFFERED_MAX;
}

/* The arrays of a file's copies, while they are made. */
struct copies {
    struct xd_model_extent *extent;
    struct xd_replica *replicas;
    struct xd_url *urls;
    enum xd_reach *reaches;
};

static void free_copies(struct copies *c)
{
    xd_free(c->extent);
    xd_free(c->replicas);
    xd_free(c->urls);
    xd_free(c->reaches);
}

static int alloc_copies(struct copies *c, size_t n)
{
    *c = (struct copies){.extent = xd_alloc(1, sizeof *c->extent),
                         .replicas = xd_alloc(n, sizeof *c->replicas),
                         .urls = xd_alloc(n, sizeof *c->urls),
                         .reaches = xd_alloc(n, sizeof *c->reaches)};
    if (c->extent && c->replicas && c->urls && c->reaches)
        return 0;
    free_copies(c);
    return XD_E_NOMEM;
}

static void take_own(struct copies *c, const struct xd_model_file *f)
{
    size_t n = n_copies(f);

    if (n == 0) {
        *c->extent = (struct xd_model_extent){
            .row = {.struct_size = sizeof c->extent->row,
                    .length = f->row.size}};
        return;
    }
    *c->extent = f->extents[0];
    memcpy(c->replicas, f->replicas, n * sizeof *c->replicas);
    memcpy(c->urls, f->urls, n * sizeof *c->urls);
    if (f->reaches)
        memcpy(c->reaches, f->reaches, n * sizeof *c->reaches);
}

static bool has(const struct copies *c, const char *url)
{
    for (size_t i = 0; i < c->extent->row.n_replicas; i++) {
        if (strcmp(c->replicas[i].url, url) == 0)
            return true;
    }
    return false;
}

/* Behind those that are there, which stay first. */
static void take_more(struct copies *c, const struct xd_model_file *f,
                      const struct xd_model_file *other, enum xd_reach reach)
{
    unsigned least = 1;

    if (c->extent->row.n_replicas > 0)
        least = c->replicas[c->extent->row.n_replicas - 1].priority;
    for (size_t i = 0; i < n_more(other); i++) {
        const size_t at = c->extent->row.n_replicas;

        if (has(c, other->replicas[i].url) ||
            !xd_scheme_is_web(other->urls[i].scheme))
            continue;
        c->replicas[at] = other->replicas[i];
        c->replicas[at].object_size = f->row.size;
        if (c->replicas[at].priority < least)
            c->replicas[at].priority = least;
        c->urls[at] = other->urls[i];
        c->reaches[at] = reach;
        c->extent->row.n_replicas++;
    }
}

static void give(struct xd_model_file *f, const struct copies *c)
{
    if (f->owns_copies)
        free_copies(
            &(struct copies){f->extents, f->replicas, f->urls, f->reaches});
    f->owns_copies = true;
    f->row.n_extents = 1;
    f->extents = c->extent;
    f->replicas = c->replicas;
    f->urls = c->urls;
    f->reaches = c->reaches;
}

static int add(struct xd_manifest *m, const struct xd_more_copies *more)
{
    struct xd_model_file *f = &m->files[more->file];
    const struct xd_model_file *other;
    const char *why;
    struct copies c;

    if (!more->manifest)
        return warn(m, more, more->why.msg);
    other = xd_described_file(
        more->manifest, more->from->name ? more->from->name : f->row.name);
    why = refuse(f, other);
    if (why)
        return warn(m, more, why);
    if (xd_model_hold(m, more->manifest) < 0 ||
        alloc_copies(&c, n_copies(f) + n_more(other)) < 0)
        return XD_E_NOMEM;
    take_own(&c, f);
    take_more(&c, f, other, more->reach);
    if (c.extent->row.n_replicas == n_copies(f))
        free_copies(&c);
    else
        give(f, &c);
    return 0;
}

int xd_manifest_add_copies(struct xd_manifest **out, struct xd_manifest *m,
                           const struct xd_more_copies *list, size_t n,
                           struct xd_error *err)
{
    struct xd_manifest *made;
    int rc;

    *out = NULL;
    if (xd_model_derive(&made, m) < 0)
        return xd_fail_nomem(err);
    rc = 0;
    for (size_t i = 0; rc == 0 && i < made->n_files; i++)
        rc = xd_model_take_hashes(made, i, 0);
    for (size_t i = 0; rc == 0 && i < n; i++)
        rc = add(made, &list[i]);
    if (rc < 0) {
        xd_manifest_unref(made);
        return xd_fail_nomem(err);
    }
    *out = made;
    return 0;
}
