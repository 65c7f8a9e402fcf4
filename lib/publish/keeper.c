/* SPDX-License-Identifier: MIT */
/*
 * The keeper of an upload: it writes the inventory whenever that has changed, and ends
 * the upload.
 */
#include "base/error.h"
#include "publish/replaced.h"
#include "publish/upload.h"

/* ---- the inventory ---- */

/* Write it as it is now.  The lock is released meanwhile. */
static void write_inventory_locked(struct xd_upload *u, bool is_over)
{
    const uint64_t changes = u->changes;
    char *private_text, *public_text;
    struct xd_error error;
    int rc;

    rc = xd_inventory_texts(u->inventory, is_over, &private_text, &public_text,
                            &error);
    if (rc == 0) {
        xd_mutex_unlock(&u->lock);
        rc =
            xd_inventory_write(u->inventory, private_text, public_text, &error);
        xd_manifest_text_free(private_text);
        xd_manifest_text_free(public_text);
        xd_mutex_lock(&u->lock);
    }
    u->written = changes;
    xd_cond_broadcast(&u->work_ready);
    if (rc < 0)
        xd_upload_fail_locked(u, &error);
}

/* ---- the end ---- */

/* Which store is to blame if copies are missing: the first that failed. */
static void fail_for_stores_locked(struct xd_upload *u)
{
    const size_t missing = xd_plan_missing(u->plan);
    const char *why = "those that were given have the same bytes already";
    struct xd_error error;

    for (size_t i = u->n_workers; i-- > 0;)
        if (u->workers[i].stats.state == XD_STORE_FAILED)
            why = u->workers[i].stats.last_error.msg;
    xd_fail(&error, XD_E_NET, "%zu %s missing, and no store is left for %s: %s",
            missing,
            missing == 1 ? "copy of an extent is" : "copies of extents are",
            missing == 1 ? "it" : "them", why);
    xd_upload_fail_locked(u, &error);
}

static xd_usec deadline(const struct xd_upload *u)
{
    return u->options.max_time > 0 ? u->started + u->options.max_time
                                   : XD_NEVER;
}

/* Until all copies are there, or cannot be. */
static void wait_for_copies_locked(struct xd_upload *u)
{
    struct xd_error error;

    while (!xd_upload_is_ending_locked(u) &&
           !(u->is_hashed && xd_plan_missing(u->plan) == 0)) {
        if (u->written < u->changes) {
            write_inventory_locked(u, false);
        } else if (xd_plan_is_stuck(u->plan)) {
            fail_for_stores_locked(u);
        } else if (!xd_cond_wait_until(&u->kept, &u->lock, deadline(u)) &&
                   xd_now() >= deadline(u)) {
            xd_fail(&error, XD_E_TIMEOUT,
                    "%s: not uploaded within the time allowed (max-time)",
                    u->file_name);
            xd_upload_fail_locked(u, &error);
        }
    }
}

/* Whether a later run has nothing to go on with: it is complete, or has left what was
 * there as it was. */
static bool is_over_locked(const struct xd_upload *u)
{
    return u->error.code == XD_OK ||
           (!u->makes_manifest && u->bytes_done == 0 &&
            !xd_inventory_has_pending(u->inventory));
}

static void end_locked(struct xd_upload *u, struct xd_replaced *replaced)
{
    struct xd_error error;

    if (u->is_canceled) {
        xd_fail(&error, XD_E_CANCELED, "%s: the upload was canceled",
                u->file_name);
        u->error = error;
    }
    if (u->error.code == XD_OK &&
        xd_replaced_note_locked(replaced, u, &error) < 0)
        u->error = error;
    write_inventory_locked(u, is_over_locked(u) && replaced->n == 0);
    u->state = XD_UPLOAD_ENDS;
    xd_cond_broadcast(&u->work_ready);
    for (size_t i = 0; i < u->n_workers; i++)
        if (u->workers[i].tasks)
            xd_tasks_wakeup(u->workers[i].tasks);
}

void *xd_upload_keeper_main(void *arg)
{
    struct xd_upload *u = arg;
    struct xd_replaced replaced = {.n = 0};

    xd_mutex_lock(&u->lock);
    wait_for_copies_locked(u);
    end_locked(u, &replaced);
    xd_mutex_unlock(&u->lock);
    xd_origin_interrupt(u->origin);
    xd_thread_join(&u->hasher);
    for (size_t i = 0; i < u->n_workers; i++)
        if (u->workers[i].is_started)
            xd_thread_join(&u->workers[i].thread);
    if (u->error.code == XD_OK)
        xd_replaced_remove(&replaced);
    xd_mutex_lock(&u->lock);
    if (u->error.code == XD_OK && replaced.n > 0)
        write_inventory_locked(u, !xd_inventory_has_pending(u->inventory));
    u->ended_at = xd_now();
    u->state = XD_UPLOAD_HAS_ENDED;
    xd_cond_broadcast(&u->ended);
    xd_mutex_unlock(&u->lock);
    xd_replaced_fini(&replaced);
    return NULL;
}
