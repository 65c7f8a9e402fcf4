/* SPDX-License-Identifier: MIT */
/*
 * Sends one extent to a store: puts the object, reads a sample back, and
 * deletes the object after a failure.  All of this runs on the store's worker,
 * without the lock.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "io/random.h"
#include "publish/upload.h"

/* Number of samples read from an object of an earlier attempt whose result is
 * not known. */
#define SAMPLES_OF_FOUND 4u

typedef struct xd_upload_lane lane_t;

static uint64_t length_of(const lane_t *lane)
{
    return xd_range_length(lane->range);
}

/* ---- callbacks of the tasks ---- */

static void count_in_order(lane_t *lane, uint64_t at, const void *data,
                           size_t len)
{
    char hex[XD_HASH_HEX_MAX + 1];

    if (at == 0) { /* the object is sent from its start, perhaps again */
        xd_hasher_end(lane->sent, hex);
        lane->n_sent = 0;
        lane->in_order = true;
    }
    lane->in_order = lane->in_order && at == lane->n_sent;
    if (lane->in_order)
        xd_hasher_add(lane->sent, data, len);
    lane->n_sent = at + len;
}

static bool is_noted(const lane_t *lane)
{
    const struct xd_object *o =
        xd_tasks_object(lane->worker->tasks, lane->number);

    return lane->is_noted && o && !o->upload == !lane->object.upload;
}

bool xd_lane_must_wait(const lane_t *lane)
{
    if (!is_noted(lane))
        return true;
    for (unsigned i = 0; i < XD_UPLOAD_LANES; i++) {
        const lane_t *other = &lane->worker->lanes[i];

        if (other->state == XD_LANE_PUTS && other->began < lane->began &&
            (other->n_sent < length_of(other) || other->object.upload))
            return true;
    }
    return false;
}

bool xd_lane_may_send(void *user, unsigned task)
{
    struct xd_upload_worker *w = user;
    lane_t *lane = &w->lanes[task];

    lane->is_held = !is_noted(lane);
    return !lane->is_held;
}

int64_t xd_lane_read(void *user, unsigned task, uint64_t at, void *to,
                     size_t len, struct xd_error *err)
{
    struct xd_upload_worker *w = user;
    lane_t *lane = &w->lanes[task];
    int rc;

    lane->is_held = xd_lane_must_wait(lane);
    if (lane->is_held)
        return XD_E_AGAIN;
    rc = xd_upload_read(w->upload, w->index, lane->range.begin + at, to, len,
                        err);
    if (rc < 0)
        return rc;
    count_in_order(lane, at, to, len);
    w->was_sent[lane->extent] = true;
    w->sent_now += len;
    return (int64_t)len;
}

/* Hashes a range of the upload line. */
static int hash_range(const lane_t *lane, struct xd_range range,
                      char out_hex[65], struct xd_error *err)
{
    char block[16384], hex[XD_HASH_HEX_MAX + 1];
    struct xd_hasher *h;
    int rc = xd_hasher_new(&h, "sha-256", err);

    while (rc == 0 && !xd_range_is_empty(range)) {
        const uint64_t left = xd_range_length(range);
        const size_t n = left < sizeof block ? (size_t)left : sizeof block;

        rc = xd_upload_read(lane->worker->upload, lane->worker->index,
                            range.begin, block, n, err);
        if (rc == 0)
            xd_hasher_add(h, block, n);
        range.begin += n;
    }
    if (rc == 0) {
        xd_hasher_end(h, hex);
        memcpy(out_hex, hex, 65);
    }
    xd_hasher_free(h);
    return rc;
}

/* Hashes a range of the object, for the task. */
static int on_hash(void *user, struct xd_range range, char out_hex[65],
                   struct xd_error *err)
{
    const lane_t *lane = user;
    const uint64_t begin = lane->range.begin;

    return hash_range(lane,
                      (struct xd_range){begin + range.begin, begin + range.end},
                      out_hex, err);
}

/* Copies the names and the size that the task reports.  Returns false if memory
 * runs out. */
static bool take_object(lane_t *lane, const struct xd_object *o)
{
    xd_object_fini(&lane->object);
    return xd_object_copy(&lane->object, o) == 0;
}

/* Warns about a wrong clock: signatures contain the time, and stores refuse a
 * signature whose time is far off. */
static void look_at_clock(struct xd_upload_worker *w, int64_t off_s)
{
    if (off_s == w->clock_off_s)
        return;
    w->clock_off_s = off_s;
    xd_log(&w->upload->log, XD_LOG_WARN,
           "%s: the clock of this machine is %lld s %s: set it right, for what "
           "it signs is refused",
           xd_store_name(w->store), llabs((long long)off_s),
           off_s > 0 ? "slow" : "fast");
}

void xd_lane_note_end(void *user, unsigned task,
                      const struct xd_task_result *result)
{
    struct xd_upload_worker *w = user;
    lane_t *lane = &w->lanes[task];
    const size_t n = (size_t)xd_range_length(lane->sample);

    look_at_clock(w, result->clock_off_s);
    lane->has_ended = true;
    lane->is_done = result->state == XD_TASK_DONE;
    lane->failure = result->failure;
    lane->retry_after = result->retry_after;
    lane->error = result->error;
    lane->size = result->object ? result->object->size : 0;
    lane->is_same = lane->state == XD_LANE_PROVES && result->bytes &&
                    result->n_bytes == n &&
                    memcmp(result->bytes, lane->bytes, n) == 0;
    if (lane->state == XD_LANE_LOOKS)
        lane->is_there = lane->is_done;
    if (lane->state != XD_LANE_PUTS || !result->object ||
        take_object(lane, result->object))
        return;
    lane->is_done = false;
    lane->failure = XD_TASK_MAY_PASS;
    xd_fail_nomem(&lane->error);
}

/* ---- steps ---- */

/* Starts a task.  If that fails, sets the result as if the task had failed. */
static void start(lane_t *lane, enum xd_lane_state state,
                  const struct xd_task_order *order)
{
    lane->state = state;
    lane->has_ended = false;
    if (xd_tasks_start(lane->worker->tasks, lane->number, order,
                       &lane->error) == 0)
        return;
    lane->has_ended = true;
    lane->is_done = false;
    lane->failure = XD_TASK_BAD;
    lane->retry_after = 0;
}

void xd_lane_put(lane_t *lane)
{
    const struct xd_upload *u = lane->worker->upload;

    snprintf(lane->name, sizeof lane->name, "%s-%" PRIu64, u->note.name,
             lane->range.begin);
    lane->began = xd_now();
    lane->n_sent = 0;
    lane->in_order = lane->is_held = false;
    lane->is_hashed = true;
    lane->samples_left = 1;
    lane->is_found = lane->is_there = false;
    xd_object_fini(&lane->object);
    lane->object = (struct xd_object){.read = NULL};
    start(lane, XD_LANE_PUTS,
          &(struct xd_task_order){.kind = XD_TASK_PUT,
                                  .name = lane->name,
                                  .size = length_of(lane),
                                  .hash = on_hash,
                                  .user = lane});
}

static void look(lane_t *lane)
{
    start(
        lane, XD_LANE_LOOKS,
        &(struct xd_task_order){.kind = XD_TASK_LOOK, .object = &lane->object});
}

/* Deletes the object, or parts of an object, that a failed attempt has left.
 * Then the extent can be sent to another store. */
static void clear(lane_t *lane, const struct xd_error *why, bool drops,
                  xd_usec pause)
{
    if (!lane->reason.code || drops)
        lane->reason = *why;
    lane->drops |= drops;
    lane->pause = pause;
    if (!lane->object.manage && !lane->object.upload) {
        xd_worker_give_back(lane->worker, lane);
        return;
    }
    start(lane, XD_LANE_CLEARS,
          &(struct xd_task_order){.kind = lane->is_there && !lane->object.upload
                                              ? XD_TASK_DELETE
                                              : XD_TASK_ABORT,
                                  .object = &lane->object});
}

/* Resumes an object of an earlier run.  A multipart upload cannot be resumed,
 * so its parts are deleted.  Otherwise the whole object may exist, so it is
 * examined. */
void xd_lane_resume(lane_t *lane)
{
    struct xd_error error;

    lane->began = xd_now();
    lane->is_found = true;
    if (!lane->object.upload) {
        look(lane);
        return;
    }
    xd_fail(&error, XD_E_CANCELED, "%s: an earlier upload was broken off",
            xd_store_name(lane->worker->store));
    clear(lane, &error, false, 0);
}

/* Chooses a random sample.  If there are several samples, the first one is at
 * the end of the object, which may be truncated. */
static int choose_sample(lane_t *lane, struct xd_error *err)
{
    const uint64_t length = length_of(lane);
    const uint64_t n =
        length < XD_UPLOAD_SAMPLE ? length : (uint64_t)XD_UPLOAD_SAMPLE;
    uint64_t at = 0;
    int rc = xd_random_fill(&at, sizeof at, err);

    at %= length - n + 1;
    if (lane->samples_left == SAMPLES_OF_FOUND)
        at = length - n;
    lane->sample = (struct xd_range){at, at + n};
    if (rc == 0)
        rc =
            xd_upload_read(lane->worker->upload, lane->worker->index,
                           lane->range.begin + at, lane->bytes, (size_t)n, err);
    return rc;
}

static void fail_upload(lane_t *lane, const struct xd_error *why)
{
    struct xd_upload *u = lane->worker->upload;

    xd_mutex_lock(&u->lock);
    xd_upload_fail_locked(u, why);
    xd_mutex_unlock(&u->lock);
    clear(lane, why, false, 0);
}

static void prove(lane_t *lane)
{
    struct xd_error error;

    if (choose_sample(lane, &error) < 0) {
        fail_upload(lane, &error);
        return;
    }
    start(lane, XD_LANE_PROVES,
          &(struct xd_task_order){.kind = XD_TASK_READ,
                                  .range = lane->sample,
                                  .object = &lane->object});
}

static int fail_changed(const lane_t *lane, struct xd_error *err)
{
    const struct xd_upload *u = lane->worker->upload;
    struct xd_upload_place place;
    struct xd_range range = lane->range;

    if (xd_upload_line_find(&u->line, range.begin, &place)) {
        const struct xd_model_stripe *s = &u->line.stripes[place.stripe];

        range = (struct xd_range){s->offset, s->offset + s->length};
    }
    return xd_fail(err, XD_E_IO,
                   "%s: its bytes %" PRIu64 "-%" PRIu64
                   " were changed while they were sent",
                   u->file_name, range.begin, range.end - 1);
}

/* Checks that the sent bytes are the bytes that the hasher has hashed.  Errors:
 * IO (the file has changed), and like xd_upload_read(). */
static int check_sent(lane_t *lane, struct xd_error *err)
{
    const struct xd_upload *u = lane->worker->upload;
    char hex[XD_HASH_HEX_MAX + 1];
    int rc = xd_origin_check(u->origin, err);

    if (rc < 0)
        return rc;
    if (lane->in_order && lane->n_sent == length_of(lane))
        xd_hasher_end(lane->sent, hex);
    else
        rc = hash_range(lane, lane->range, hex, err);
    if (rc == 0 && strcmp(hex, u->digests[lane->extent]) != 0)
        rc = fail_changed(lane, err);
    return rc;
}

/* Handles the failure that an object of this name already exists. */
static void end_existing(lane_t *lane)
{
    struct xd_error error;

    if (lane->worker->was_sent[lane->extent] && lane->object.manage) {
        lane->is_found = true;
        look(lane);
        return;
    }
    xd_object_fini(&lane->object); /* keep clear() from deleting it */
    xd_fail_because(&error, XD_E_NET, &lane->error,
                    "%s; this upload did not send it: is the same store given "
                    "twice, under two names?",
                    lane->error.msg);
    clear(lane, &error, true, 0);
}

static void end_put(lane_t *lane)
{
    struct xd_error error;

    /* after BAD, the object may exist with other bytes */
    lane->is_there = lane->is_done || lane->failure == XD_TASK_BAD;
    if (lane->is_done && check_sent(lane, &error) < 0)
        fail_upload(lane, &error);
    else if (lane->is_done)
        prove(lane);
    else if (lane->failure == XD_TASK_EXISTS)
        end_existing(lane);
    else
        clear(lane, &lane->error, lane->failure != XD_TASK_MAY_PASS,
              lane->retry_after);
}

/* Handles the result of examining an object of this name.  The object is our
 * own, because its name has 128 random bits that only this upload knows. */
static void end_look(lane_t *lane)
{
    struct xd_error error;

    if (lane->extent == XD_PLAN_NONE) {
        xd_fail(&error, XD_E_CANCELED, "%s: an object of no use was left",
                xd_store_name(lane->worker->store));
        clear(lane, &error, false, 0);
        return;
    }
    if (lane->is_done && lane->size == length_of(lane) && lane->is_hashed) {
        lane->samples_left = SAMPLES_OF_FOUND;
        prove(lane);
        return;
    }
    if (lane->may_come || !lane->is_hashed) {
        xd_worker_put_off(lane->worker, lane);
        return;
    }
    xd_fail(&error, XD_E_NET,
            "%s: an earlier attempt has left %" PRIu64 " of %" PRIu64 " bytes",
            xd_store_name(lane->worker->store), lane->size, length_of(lane));
    clear(lane, lane->is_done ? &error : &lane->error, false, 0);
}

/* Handles a sample with wrong bytes.  If the object is from another attempt,
 * the store has done nothing wrong. */
static void end_false_proof(lane_t *lane)
{
    struct xd_error error;

    xd_fail(&error, XD_E_CORRUPT,
            "%s: %s, at %" PRIu64 " of an object of %" PRIu64,
            xd_store_name(lane->worker->store),
            lane->is_found ? "an earlier attempt has left other bytes"
                           : "it returns other bytes than were sent to it",
            lane->sample.begin, length_of(lane));
    clear(lane, &error, !lane->is_found, 0);
}

static void end_proof(lane_t *lane)
{
    struct xd_error error;

    if (lane->is_done && lane->is_same) {
        if (--lane->samples_left > 0)
            prove(lane);
        else
            xd_worker_complete(lane->worker, lane);
    } else if (lane->is_done) {
        end_false_proof(lane);
    } else {
        xd_fail_because(&error, XD_E_NET, &lane->error,
                        "%s: what was sent to it cannot be read back: %s",
                        xd_store_name(lane->worker->store), lane->error.msg);
        clear(lane, &error, lane->failure != XD_TASK_MAY_PASS,
              lane->retry_after);
    }
}

void xd_lane_step(lane_t *lane)
{
    lane->has_ended = false;
    switch (lane->state) {
    case XD_LANE_FREE:
        break;
    case XD_LANE_PUTS:
        end_put(lane);
        break;
    case XD_LANE_LOOKS:
        end_look(lane);
        break;
    case XD_LANE_PROVES:
        end_proof(lane);
        break;
    /* ignore failures, because no manifest names the object */
    case XD_LANE_CLEARS:
        xd_worker_give_back(lane->worker, lane);
        break;
    }
}

void xd_lane_fini(lane_t *lane)
{
    xd_object_fini(&lane->object);
    xd_hasher_free(lane->sent);
    xd_free(lane->bytes);
}
