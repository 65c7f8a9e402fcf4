/* SPDX-License-Identifier: MIT */
#include "manifest/extents.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/limit.h"

static int compare(uint64_t a, uint64_t b)
{
    return (a > b) - (a < b);
}

static int compare_bytes(const struct xd_mapping *a, const struct xd_mapping *b)
{
    int c = compare(a->offset, b->offset);
    return c ? c : compare(a->length, b->length);
}

static int compare_object(const struct xd_mapping *a,
                          const struct xd_mapping *b)
{
    int c = compare(a->url_hash, b->url_hash);
    c = c ? c : strcmp(a->row.url, b->row.url);
    return c ? c : compare(a->row.offset, b->row.offset);
}

static int compare_preference(const struct xd_mapping *a,
                              const struct xd_mapping *b)
{
    int c = compare(a->row.priority, b->row.priority);
    return c ? c : compare(a->order, b->order);
}

static int by_object(const void *left, const void *right)
{
    const struct xd_mapping *a = left, *b = right;
    int c = compare_bytes(a, b);
    c = c ? c : compare_object(a, b);
    return c ? c : compare_preference(a, b);
}

static int by_preference(const void *left, const void *right)
{
    const struct xd_mapping *a = left, *b = right;
    int c = compare_bytes(a, b);
    return c ? c : compare_preference(a, b);
}

/* One of the two is written again with its extent, of what the rows hold if it
 * has no part; the other one by its part. */
static void merge_parts(struct xd_draft *d, struct xd_mapping *kept,
                        const struct xd_mapping *twin)
{
    if (twin->part) {
        xd_builder_keep_part(d, twin->part);
    } else if (kept->part) {
        xd_builder_keep_part(d, kept->part);
        kept->part = NULL;
    }
}

static void merge_twin(struct xd_draft *d, struct xd_mapping *kept,
                       const struct xd_mapping *twin)
{
    merge_parts(d, kept, twin);
    if (!kept->sha256)
        kept->sha256 = twin->sha256;
    kept->row.max_connections =
        xd_stricter_limit(kept->row.max_connections, twin->row.max_connections);
}

/* Two sorts rather than a table of URLs: never quadratic, whatever a manifest
 * repeats.  Returns how many mappings are left. */
static size_t sort_and_drop_twins(struct xd_draft *d)
{
    struct xd_mapping *m = d->mappings;
    size_t n = d->n_mappings;
    if (n == 0)
        return 0;
    qsort(m, n, sizeof *m, by_object);
    size_t kept = 1;
    for (size_t i = 1; i < n; i++) {
        struct xd_mapping *last = &m[kept - 1];
        if (compare_bytes(last, &m[i]) || compare_object(last, &m[i]))
            m[kept++] = m[i];
        else
            merge_twin(d, last, &m[i]);
    }
    qsort(m, kept, sizeof *m, by_preference);
    return kept;
}

/* What the replicas of an extent say of its bytes, if they agree. */
static const char *agreed_sha256(struct xd_builder *b,
                                 const struct xd_mapping *m, size_t n)
{
    const char *sha256 = NULL;
    for (size_t i = 0; i < n; i++) {
        if (m[i].sha256 && sha256 && strcmp(m[i].sha256, sha256) != 0) {
            xd_builder_warn(b,
                            "two values of the sha256 of bytes %llu-%llu: "
                            "neither is used",
                            (unsigned long long)m->offset,
                            (unsigned long long)(m->offset + m->length - 1));
            return NULL;
        }
        if (m[i].sha256)
            sha256 = m[i].sha256;
    }
    return sha256;
}

static void take_replica(struct xd_model_file *f, size_t i,
                         const struct xd_mapping *m)
{
    f->replicas[i] = m->row;
    f->urls[i] = m->url;
    if (f->reaches)
        f->reaches[i] = m->reach;
    if (f->mappings)
        f->mappings[i] = m->part;
}

static void make_extents(struct xd_builder *b, struct xd_model_file *f,
                         const struct xd_mapping *m, size_t n)
{
    for (size_t i = 0, same; i < n; i += same) {
        for (same = 1; i + same < n; same++) {
            if (compare_bytes(&m[i], &m[i + same]))
                break;
        }
        f->extents[f->row.n_extents++] = (struct xd_model_extent){
            .row = {.struct_size = sizeof(struct xd_extent),
                    .offset = m[i].offset,
                    .length = m[i].length,
                    .n_replicas = same,
                    .sha256 = agreed_sha256(b, m + i, same)},
            .first_replica = i};
        for (size_t k = i; k < i + same; k++)
            take_replica(f, k, &m[k]);
    }
}

static int fail_for_hole(struct xd_builder *b, uint64_t begin, uint64_t end)
{
    const struct xd_draft *d = &b->draft;
    const char *reason = NULL;
    for (size_t i = 0; i < d->n_losses && !reason; i++) {
        const struct xd_loss *l = &d->losses[i];
        if (l->offset < end && l->offset + l->length > begin)
            reason = l->reason;
    }
    b->number = 0;
    return xd_builder_fail(b, "no replica holds bytes %llu-%llu%s%s%s",
                           (unsigned long long)begin,
                           (unsigned long long)(end - 1),
                           reason ? " (a mapping of them is not used: " : "",
                           reason ? reason : "", reason ? ")" : "");
}

static int check_cover(struct xd_builder *b, const struct xd_model_file *f)
{
    uint64_t covered = 0;
    for (size_t i = 0; i < f->row.n_extents; i++) {
        const struct xd_extent *e = &f->extents[i].row;
        if (e->offset > covered)
            return fail_for_hole(b, covered, e->offset);
        if (e->offset + e->length > covered)
            covered = e->offset + e->length;
    }
    return covered < f->row.size ? fail_for_hole(b, covered, f->row.size) : 0;
}

/* Sources of the whole file learn what that is. */
static void resolve_whole(struct xd_draft *d, uint64_t size)
{
    for (size_t i = 0; i < d->n_mappings; i++) {
        struct xd_mapping *m = &d->mappings[i];
        if (m->length == XD_SIZE_UNKNOWN)
            m->length = m->row.object_size = size;
    }
}

static bool has_parts(const struct xd_draft *d)
{
    for (size_t i = 0; i < d->n_mappings; i++) {
        if (d->mappings[i].part)
            return true;
    }
    return false;
}

static bool has_reaches(const struct xd_draft *d)
{
    for (size_t i = 0; i < d->n_mappings; i++) {
        if (d->mappings[i].reach != XD_REACH_MACHINE)
            return true;
    }
    return false;
}

/* What not every file has; false when memory is out. */
static bool alloc_rare(const struct xd_draft *d, struct xd_model_file *f,
                       size_t n)
{
    if (has_parts(d))
        f->mappings = xd_alloc(n, sizeof *f->mappings);
    if (has_reaches(d))
        f->reaches = xd_alloc(n, sizeof *f->reaches);
    return (f->mappings || !has_parts(d)) && (f->reaches || !has_reaches(d));
}

int xd_extents_take(struct xd_builder *b, struct xd_model_file *f)
{
    struct xd_draft *d = &b->draft;
    resolve_whole(d, f->row.size);
    size_t n = sort_and_drop_twins(d);
    size_t n_extents = n > 0;
    for (size_t i = 1; i < n; i++)
        n_extents += compare_bytes(&d->mappings[i - 1], &d->mappings[i]) != 0;
    if (n == 0 && d->metaurls) /* they are to name sources */
        return 0;
    /* An empty file is empty everywhere. */
    if (n == 0 || f->row.size == 0)
        return check_cover(b, f);
    f->extents = xd_alloc(n_extents, sizeof *f->extents);
    f->replicas = xd_alloc(n, sizeof *f->replicas);
    f->urls = xd_alloc(n, sizeof *f->urls);
    if (!f->extents || !f->replicas || !f->urls || !alloc_rare(d, f, n))
        b->out_of_memory = true;
    else
        make_extents(b, f, d->mappings, n);
    if (b->out_of_memory || f->row.size == XD_SIZE_UNKNOWN)
        return 0;
    return check_cover(b, f);
}
