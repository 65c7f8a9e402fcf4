/* SPDX-License-Identifier: MIT */
/*
 * Drops replicas, in this order: select the replicas; find out which of their
 * objects may be deleted; prove that the remaining replicas are correct; write
 * both manifests; delete the objects.
 *
 * If the process is killed before the end, or an object cannot be deleted, the
 * private manifest lists the objects as pending.  The next call deletes them
 * after the same proof.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/copy_out.h"
#include "manifest/edit.h"
#include "manifest/parity.h"
#include "publish/object_names.h"
#include "publish/shards_left.h"
#include "publish/typed.h"
#include "publish/upkeep.h"

struct drop {
    struct xd_upkeep *upkeep;
    struct xd_typed from;
    bool keeps_objects;
    bool *dropped; /* for each replica of the file: whether it is dropped */
    /* for each parity replica, stripe by stripe: whether it is dropped */
    bool *dropped_parity;
};

/* ---- selection ---- */

static struct xd_range range_of(const struct xd_model_extent *e)
{
    return (struct xd_range){e->offset, e->length == XD_SIZE_UNKNOWN
                                            ? XD_SIZE_UNKNOWN
                                            : e->offset + e->length};
}

/* Returns whether the replica of `f` is on the store or host that the user
 * gave. */
static bool is_there(const struct drop *d, const struct xd_model_file *f,
                     size_t place)
{
    return xd_typed_has(&d->from, &f->urls[place],
                        xd_model_replica_row(f, place).url,
                        xd_upkeep_manage(d->upkeep, f, place));
}

static int select_replicas(struct drop *d, struct xd_error *err)
{
    struct xd_upkeep *u = d->upkeep;
    const struct xd_model_file *f = u->file;

    d->dropped = xd_alloc(xd_model_n_replicas(u->file) + 1, sizeof *d->dropped);
    d->dropped_parity =
        xd_alloc(xd_stripes_n_replicas(u->file) + 1, sizeof *d->dropped_parity);
    if (!d->dropped || !d->dropped_parity)
        return xd_fail_nomem(err);
    for (size_t i = 0; i < f->n_extents; i++) {
        const struct xd_model_extent *e = &f->extents[i];

        for (size_t k = 0; k < e->n_replicas; k++) {
            const size_t place = e->first_replica + k;
            struct xd_upkeep_row *row;

            if (!is_there(d, f, place))
                continue;
            d->dropped[place] = true;
            row = xd_upkeep_add(u, range_of(e), &f->urls[place],
                                xd_upkeep_manage(u, f, place));
            if (!row)
                return xd_fail_nomem(err);
            row->state = XD_UPKEEP_KEPT;
            row->place = place;
        }
    }
    return 0;
}

static int select_shard(struct drop *d, const struct xd_model_stripe *s,
                        const struct xd_model_shard *shard,
                        struct xd_error *err)
{
    struct xd_upkeep *u = d->upkeep;

    for (size_t i = 0; i < shard->n_replicas; i++) {
        const struct xd_model_shard_replica *r =
            &s->replicas[shard->first_replica + i];
        struct xd_upkeep_row *row;

        if (!xd_typed_has(&d->from, &r->url, xd_stripe_replica(r).url,
                          xd_upkeep_manage_parity(u, r)))
            continue;
        row = xd_upkeep_add_parity(u, s, shard, i);
        if (!row)
            return xd_fail_nomem(err);
        row->state = XD_UPKEEP_KEPT;
        d->dropped_parity[row->place] = true;
    }
    return 0;
}

static int select_parity(struct drop *d, struct xd_error *err)
{
    const struct xd_model_rare *rare = d->upkeep->file->rare;
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < rare->n_stripes; i++)
        for (size_t k = 0; rc == 0 && k < rare->stripes[i].n_shards; k++)
            rc = select_shard(d, &rare->stripes[i], &rare->stripes[i].shards[k],
                              err);
    return rc;
}

/* Selects the objects that an earlier call could not delete. */
static int select_pending(struct drop *d, struct xd_error *err)
{
    struct xd_upkeep *u = d->upkeep;
    const struct xd_object *o;
    struct xd_range range;

    for (size_t i = 0;
         (o = xd_inventory_pending(u->inventory, i, &range)) != NULL; i++) {
        struct xd_upkeep_row *row;
        struct xd_url url;

        if (!xd_typed_manages(&d->from, o->manage))
            continue;
        (void)xd_url_parse(&url, o->read ? o->read : o->manage);
        row = xd_upkeep_add(u, (struct xd_range){range.begin, range.begin},
                            &url, o->manage);
        if (!row)
            return xd_fail_nomem(err);
        row->state = XD_UPKEEP_KEPT;
    }
    return 0;
}

/* Finds the bytes that the remaining replicas hold. */
static int find_kept(const struct drop *d, struct xd_rangeset *kept)
{
    const struct xd_model_file *f = d->upkeep->file;
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < f->n_extents; i++) {
        const struct xd_model_extent *e = &f->extents[i];
        size_t n = 0;

        for (size_t k = 0; k < e->n_replicas; k++)
            n += !d->dropped[e->first_replica + k];
        if (n > 0)
            rc = xd_rangeset_add(kept, range_of(e));
    }
    return rc;
}

static int refuse_hole(const struct drop *d, struct xd_range hole,
                       struct xd_error *err)
{
    const struct xd_model_file *f = d->upkeep->file;

    if (f->size == XD_SIZE_UNKNOWN)
        return xd_fail(err, XD_E_INVAL,
                       "%s has the only copy of %s, and nothing was dropped: "
                       "place another one first",
                       xd_typed_name(&d->from).s,
                       f->path ? f->path : "the file");
    return xd_fail(err, XD_E_INVAL,
                   "%s has the only copy of bytes %" PRIu64 "-%" PRIu64
                   " of %s, and nothing was dropped: place another one first",
                   xd_typed_name(&d->from).s, hole.begin, hole.end - 1,
                   f->path ? f->path : "the file");
}

static int refuse_stripe(const struct drop *d,
                         const struct xd_shards_left *left,
                         struct xd_error *err)
{
    return xd_fail(err, XD_E_INVAL,
                   "%s: without it stripe %" PRIu64
                   " would have %u %s, and it takes %u to restore it: nothing "
                   "was dropped: place another copy first",
                   xd_typed_name(&d->from).s, left->stripe, left->n,
                   left->n == 1 ? "shard" : "shards", left->k);
}

static int check_copies(const struct drop *d, struct xd_error *err)
{
    const struct xd_model_file *f = d->upkeep->file;
    struct xd_shards_left left;
    struct xd_rangeset kept;
    struct xd_range hole;
    int rc;

    xd_rangeset_init(&kept);
    rc = find_kept(d, &kept) < 0 ? xd_fail_nomem(err) : 0;
    if (rc == 0 && xd_shards_are_too_few(&left, f, &kept, d->dropped_parity))
        rc = refuse_stripe(d, &left, err);
    hole = xd_rangeset_next_gap(&kept, (struct xd_range){0, f->size});
    if (rc == 0 && !xd_range_is_empty(hole))
        rc = refuse_hole(d, hole, err);
    xd_rangeset_fini(&kept);
    return rc;
}

/* ---- the remaining replicas ---- */

static int edit(const struct drop *d, struct xd_manifest **out,
                struct xd_error *err)
{
    const struct xd_edit without = {.dropped = d->dropped,
                                    .dropped_parity = d->dropped_parity};

    return xd_manifest_edit(out, d->upkeep->manifest, 0, &without, err);
}

/* Fails if a manifest has the same mapping twice.  The model has only one
 * replica for both mappings.  So the written manifest would still have one of
 * the mappings, but its object would be deleted. */
static int check_twins(const struct drop *d, struct xd_error *err)
{
    struct xd_manifest *m = NULL, *again = NULL;
    char *text = NULL;
    size_t len, n = 0;
    int rc = edit(d, &m, err);

    if (rc == 0 && m->files[0].n_extents > 0)
        rc = xd_manifest_write(&text, m, 0, "private-exnode", &len, err);
    if (rc == 0 && text)
        rc = xd_manifest_parse(&again, text, len, NULL, err);
    for (size_t i = 0;
         rc == 0 && again && i < xd_model_n_replicas(&again->files[0]); i++)
        n += is_there(d, &again->files[0], i);
    if (rc == 0 && n > 0)
        rc = xd_fail(err, XD_E_MANIFEST,
                     "%s: %s has %zu replicas that the manifest describes "
                     "twice: remove one of the mappings",
                     d->upkeep->path, xd_typed_name(&d->from).s, n);
    xd_manifest_text_free(text);
    xd_manifest_unref(again);
    xd_manifest_unref(m);
    return rc;
}

/* ---- objects to delete ---- */

static int refuse(const struct drop *d, const struct xd_upkeep_row *row,
                  const char *why, struct xd_error *err)
{
    return xd_fail(
        err, XD_E_INVAL,
        "%s: its object %s, so that it is not removed, and nothing "
        "was dropped: to drop it from the manifests alone, keep the "
        "objects (keep-objects)",
        row->shown_url[0] ? row->shown_url : xd_typed_name(&d->from).s, why);
}

/* Finds the store at which the object may be deleted. */
static int find_store(struct drop *d, struct xd_upkeep_row *row,
                      struct xd_error *err)
{
    struct xd_upkeep *u = d->upkeep;

    if (!xd_typed_manages(&d->from, row->object.manage))
        return refuse(d, row,
                      d->from.is_host
                          ? "is not managed at that host: give the URL "
                            "of its store"
                          : "is not in that store",
                      err);
    if (!xd_is_of_upload(row->object.manage))
        return refuse(d, row, "has no name that an upload gives", err);
    return xd_stores_make(&row->store, &u->stores, row->object.manage,
                          &u->options, err);
}

/* Makes a job for each object; `rows` are sorted. */
static void make_jobs(struct xd_upkeep *u, struct xd_upkeep_row **rows,
                      size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const bool is_new = i == 0 || strcmp(rows[i - 1]->object.manage,
                                             rows[i]->object.manage) != 0;

        if (is_new)
            u->jobs[u->n_jobs++] = (struct xd_job){.store = rows[i]->store,
                                                   .kind = XD_TASK_DELETE,
                                                   .object = &rows[i]->object};
        rows[i]->job = u->n_jobs - 1;
    }
}

static int by_manage(const void *a, const void *b)
{
    const struct xd_upkeep_row *x = *(struct xd_upkeep_row *const *)a;
    const struct xd_upkeep_row *y = *(struct xd_upkeep_row *const *)b;

    return strcmp(x->object.manage, y->object.manage);
}

static int select_objects(struct drop *d, struct xd_error *err)
{
    struct xd_upkeep *u = d->upkeep;
    struct xd_upkeep_row **rows =
        xd_alloc(u->n + 1, sizeof(struct xd_upkeep_row *));
    struct xd_object_names kept = {.list = NULL};
    size_t n = 0;
    int rc = rows ? xd_object_names_of(&kept, u->file, d->dropped,
                                       d->dropped_parity, err)
                  : xd_fail_nomem(err);

    u->jobs = xd_alloc(u->n + 1, sizeof *u->jobs);
    if (!u->jobs && rc == 0)
        rc = xd_fail_nomem(err);
    for (size_t i = 0; rc == 0 && i < u->n; i++) {
        struct xd_upkeep_row *row = &u->rows[i];

        if (d->keeps_objects || !row->object.manage ||
            xd_object_names_have(&kept, row->object.manage))
            continue;
        rc = find_store(d, row, err);
        rows[n++] = row;
    }
    if (rc == 0) {
        qsort(rows, n, sizeof *rows, by_manage);
        make_jobs(u, rows, n);
    }
    xd_object_names_fini(&kept);
    xd_free(rows);
    return rc;
}

/* Returns whether the remaining replicas must be proved correct.  They must if
 * objects are deleted.  For a file with parity they must whenever replicas are
 * dropped, because the manifest does not show whether k good shards remain. */
static bool is_to_be_proved(const struct xd_upkeep *u)
{
    return u->n_jobs > 0 ||
           (u->file->rare->n_stripes > 0 && xd_upkeep_can_prove(u));
}

static int prove(const struct drop *d, struct xd_error *err)
{
    struct xd_manifest *m;
    int rc;

    if (!is_to_be_proved(d->upkeep))
        return 0;
    rc = edit(d, &m, err);
    if (rc < 0)
        return rc;
    rc = xd_upkeep_prove(d->upkeep, m, err);
    xd_manifest_unref(m);
    return rc;
}

/* ---- execution ---- */

/* Records the objects on the disk.  From then on, a later call can delete these
 * objects. */
static int note_objects(struct xd_upkeep *u, struct xd_error *err)
{
    int rc = 0;

    for (size_t i = 0; i < u->n; i++)
        if (u->rows[i].place == SIZE_MAX && u->rows[i].job == XD_UPKEEP_NO_JOB)
            xd_inventory_unset_pending(u->inventory, u->rows[i].object.manage);
    for (size_t i = 0; rc == 0 && i < u->n_jobs; i++)
        rc = xd_inventory_set_pending(u->inventory, (struct xd_range){0, 0},
                                      u->jobs[i].object, err);
    return rc;
}

/* Removes deleted objects from the note.  All other objects remain in the note,
 * so that a later call can delete them. */
static void take_results(struct xd_upkeep *u)
{
    for (size_t i = 0; i < u->n_jobs; i++)
        if (u->jobs[i].is_done)
            xd_inventory_unset_pending(u->inventory, u->jobs[i].object->manage);
    for (size_t i = 0; i < u->n; i++) {
        struct xd_upkeep_row *row = &u->rows[i];
        const struct xd_job *c =
            row->job == XD_UPKEEP_NO_JOB ? NULL : &u->jobs[row->job];
        struct xd_error error;

        if (!c)
            continue;
        row->state = c->is_done ? XD_UPKEEP_DONE : XD_UPKEEP_FAILED;
        if (c->error) {
            error = xd_kept_error_get(c->error);
            xd_upkeep_fail(row, row->state, &error);
        }
    }
}

static int remove_objects(struct drop *d, struct xd_error *err)
{
    struct xd_upkeep *u = d->upkeep;
    struct xd_error error;
    int rc, written;

    if (u->n_jobs == 0)
        return 0;
    rc = xd_jobs_run(u->jobs, u->n_jobs, &u->options, err);
    take_results(u);
    written = xd_upkeep_write(u, &error);
    if (rc == 0 && written < 0) {
        rc = written;
        if (err)
            *err = error;
    }
    return rc;
}

static int drop(struct drop *d, struct xd_error *err)
{
    struct xd_upkeep *u = d->upkeep;
    int rc = select_replicas(d, err);

    if (rc == 0)
        rc = select_parity(d, err);
    if (rc == 0)
        rc = select_pending(d, err);
    if (rc == 0 && u->n == 0)
        rc = xd_fail(err, XD_E_INVAL, "%s: %s names no replica there",
                     xd_typed_name(&d->from).s, u->path);
    if (rc == 0)
        rc = check_copies(d, err);
    if (rc == 0)
        rc = select_objects(d, err);
    if (rc == 0)
        rc = check_twins(d, err);
    if (rc == 0)
        rc = prove(d, err);
    if (rc == 0)
        rc = note_objects(u, err);
    if (rc < 0)
        return rc;
    xd_inventory_drop(u->inventory, d->dropped);
    xd_inventory_drop_parity(u->inventory, d->dropped_parity);
    rc = xd_upkeep_write(u, err);
    return rc < 0 ? rc : remove_objects(d, err);
}

int xd_replicas_drop(struct xd_upkeep **out, const struct xd_drop_wish *wish,
                     const struct xd_options *o, struct xd_error *err)
{
    struct xd_drop_wish w;
    struct drop d = {.upkeep = NULL};
    int rc;

    *out = NULL;
    rc = xd_copy_in(&w, sizeof w, wish, "xd_drop_wish", err);
    if (rc == 0)
        rc = xd_upkeep_open(&d.upkeep, w.manifest, o, err);
    if (rc < 0)
        return rc;
    d.keeps_objects = w.keeps_objects;
    rc = xd_typed_take(&d.from, w.from, &d.upkeep->stores, &d.upkeep->options,
                       err);
    if (rc == 0)
        rc = drop(&d, err);
    xd_inventory_drop(d.upkeep->inventory, NULL);
    xd_inventory_drop_parity(d.upkeep->inventory, NULL);
    xd_free(d.dropped);
    xd_free(d.dropped_parity);
    xd_upkeep_close(d.upkeep);
    if (rc < 0) {
        xd_upkeep_free(d.upkeep);
        return rc;
    }
    *out = d.upkeep;
    return 0;
}
