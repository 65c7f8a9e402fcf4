/* SPDX-License-Identifier: MIT */
/* Sets up uploads of new copies and parity for what an audit has found missing
 * or wrong. */
#include <stdio.h>
#include <xdpublish/audit.h>

#include "base/alloc.h"
#include "base/copy_out.h"
#include "base/error.h"
#include "manifest/edit.h"
#include "manifest/parity.h"
#include "publish/heal_again.h"
#include "publish/heal_plan.h"
#include "publish/make_copies.h"
#include "publish/make_parity.h"
#include "publish/make_upload.h"
#include "publish/overlaps.h"

/* ---- results of the audit ---- */

/* Returns whether a heal replaces a replica with this verdict.  A replica that
 * could not be read is not replaced, because its content is unknown. */
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

/* Checks that the audit examined the current manifest with the same replicas.
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

typedef int runs_fn(const struct xd_audit *a, size_t i, uint64_t *out_begin,
                    uint64_t *out_end);

static int lost_run(const struct xd_audit *a, size_t i, uint64_t *out_begin,
                    uint64_t *out_end)
{
    return xd_audit_at_risk(a, 0, i, out_begin, out_end);
}

/* Marks the extents that overlap the runs of bytes reported by `runs`. */
static int mark(bool *marked, const struct xd_heal *h, const struct xd_audit *a,
                runs_fn *runs, struct xd_error *err)
{
    struct xd_overlaps of;
    struct xd_range run;
    const int rc = xd_overlaps_init(&of, h->file, err);

    for (size_t i = 0; rc == 0 && runs(a, i, &run.begin, &run.end) == 0; i++) {
        xd_overlaps_move(&of, run);
        for (size_t k = 0; k < of.n; k++)
            marked[of.list[k]] = true;
    }
    xd_overlaps_fini(&of);
    return rc;
}

/* Marks good copies that an earlier run of this heal made in place of a bad
 * replica. */
static void find_made(struct xd_upload *u, const struct xd_audit *a)
{
    struct xd_heal *h = &u->heal;

    for (size_t i = 0; i < h->file->n_extents; i++) {
        const struct xd_model_extent *e = &h->file->extents[i];

        for (size_t k = 0; k < e->n_replicas; k++) {
            const size_t place = e->first_replica + k;

            h->made[place] = is_usable(a, i, k) && xd_heal_stands(u, i, place);
        }
    }
}

static int find_lost(struct xd_heal *h, const struct xd_audit *a,
                     struct xd_error *err)
{
    int rc = mark(h->lost, h, a, lost_run, err);

    if (rc == 0)
        rc = mark(h->no_copy, h, a, lost_run, err);
    return rc < 0 ? rc : mark(h->no_copy, h, a, xd_audit_restorable, err);
}

/* Marks extents as lost if the only good copies of some bytes are in replicas
 * that are wrong elsewhere, because a heal does not read such replicas. */
static int find_scattered(struct xd_heal *h, const struct xd_audit *a,
                          struct xd_error *err)
{
    bool *scattered = xd_alloc(h->file->n_extents + 1, sizeof *scattered);
    int rc;

    if (!scattered)
        return xd_fail_nomem(err);
    rc = mark(scattered, h, a, xd_audit_scattered, err);
    for (size_t i = 0; rc == 0 && i < h->file->n_extents; i++)
        if (scattered[i] && !h->no_copy[i])
            h->lost[i] = h->no_copy[i] = true;
    xd_free(scattered);
    return rc;
}

/* Makes the manifest from which the heal reads.  It leaves out unusable
 * replicas.  If some bytes of an extent have no good copy, the extent keeps all
 * its replicas, because a manifest must cover the whole file.  The heal does
 * not read lost extents. */
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
                !is_usable(a, i, k) && !h->no_copy[i];
    }
    rc = xd_manifest_edit(
        out, there, 0,
        &(struct xd_edit){.dropped = dropped, .dropped_parity = h->bad_parity},
        err);
    xd_free(dropped);
    return rc;
}

/* ---- existing copies ---- */

/* Keeps new copies away from stores that have a good copy of the same bytes, or
 * a copy in an unknown state. */
static int count_good(struct xd_upload *u, struct xd_error *err)
{
    const struct xd_heal *h = &u->heal;
    const size_t n = xd_model_n_replicas(h->file);
    struct xd_there *there = xd_alloc(n + 1, sizeof *there);
    int rc;

    if (!there)
        return xd_fail_nomem(err);
    for (size_t i = 0; i < n; i++)
        there[i] =
            (struct xd_there){.is_there = !h->bad[i], .counts = h->made[i]};
    rc = xd_upload_count_replicas(u, h->file, there, err);
    xd_free(there);
    return rc;
}

static bool is_usable_shard(const struct xd_audit *a, size_t stripe,
                            unsigned number, size_t replica)
{
    struct xd_audited row = {.struct_size = sizeof row};

    return xd_audit_shard_replica(a, stripe, number, replica, &row) == 0 &&
           xd_audit_verdict_is_usable(row.verdict);
}

/* Counts copies of a shard that an earlier run has made.  New copies must have
 * the same hash as the shard. */
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
            xd_heal_stands_parity(u, of->stripe, shard, i) &&
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
    int rc = xd_copies_open(u, wish, XD_COMMAND_HEAL, &goes_on, err);

    if (rc == 0)
        rc = check_audit(u, a, wish->manifest, err);
    if (rc == 0)
        rc = xd_cancel_new(&u->removal, err);
    if (rc == 0)
        rc = find_bad(u, a, err);
    if (rc == 0)
        rc = find_lost(&u->heal, a, err);
    if (rc == 0)
        rc = find_scattered(&u->heal, a, err);
    if (rc == 0 && goes_on)
        rc = xd_heal_go_on(u, err);
    if (rc == 0)
        rc = make_good(u, a, &good, err);
    if (rc == 0 && goes_on)
        find_made(u, a);
    if (rc == 0)
        rc = xd_copies_begin(u, good, wish, goes_on, err);
    xd_manifest_unref(good);
    if (rc == 0)
        rc = xd_heal_plan(u, a, err);
    if (rc == 0)
        rc = xd_upload_make_room(u, err);
    if (rc == 0)
        rc = count_good(u, err);
    if (rc < 0)
        return rc;
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
    rc = xd_copy_in(&given, sizeof given, wish, "xd_upload_wish", err);
    if (rc < 0)
        return rc;
    given.struct_size = sizeof given;
    given.copies = 0;
    given.stripes = true;
    /* with `stripes`, the default length would be shorter */
    if (given.extent_bytes == 0)
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
