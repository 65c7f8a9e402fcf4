/* SPDX-License-Identifier: MIT */
#include "publish/upload.h"

#include <string.h>

#include "base/alloc.h"
#include "base/copy_out.h"
#include "base/error.h"
#include "base/text.h"
#include "os/exit.h"

/* ---- used by the threads of the upload ---- */

int xd_upload_read(struct xd_upload *u, size_t reader, uint64_t at, void *to,
                   size_t len, struct xd_error *err)
{
    return at < u->line.size
               ? xd_origin_read(u->origin, reader, at, to, len, err)
               : xd_parity_read(u->parity[reader], at, to, len, err);
}

void xd_upload_fail_locked(struct xd_upload *u, const struct xd_error *why)
{
    if (u->error.code == XD_OK)
        u->error = *why;
    xd_cond_broadcast(&u->work_ready);
    xd_cond_signal(&u->kept);
}

static struct xd_range range_of(const struct xd_model_stripe *s)
{
    return (struct xd_range){s->offset, s->offset + s->length};
}

void xd_upload_record_locked(struct xd_upload *u,
                             const struct xd_upload_worker *w,
                             const struct xd_upload_lane *lane,
                             enum xd_code code)
{
    struct xd_upload_place parity;
    struct xd_range range = lane->range;
    const bool is_parity = xd_upload_line_find(&u->line, range.begin, &parity);
    size_t place;

    if (!u->records)
        return;
    if (u->n_records == XD_UPLOAD_RECORDS)
        u->first_record = (u->first_record + 1) % XD_UPLOAD_RECORDS;
    else
        u->n_records++;
    place = (u->first_record + u->n_records - 1) % XD_UPLOAD_RECORDS;
    if (is_parity)
        range = range_of(&u->line.stripes[parity.stripe]);
    u->records[place] = (struct xd_upload_record){
        .struct_size = sizeof u->records[place],
        .store = (unsigned)w->index,
        .begin = range.begin,
        .end = range.end,
        .start_s = xd_seconds(lane->began - u->started),
        .end_s = xd_seconds(xd_now() - u->started),
        .code = code,
        .shard = is_parity ? parity.number : 0};
}

/* ---- start ---- */

static int start_worker(struct xd_upload_worker *w, struct xd_error *err)
{
    struct xd_upload *u = w->upload;
    const struct xd_tasks_config config = {.store = w->store,
                                           .n_tasks = XD_UPLOAD_LANES,
                                           .silence = u->options.silence,
                                           .patience = u->options.patience,
                                           .net = &u->options.net,
                                           .context = u->context,
                                           .budget = &u->budget};
    int rc = xd_tasks_new(&w->tasks, &config, &w->handler, err);

    if (rc == 0 && xd_thread_start(&w->thread, xd_upload_worker_main, w) < 0)
        rc = xd_fail_nomem(err);
    w->is_started = rc == 0;
    return rc;
}

static void stop_workers(struct xd_upload *u)
{
    xd_upload_cancel(u);
    for (size_t i = 0; i < u->n_workers; i++) {
        if (u->workers[i].is_started)
            xd_thread_join(&u->workers[i].thread);
        u->workers[i].is_started = false;
    }
}

/* Starts the hasher and the keeper.  The keeper joins the hasher. */
static int start_keepers(struct xd_upload *u, struct xd_error *err)
{
    if (xd_thread_start(&u->hasher, xd_upload_hasher_main, u) < 0)
        return xd_fail_nomem(err);
    if (xd_thread_start(&u->keeper, xd_upload_keeper_main, u) == 0)
        return 0;
    xd_upload_cancel(u);
    xd_thread_join(&u->hasher);
    return xd_fail_nomem(err);
}

static void cancel(void *user)
{
    xd_upload_cancel(user);
}

int xd_upload_start(struct xd_upload *u, struct xd_error *err)
{
    int rc = 0;

    xd_mutex_lock(&u->lock);
    if (u->state != XD_UPLOAD_NEW) {
        xd_mutex_unlock(&u->lock);
        return xd_fail(err, XD_E_STATE, "the upload was started before");
    }
    u->state = XD_UPLOAD_RUNS;
    u->n_resuming = u->n_workers;
    u->looks_until = XD_NEVER;
    u->started = xd_now();
    xd_mutex_unlock(&u->lock);
    for (size_t i = 0; rc == 0 && i < u->n_workers; i++)
        rc = start_worker(&u->workers[i], err);
    if (rc == 0)
        rc = start_keepers(u, err);
    if (rc < 0) {
        stop_workers(u);
        return rc;
    }
    u->has_keeper = true;
    xd_cancel_attach(u->options.cancel, &u->hook, cancel, u);
    return 0;
}

/* ---- public functions ---- */

int xd_upload_wait(struct xd_upload *u, int timeout_ms, struct xd_error *err)
{
    const xd_usec until =
        timeout_ms < 0 ? XD_NEVER : xd_now() + (xd_usec)timeout_ms * XD_MS;
    int rc = 0;

    xd_mutex_lock(&u->lock);
    if (u->state == XD_UPLOAD_NEW || !u->has_keeper)
        rc = xd_fail(err, XD_E_STATE, "the upload was not started");
    while (rc == 0 && u->state != XD_UPLOAD_HAS_ENDED)
        if (!xd_cond_wait_until(&u->ended, &u->lock, until))
            rc = xd_fail(err, XD_E_AGAIN, "the upload is running");
    if (rc == 0 && u->error.code != XD_OK) {
        rc = u->error.code;
        if (err)
            *err = u->error;
    }
    xd_mutex_unlock(&u->lock);
    return rc;
}

void xd_upload_cancel(struct xd_upload *u)
{
    xd_mutex_lock(&u->lock);
    u->is_canceled = u->is_canceled || u->state < XD_UPLOAD_ENDS;
    xd_cond_broadcast(&u->work_ready);
    xd_cond_signal(&u->kept);
    xd_mutex_unlock(&u->lock);
    if (u->removal)
        xd_cancel_trigger(u->removal);
    xd_origin_interrupt(u->origin);
    for (size_t i = 0; i < u->n_workers; i++)
        if (u->workers[i].tasks)
            xd_tasks_wakeup(u->workers[i].tasks);
}

static xd_usec now_of_locked(const struct xd_upload *u)
{
    return u->state == XD_UPLOAD_HAS_ENDED ? u->ended_at : xd_now();
}

void xd_upload_progress(struct xd_upload *u, struct xd_upload_progress *out)
{
    struct xd_upload_progress p = {.struct_size = sizeof p};

    xd_mutex_lock(&u->lock);
    p.bytes_total = u->bytes_total;
    p.bytes_done = u->bytes_done;
    p.bytes_resumed = u->bytes_resumed;
    p.bytes_sent = u->bytes_sent;
    if (u->started > 0)
        p.seconds = xd_seconds(now_of_locked(u) - u->started);
    for (size_t i = 0; i < u->n_workers; i++)
        p.bytes_per_s += xd_rate_get(&u->workers[i].rate, now_of_locked(u));
    for (size_t i = 0; i < u->n_workers && u->state == XD_UPLOAD_RUNS; i++)
        p.bytes_under_way += u->workers[i].stats.bytes_under_way;
    p.file_bytes = xd_origin_size(u->origin);
    p.n_extents = xd_plan_n_extents(u->plan);
    p.copies = u->copies;
    p.code_k = u->coding.k;
    p.code_m = u->coding.m;
    p.parity_bytes = u->parity_bytes;
    p.n_missing = xd_plan_missing(u->plan);
    xd_mutex_unlock(&u->lock);
    xd_copy_out(out, &p, sizeof p);
}

int xd_upload_store(struct xd_upload *u, size_t i, struct xd_store_stats *out)
{
    struct xd_store_stats s;

    if (i >= u->n_workers)
        return XD_E_INVAL;
    xd_mutex_lock(&u->lock);
    s = u->workers[i].stats;
    s.bytes_per_s = xd_rate_get(&u->workers[i].rate, now_of_locked(u));
    if (u->state != XD_UPLOAD_RUNS)
        s.bytes_under_way = 0;
    xd_mutex_unlock(&u->lock);
    xd_copy_out(out, &s, sizeof s);
    return 0;
}

bool xd_upload_next_record(struct xd_upload *u, struct xd_upload_record *out)
{
    struct xd_upload_record r;
    bool has_one;

    xd_mutex_lock(&u->lock);
    has_one = u->n_records > 0;
    if (has_one) {
        r = u->records[u->first_record];
        u->first_record = (u->first_record + 1) % XD_UPLOAD_RECORDS;
        u->n_records--;
    }
    xd_mutex_unlock(&u->lock);
    if (has_one)
        xd_copy_out(out, &r, sizeof r);
    return has_one;
}

const char *xd_upload_private_path(const struct xd_upload *u)
{
    return xd_inventory_private_path(u->inventory);
}

void xd_upload_free(struct xd_upload *u)
{
    if (!u || u->process != xd_exit_process())
        return;
    if (u->has_keeper) {
        xd_cancel_detach(u->options.cancel, &u->hook);
        xd_upload_cancel(u);
        xd_thread_join(&u->keeper);
    }
    xd_upload_unmake(u);
}
