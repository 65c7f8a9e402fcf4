/* SPDX-License-Identifier: MIT */
/* Collects the replicas of the file and of its parity, and their depots. */
#include <stdlib.h>
#include <string.h>
#include <xdownload/check.h>

#include "base/alloc.h"
#include "base/error.h"
#include "manifest/builder.h"
#include "manifest/parity.h"
#include "publish/audit_run.h"
#include "transfer/registry.h"

/* Returns whether the options exclude the replica; the reason is in r->error.
 * Errors: NOMEM. */
static int leave_out(const struct xd_audit *a, struct xd_audit_replica *r)
{
    const struct xd_choice choice = xd_options_choice(&a->options);
    const struct xd_transport_kind *kind = xd_transport_kind_of(r->url);
    const char *why = NULL;
    int is_refused = xd_choice_refuses(&choice, r->url, &why);

    if (is_refused < 0)
        return XD_E_NOMEM;
    if (is_refused == 0)
        why = NULL;
    if (is_refused == 0 && kind && kind->reads_machine &&
        !a->options.allow_file)
        why = "files of this machine are read with allow-file only";
    if (!why)
        return 0;
    r->is_left_out = r->facts.is_left_out = true;
    r->error = xd_strdup(why);
    return r->error ? 0 : XD_E_NOMEM;
}

/* Adds a replica of an existing extent. */
static int add_replica(struct xd_audit *a, const struct xd_audit_replica *row)
{
    struct xd_audit_replica *r = &a->replicas[a->n++];

    *r = *row;
    r->stated_size = XD_SIZE_UNKNOWN;
    r->shown = (struct xd_audit_shown){.url = r->url,
                                       .extent = &a->extents[r->extent]};
    xd_rangeset_init(&r->wrong);
    return leave_out(a, r);
}

static int take_replica(struct xd_audit *a, size_t extent, size_t place)
{
    const struct xd_replica row = xd_model_replica_row(a->model, place);
    const enum xd_reach *reaches = a->model->rare->reaches;
    struct xd_audit_replica r = {.url = &a->model->urls[place],
                                 .extent = extent,
                                 .object_offset = row.offset,
                                 .object_size = row.object_size,
                                 .framing = row.framing,
                                 .expires_at = row.expires_at};

    if (reaches)
        r.reach = reaches[place];
    return add_replica(a, &r);
}

/* Adds a parity shard as an extent after all extents of the file. */
static int take_shard(struct xd_audit *a, size_t stripe,
                      const struct xd_model_shard *shard)
{
    const struct xd_model_stripe *s = &a->model->rare->stripes[stripe];
    const uint64_t begin = a->parity_end;
    int rc = 0;

    if (s->shard_bytes > XD_FILE_MAX - begin)
        return XD_E_INVAL;
    a->parity_end += s->shard_bytes;
    a->shards[a->n_shards++] =
        (struct xd_audit_shard){.stripe = stripe,
                                .number = shard->number,
                                .sha256 = shard->sha256,
                                .first_replica = a->n,
                                .n_replicas = shard->n_replicas};
    a->extents[a->n_extents].at = (struct xd_range){begin, a->parity_end};
    for (size_t i = 0; rc == 0 && i < shard->n_replicas; i++) {
        const struct xd_model_shard_replica *row =
            &s->replicas[shard->first_replica + i];

        rc = add_replica(
            a, &(struct xd_audit_replica){.url = &row->url,
                                          .extent = a->n_extents,
                                          .object_offset = row->offset,
                                          .object_size = XD_SIZE_UNKNOWN,
                                          .expires_at = row->expires_at});
    }
    a->n_extents++;
    return rc;
}

/* Adds all parity shards with a replica.  Errors: NOMEM; INVAL if the shards
 * exceed 64-bit offsets. */
static int take_stripes(struct xd_audit *a)
{
    const struct xd_model_rare *rare = a->model->rare;
    int rc = 0;

    a->n_stripes = rare->n_stripes;
    a->parity_end = a->size; /* a file with stripes has a known size */
    for (size_t i = 0; rc == 0 && i < rare->n_stripes; i++) {
        const struct xd_model_stripe *s = &rare->stripes[i];

        a->stripes[i] = (struct xd_audit_stripe){.offset = s->offset,
                                                 .length = s->length,
                                                 .shard_bytes = s->shard_bytes,
                                                 .k = s->k,
                                                 .n = s->n};
        for (size_t k = 0; rc == 0 && k < s->n_shards; k++)
            if (s->shards[k].n_replicas > 0)
                rc = take_shard(a, i, &s->shards[k]);
    }
    return rc;
}

/* Returns the number of parity shards with a replica. */
static size_t count_shards(const struct xd_model_rare *rare)
{
    size_t n = 0;

    for (size_t i = 0; i < rare->n_stripes; i++)
        n += xd_stripe_n_losses(&rare->stripes[i]);
    return n;
}

static int take_replicas(struct xd_audit *a)
{
    const struct xd_model_file *f = a->model;
    const size_t n_shards = count_shards(f->rare);
    int rc = 0;

    a->replicas =
        xd_alloc(xd_model_n_replicas(f) + xd_stripes_n_replicas(f) + 1,
                 sizeof *a->replicas);
    a->extents = xd_alloc(f->n_extents + n_shards + 1, sizeof *a->extents);
    a->shards = xd_alloc(n_shards + 1, sizeof *a->shards);
    a->stripes = xd_alloc(f->rare->n_stripes + 1, sizeof *a->stripes);
    if (!a->replicas || !a->extents || !a->shards || !a->stripes)
        return XD_E_NOMEM;
    a->n_extents = a->n_extents_of_file = f->n_extents;
    for (size_t i = 0; rc == 0 && i < f->n_extents; i++) {
        const struct xd_model_extent *e = &f->extents[i];

        a->extents[i].at.begin = e->offset;
        a->extents[i].at.end =
            e->length == XD_SIZE_UNKNOWN ? e->offset : e->offset + e->length;
        for (size_t k = 0; rc == 0 && k < e->n_replicas; k++)
            rc = take_replica(a, i, e->first_replica + k);
    }
    a->n_of_file = a->n;
    return rc == 0 ? take_stripes(a) : rc;
}

static int by_depot(const void *x, const void *y)
{
    const struct xd_audit_replica *a = *(struct xd_audit_replica *const *)x;
    const struct xd_audit_replica *b = *(struct xd_audit_replica *const *)y;
    int c = xd_url_compare_depots(a->url, b->url);

    return c != 0 ? c : (a > b) - (a < b);
}

/* Numbers the depots in the order of the manifest. */
static int take_depots(struct xd_audit *a)
{
    struct xd_audit_replica **sorted = xd_alloc(a->n + 1, sizeof *sorted);
    size_t *firsts = xd_alloc(a->n + 1, sizeof *firsts);

    a->depots = xd_alloc(a->n + 1, sizeof *a->depots);
    a->lines = xd_alloc(a->n + 1, sizeof *a->lines);
    if (!sorted || !firsts || !a->depots || !a->lines)
        goto fail;
    for (size_t i = 0; i < a->n; i++)
        sorted[i] = &a->replicas[i];
    qsort(sorted, a->n, sizeof *sorted, by_depot);
    /* all replicas of a depot have the index of its first replica */
    for (size_t i = 0; i < a->n; i++) {
        size_t own = (size_t)(sorted[i] - a->replicas);

        firsts[own] = i > 0 && xd_url_compare_depots(sorted[i - 1]->url,
                                                     sorted[i]->url) == 0
                          ? firsts[sorted[i - 1] - a->replicas]
                          : own;
    }
    for (size_t i = 0; i < a->n; i++) {
        struct xd_audit_replica *r = &a->replicas[i];

        r->depot = a->replicas[firsts[i]].depot;
        if (firsts[i] != i)
            continue;
        r->depot = a->n_depots;
        a->depots[a->n_depots].url = r->url;
        a->lines[a->n_depots].answered_after = XD_NEVER;
        a->depots[a->n_depots++].name = xd_url_depot(r->url);
        if (!a->depots[r->depot].name)
            goto fail;
    }
    xd_free(sorted);
    xd_free(firsts);
    return 0;

fail:
    xd_free(sorted);
    xd_free(firsts);
    return XD_E_NOMEM;
}

/* Chooses the strongest supported hash of the whole file. */
static void take_hash(struct xd_audit *a, const char *whole_with)
{
    const struct xd_model_file *f = a->model;
    int best = -1;

    a->whole_with = whole_with;
    for (size_t i = 0; i < f->n_hashes; i++) {
        int strength = xd_hash_strength(f->hashes[i].algorithm);

        if (strength <= best ||
            (whole_with && strcmp(whole_with, f->hashes[i].algorithm) != 0))
            continue;
        best = strength;
        a->whole_with = f->hashes[i].algorithm;
        a->whole_hex = f->hashes[i].hex;
    }
}

int xd_audit_begin(struct xd_audit **out, struct xd_manifest *m, size_t file,
                   bool is_full, uint64_t cell_bytes, const char *whole_with,
                   const struct xd_options *o, struct xd_error *err)
{
    struct xd_audit *a;
    int rc;

    *out = NULL;
    if (file >= m->n_files)
        return xd_fail(err, XD_E_INVAL, "the manifest has no file number %zu",
                       file);
    a = xd_alloc(1, sizeof *a);
    if (!a || xd_options_copy(&a->options, o) < 0) {
        xd_free(a);
        return xd_fail_nomem(err);
    }
    a->manifest = xd_manifest_ref(m);
    a->model = &m->files[file];
    a->file = file;
    a->is_full = is_full;
    a->cell_bytes = cell_bytes;
    a->size = a->model->size;
    take_hash(a, whole_with);
    rc = take_replicas(a);
    if (rc == 0)
        rc = take_depots(a);
    if (rc < 0) {
        xd_audit_free(a);
        return rc == XD_E_INVAL
                   ? xd_fail(err, rc, "its shards of parity are too long")
                   : xd_fail_nomem(err);
    }
    *out = a;
    return 0;
}
