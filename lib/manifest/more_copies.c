/* SPDX-License-Identifier: MIT */
#include "manifest/more_copies.h"

#include <string.h>

#include "base/error.h"
#include "base/offer.h"
#include "base/text.h"
#include "manifest/described.h"
#include "manifest/hashes.h"

bool xd_manifest_has_strong_hash(const struct xd_manifest *m, size_t file)
{
    const struct xd_model_file *f = &m->files[file];

    for (size_t i = 0; i < f->n_hashes; i++) {
        if (xd_algorithm_is_strong(f->hashes[i].algorithm))
            return true;
    }
    return false;
}

/* Returns NULL if `other` has copies of `f`, else the reason why they cannot be
 * used. */
static const char *refuse(const struct xd_model_file *f,
                          const struct xd_model_file *other)
{
    const char *why = xd_described_refuse(other, f->size);

    for (size_t i = 0; !why && i < f->n_hashes; i++) {
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
    return f->n_extents > 0 ? f->extents[0].n_replicas : 0;
}

/* Returns how many copies to take.  The number is limited, because each copy is
 * compared with all others. */
static size_t n_more(const struct xd_model_file *other)
{
    return n_copies(other) < XD_OFFERED_MAX ? n_copies(other) : XD_OFFERED_MAX;
}

/* The arrays of a file's copies while they are built. */
struct copies {
    struct xd_model_extent *extent;
    struct xd_model_replica *replicas;
    struct xd_url *urls;
    struct xd_model_rare *rare;
    enum xd_reach *reaches;
};

/* Allocates in the pool of `m`.  Errors: NOMEM. */
static int alloc_copies(struct xd_manifest *m, struct copies *c, size_t n)
{
    *c = (struct copies){
        .extent = xd_pool_alloc(&m->pool, sizeof *c->extent),
        .replicas = xd_pool_array(&m->pool, n, sizeof *c->replicas),
        .urls = xd_pool_array(&m->pool, n, sizeof *c->urls),
        .rare = xd_pool_alloc(&m->pool, sizeof *c->rare),
        .reaches = xd_pool_array(&m->pool, n, sizeof *c->reaches)};
    return c->extent && c->replicas && c->urls && c->rare && c->reaches
               ? 0
               : XD_E_NOMEM;
}

static void take_own(struct copies *c, const struct xd_model_file *f)
{
    size_t n = n_copies(f);

    if (n == 0) {
        *c->extent = (struct xd_model_extent){.length = f->size};
        return;
    }
    *c->extent = f->extents[0];
    memcpy(c->replicas, f->replicas, n * sizeof *c->replicas);
    memcpy(c->urls, f->urls, n * sizeof *c->urls);
    if (f->rare->reaches)
        memcpy(c->reaches, f->rare->reaches, n * sizeof *c->reaches);
}

static bool has(const struct copies *c, const struct xd_url *url)
{
    for (size_t i = 0; i < c->extent->n_replicas; i++) {
        if (xd_url_compare(&c->urls[i], url) == 0)
            return true;
    }
    return false;
}

/* Copies replica `i` of `other` for a file of `size` bytes, with a priority
 * number of at least `least`. */
static int take_copy(struct xd_manifest *m, struct xd_model_replica *out,
                     const struct xd_model_file *other, size_t i, uint64_t size,
                     unsigned least)
{
    struct xd_replica *more;

    *out = other->replicas[i];
    if (out->priority < least)
        out->priority = least;
    if (!out->more)
        return 0;
    more = xd_pool_alloc(&m->pool, sizeof *more);
    if (!more)
        return XD_E_NOMEM;
    *more = *out->more;
    more->object_size = size;
    more->priority = out->priority;
    out->more = more;
    return 0;
}

/* Adds copies after the existing ones, which are preferred. */
static int take_more(struct xd_manifest *m, struct copies *c, uint64_t size,
                     const struct xd_model_file *other, enum xd_reach reach)
{
    unsigned least = 1;

    if (c->extent->n_replicas > 0)
        least = c->replicas[c->extent->n_replicas - 1].priority;
    for (size_t i = 0; i < n_more(other); i++) {
        const size_t at = c->extent->n_replicas;

        if (has(c, &other->urls[i]) || !xd_scheme_is_web(other->urls[i].scheme))
            continue;
        if (take_copy(m, &c->replicas[at], other, i, size, least) < 0)
            return XD_E_NOMEM;
        c->urls[at] = other->urls[i];
        c->reaches[at] = reach;
        c->extent->n_replicas++;
    }
    return 0;
}

static void give(struct xd_model_file *f, const struct copies *c)
{
    *c->rare = *f->rare;
    c->rare->reaches = c->reaches;
    f->rare = c->rare;
    f->n_extents = 1;
    f->extents = c->extent;
    f->replicas = c->replicas;
    f->urls = c->urls;
}

static int add(struct xd_manifest *m, const struct xd_more_copies *more)
{
    struct xd_model_file *f = &m->files[more->file];
    const char *name = more->from->name, *why;
    const struct xd_model_file *other;
    struct copies c;

    if (!more->manifest)
        return warn(m, more, more->why.msg);
    other = xd_described_file(more->manifest, name ? name : xd_model_name(f));
    why = refuse(f, other);
    if (why)
        return warn(m, more, why);
    if (f->size == 0)
        return 0; /* an empty file is not fetched */
    if (xd_model_hold(m, more->manifest) < 0 ||
        alloc_copies(m, &c, n_copies(f) + n_more(other)) < 0)
        return XD_E_NOMEM;
    take_own(&c, f);
    if (take_more(m, &c, f->size, other, more->reach) < 0)
        return XD_E_NOMEM;
    if (c.extent->n_replicas > n_copies(f))
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
