/* SPDX-License-Identifier: MIT */
/* The keeper thread of an upload.  Whenever the inventory has changed, it
 * writes either the whole manifests or only the changes.  It also ends the
 * upload. */
#include "base/alloc.h"
#include "base/error.h"
#include "publish/replaced.h"
#include "publish/upload.h"

/* ---- writing the inventory ---- */

/* Writing whole manifests takes at most 1/10 of the time.  With thousands of
 * extents, writing one manifest takes tens of milliseconds, and each extent
 * changes the inventory twice. */
#define MOST_PARTS 10

/* Longest time to wait, once all copies exist, until the workers have checked
 * the objects that earlier runs have left. */
#define LOOKS_WITHIN (5 * XD_SECOND)

/* Records that changes are on the disk and wakes the workers that wait for
 * these changes.  If writing failed, fails the upload. */
static void note_written_locked(struct xd_upload *u, uint64_t changes, int rc,
                                const struct xd_error *error)
{
    u->written = changes;
    xd_cond_broadcast(&u->work_ready);
    if (rc < 0)
        xd_upload_fail_locked(u, error);
}

/* Writes the whole inventory.  Releases the lock meanwhile. */
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

/* Appends the changes to the journal.  Releases the lock meanwhile.  If
 * appending fails, for example because all files seem to belong to another
 * user, writes the whole inventory. */
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

/* ---- end of the upload ---- */

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

/* Fails the upload because copies are missing.  Reports the error of the first
 * store that failed. */
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

/* Returns when the keeper must wake up even if nothing happens: to write the
 * whole manifest, or because a time limit ends. */
static xd_usec keeps_at(const struct xd_upload *u)
{
    const xd_usec ends_at = xd_earlier(deadline(u), u->looks_until);

    return u->written_whole < u->changes ? xd_earlier(u->whole_at, ends_at)
                                         : ends_at;
}

/* Returns whether all copies exist and all objects of earlier runs were
 * checked.  For stores that do not answer, it waits at most LOOKS_WITHIN. */
static bool is_complete_locked(struct xd_upload *u)
{
    if (!u->is_hashed || xd_plan_missing(u->plan) > 0)
        return false;
    if (u->looks_until == XD_NEVER)
        u->looks_until = xd_earlier(xd_now() + LOOKS_WITHIN, deadline(u));
    return u->n_resuming == 0 || xd_now() >= u->looks_until;
}

/* Waits until all copies exist, or until the missing copies cannot be made. */
static void wait_for_copies_locked(struct xd_upload *u)
{
    struct xd_error error;

    while (!xd_upload_is_ending_locked(u) && !is_complete_locked(u)) {
        if (xd_now() >= deadline(u)) {
            xd_fail(&error, XD_E_TIMEOUT,
                    "%s: not uploaded within the time allowed (--max-time)",
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

/* Returns true if a later run has nothing to resume: the upload is complete, or
 * neither this run nor an earlier one has changed anything. */
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
