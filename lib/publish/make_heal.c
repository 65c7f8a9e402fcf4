/* SPDX-License-Identifier: MIT */
/* New copies, and parity, of what an audit has found to be missing or wrong. */
#include <stdio.h>
#include <xdownload/audit.h>

#include "base/alloc.h"
#include "base/copy_out.h"
#include "base/error.h"
#include "manifest/edit.h"
#include "manifest/parity.h"
#include "publish/make_copies.h"
#include "publish/make_parity.h"
#include "publish/make_upload.h"

/* ---- what an audit has found ---- */

/* What is there of a replica that may not be read is not known: it is not replaced. */
static bool is_bad(enum xd_audit_verdict verdict)
{
    return verdict != XD_AUDIT_SKIPPED && verdict != XD_AUDIT_UNREACHED &&
           verdict != XD_AUDIT_DENIED && !xd_audit_verdict_is_usable(verdict);
}

static bool is_usable(const struct xd_audit *a, size_t extent, size_t replica)
{
    struct xd_audited row = {.struct_size = sizeof row};

    return xd_audit_replica(a, extent, replica, &row) == 0 &&
           xd_audit_verdict_is_usable(row.verdict);
}

/* The audit was of the manifest that is there now, with the same replicas.
 * Errors: STATE. */
static int check_audit(const struct xd_upload *u, const struct xd_audit *a,
                       const char *path, struct xd_error *err)
{
    const struct xd_model_file *f = xd_copies_file(u);
    struct xd_audit_sum sum = {.struct_size = sizeof sum};

    xd_audit_get(a, &sum);
    if (sum.n_replicas - sum.n_of_parity == xd_model_n_replicas(f) &&
        sum.n_of_parity == xd_stripes_n_replicas(f) && sum.size == f->size)
        return 0;
    return xd_fail(err, XD_E_STATE,
                   "%s: it has changed since its replicas were looked at",
                   path);
}

static void find_bad_parity(struct xd_heal *h, const struct xd_audit *a)
{
    const struct xd_model_rare *rare = h->file->rare;
    struct xd_audited row = {.struct_size = sizeof row};

    for (size_t i = 0; i < rare->n_stripes; i++) {
        const struct xd_model_stripe *s = &rare->stripes[i];

        for (size_t k = 0; k < s->n_shards; k++) {
            const struct xd_model_shard *shard = &s->shards[k];

            for (size_t r = 0; r < shard->n_replicas; r++)
                h->bad_parity[s->first_place + shard->first_replica + r] =
                    xd_audit_shard_replica(a, i, shard->number, r, &row) == 0 &&
                    is_bad(row.verdict);
        }
    }
}

static int find_bad(struct xd_upload *u, const struct xd_audit *a,
                    struct xd_error *err)
{
    const struct xd_model_file *f = xd_copies_file(u);
    struct xd_heal *h = &u->heal;
    struct xd_audited row = {.struct_size = sizeof row};
    const int rc = xd_heal_init(h, f, err);

    if (rc < 0)
        return rc;
    for (size_t i = 0; i < f->n_extents; i++) {
        const struct xd_model_extent *e = &f->extents[i];

        for (size_t k = 0; k < e->n_replicas; k++)
            h->bad[e->first_replica + k] =
                xd_audit_replica(a, i, k, &row) == 0 && is_bad(row.verdict);
    }
    find_bad_parity(h, a);
    return 0;
}

static unsigned count_bad(const struct xd_heal *h,
                          const struct xd_model_extent *e)
{
    unsigned n = 0;

    for (size_t k = 0; k < e->n_replicas; k++)
        n += h->bad[e->first_replica + k];
    return n;
}

typedef int runs_fn(const struct xd_audit *a, size_t i, uint64_t *out_begin,
                    uint64_t *out_end);

static int lost_run(const struct xd_audit *a, size_t i, uint64_t *out_begin,
                    uint64_t *out_end)
{
    return xd_audit_at_risk(a, 0, i, out_begin, out_end);
}

static bool is_among(const struct xd_audit *a, runs_fn *runs,
                     const struct xd_model_extent *e)
{
    const struct xd_range extent = {e->offset, e->offset + e->length};
    struct xd_range run;

    for (size_t i = 0; runs(a, i, &run.begin, &run.end) == 0; i++)
        if (!xd_range_is_empty(xd_range_clip(extent, run)))
            return true;
    return false;
}

/* Whether some of its bytes are lost. */
static bool is_lost(const struct xd_audit *a, const struct xd_model_extent *e)
{
    return is_among(a, lost_run, e);
}

/* Whether no depot has a good copy of some of its bytes, though parity may restore
 * them. */
static bool has_no_copy(const struct xd_audit *a,
                        const struct xd_model_extent *e)
{
    return is_lost(a, e) || is_among(a, xd_audit_restorable, e);
}

/* What is read: not the replicas that cannot be used, but where there are no others,
 * which is not read. */
static int make_good(const struct xd_upload *u, const struct xd_audit *a,
                     struct xd_manifest **out, struct xd_error *err)
{
    const struct xd_heal *h = &u->heal;
    struct xd_manifest *there = xd_inventory_manifest(u->inventory);
    bool *dropped = xd_alloc(xd_model_n_replicas(h->file) + 1, sizeof *dropped);
    int rc;

    if (!dropped)
        return xd_fail_nomem(err);
    for (size_t i = 0; i < h->file->n_extents; i++) {
        const struct xd_model_extent *e = &h->file->extents[i];

        for (size_t k = 0; k < e->n_replicas; k++)
            dropped[e->first_replica + k] =
                !is_usable(a, i, k) && !has_no_copy(a, e);
    }
    rc = xd_manifest_edit(
        out, there, 0,
        &(struct xd_edit){.dropped = dropped, .dropped_parity = h->bad_parity},
        err);
    xd_free(dropped);
    return rc;
}

/* ---- what gets new copies: one for each that is bad ---- */

static int plan_extent(struct xd_upload *u, size_t i, struct xd_error *err)
{
    struct xd_heal *h = &u->heal;
    const struct xd_model_extent *e = &h->file->extents[i];
    const unsigned wanted = count_bad(h, e);
    int rc = xd_upload_add_extents(
        u, (struct xd_range){e->offset, e->offset + e->length}, wanted, err);

    while (rc == 0 && h->n < xd_plan_n_extents(u->plan))
        rc = xd_heal_add(h, (struct xd_heal_item){.extent = i, .left = wanted},
                         err);
    return rc;
}

/* The stripe of which it is a shard of data, or a part of one; line.n: none. */
static size_t stripe_of(const struct xd_upload *u,
                        const struct xd_model_extent *e)
{
    const size_t i = xd_upload_line_stripe_from(&u->line, e->offset);
    const struct xd_model_stripe *s = &u->line.stripes[i];
    uint64_t at;

    if (i == u->line.n || e->offset < s->offset || e->length == 0 ||
        e->length > s->length - (e->offset - s->offset))
        return u->line.n;
    at = (e->offset - s->offset) % s->shard_bytes;
    return e->length <= s->shard_bytes - at ? i : u->line.n;
}

static bool gets_copies(const struct xd_upload *u, const struct xd_audit *a,
                        const struct xd_model_extent *e)
{
    return count_bad(&u->heal, e) > 0 && !is_lost(a, e);
}

/* Its replicas that are bad. */
static unsigned count_bad_parity(const struct xd_heal *h,
                                 const struct xd_model_stripe *s,
                                 const struct xd_model_shard *shard)
{
    unsigned n = 0;

    for (size_t i = 0; i < shard->n_replicas; i++)
        n += h->bad_parity[s->first_place + shard->first_replica + i];
    return n;
}

static int plan_shards(struct xd_upload *u, size_t stripe, struct xd_error *err)
{
    const struct xd_model_stripe *s = &u->line.stripes[stripe];
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < s->n_shards; i++) {
        const struct xd_heal_item item = {
            .stripe = s,
            .shard = &s->shards[i],
            .left = count_bad_parity(&u->heal, s, &s->shards[i])};

        if (item.left == 0)
            continue;
        rc = xd_upload_add_shard(u, stripe, item.shard->number, item.left, err);
        if (rc == 0)
            rc = xd_heal_add(&u->heal, item, err);
    }
    return rc;
}

/* What no k shards of are left is lost with them. */
static bool is_restorable(const struct xd_audit *a, size_t stripe)
{
    struct xd_audited_stripe row = {.struct_size = sizeof row};

    return xd_audit_stripe(a, stripe, &row) == 0 && row.n_losses >= 0;
}

/* Shards of data and parity, on hosts that have no other shard of their stripe. */
static int plan_stripe(struct xd_upload *u, const struct xd_audit *a,
                       size_t stripe, struct xd_error *err)
{
    const struct xd_heal *h = &u->heal;
    const struct xd_model_file *f = h->file;
    const struct xd_model_stripe *s = &u->line.stripes[stripe];
    int rc = xd_plan_begin_group(u->plan, err);

    if (rc < 0)
        return rc;
    xd_upload_forbid_data(u, f, stripe, h->bad);
    xd_upload_forbid_parity(u, stripe, h->bad_parity);
    for (size_t i = 0; rc == 0 && i < f->n_extents &&
                       f->extents[i].offset < s->offset + s->length;
         i++)
        if (stripe_of(u, &f->extents[i]) == stripe &&
            gets_copies(u, a, &f->extents[i]))
            rc = plan_extent(u, i, err);
    if (rc == 0 && is_restorable(a, stripe))
        rc = plan_shards(u, stripe, err);
    xd_plan_end_group(u->plan);
    return rc;
}

/* A store whose host has parity of its bytes gets none of an extent of several
 * shards. */
static void forbid_stores(struct xd_upload *u, size_t first)
{
    for (size_t i = first; i < xd_plan_n_extents(u->plan); i++) {
        const struct xd_range r = xd_plan_range(u->plan, i);

        for (size_t s = xd_upload_line_stripe_from(&u->line, r.begin);
             s < u->line.n && u->line.stripes[s].offset < r.end; s++)
            for (size_t store = 0; store < u->n_workers; store++)
                if (xd_upload_has_parity(u, store, s, u->heal.bad_parity))
                    xd_plan_forbid(u->plan, i, store);
    }
}

static int plan_others(struct xd_upload *u, const struct xd_audit *a,
                       struct xd_error *err)
{
    const struct xd_model_file *f = u->heal.file;
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < f->n_extents; i++) {
        const size_t first = xd_plan_n_extents(u->plan);

        if (!gets_copies(u, a, &f->extents[i]) ||
            stripe_of(u, &f->extents[i]) < u->line.n)
            continue;
        rc = plan_extent(u, i, err);
        forbid_stores(u, first);
    }
    return rc;
}

static int plan_all(struct xd_upload *u, const struct xd_audit *a,
                    struct xd_error *err)
{
    int64_t rc = u->line.n > 0 ? xd_upload_set_hosts(u, err) : 0;

    for (size_t i = 0; rc >= 0 && i < u->line.n; i++)
        rc = plan_stripe(u, a, i, err);
    return rc < 0 ? (int)rc : plan_others(u, a, err);
}

/* ---- what is there ---- */

/* Stores that have a good copy of the same bytes, or one of which nothing is known, get
 * no other. */
static void count_good(struct xd_upload *u, const struct xd_audit *a,
                       bool goes_on)
{
    const struct xd_heal *h = &u->heal;

    for (size_t i = 0; i < h->file->n_extents; i++) {
        const struct xd_model_extent *e = &h->file->extents[i];

        for (size_t k = 0; k < e->n_replicas; k++) {
            const size_t place = e->first_replica + k;

            if (!h->bad[place])
                xd_upload_count_replica(u, h->file, i,
                                        xd_upload_store_of(u, h->file, place),
                                        goes_on && is_usable(a, i, k));
        }
    }
}

static bool is_usable_shard(const struct xd_audit *a, size_t stripe,
                            unsigned number, size_t replica)
{
    struct xd_audited row = {.struct_size = sizeof row};

    return xd_audit_shard_replica(a, stripe, number, replica, &row) == 0 &&
           xd_audit_verdict_is_usable(row.verdict);
}

/* What an earlier run has made of a shard counts; and all is to have its hash. */
static void count_shard(struct xd_upload *u, const struct xd_audit *a,
                        size_t item, bool goes_on)
{
    const struct xd_heal_item *of = &u->heal.items[item];
    const size_t stripe = (size_t)(of->stripe - u->line.stripes);
    const struct xd_model_shard *shard = of->shard;

    if (shard->sha256)
        snprintf(u->expected[item], sizeof u->expected[item], "%s",
                 shard->sha256);
    for (size_t i = 0; goes_on && i < shard->n_replicas; i++) {
        const struct xd_model_shard_replica *r =
            &of->stripe->replicas[shard->first_replica + i];
        const size_t store = xd_upload_store_of_parity(u, r);

        if (store < u->n_workers &&
            is_usable_shard(a, stripe, shard->number, i))
            xd_upload_count_extent(u, item, shard->sha256, store);
    }
}

static void count_shards(struct xd_upload *u, const struct xd_audit *a,
                         bool goes_on)
{
    for (size_t i = 0; i < u->heal.n; i++)
        if (u->heal.items[i].stripe)
            count_shard(u, a, i, goes_on);
}

static int make_heal(struct xd_upload *u, const struct xd_audit *a,
                     const struct xd_upload_wish *wish, struct xd_error *err)
{
    struct xd_manifest *good = NULL;
    bool goes_on = false;
    int rc = xd_copies_open(u, wish, &goes_on, err);

    if (rc == 0)
        rc = check_audit(u, a, wish->manifest, err);
    if (rc == 0)
        rc = xd_cancel_new(&u->removal, err);
    if (rc == 0)
        rc = find_bad(u, a, err);
    if (rc == 0)
        rc = make_good(u, a, &good, err);
    if (rc == 0)
        rc = xd_copies_begin(u, good, wish, goes_on, err);
    xd_manifest_unref(good);
    if (rc == 0)
        rc = plan_all(u, a, err);
    if (rc == 0)
        rc = xd_upload_make_room(u, err);
    if (rc < 0)
        return rc;
    count_good(u, a, goes_on);
    count_shards(u, a, goes_on);
    xd_inventory_drop(u->inventory, u->heal.dropped);
    xd_inventory_drop_parity(u->inventory, u->heal.dropped_parity);
    return 0;
}

int xd_upload_new_heal(struct xd_upload **out, const struct xd_audit *audit,
                       const struct xd_upload_wish *wish,
                       const struct xd_options *o, struct xd_error *err)
{
    struct xd_upload_wish given, w;
    struct xd_upload *u;
    int rc;

    *out = NULL;
    xd_copy_in(&given, sizeof given, wish);
    given.struct_size = sizeof given;
    given.copies = 0;
    given.stripes = true;
    if (given.extent_bytes == 0) /* as long as those that are replaced */
        given.extent_bytes = XD_UPLOAD_EXTENT;
    rc = xd_upload_begin(&u, &w, &given, o, err);
    if (rc < 0)
        return rc;
    rc = make_heal(u, audit, &w, err);
    if (rc < 0) {
        xd_upload_unmake(u);
        return rc;
    }
    *out = u;
    return 0;
}
