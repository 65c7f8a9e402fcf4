/* SPDX-License-Identifier: MIT */
/*
 * The worker thread of one store.  It takes an extent, sends it, and reports
 * the result.  Sending runs without the lock.
 */
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "publish/upload.h"

#define TICK (XD_SECOND / 10) /* interval at which sent bytes are counted */
/* interval while an extent waits for another extent */
#define SHORT_TICK (5 * XD_MS)

/* Begin the next extent when the current one needs no longer than this, so that
 * the network is not idle while the sample is read back. */
#define OVERLAP XD_SECOND

/* Bytes that a killed run has passed to the kernel may still arrive.  So an
 * incomplete object is examined again when nothing else is left to send, and at
 * the earliest after this time. */
#define ARRIVES_WITHIN XD_SECOND

static bool is_busy(const struct xd_upload_worker *w)
{
    for (unsigned i = 0; i < XD_UPLOAD_LANES; i++)
        if (w->lanes[i].state != XD_LANE_FREE)
            return true;
    return false;
}

/* ---- taking an extent ---- */

/* Returns a lane that may begin an extent, or NULL. */
static struct xd_upload_lane *free_lane_locked(struct xd_upload_worker *w,
                                               xd_usec now)
{
    struct xd_upload_lane *lane = NULL;
    bool is_sending = false;

    for (unsigned i = 0; i < XD_UPLOAD_LANES; i++) {
        if (w->lanes[i].state == XD_LANE_FREE)
            lane = &w->lanes[i];
        is_sending |= w->lanes[i].state == XD_LANE_PUTS;
    }
    if (is_sending && xd_plan_left(w->upload->plan, w->index, now) > OVERLAP)
        return NULL;
    return lane;
}

/* Records the object in the inventory, so that a later run knows about it. */
static void note_pending_locked(struct xd_upload_lane *lane,
                                const struct xd_object *o)
{
    struct xd_upload *u = lane->worker->upload;
    struct xd_error error;

    if (xd_inventory_set_pending(u->inventory, lane->range, o, &error) < 0) {
        xd_upload_fail_locked(u, &error);
        return;
    }
    lane->is_pending = true;
    xd_upload_changed_locked(u);
    lane->noted = u->changes;
}

/* Records new names of the object in the inventory: the IBP capabilities, which
 * are known after the allocation, or the ID of a multipart upload to S3. */
static void look_at_names_locked(struct xd_upload_lane *lane)
{
    const struct xd_object *o =
        lane->state == XD_LANE_PUTS
            ? xd_tasks_object(lane->worker->tasks, lane->number)
            : NULL;

    if (o && o->manage &&
        (!lane->is_pending || !o->upload != !lane->object.upload)) {
        xd_object_fini(&lane->object);
        if (xd_object_copy(&lane->object, o) == 0)
            note_pending_locked(lane, o);
    }
    lane->is_noted =
        lane->is_pending && lane->worker->upload->written >= lane->noted;
}

/* Returns whether the object's name contains the name prefix of this upload.  A
 * later attempt would use the same name. */
static bool is_of_upload(const struct xd_upload *u, const char *manage)
{
    return strstr(manage, u->note.name) != NULL;
}

static void unset_pending_locked(struct xd_upload_lane *lane)
{
    if (lane->object.manage)
        xd_inventory_unset_pending(lane->worker->upload->inventory,
                                   lane->object.manage);
    lane->is_pending = false;
}

/* Removes a pending object that cannot appear any more.  If the store may still
 * create the object, it stays in the note, so that a later run knows that the
 * object is its own. */
static void leave_pending_locked(struct xd_upload_lane *lane)
{
    struct xd_upload_worker *w = lane->worker;

    if (lane->extent == XD_PLAN_NONE || !w->was_sent[lane->extent] ||
        !lane->object.manage || !is_of_upload(w->upload, lane->object.manage)) {
        unset_pending_locked(lane);
        return;
    }
    xd_inventory_leave_pending(w->upload->inventory, lane->object.manage);
    lane->is_pending = false;
}

/* Assigns the extent to the lane.  `extent` is XD_PLAN_NONE if the object only
 * has to be deleted. */
static void begin_locked(struct xd_upload_lane *lane, size_t extent)
{
    lane->extent = extent;
    lane->range = extent == XD_PLAN_NONE
                      ? (struct xd_range){0, 0}
                      : xd_plan_range(lane->worker->upload->plan, extent);
    lane->reason = (struct xd_error){.code = XD_OK};
    lane->drops = lane->is_resumed = lane->may_come = lane->is_noted = false;
    lane->is_pending = lane->is_found = lane->is_there = false;
    if (lane->worker->stats.state != XD_STORE_FAILED)
        lane->worker->stats.state = XD_STORE_BUSY;
}

/* Begins an extent, if the store may get one now.  Releases the lock while the
 * task starts.  Nothing is sent before the inventory on the disk names the
 * object. */
static bool take_locked(struct xd_upload_worker *w)
{
    struct xd_upload *u = w->upload;
    const xd_usec now = xd_now();
    struct xd_upload_lane *lane = free_lane_locked(w, now);
    size_t extent;

    if (!lane || now < w->retry_at)
        return false;
    extent = xd_plan_next(u->plan, w->index, now);
    if (extent == XD_PLAN_NONE)
        return false;
    begin_locked(lane, extent);
    xd_mutex_unlock(&u->lock);
    xd_lane_put(lane);
    xd_mutex_lock(&u->lock);
    look_at_names_locked(lane);
    while (!xd_upload_is_ending_locked(u) && u->written < lane->noted)
        xd_cond_wait(&u->work_ready, &u->lock);
    return true;
}

/* Returns whether this run has examined the object before. */
static bool is_known(const struct xd_upload_worker *w, const char *manage,
                     size_t extent)
{
    return extent != XD_PLAN_NONE && w->was_sent[extent] &&
           is_of_upload(w->upload, manage);
}

/* Returns the extent that the object belongs to, according to its bytes or its
 * name.  An object whose name shows that another upload made it may hold other
 * bytes. */
static size_t extent_of(const struct xd_upload_worker *w,
                        const struct xd_object *o, struct xd_range range)
{
    const struct xd_plan *plan = w->upload->plan;
    const size_t extent = xd_plan_find_begun(plan, range, w->index);

    if (extent == XD_PLAN_NONE || is_of_upload(w->upload, o->manage))
        return extent;
    return strncmp(o->manage, "ibp:", 4) == 0 &&
                   xd_plan_range(plan, extent).end == range.end
               ? extent
               : XD_PLAN_NONE;
}

/* Takes an object that an earlier run began at this store and whose result is
 * not known.  If `was_put_off` is true, it takes an object that was put off. */
static bool take_pending_locked(struct xd_upload_worker *w, bool was_put_off)
{
    struct xd_upload *u = w->upload;
    struct xd_upload_lane *lane = &w->lanes[0];
    const struct xd_object *o;
    struct xd_range range;

    for (size_t i = 0;
         (o = xd_inventory_pending(u->inventory, i, &range)) != NULL; i++) {
        const size_t extent = extent_of(w, o, range);

        if (!xd_store_has(w->store, o->manage) ||
            xd_plan_is_put_off(u->plan, extent, w->index) != was_put_off ||
            (!was_put_off && is_known(w, o->manage, extent)))
            continue;
        if (was_put_off && !xd_plan_is_ready(u->plan, extent)) {
            w->has_put_off = true;
            continue;
        }
        if (extent != XD_PLAN_NONE && is_of_upload(u, o->manage))
            w->was_sent[extent] = true;
        begin_locked(lane, xd_plan_take(u->plan, extent, w->index)
                               ? extent
                               : XD_PLAN_NONE);
        lane->is_resumed = true;
        lane->may_come = !was_put_off && lane->extent != XD_PLAN_NONE;
        lane->is_hashed = xd_plan_is_ready(u->plan, extent);
        xd_object_fini(&lane->object);
        lane->is_pending = xd_object_copy(&lane->object, o) == 0;
        return lane->is_pending;
    }
    return false;
}

/* ---- reporting the result ---- */

/* Wakes the keeper and all workers. */
static void wake_all_locked(struct xd_upload *u)
{
    xd_cond_signal(&u->kept);
    xd_cond_broadcast(&u->work_ready);
}

/* Returns the number of bytes sent so far for incomplete extents. */
static uint64_t under_way(const struct xd_upload_worker *w)
{
    uint64_t bytes = 0;

    for (unsigned i = 0; i < XD_UPLOAD_LANES; i++)
        if (w->lanes[i].state == XD_LANE_PUTS ||
            w->lanes[i].state == XD_LANE_PROVES)
            bytes += w->lanes[i].n_sent;
    return bytes;
}

static void note_sent_locked(struct xd_upload_worker *w)
{
    const xd_usec now = xd_now();

    w->stats.bytes_under_way = under_way(w);
    if (w->sent_now == 0)
        return;
    xd_plan_sent(w->upload->plan, w->index, w->sent_now, now);
    xd_rate_add(&w->rate, now, w->sent_now);
    w->stats.bytes_sent += w->sent_now;
    w->upload->bytes_sent += w->sent_now;
    w->sent_now = 0;
}

/* Gives the object a presigned URL for reading, if the user wants that. */
static int presign(struct xd_upload_worker *w, struct xd_upload_lane *lane,
                   struct xd_error *err)
{
    const uint64_t seconds = w->upload->presign_s;
    const int64_t now = (int64_t)xd_unix_time() + w->clock_off_s;
    char *url;
    int rc;

    if (seconds == 0)
        return 0;
    rc = xd_store_presign(w->store, lane->object.manage, now, seconds, &url,
                          err);
    if (rc < 0)
        return rc;
    xd_free(lane->object.read);
    lane->object.read = url;
    lane->object.expires_at = now + (int64_t)seconds;
    return 0;
}

void xd_worker_complete(struct xd_upload_worker *w, struct xd_upload_lane *lane)
{
    struct xd_upload *u = w->upload;
    const uint64_t length = xd_range_length(lane->range);
    struct xd_error error;
    const int rc = presign(w, lane, &error);

    xd_mutex_lock(&u->lock);
    lane->n_sent = 0;
    note_sent_locked(w);
    if (rc < 0 || xd_inventory_add(u->inventory, lane->range, &lane->object,
                                   u->digests[lane->extent], &error) < 0) {
        xd_plan_failed(u->plan, lane->extent, w->index, xd_now());
        xd_upload_fail_locked(u, &error);
    } else {
        lane->is_pending = false;
        xd_plan_done(u->plan, lane->extent, w->index, xd_now());
        xd_heal_count(&u->heal, lane->extent);
        w->failures = 0;
        w->stats.bytes += length;
        w->stats.extents++;
        u->bytes_done += length;
        xd_upload_changed_locked(u);
        xd_upload_record_locked(u, w, lane, XD_OK);
    }
    wake_all_locked(u);
    xd_mutex_unlock(&u->lock);
    lane->state = XD_LANE_FREE;
}

/* Gives up the store. */
static void drop_locked(struct xd_upload_worker *w)
{
    xd_plan_drop(w->upload->plan, w->index);
    w->stats.state = XD_STORE_FAILED;
}

/* Returns whether to keep trying a store that refuses requests only for now.
 * True if no other store can replace it, and the option patience allows more
 * time than the pause takes. */
static bool is_patient_locked(const struct xd_upload_worker *w,
                              const struct xd_upload_lane *lane)
{
    const struct xd_upload *u = w->upload;

    return lane->reason.http_status != 0 && lane->extent != XD_PLAN_NONE &&
           xd_now() - w->failing_since + lane->pause < u->options.patience &&
           !xd_plan_can_do_without(u->plan, lane->extent, w->index);
}

/* Counts a failure.  Returns whether the store is given up because of it. */
static bool count_failure_locked(struct xd_upload_worker *w,
                                 const struct xd_upload_lane *lane)
{
    struct xd_upload *u = w->upload;

    w->stats.failures++;
    if (w->failures++ == 0)
        w->failing_since = xd_now();
    w->stats.last_error = lane->reason;
    xd_upload_record_locked(u, w, lane, lane->reason.code);
    if (xd_plan_is_dropped(u->plan, w->index))
        return false;
    if (lane->drops ||
        (w->failures >= u->options.retry && !is_patient_locked(w, lane))) {
        drop_locked(w);
        return true;
    }
    w->retry_at = xd_now() + lane->pause;
    w->stats.state = XD_STORE_PAUSED;
    return false;
}

void xd_worker_give_back(struct xd_upload_worker *w,
                         struct xd_upload_lane *lane)
{
    struct xd_upload *u = w->upload;
    bool drops = false;

    xd_mutex_lock(&u->lock);
    lane->n_sent = 0;
    note_sent_locked(w);
    leave_pending_locked(lane);
    if (lane->extent != XD_PLAN_NONE)
        xd_plan_failed(u->plan, lane->extent, w->index, xd_now());
    if (!lane->is_resumed)
        drops = count_failure_locked(w, lane);
    wake_all_locked(u);
    xd_mutex_unlock(&u->lock);
    if (drops)
        xd_log(&u->log, XD_LOG_WARN, "%s", lane->reason.msg);
    lane->state = XD_LANE_FREE;
}

void xd_worker_put_off(struct xd_upload_worker *w, struct xd_upload_lane *lane)
{
    struct xd_upload *u = w->upload;

    xd_mutex_lock(&u->lock);
    xd_plan_put_off(u->plan, lane->extent, w->index, xd_now());
    xd_mutex_unlock(&u->lock);
    if (!w->has_put_off)
        w->put_off_until = xd_now() + ARRIVES_WITHIN;
    w->has_put_off = true;
    lane->state = XD_LANE_FREE;
}

/* ---- the loop ---- */

/* Waits for something to send, because nothing is in progress. */
static void rest_locked(struct xd_upload_worker *w)
{
    struct xd_upload *u = w->upload;
    const xd_usec now = xd_now();
    xd_usec until;

    if (w->stats.state == XD_STORE_BUSY)
        w->stats.state = XD_STORE_IDLE;
    until = w->retry_at > now ? w->retry_at : now + XD_SECOND;
    if (w->has_put_off)
        until = xd_earlier(until, w->put_off_until);
    (void)xd_cond_wait_until(&u->work_ready, &u->lock, until);
}

/* Resumes extents that need not wait any more.  Returns whether an extent still
 * waits. */
static bool resume(struct xd_upload_worker *w)
{
    bool waits = false;

    for (unsigned i = 0; i < XD_UPLOAD_LANES; i++) {
        struct xd_upload_lane *lane = &w->lanes[i];

        if (lane->state != XD_LANE_PUTS || !lane->is_held)
            continue;
        lane->is_held = xd_lane_must_wait(lane);
        waits |= lane->is_held;
        if (!lane->is_held)
            xd_tasks_resume(w->tasks, i);
    }
    return waits;
}

/* Continues the extents in progress and handles tasks that have ended.  Returns
 * false if the upload ends. */
static bool carry_on(struct xd_upload_worker *w)
{
    struct xd_upload *u = w->upload;
    bool goes_on;

    xd_tasks_poll(w->tasks, xd_now() + (resume(w) ? SHORT_TICK : TICK));
    for (unsigned i = 0; i < XD_UPLOAD_LANES; i++)
        while (w->lanes[i].has_ended)
            xd_lane_step(&w->lanes[i]);
    xd_mutex_lock(&u->lock);
    note_sent_locked(w);
    for (unsigned i = 0; i < XD_UPLOAD_LANES; i++)
        look_at_names_locked(&w->lanes[i]);
    goes_on = !xd_upload_is_ending_locked(u);
    xd_mutex_unlock(&u->lock);
    return goes_on;
}

/* Examines objects that an earlier run began.  Complete objects are kept.
 * Objects that may still arrive are put off.  All other objects are deleted. */
static void resume_locked(struct xd_upload_worker *w, bool was_put_off)
{
    struct xd_upload *u = w->upload;

    while (!xd_upload_is_ending_locked(u) &&
           take_pending_locked(w, was_put_off)) {
        xd_mutex_unlock(&u->lock);
        xd_lane_resume(&w->lanes[0]);
        while (w->lanes[0].state != XD_LANE_FREE && carry_on(w))
            continue;
        xd_mutex_lock(&u->lock);
    }
}

/* Examines objects that were put off, or waits.  Called when nothing can be
 * sent now. */
static void look_again_locked(struct xd_upload_worker *w)
{
    if (!w->has_put_off || xd_now() < w->put_off_until) {
        rest_locked(w);
        return;
    }
    w->has_put_off = false;
    resume_locked(w, true);
    w->put_off_until = xd_now() + TICK;
}

void *xd_upload_worker_main(void *arg)
{
    struct xd_upload_worker *w = arg;
    struct xd_upload *u = w->upload;

    xd_mutex_lock(&u->lock);
    resume_locked(w, false);
    u->n_resuming--;
    xd_cond_signal(&u->kept);
    while (!xd_upload_is_ending_locked(u)) {
        if (take_locked(w))
            continue;
        if (!is_busy(w)) {
            look_again_locked(w);
            continue;
        }
        xd_mutex_unlock(&u->lock);
        (void)carry_on(w);
        xd_mutex_lock(&u->lock);
    }
    xd_mutex_unlock(&u->lock);
    return NULL;
}
