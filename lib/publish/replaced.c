/* SPDX-License-Identifier: MIT */
#include "publish/replaced.h"

#include <string.h>

#include "base/alloc.h"
#include "manifest/parity.h"
#include "publish/object_names.h"

static const struct xd_store *store_of(struct xd_replaced *r,
                                       const char *manage)
{
    struct xd_upload *u = r->upload;
    const struct xd_store *store = NULL;
    struct xd_error ignored;

    for (size_t i = 0; i < u->n_workers; i++)
        if (xd_store_has(u->workers[i].store, manage))
            return u->workers[i].store;
    (void)xd_stores_make(&store, &r->stores, manage, &u->options, &ignored);
    return store;
}

/* Returns true if the object is in the list already.  An object may hold
 * several replicas. */
static bool has_job(const struct xd_replaced *r, const char *manage)
{
    for (size_t i = 0; i < r->n; i++)
        if (strcmp(r->objects[i].manage, manage) == 0)
            return true;
    return false;
}

static int note(struct xd_replaced *r, const char *manage, struct xd_error *err)
{
    const struct xd_store *store = store_of(r, manage);
    struct xd_object *o = &r->objects[r->n];

    if (!store)
        return 0;
    o->manage = xd_strdup(manage);
    if (!o->manage)
        return xd_fail_nomem(err);
    r->jobs[r->n++] =
        (struct xd_job){.store = store, .kind = XD_TASK_DELETE, .object = o};
    return xd_inventory_set_pending(r->upload->inventory,
                                    (struct xd_range){0, 0}, o, err);
}

/* Adds the object of a dropped replica to the list, if an earlier upload of
 * ours (not this one) made the object, and no remaining replica needs it. */
static int note_dropped(struct xd_replaced *r,
                        const struct xd_object_names *kept, const char *manage,
                        struct xd_error *err)
{
    if (!manage || !xd_is_of_upload(manage) ||
        strstr(manage, r->upload->note.name) ||
        xd_object_names_have(kept, manage) || has_job(r, manage))
        return 0;
    return note(r, manage, err);
}

static int note_replicas(struct xd_replaced *r,
                         const struct xd_object_names *kept,
                         struct xd_error *err)
{
    const struct xd_heal *h = &r->upload->heal;
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < h->file->n_extents; i++) {
        const struct xd_model_extent *e = &h->file->extents[i];

        for (size_t k = 0; rc == 0 && k < e->n_replicas; k++) {
            const size_t place = e->first_replica + k;

            if (h->dropped[place])
                rc =
                    note_dropped(r, kept, xd_model_manage(h->file, place), err);
        }
    }
    return rc;
}

static int note_parity(struct xd_replaced *r,
                       const struct xd_object_names *kept, struct xd_error *err)
{
    const struct xd_heal *h = &r->upload->heal;
    const struct xd_model_rare *rare = h->file->rare;
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < rare->n_stripes; i++) {
        const struct xd_model_stripe *s = &rare->stripes[i];

        for (size_t k = 0; rc == 0 && k < s->n_replicas; k++)
            if (h->dropped_parity[s->first_place + k])
                rc = note_dropped(r, kept, s->replicas[k].manage, err);
    }
    return rc;
}

/* Adds the objects that earlier runs have replaced to the list. */
static int note_earlier(struct xd_replaced *r,
                        const struct xd_object_names *kept,
                        struct xd_error *err)
{
    const struct xd_inventory *b = r->upload->inventory;
    struct xd_range ignored;
    const char *manage;
    int rc = 0;

    for (size_t i = 0;
         rc == 0 && (manage = xd_inventory_replaced(b, i, &ignored)) != NULL;
         i++)
        rc = note_dropped(r, kept, manage, err);
    return rc;
}

static size_t count_earlier(const struct xd_upload *u)
{
    struct xd_range ignored;
    size_t n = 0;

    while (xd_inventory_replaced(u->inventory, n, &ignored))
        n++;
    return n;
}

int xd_replaced_note_locked(struct xd_replaced *out, struct xd_upload *u,
                            struct xd_error *err)
{
    const struct xd_heal *h = &u->heal;
    struct xd_object_names kept;
    size_t n;
    int rc;

    *out = (struct xd_replaced){.upload = u};
    if (!h->file || !xd_inventory_is_private(u->inventory))
        return 0;
    n = xd_model_n_replicas(h->file) + xd_stripes_n_replicas(h->file) +
        count_earlier(u);
    out->objects = xd_alloc(n + 1, sizeof *out->objects);
    out->jobs = xd_alloc(n + 1, sizeof *out->jobs);
    if (!out->objects || !out->jobs)
        return xd_fail_nomem(err);
    rc = xd_object_names_of(&kept, h->file, h->dropped, h->dropped_parity, err);
    if (rc == 0)
        rc = note_replicas(out, &kept, err);
    if (rc == 0)
        rc = note_parity(out, &kept, err);
    if (rc == 0)
        rc = note_earlier(out, &kept, err);
    xd_object_names_fini(&kept);
    if (out->n > 0)
        xd_inventory_begin_drop(u->inventory);
    return rc;
}

static void report(const struct xd_replaced *r)
{
    for (size_t i = 0; i < r->n; i++) {
        const struct xd_job *job = &r->jobs[i];

        if (job->has_ended && !job->is_done && job->error)
            xd_log(
                &r->upload->log, XD_LOG_WARN,
                "an object that was replaced could not be removed, and is not "
                "named any more: %s",
                xd_kept_error_get(job->error).msg);
    }
}

void xd_replaced_remove(struct xd_replaced *r)
{
    struct xd_upload *u = r->upload;
    struct xd_options o;
    struct xd_error ignored;

    if (r->n == 0 || xd_options_copy(&o, &u->options) < 0)
        return;
    xd_options_set_cancel(&o, u->removal);
    if (o.max_time > 0)
        o.max_time -= xd_earlier(xd_now() - u->started, o.max_time - 1);
    (void)xd_jobs_run(r->jobs, r->n, &o, &ignored);
    xd_options_fini(&o);
    report(r);
    xd_mutex_lock(&u->lock);
    for (size_t i = 0; i < r->n; i++)
        if (r->jobs[i].has_ended)
            xd_inventory_unset_pending(u->inventory, r->objects[i].manage);
    xd_mutex_unlock(&u->lock);
}

void xd_replaced_fini(struct xd_replaced *r)
{
    xd_jobs_fini(r->jobs, r->n);
    for (size_t i = 0; i < r->n; i++)
        xd_object_fini(&r->objects[i]);
    xd_free(r->objects);
    xd_free(r->jobs);
    xd_stores_fini(&r->stores);
}
