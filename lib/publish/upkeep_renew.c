/* SPDX-License-Identifier: MIT */
/* Renews replicas.  IBP allocations are extended with their manage
 * capabilities, and presigned S3 URLs are replaced by new URLs.  All other
 * replicas do not expire. */
#include <inttypes.h>
#include <string.h>

#include "base/alloc.h"
#include "base/copy_out.h"
#include "manifest/parity.h"
#include "os/clock.h"
#include "publish/upkeep.h"

struct renewal {
    struct xd_upkeep *upkeep;
    int64_t now;
    uint64_t lifetime_s;
    /* for each replica of the file: true if a replica with a new URL replaces
     * it */
    bool *dropped;
    /* for each replica of the file: expiry time in seconds since 1970; 0:
     * unchanged */
    int64_t *expires_at;
    /* For each parity replica, stripe by stripe: the expiry time in seconds
     * since 1970, and the URL for reading it. */
    int64_t *parity_expires_at;
    char **parity_reads; /* owned; NULL: unchanged */
};

/* A renewed replica. */
struct kept {
    const struct xd_url *url;
    struct xd_replica row;                /* the replica as in the manifest */
    const struct xd_model_extent *extent; /* NULL for a parity replica */
};

/* Longest lifetime in seconds that this code accepts, to prevent overflows.
 * Stores report shorter limits. */
#define LONGEST_S ((uint64_t)100 * 366 * 86400)

/* ---- presigned URLs ---- */

static bool begins_with(const char *s, const char *head)
{
    return s && strncmp(s, head, strlen(head)) == 0;
}

/* Returns whether the query has a signature, version 4 or 2. */
static bool is_presigned(const char *read)
{
    return strstr(read, "X-Amz-Signature=") != NULL ||
           (strstr(read, "AWSAccessKeyId=") && strstr(read, "Signature="));
}

/* Replaces a replica whose URL has changed.  The new entry has the same fields
 * as one that `put` writes. */
static int replace(struct renewal *r, struct xd_upkeep_row *row,
                   const struct xd_model_extent *e, char *read,
                   struct xd_error *err)
{
    const struct xd_object object = {.read = read,
                                     .manage = row->object.manage,
                                     .size = e->length,
                                     .expires_at = row->expires_at};
    int rc = xd_inventory_add(
        r->upkeep->inventory, row->range, &object,
        xd_model_sha256(r->upkeep->file,
                        (size_t)(e - r->upkeep->file->extents)),
        err);

    xd_free(read);
    if (rc < 0)
        return rc;
    r->dropped[row->place] = true;
    row->is_replaced = true;
    return 0;
}

/* Sets a new URL for reading a parity replica.  The replica stays in the
 * manifest. */
static int set_read(struct renewal *r, const struct xd_upkeep_row *row,
                    char *read)
{
    r->parity_reads[row->place] = read;
    r->parity_expires_at[row->place] = row->expires_at;
    return 0;
}

static int presign(struct renewal *r, struct xd_upkeep_row *row,
                   const struct kept *k, struct xd_error *err)
{
    const uint64_t most = xd_store_most_presign(row->store);
    struct xd_error why;
    char *read;
    int rc;

    if (most > 0 && r->lifetime_s > most) {
        xd_fail(&why, XD_E_NET,
                "%s: a presigned URL is good for %" PRIu64
                " s at most, not for %" PRIu64 " s",
                xd_store_name(row->store), most, r->lifetime_s);
        xd_upkeep_fail(row, XD_UPKEEP_BEYOND, &why);
        row->limit = most;
        return 0;
    }
    if (k->extent && k->row.offset > 0) {
        xd_fail(&why, XD_E_INVAL, "%s: is a part of an object only",
                row->shown_url);
        xd_upkeep_fail(row, XD_UPKEEP_FAILED, &why);
        return 0;
    }
    rc = xd_store_presign(row->store, row->object.manage, r->now, r->lifetime_s,
                          &read, &why);
    if (rc < 0) {
        xd_upkeep_fail(row, XD_UPKEEP_FAILED, &why);
        return 0;
    }
    row->expires_at = r->now + (int64_t)r->lifetime_s;
    return k->extent ? replace(r, row, k->extent, read, err)
                     : set_read(r, row, read);
}

/* ---- each replica ---- */

static void leave(struct xd_upkeep_row *row, const char *words)
{
    struct xd_error why;

    xd_fail(&why, XD_E_INVAL, "%s: %s", row->shown_url, words);
    xd_upkeep_fail(row, XD_UPKEEP_UNMANAGED, &why);
}

static int take_s3(struct renewal *r, struct xd_upkeep_row *row,
                   const struct kept *k, struct xd_error *err)
{
    row->state = XD_UPKEEP_ENDLESS;
    if (!is_presigned(k->row.url))
        return 0;
    if (k->row.expires_at >= (uint64_t)r->now + r->lifetime_s) {
        row->state = XD_UPKEEP_DONE;
        row->expires_at = (int64_t)k->row.expires_at;
        return 0;
    }
    row->store = xd_stores_find(&r->upkeep->stores, row->object.manage);
    if (row->store) {
        row->state = XD_UPKEEP_DONE;
        return presign(r, row, k, err);
    }
    leave(row, "its URL was presigned, and is made anew only if its bucket is "
               "given: --to s3://BUCKET/PREFIX");
    return 0;
}

static int take_ibp(struct renewal *r, struct xd_upkeep_row *row,
                    struct xd_error *err)
{
    struct xd_upkeep *u = r->upkeep;
    struct xd_error why;
    int rc = xd_stores_make(&row->store, &u->stores, row->object.manage,
                            &u->options, &why);

    if (rc == XD_E_NOMEM)
        return xd_fail_nomem(err);
    if (rc < 0) {
        row->store = NULL;
        xd_upkeep_fail(row, XD_UPKEEP_FAILED, &why);
        return 0;
    }
    row->state = XD_UPKEEP_FAILED; /* overwritten when the job has ended */
    row->job = u->n_jobs;
    u->jobs[u->n_jobs++] =
        (struct xd_job){.store = row->store,
                        .kind = XD_TASK_RENEW,
                        .until = r->now + (int64_t)r->lifetime_s};
    return 0;
}

static int take(struct renewal *r, struct xd_upkeep_row *row,
                const struct kept *k, struct xd_error *err)
{
    const char *manage = row->object.manage;
    struct xd_url managed;

    row->state = XD_UPKEEP_ENDLESS;
    if (begins_with(manage, "s3://"))
        return take_s3(r, row, k, err);
    if (manage && xd_url_parse(&managed, manage) &&
        managed.scheme == XD_SCHEME_IBP)
        return take_ibp(r, row, err);
    if (k->url->scheme == XD_SCHEME_IBP)
        leave(row, "the private manifest does not say by what it is managed");
    else if (is_presigned(k->row.url))
        leave(row, "its URL was presigned, and the private manifest does not "
                   "say of which object");
    return 0;
}

static int take_replica(struct renewal *r, const struct xd_model_extent *e,
                        size_t place, struct xd_error *err)
{
    struct xd_upkeep *u = r->upkeep;
    const struct kept k = {.url = &u->file->urls[place],
                           .extent = e,
                           .row = xd_model_replica_row(u->file, place)};
    struct xd_upkeep_row *row =
        xd_upkeep_add(u, (struct xd_range){e->offset, e->offset + e->length},
                      k.url, xd_upkeep_manage(u, u->file, place));

    if (!row)
        return xd_fail_nomem(err);
    row->place = place;
    return take(r, row, &k, err);
}

static int take_shard(struct renewal *r, const struct xd_model_stripe *s,
                      const struct xd_model_shard *shard, struct xd_error *err)
{
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < shard->n_replicas; i++) {
        const struct xd_model_shard_replica *from =
            &s->replicas[shard->first_replica + i];
        struct xd_upkeep_row *row =
            xd_upkeep_add_parity(r->upkeep, s, shard, i);

        rc = row ? take(r, row,
                        &(struct kept){.url = &from->url,
                                       .row = xd_stripe_replica(from)},
                        err)
                 : xd_fail_nomem(err);
    }
    return rc;
}

static int take_parity(struct renewal *r, struct xd_error *err)
{
    const struct xd_model_rare *rare = r->upkeep->file->rare;
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < rare->n_stripes; i++)
        for (size_t k = 0; rc == 0 && k < rare->stripes[i].n_shards; k++)
            rc = take_shard(r, &rare->stripes[i], &rare->stripes[i].shards[k],
                            err);
    return rc;
}

static int take_replicas(struct renewal *r, struct xd_error *err)
{
    struct xd_upkeep *u = r->upkeep;
    const struct xd_model_file *f = u->file;
    const size_t n = xd_model_n_replicas(f);
    const size_t n_parity = xd_stripes_n_replicas(f);
    int rc = 0;

    u->jobs = xd_alloc(n + n_parity + 1, sizeof *u->jobs);
    r->dropped = xd_alloc(n + 1, sizeof *r->dropped);
    r->expires_at = xd_alloc(n + 1, sizeof *r->expires_at);
    r->parity_expires_at = xd_alloc(n_parity + 1, sizeof *r->parity_expires_at);
    r->parity_reads = xd_alloc(n_parity + 1, sizeof *r->parity_reads);
    if (!u->jobs || !r->dropped || !r->expires_at || !r->parity_expires_at ||
        !r->parity_reads)
        return xd_fail_nomem(err);
    for (size_t i = 0; rc == 0 && i < f->n_extents; i++) {
        const struct xd_model_extent *e = &f->extents[i];

        for (size_t k = 0; rc == 0 && k < e->n_replicas; k++)
            rc = take_replica(r, e, e->first_replica + k, err);
    }
    if (rc == 0)
        rc = take_parity(r, err);
    /* No rows are added after this, so pointers to rows stay valid. */
    for (size_t i = 0; i < u->n; i++)
        if (u->rows[i].job != XD_UPKEEP_NO_JOB)
            u->jobs[u->rows[i].job].object = &u->rows[i].object;
    return rc;
}

/* ---- results ---- */

static void take_result(struct renewal *r, struct xd_upkeep_row *row,
                        const struct xd_job *c)
{
    struct xd_error why;

    if (c->is_done) {
        row->state = XD_UPKEEP_DONE;
        row->expires_at = c->expires_at;
        (row->stripe ? r->parity_expires_at : r->expires_at)[row->place] =
            c->expires_at;
        return;
    }
    if (!c->error)
        return;
    why = xd_kept_error_get(c->error);
    xd_upkeep_fail(
        row, c->failure == XD_TASK_BEYOND ? XD_UPKEEP_BEYOND : XD_UPKEEP_FAILED,
        &why);
    row->limit = c->limit;
}

/* Runs the jobs and takes their results.  Results are also taken after an
 * interruption, because renewed objects remain renewed. */
static int run(struct renewal *r, struct xd_error *err)
{
    struct xd_upkeep *u = r->upkeep;
    struct xd_error error;
    int rc = xd_jobs_run(u->jobs, u->n_jobs, &u->options, err);
    int written = 0;
    size_t n_done = 0;

    for (size_t i = 0; i < u->n; i++) {
        struct xd_upkeep_row *row = &u->rows[i];

        if (row->job != XD_UPKEEP_NO_JOB)
            take_result(r, row, &u->jobs[row->job]);
        n_done += row->state == XD_UPKEEP_DONE;
    }
    xd_inventory_drop(u->inventory, r->dropped);
    xd_inventory_renew(u->inventory, r->expires_at);
    xd_inventory_renew_parity(u->inventory, r->parity_expires_at,
                              (const char *const *)r->parity_reads);
    if (n_done > 0)
        written = xd_upkeep_write(u, &error);
    if (written < 0 && rc == 0) {
        rc = written;
        if (err)
            *err = error;
    }
    return rc;
}

static int check_wish(const struct xd_renew_wish *w, struct xd_error *err)
{
    if (w->lifetime_s > 0 && w->lifetime_s <= LONGEST_S)
        return 0;
    return xd_fail(err, XD_E_INVAL,
                   "replicas are renewed for 1 to %" PRIu64
                   " seconds, not for %" PRIu64,
                   LONGEST_S, w->lifetime_s);
}

static int renew(struct renewal *r, const struct xd_renew_wish *w,
                 struct xd_error *err)
{
    struct xd_upkeep *u = r->upkeep;
    int rc = 0;

    if (!xd_inventory_is_private(u->inventory))
        return xd_fail(err, XD_E_STATE,
                       "%s: is not there, and nothing else says by what the "
                       "replicas are managed",
                       xd_inventory_private_path(u->inventory));
    for (size_t i = 0; rc == 0 && i < w->n_stores; i++)
        rc = xd_stores_add(&u->stores, w->stores[i], &u->options, err);
    if (rc == 0)
        rc = take_replicas(r, err);
    return rc == 0 ? run(r, err) : rc;
}

static void forget(struct renewal *r)
{
    const size_t n =
        r->parity_reads ? xd_stripes_n_replicas(r->upkeep->file) : 0;

    xd_inventory_drop(r->upkeep->inventory, NULL);
    xd_inventory_renew(r->upkeep->inventory, NULL);
    xd_inventory_renew_parity(r->upkeep->inventory, NULL, NULL);
    for (size_t i = 0; i < n; i++)
        xd_free(r->parity_reads[i]);
    xd_free(r->parity_reads);
    xd_free(r->parity_expires_at);
    xd_free(r->dropped);
    xd_free(r->expires_at);
}

int xd_replicas_renew(struct xd_upkeep **out, const struct xd_renew_wish *wish,
                      const struct xd_options *o, struct xd_error *err)
{
    struct xd_renew_wish w;
    struct renewal r = {.now = (int64_t)xd_unix_time()};
    int rc;

    *out = NULL;
    rc = xd_copy_in(&w, sizeof w, wish, "xd_renew_wish", err);
    if (rc == 0)
        rc = check_wish(&w, err);
    if (rc == 0)
        rc = xd_upkeep_open(&r.upkeep, w.manifest, o, err);
    if (rc < 0)
        return rc;
    r.lifetime_s = w.lifetime_s;
    rc = renew(&r, &w, err);
    forget(&r);
    xd_upkeep_close(r.upkeep);
    if (rc < 0) {
        xd_upkeep_free(r.upkeep);
        return rc;
    }
    *out = r.upkeep;
    return 0;
}
