/* SPDX-License-Identifier: MIT */
#include <xdpublish/audit.h>

#include <limits.h>

#include "base/alloc.h"
#include "base/copy_out.h"
#include "base/error.h"
#include "publish/audit_run.h"

int xd_audit_new(struct xd_audit **out, struct xd_manifest *m, size_t file,
                 const struct xd_audit_options *what,
                 const struct xd_options *o, struct xd_error *err)
{
    struct xd_audit_options asked = {.is_full = false};
    struct xd_options defaults;
    struct xd_audit *a;
    int rc;

    *out = NULL;
    if (what &&
        xd_copy_in(&asked, sizeof asked, what, "xd_audit_options", err) < 0)
        return XD_E_INVAL;
    xd_options_init(&defaults);
    rc = xd_audit_begin(&a, m, file, asked.is_full, 0, NULL, o ? o : &defaults,
                        err);
    if (rc < 0)
        return rc;
    rc = xd_audit_run(a, err);
    if (rc < 0)
        xd_audit_free(a);
    else
        *out = a;
    return rc;
}

static size_t count_usable(const struct xd_audit *a)
{
    size_t n = 0;

    for (size_t i = 0; i < a->n; i++)
        n += xd_audit_verdict_is_usable(a->replicas[i].verdict);
    return n;
}

/* Returns how many more shards the stripe with the fewest good shards can
 * lose. */
static int count_losses(const struct xd_audit *a)
{
    int least = INT_MAX;

    for (size_t i = 0; i < a->n_stripes && !a->is_line_down; i++) {
        const struct xd_audit_stripe *s = &a->stripes[i];
        const int n = (int)s->n_good - (int)s->k;

        least = n < least ? n : least;
    }
    return least == INT_MAX ? 0 : least;
}

/* Returns the algorithm of the hashes that the replicas are compared with, or
 * NULL if there are no hashes.  Prefers piece hashes to hashes of extents and
 * of the file. */
static const char *algorithm_of(const struct xd_audit *a)
{
    if (a->piece_algorithm)
        return a->piece_algorithm;
    for (size_t i = 0; a->is_full && i < a->model->n_extents; i++) {
        if (xd_model_sha256(a->model, i))
            return "sha-256";
    }
    return a->is_full && a->whole_hex ? a->whole_with : NULL;
}

void xd_audit_get(const struct xd_audit *a, struct xd_audit_sum *out)
{
    struct xd_audit_sum sum = {.size = a->size,
                               .is_full = a->is_full,
                               .algorithm = algorithm_of(a),
                               .n_depots = a->n_depots,
                               .n_replicas = a->n,
                               .n_usable = count_usable(a),
                               .bytes_with_one = a->risk.one.bytes,
                               .bytes_with_none = a->risk.none.bytes,
                               .n_with_one = a->risk.one.n,
                               .n_with_none = a->risk.none.n,
                               .is_line_down = a->is_line_down,
                               .n_of_parity = a->n - a->n_of_file,
                               .n_stripes = a->n_stripes,
                               .n_losses = count_losses(a),
                               .bytes_restorable = a->risk.restorable.bytes,
                               .n_restorable = a->risk.restorable.n};

    for (size_t i = 0; i < a->n; i++)
        sum.n_skipped += a->replicas[i].is_left_out;
    xd_copy_out(out, &sum, sizeof sum);
}

/* Counts the bytes of the file that the replicas of a depot cover.  Overlapping
 * bytes count once. */
static int count_held(const struct xd_audit *a, size_t depot, uint64_t *out)
{
    struct xd_rangeset held;
    int rc = 0;

    xd_rangeset_init(&held);
    for (size_t i = 0; rc == 0 && i < a->n_of_file; i++) {
        if (a->replicas[i].depot == depot)
            rc = xd_rangeset_add(&held, a->replicas[i].shown.extent->at);
    }
    *out = held.bytes;
    xd_rangeset_fini(&held);
    return rc;
}

static void add_replica(struct xd_audited_depot *d,
                        const struct xd_audit_replica *r)
{
    if (d->n_replicas == 0 || r->verdict > d->verdict) {
        d->verdict = r->verdict;
        d->reason = r->reason;
    }
    d->n_replicas++;
    d->n_usable += xd_audit_verdict_is_usable(r->verdict);
    d->bytes_read += r->bytes_read;
    d->bytes_wrong += r->facts.bytes_wrong;
    if (r->expires_at != 0 &&
        (d->expires_at == 0 || r->expires_at < d->expires_at))
        d->expires_at = r->expires_at;
}

int xd_audit_depot(const struct xd_audit *a, size_t i,
                   struct xd_audited_depot *out)
{
    struct xd_audited_depot d = {.bytes_held = 0};

    if (i >= a->n_depots)
        return XD_E_INVAL;
    d.name = a->depots[i].name;
    d.bytes_per_s = a->depots[i].bytes_per_s;
    d.answer_usec = a->lines[i].answered_after;
    for (size_t k = 0; k < a->n; k++) {
        if (a->replicas[k].depot == i)
            add_replica(&d, &a->replicas[k]);
    }
    if (count_held(a, i, &d.bytes_held) < 0)
        d.bytes_held = 0;
    xd_copy_out(out, &d, sizeof d);
    return 0;
}

/* Returns NULL if a number is out of range. */
static const struct xd_audit_replica *find(const struct xd_audit *a,
                                           size_t extent, size_t replica)
{
    const struct xd_model_file *f = a->model;

    if (extent >= f->n_extents || replica >= f->extents[extent].n_replicas)
        return NULL;
    return &a->replicas[f->extents[extent].first_replica + replica];
}

static struct xd_audited audit_row(const struct xd_audit *a,
                                   const struct xd_audit_replica *r)
{
    return (struct xd_audited){.verdict = r->verdict,
                               .reason = r->reason,
                               .depot = r->depot,
                               .object_size = r->stated_size,
                               .validator = r->validator,
                               .modified = r->modified,
                               .has_answered = r->facts.has_answered,
                               .has_no_ranges = r->facts.has_no_ranges,
                               .expires_at = r->expires_at,
                               .bytes_read = r->bytes_read,
                               .bytes_right = r->bytes_right,
                               .bytes_wrong = r->facts.bytes_wrong,
                               .bytes_disputed = r->facts.bytes_disputed,
                               .n_wrong = r->wrong.n,
                               .depot_name = a->depots[r->depot].name};
}

int xd_audit_copy_row(const struct xd_audit *a,
                      const struct xd_audit_replica *r, struct xd_audited *out)
{
    struct xd_audited found;

    if (!r)
        return XD_E_INVAL;
    found = audit_row(a, r);
    xd_copy_out(out, &found, sizeof found);
    return 0;
}

int xd_audit_replica(const struct xd_audit *a, size_t extent, size_t replica,
                     struct xd_audited *out)
{
    return xd_audit_copy_row(a, find(a, extent, replica), out);
}

int xd_audit_run_of(const struct xd_rangeset *s, size_t i, uint64_t base,
                    uint64_t *out_begin, uint64_t *out_end)
{
    if (i >= s->n)
        return XD_E_INVAL;
    *out_begin = s->ranges[i].begin - base;
    *out_end = s->ranges[i].end - base;
    return 0;
}

int xd_audit_wrong(const struct xd_audit *a, size_t extent, size_t replica,
                   size_t i, uint64_t *out_begin, uint64_t *out_end)
{
    const struct xd_audit_replica *r = find(a, extent, replica);

    return r ? xd_audit_run_of(&r->wrong, i, 0, out_begin, out_end)
             : XD_E_INVAL;
}

int xd_audit_at_risk(const struct xd_audit *a, size_t n_depots, size_t i,
                     uint64_t *out_begin, uint64_t *out_end)
{
    if (n_depots > 1)
        return XD_E_INVAL;
    return xd_audit_run_of(n_depots == 0 ? &a->risk.none : &a->risk.one, i, 0,
                           out_begin, out_end);
}

int xd_audit_restorable(const struct xd_audit *a, size_t i, uint64_t *out_begin,
                        uint64_t *out_end)
{
    return xd_audit_run_of(&a->risk.restorable, i, 0, out_begin, out_end);
}

int xd_audit_scattered(const struct xd_audit *a, size_t i, uint64_t *out_begin,
                       uint64_t *out_end)
{
    return xd_audit_run_of(&a->scattered, i, 0, out_begin, out_end);
}

static void release_replica(struct xd_audit_replica *r)
{
    xd_free(r->validator);
    xd_free(r->error);
    xd_free(r->reason);
    xd_free(r->shown.states);
    xd_free(r->shown.digests);
    xd_hasher_free(r->hasher);
    xd_hasher_free(r->whole);
    xd_rangeset_fini(&r->wrong);
}

void xd_audit_free(struct xd_audit *a)
{
    if (!a)
        return;
    for (size_t i = 0; i < a->n; i++)
        release_replica(&a->replicas[i]);
    for (size_t i = 0; i < a->n_depots; i++)
        xd_free(a->depots[i].name);
    xd_free(a->replicas);
    xd_free(a->extents);
    xd_free(a->shards);
    xd_free(a->stripes);
    xd_free(a->depots);
    xd_free(a->lines);
    xd_audit_cells_fini(&a->cells);
    xd_rangeset_fini(&a->risk.none);
    xd_rangeset_fini(&a->risk.restorable);
    xd_rangeset_fini(&a->risk.one);
    xd_rangeset_fini(&a->scattered);
    xd_options_fini(&a->options);
    xd_manifest_unref(a->manifest);
    xd_free(a);
}
