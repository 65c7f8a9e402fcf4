/* SPDX-License-Identifier: MIT */
/* More copies of a file that a manifest names, from the replicas that there are;
 * all of it, or what an audit has found to be missing or wrong. */
#include <string.h>
#include <xdownload/audit.h>

#include "base/alloc.h"
#include "base/array.h"
#include "base/copy_out.h"
#include "base/error.h"
#include "manifest/edit.h"
#include "manifest/parity.h"
#include "publish/make_parity.h"
#include "publish/make_upload.h"
#include "publish/signed_reads.h"

static const struct xd_model_file *file_of(const struct xd_upload *u)
{
    return &xd_inventory_manifest(u->inventory)->files[0];
}

/* A manifest that a put has not completed names no whole file.  *out_goes_on: an
 * earlier run of this was broken off.  Errors: IO, STATE. */
static int look_at_inventory(struct xd_upload *u, const char *path,
                             bool *out_goes_on, struct xd_error *err)
{
    const struct xd_manifest *there = xd_inventory_manifest(u->inventory);
    struct xd_inventory_note note;

    *out_goes_on = false;
    if (!there)
        return xd_fail(err, XD_E_IO, "%s: there is no such manifest", path);
    if (there->n_files != 1)
        return xd_fail(err, XD_E_INVAL,
                       "%s: it describes %zu files, of which one at a time can "
                       "get copies",
                       path, there->n_files);
    if (!xd_inventory_is_unfinished(u->inventory, &note))
        return 0;
    if (note.stamp[0] != '\0')
        return xd_fail(err, XD_E_STATE,
                       "%s: its upload is not complete: give the same put "
                       "again first",
                       path);
    u->note = note;
    *out_goes_on = true;
    return 0;
}

/* The name of the file, for sentences. */
static int name_file(struct xd_upload *u, const char *path,
                     struct xd_error *err)
{
    const struct xd_model_file *f = file_of(u);
    const char *name = xd_model_name(f);

    u->file_name = xd_strdup(name ? name : path);
    return u->file_name ? 0 : xd_fail_nomem(err);
}

static int open(struct xd_upload *u, const struct xd_upload_wish *wish,
                bool *out_goes_on, struct xd_error *err)
{
    int rc = xd_upload_open(u, wish, err);

    if (rc == 0)
        rc = look_at_inventory(u, wish->manifest, out_goes_on, err);
    if (rc == 0)
        rc = xd_inventory_check_public(u->inventory, err);
    return rc == 0 ? name_file(u, wish->manifest, err) : rc;
}

/* Where the bytes come from; and the name of what is made of them. */
static int begin(struct xd_upload *u, struct xd_manifest *good,
                 const struct xd_upload_wish *wish, bool goes_on,
                 struct xd_error *err)
{
    struct xd_manifest *m = NULL;
    uint64_t shard_bytes = 0;
    int rc = xd_signed_reads(&m, good, u->inventory, &u->options, err);

    if (rc == 0)
        rc = xd_origin_fetch(&u->origin, m, 0, &u->options, u->n_workers + 1,
                             err);
    xd_manifest_unref(m);
    if (rc == 0 && !goes_on)
        rc = xd_upload_make_note(
            u, xd_wish_extent_bytes(wish, xd_origin_size(u->origin)), err);
    if (rc == 0)
        rc = xd_inventory_begin(u->inventory, &u->note, false, u->file_name,
                                xd_origin_size(u->origin), err);
    if (rc == 0 && u->coding.k > 0)
        rc = xd_coding_shard_bytes(&shard_bytes, u->coding,
                                   xd_origin_size(u->origin),
                                   wish->extent_bytes, err);
    if (rc == 0)
        rc = xd_upload_make_line(u, file_of(u), shard_bytes, err);
    return rc;
}

/* ---- all of it ---- */

static void count_copies(struct xd_upload *u, bool goes_on)
{
    const struct xd_model_file *f = file_of(u);

    for (size_t i = 0; i < f->n_extents; i++)
        for (size_t k = 0; k < f->extents[i].n_replicas; k++)
            xd_upload_count_replica(
                u, f, i,
                xd_upload_store_of(u, f, f->extents[i].first_replica + k),
                goes_on);
}

static int make_copies(struct xd_upload *u, const struct xd_upload_wish *wish,
                       struct xd_error *err)
{
    const bool adds_parity = wish->code != NULL;
    bool goes_on = false;
    int rc = open(u, wish, &goes_on, err);

    if (rc == 0)
        rc = xd_upload_check_parity(u, file_of(u), goes_on, err);
    if (rc == 0)
        rc = begin(u, xd_inventory_manifest(u->inventory), wish, goes_on, err);
    if (rc == 0 && adds_parity)
        rc = xd_upload_plan_parity(u, file_of(u), err);
    else if (rc == 0)
        rc = xd_upload_add_extents(
            u, (struct xd_range){0, xd_origin_size(u->origin)}, u->copies, err);
    if (rc == 0)
        rc = xd_upload_make_room(u, err);
    if (rc == 0 && adds_parity && goes_on)
        xd_upload_count_shards(u);
    if (rc == 0 && !adds_parity)
        count_copies(u, goes_on);
    return rc;
}

int xd_upload_new_copies(struct xd_upload **out,
                         const struct xd_upload_wish *wish,
                         const struct xd_options *o, struct xd_error *err)
{
    struct xd_upload_wish w;
    struct xd_upload *u;
    int rc = xd_upload_begin(&u, &w, wish, o, err);

    *out = NULL;
    if (rc < 0)
        return rc;
    rc = make_copies(u, &w, err);
    if (rc < 0) {
        xd_upload_unmake(u);
        return rc;
    }
    *out = u;
    return 0;
}

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
    const struct xd_model_file *f = file_of(u);
    struct xd_audit_sum sum = {.struct_size = sizeof sum};

    xd_audit_get(a, &sum);
    if (sum.n_replicas - sum.n_of_parity == xd_model_n_replicas(f) &&
        sum.n_of_parity == xd_stripes_n_replicas(f) && sum.size == f->size)
        return 0;
    return xd_fail(err, XD_E_STATE,
                   "%s: it has changed since its replicas were looked at",
                   path);
}

static int find_bad(struct xd_upload *u, const struct xd_audit *a,
                    struct xd_error *err)
{
    const struct xd_model_file *f = file_of(u);
    struct xd_heal *h = &u->heal;
    struct xd_audited row = {.struct_size = sizeof row};
    const size_t n = xd_model_n_replicas(f);

    h->file = f;
    h->bad = xd_alloc(n + 1, sizeof *h->bad);
    h->dropped = xd_alloc(n + 1, sizeof *h->dropped);
    h->left = xd_alloc(f->n_extents + 1, sizeof *h->left);
    if (!h->bad || !h->dropped || !h->left)
        return xd_fail_nomem(err);
    for (size_t i = 0; i < f->n_extents; i++) {
        const struct xd_model_extent *e = &f->extents[i];

        for (size_t k = 0; k < e->n_replicas; k++)
            h->bad[e->first_replica + k] =
                xd_audit_replica(a, i, k, &row) == 0 && is_bad(row.verdict);
    }
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

/* Whether no depot has a good copy of some of its bytes. */
static bool is_lost(const struct xd_audit *a, const struct xd_model_extent *e)
{
    const struct xd_range extent = {e->offset, e->offset + e->length};
    struct xd_range run;

    for (size_t i = 0; xd_audit_at_risk(a, 0, i, &run.begin, &run.end) == 0;
         i++)
        if (!xd_range_is_empty(xd_range_clip(extent, run)))
            return true;
    for (size_t i = 0; xd_audit_restorable(a, i, &run.begin, &run.end) == 0;
         i++)
        if (!xd_range_is_empty(xd_range_clip(extent, run)))
            return true;
    return false;
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
                !is_usable(a, i, k) && !is_lost(a, e);
    }
    rc = xd_manifest_edit(out, there, 0, &(struct xd_edit){.dropped = dropped},
                          err);
    xd_free(dropped);
    return rc;
}

/* The extents that get new copies, one for each that is bad. */
static int plan_extents(struct xd_upload *u, const struct xd_audit *a,
                        struct xd_error *err)
{
    struct xd_heal *h = &u->heal;
    const struct xd_model_file *f = h->file;
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < f->n_extents; i++) {
        const struct xd_model_extent *e = &f->extents[i];
        const unsigned wanted = count_bad(h, e);
        size_t n;

        if (wanted == 0 || is_lost(a, e))
            continue;
        rc = xd_upload_add_extents(
            u, (struct xd_range){e->offset, e->offset + e->length}, wanted,
            err);
        n = xd_plan_n_extents(u->plan);
        h->left[i] = (n - h->n) * wanted;
        if (rc == 0 &&
            xd_lengthen(&h->extents, h->n, n, sizeof *h->extents) < 0)
            rc = xd_fail_nomem(err);
        while (rc == 0 && h->n < n)
            h->extents[h->n++] = i;
    }
    return rc;
}

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

static int make_heal(struct xd_upload *u, const struct xd_audit *a,
                     const struct xd_upload_wish *wish, struct xd_error *err)
{
    struct xd_manifest *good = NULL;
    bool goes_on = false;
    int rc = open(u, wish, &goes_on, err);

    if (rc == 0)
        rc = check_audit(u, a, wish->manifest, err);
    if (rc == 0)
        rc = xd_cancel_new(&u->removal, err);
    if (rc == 0)
        rc = find_bad(u, a, err);
    if (rc == 0)
        rc = make_good(u, a, &good, err);
    if (rc == 0)
        rc = begin(u, good, wish, goes_on, err);
    xd_manifest_unref(good);
    if (rc == 0)
        rc = plan_extents(u, a, err);
    if (rc == 0)
        rc = xd_upload_make_room(u, err);
    if (rc == 0)
        count_good(u, a, goes_on);
    xd_inventory_drop(u->inventory, u->heal.dropped);
    return rc;
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

int xd_upload_readable(struct xd_manifest **out, struct xd_manifest *m,
                       const char *path, const struct xd_options *o,
                       struct xd_error *err)
{
    struct xd_inventory *own = NULL;
    struct xd_error ignored;
    struct xd_options defaults;
    int rc = xd_inventory_open(&own, path, NULL, &ignored);

    *out = NULL;
    if (rc == XD_E_NOMEM)
        return xd_fail_nomem(err);
    if (rc < 0) { /* only our own manifest makes us sign */
        *out = xd_manifest_ref(m);
        return 0;
    }
    xd_options_init(&defaults);
    rc = xd_signed_reads(out, m, own, o ? o : &defaults, err);
    xd_inventory_free(own);
    return rc;
}

int xd_upload_manifest(struct xd_manifest **out, const char *path,
                       struct xd_error *err)
{
    struct xd_inventory *inventory;
    int rc = xd_inventory_open(&inventory, path, NULL, err);

    *out = NULL;
    if (rc < 0)
        return rc;
    if (xd_inventory_manifest(inventory))
        *out = xd_manifest_ref(xd_inventory_manifest(inventory));
    else
        rc = xd_fail(err, XD_E_IO, "%s: there is no such manifest", path);
    xd_inventory_free(inventory);
    return rc;
}
