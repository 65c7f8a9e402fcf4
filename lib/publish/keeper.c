/* SPDX-License-Identifier: MIT */
/*
 * The keeper of an upload: it writes the inventory whenever that has changed, as a whole
 * or what is new of it, and ends the upload.
 */
#include "base/alloc.h"
#include "base/error.h"
#include "publish/replaced.h"
#include "publish/upload.h"

/* ---- the inventory ---- */

/* Of the time may be spent on whole manifests: with thousands of extents one takes
 * tens of milliseconds, and each extent changes it twice. */
#define MOST_PARTS 10

/* Once all copies are there. */
#define LOOKS_WITHIN (5 * XD_SECOND)

/* A change is on the disk, or cannot be. */
static void note_written_locked(struct xd_upload *u, uint64_t changes, int rc,
                                const struct xd_error *error)
{
    u->written = changes;
    xd_cond_broadcast(&u->work_ready);
    if (rc < 0)
        xd_upload_fail_locked(u, error);
}

/* Write it as it is now.  The lock is released meanwhile. */
static void write_inventory_locked(struct xd_upload *u, bool is_over)
{
    const uint64_t changes = u->changes;
    const xd_usec began = xd_now();
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
    u->written_whole = changes;
    u->whole_at = xd_now() + MOST_PARTS * (xd_now() - began);
    note_written_locked(u, changes, rc, &error);
}

/* Write only what has changed, likewise; where that cannot be added, as where all files
 * seem to be another user's, all is written again. */
static void note_changes_locked(struct xd_upload *u)
{
    const uint64_t changes = u->changes;
    struct xd_error error;
    char *text;
    int rc = xd_inventory_changes(u->inventory, &text, &error);

    if (rc == 0 && text) {
        xd_mutex_unlock(&u->lock);
        rc = xd_inventory_append(u->inventory, text, &error);
        xd_free(text);
        xd_mutex_lock(&u->lock);
    }
    if (rc < 0)
        u->whole_at = 0;
    else
        note_written_locked(u, changes, 0, &error);
}

/* ---- the end ---- */

static const char *lack_text(enum xd_plan_lack lack)
{
    switch (lack) {
    case XD_LACK_NEW_STORES:
        break;
    case XD_LACK_NEW_HOSTS:
        return "the hosts of those that were given have other shards of their "
               "stripes already";
    case XD_LACK_BOTH:
        return "the hosts of those that were given have the same bytes, or "
               "other shards of their stripes, already";
    }
    return "those that were given have the same bytes already";
}

/* Which store is to blame if copies are missing: the first that failed. */
static void fail_for_stores_locked(struct xd_upload *u)
{
    const size_t missing = xd_plan_missing(u->plan);
    const char *why = lack_text(xd_plan_lack(u->plan));
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

/* When there is something to do, if nothing changes until then. */
static xd_usec keeps_at(const struct xd_upload *u)
{
    const xd_usec ends_at = xd_earlier(deadline(u), u->looks_until);

    return u->written_whole < u->changes ? xd_earlier(u->whole_at, ends_at)
                                         : ends_at;
}

/* All copies are there, and what an earlier run has begun beside them was looked at.  A
 * store that does not answer is not waited for long. */
static bool is_complete_locked(struct xd_upload *u)
{
    if (!u->is_hashed || xd_plan_missing(u->plan) > 0)
        return false;
    if (u->looks_until == XD_NEVER)
        u->looks_until = xd_earlier(xd_now() + LOOKS_WITHIN, deadline(u));
    return u->n_resuming == 0 || xd_now() >= u->looks_until;
}

/* Until all copies are there, or cannot be. */
static void wait_for_copies_locked(struct xd_upload *u)
{
    struct xd_error error;

    while (!xd_upload_is_ending_locked(u) && !is_complete_locked(u)) {
        if (xd_now() >= deadline(u)) {
            xd_fail(&error, XD_E_TIMEOUT,
                    "%s: not uploaded within the time allowed (max-time)",
                    u->file_name);
            xd_upload_fail_locked(u, &error);
        } else if (u->written_whole < u->changes && xd_now() >= u->whole_at) {
            write_inventory_locked(u, false);
        } else if (u->written < u->changes) {
            note_changes_locked(u);
        } else if (xd_plan_is_stuck(u->plan)) {
            fail_for_stores_locked(u);
        } else {
            (void)xd_cond_wait_until(&u->kept, &u->lock, keeps_at(u));
        }
    }
}

/* Whether a later run has nothing to go on with: it is complete, or has left what was
 * there as it was, which an earlier run has not. */
static bool is_over_locked(const struct xd_upload *u)
{
    return u->error.code == XD_OK ||
           (!u->makes_manifest && !u->goes_on && u->bytes_done == 0 &&
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
