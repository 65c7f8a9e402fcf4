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

/* Merges the text of two equal mappings.  The one that is kept is written back
 * with its extent, the other as separate text. */
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

/* Sorts the mappings and removes duplicates.  It sorts twice instead of using a
 * hash table, so the time is never quadratic, no matter what a manifest
 * repeats.  Returns the number of mappings left. */
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

/* Returns the SHA-256 of the bytes if all replicas agree, else NULL. */
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

static bool has_no_more(const struct xd_replica *row, uint64_t file_size)
{
    return row->offset == 0 && row->object_size == file_size && !row->framing &&
           !row->expires && !row->functions && row->expires_at == 0 &&
           row->rights == XD_MAY_READ;
}

/* Returns a full copy of the row, or NULL if struct xd_model_replica holds all
 * of it. */
static const struct xd_replica *keep_more(struct xd_builder *b,
                                          const struct xd_replica *row,
                                          uint64_t file_size)
{
    if (has_no_more(row, file_size))
        return NULL;
    struct xd_replica *more = xd_pool_alloc(&b->manifest->pool, sizeof *more);
    if (more)
        *more = *row;
    else
        b->out_of_memory = true;
    return more;
}

static bool is_like(const struct xd_model_replica *r,
                    const struct xd_mapping *m, uint64_t file_size)
{
    return !r->more && !r->location && !m->row.location &&
           r->priority == m->row.priority &&
           r->max_connections == m->row.max_connections &&
           has_no_more(&m->row, file_size);
}

/* Returns an equal replica, if there is one, to save memory: the files of a
 * long list can share one row. */
static struct xd_model_replica *find_alike(const struct xd_builder *b,
                                           uint64_t file_size, size_t n)
{
    const struct xd_manifest *m = b->manifest;
    const struct xd_model_file *last =
        m->n_files > 1 ? &m->files[m->n_files - 2] : NULL;

    return n == 1 && last && last->n_extents > 0 &&
                   is_like(&last->replicas[0], &b->draft.mappings[0], file_size)
               ? last->replicas
               : NULL;
}

static void take_replica(struct xd_builder *b, struct xd_model_file *f,
                         size_t i, const struct xd_mapping *m)
{
    f->urls[i] = m->url;
    f->replicas[i] =
        (struct xd_model_replica){.priority = m->row.priority,
                                  .max_connections = m->row.max_connections,
                                  .location = m->row.location,
                                  .more = keep_more(b, &m->row, f->size)};
}

/* Stores the hash of extent `i` of `n`. */
static void keep_sha256(struct xd_builder *b, const char ***list, size_t i,
                        size_t n, const char *sha256)
{
    if (sha256 && !*list)
        *list = xd_pool_array(&b->manifest->pool, n, sizeof **list);
    if (sha256 && *list)
        (*list)[i] = sha256;
    else if (sha256)
        b->out_of_memory = true;
}

static void make_extents(struct xd_builder *b, struct xd_model_file *f,
                         struct xd_model_rare *rare, size_t n_extents, size_t n)
{
    const struct xd_mapping *m = b->draft.mappings;
    const char **sha256s = NULL;
    for (size_t i = 0, same; i < n; i += same) {
        for (same = 1; i + same < n; same++) {
            if (compare_bytes(&m[i], &m[i + same]))
                break;
        }
        keep_sha256(b, &sha256s, f->n_extents, n_extents,
                    agreed_sha256(b, m + i, same));
        f->extents[f->n_extents++] =
            (struct xd_model_extent){.offset = m[i].offset,
                                     .length = m[i].length,
                                     .n_replicas = (uint32_t)same,
                                     .first_replica = (uint32_t)i};
        for (size_t k = i; k < i + same; k++)
            take_replica(b, f, k, &m[k]);
    }
    rare->sha256s = sha256s;
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
    if (b->draft.upload) /* an upload is incomplete, so bytes may be missing */
        return 0;
    for (size_t i = 0; i < f->n_extents; i++) {
        const struct xd_model_extent *e = &f->extents[i];
        if (e->offset > covered)
            return fail_for_hole(b, covered, e->offset);
        if (e->offset + e->length > covered)
            covered = e->offset + e->length;
    }
    return covered < f->size ? fail_for_hole(b, covered, f->size) : 0;
}

/* Sets the length of sources of the whole file, now that it is known. */
static void resolve_whole(struct xd_draft *d, uint64_t size)
{
    for (size_t i = 0; i < d->n_mappings; i++) {
        struct xd_mapping *m = &d->mappings[i];
        if (m->length == XD_SIZE_UNKNOWN)
            m->length = m->row.object_size = size;
    }
}

/* Returns the parts in the order of the replicas; NULL if there are none. */
static const struct xd_exnode_part **list_parts(struct xd_builder *b, size_t n)
{
    const struct xd_mapping *m = b->draft.mappings;
    const struct xd_exnode_part **list = NULL;
    for (size_t i = 0; i < n; i++) {
        if (m[i].part && !list)
            list = xd_pool_array(&b->manifest->pool, n, sizeof(void *));
        if (m[i].part && list)
            list[i] = m[i].part;
        else if (m[i].part)
            b->out_of_memory = true;
    }
    return list;
}

/* Returns the reach of each replica; NULL if all are XD_REACH_MACHINE. */
static const enum xd_reach *list_reaches(struct xd_builder *b, size_t n)
{
    const struct xd_mapping *m = b->draft.mappings;
    size_t near = 0;
    while (near < n && m[near].reach == XD_REACH_MACHINE)
        near++;
    if (near == n)
        return NULL;
    enum xd_reach *list = xd_pool_array(&b->manifest->pool, n, sizeof *list);
    if (!list)
        b->out_of_memory = true;
    for (size_t i = 0; list && i < n; i++)
        list[i] = m[i].reach;
    return list;
}

int xd_extents_take(struct xd_builder *b, struct xd_model_file *f,
                    struct xd_model_rare *rare)
{
    struct xd_draft *d = &b->draft;
    resolve_whole(d, f->size);
    size_t n = sort_and_drop_twins(d);
    size_t n_extents = n > 0;
    for (size_t i = 1; i < n; i++)
        n_extents += compare_bytes(&d->mappings[i - 1], &d->mappings[i]) != 0;
    if (n == 0 && d->metaurls) /* the other manifests will add sources */
        return 0;
    /* An empty file needs no source. */
    if (n == 0 || f->size == 0)
        return check_cover(b, f);
    struct xd_pool *pool = &b->manifest->pool;
    f->extents = xd_pool_array(pool, n_extents, sizeof *f->extents);
    f->replicas = find_alike(b, f->size, n);
    if (!f->replicas)
        f->replicas = xd_pool_array(pool, n, sizeof *f->replicas);
    f->urls = xd_pool_array(pool, n, sizeof *f->urls);
    rare->mappings = list_parts(b, n);
    rare->reaches = list_reaches(b, n);
    if (!f->extents || !f->replicas || !f->urls)
        b->out_of_memory = true;
    else
        make_extents(b, f, rare, n_extents, n);
    if (b->out_of_memory || f->size == XD_SIZE_UNKNOWN)
        return 0;
    return check_cover(b, f);
}
