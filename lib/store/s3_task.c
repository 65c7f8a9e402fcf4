/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "store/s3_put.h"
#include "store/s3_xml.h"

#define MOST_READ ((uint64_t)64 << 10)

/* Limit on the number of listings.  One is usually enough: each attempt creates
 * one upload, and its id is seldom lost. */
#define MOST_LISTS 8

static enum xd_s3_step first_step(enum xd_task_kind kind)
{
    switch (kind) {
    case XD_TASK_PUT:
    case XD_TASK_LOOK:
    case XD_TASK_RENEW:
        return XD_S3_LOOKS;
    case XD_TASK_READ:
        return XD_S3_READS;
    case XD_TASK_DELETE:
        return XD_S3_REMOVES;
    case XD_TASK_ABORT:
        return XD_S3_ABORTS;
    }
    return XD_S3_LOOKS;
}

/* Sets the key of a new object. */
static int new_key(struct xd_s3_task *t, const char *name, struct xd_error *err)
{
    struct xd_text key = {.s = NULL};
    const char *fault;

    xd_text_addf(&key, "%s%s", t->store->place.prefix, name);
    t->key = key.s;
    if (key.failed)
        return xd_fail_nomem(err);
    fault = name[0] == '\0' ? "is empty" : xd_s3_key_fault(t->key);
    return fault ? xd_fail(err, XD_E_INVAL, "%s: the name of an object %s",
                           t->store->place.name, fault)
                 : 0;
}

static int take_size(const struct xd_s3_task *t, struct xd_error *err)
{
    uint64_t most = XD_S3_MOST_PARTS * XD_S3_MOST_PART;

    return t->order.size <= most
               ? 0
               : xd_fail(err, XD_E_INVAL,
                         "%s: no object has more than %" PRIu64
                         " bytes: use smaller extents",
                         t->store->place.name, most);
}

/* Sets the key of an existing object. */
static int old_key(struct xd_s3_task *t, const struct xd_object *object,
                   struct xd_error *err)
{
    if (!object || !object->manage)
        return xd_fail(err, XD_E_INVAL, "%s: no object is named",
                       t->store->place.name);
    if (object->upload && t->order.kind == XD_TASK_ABORT) {
        t->object.upload = xd_strdup(object->upload);
        if (!t->object.upload)
            return xd_fail_nomem(err);
    }
    return xd_s3_place_key(&t->store->place, object->manage, &t->key, err);
}

static int take_range(const struct xd_s3_task *t, struct xd_error *err)
{
    struct xd_range r = t->order.range;

    if (t->order.kind != XD_TASK_READ ||
        (!xd_range_is_empty(r) && xd_range_length(r) <= MOST_READ))
        return 0;
    return xd_fail(err, XD_E_INVAL, "%s: 1 to 65536 bytes are read at a time",
                   t->store->place.name);
}

/* Searches for uploads whose id is unknown.  A small object is never uploaded
 * in parts, so it has none. */
static void look_for_uploads(struct xd_s3_task *t, uint64_t size)
{
    if (size > 0 && size <= t->store->part_bytes)
        xd_s3_done(t);
    else
        t->step = XD_S3_LISTS;
}

static int prepare(struct xd_s3_task *t, const struct xd_task_order *order,
                   struct xd_error *err)
{
    int rc = order->kind == XD_TASK_PUT ? new_key(t, order->name, err)
                                        : old_key(t, order->object, err);

    if (rc == 0)
        rc =
            order->kind == XD_TASK_PUT ? take_size(t, err) : take_range(t, err);
    if (rc < 0)
        return rc;
    t->path = xd_s3_place_path(&t->store->place, t->key);
    t->name = xd_s3_place_name(&t->store->place, t->key);
    if (!t->path || !t->name)
        return xd_fail_nomem(err);
    if (order->kind == XD_TASK_ABORT && !t->object.upload)
        look_for_uploads(t, order->object->size);
    return 0;
}

static struct xd_s3_task *s3_task(struct xd_task *task)
{
    return (struct xd_s3_task *)(void *)task;
}

int xd_s3_new_task(struct xd_task **out, const struct xd_store *s,
                   const struct xd_task_order *order, struct xd_error *err)
{
    struct xd_s3_task *t = xd_alloc(1, sizeof *t);
    int rc;

    if (!t)
        return xd_fail_nomem(err);
    t->task.ops = s->ops;
    t->store = (const struct xd_s3 *)(const void *)s;
    t->order = *order;
    t->step = first_step(order->kind);
    rc = prepare(t, order, err);
    t->order.name = NULL;
    t->order.object = NULL;
    if (rc < 0)
        xd_s3_free_task(&t->task);
    else
        *out = &t->task;
    return rc;
}

void xd_s3_free_task(struct xd_task *task)
{
    struct xd_s3_task *t = s3_task(task);

    for (size_t i = 0; i < XD_S3_MOST_CALLS; i++) {
        xd_free(t->slots[i].url);
        xd_text_fini(&t->slots[i].fields);
        xd_text_fini(&t->slots[i].text);
    }
    for (size_t i = 0; i < t->n_parts; i++)
        xd_free(t->parts ? t->parts[i].etag : NULL);
    xd_free(t->parts);
    xd_object_fini(&t->object);
    xd_free(t->bytes);
    xd_free(t->key);
    xd_free(t->path);
    xd_free(t->name);
    xd_free(t);
}

/* Makes the call ListMultipartUploads, which is a request to the bucket. */
static bool next_list(struct xd_s3_task *t, struct xd_call *out)
{
    struct xd_s3_request r = {.method = "GET",
                              .most_answer = XD_S3_MOST_ANSWER};
    struct xd_text path = {.s = NULL};
    size_t len = strlen(t->store->place.path);
    bool is_made;

    xd_text_add(&path, t->store->place.path, len > 1 ? len - 1 : len);
    if (path.failed) {
        xd_s3_fail_nomem(t);
        return false;
    }
    r.path = path.s;
    xd_s3_add_query(&r, "prefix", t->key);
    xd_s3_add_query(&r, "uploads", "");
    is_made = xd_s3_make_call(t, xd_s3_free_slot(t), &r, out);
    xd_text_fini(&path);
    t->n_listed++;
    return is_made;
}

static bool next_of_old(struct xd_s3_task *t, struct xd_call *out)
{
    struct xd_s3_request r = {.most_answer = XD_S3_MOST_ANSWER};
    struct xd_range range = t->order.range;
    char text[60] = "bytes=0-0";

    if (t->step == XD_S3_READS) {
        snprintf(text, sizeof text, "bytes=%" PRIu64 "-%" PRIu64, range.begin,
                 range.end - 1);
        if (r.most_answer < xd_range_length(range))
            r.most_answer = (size_t)xd_range_length(range);
    }
    if (t->step == XD_S3_READS || t->step == XD_S3_ASKS_WHY) {
        r.method = "GET";
        xd_s3_add_header(&r, "range", text);
    } else if (t->step == XD_S3_REMOVES || t->step == XD_S3_ABORTS) {
        r.method = "DELETE";
        if (t->step == XD_S3_ABORTS)
            xd_s3_add_query(&r, "uploadId", t->object.upload);
    } else {
        r.method = "HEAD";
    }
    return xd_s3_make_call(t, xd_s3_free_slot(t), &r, out);
}

static bool is_of_put(enum xd_s3_step step)
{
    return step >= XD_S3_SENDS && step != XD_S3_VERIFIES;
}

/* Returns whether to wait after a failure.  A very long wait means that the
 * clock was set back, so it is ignored. */
static bool pauses(struct xd_s3_task *t)
{
    if (t->pause_s > 0) {
        t->pause_until = t->now + t->pause_s;
        t->pause_s = 0;
    }
    return t->now < t->pause_until && t->pause_until - t->now <= 60;
}

bool xd_s3_next(struct xd_task *task, int64_t now, struct xd_call *out)
{
    struct xd_s3_task *t = s3_task(task);

    t->now = now;
    if (t->state != XD_TASK_RUNS || pauses(t) || xd_looks_pause(&t->looks, now))
        return false;
    if (t->step != XD_S3_SENDS_PARTS && t->n_busy > 0)
        return false;
    if (t->step == XD_S3_LISTS)
        return next_list(t, out);
    return is_of_put(t->step) ? xd_s3_put_next(t, out) : next_of_old(t, out);
}

/* Handles a HEAD that found the object. */
static void found(struct xd_s3_task *t, enum xd_s3_step step, uint64_t size,
                  const char *etag)
{
    if (step == XD_S3_VERIFIES) {
        xd_s3_put_found(t, size, etag);
        return;
    }
    if (t->order.kind == XD_TASK_PUT) {
        xd_s3_put_exists(t);
        return;
    }
    t->object.size = size;
    t->object.validator = etag ? xd_strdup(etag) : NULL;
    if (etag && !t->object.validator)
        xd_s3_fail_nomem(t);
    else
        xd_s3_done(t);
}

static void missing(struct xd_s3_task *t, enum xd_s3_step step)
{
    if (step == XD_S3_VERIFIES)
        xd_s3_put_missing(t);
    else if (t->order.kind == XD_TASK_PUT)
        xd_s3_put_begin(t);
    else
        xd_s3_fail_with(t, XD_TASK_ABSENT, "there is no such object");
}

static void unknown(struct xd_s3_task *t, enum xd_s3_step step,
                    const struct xd_s3_failure *failure)
{
    if (step == XD_S3_VERIFIES)
        xd_s3_put_unverified(t, failure);
    else
        xd_s3_fail(t, failure);
}

/* Returns whether a GET must find out why a HEAD failed.  Some servers also
 * answer 404 if the access key is unknown or there is no bucket.  For a PUT,
 * the next answer will show that. */
static bool needs_reason(const struct xd_s3_task *t, int64_t status)
{
    return status >= 300 && status < 500 &&
           (status != 404 || t->order.kind != XD_TASK_PUT);
}

static void looked(struct xd_s3_task *t, struct xd_s3_slot *slot,
                   const struct xd_answer *answer)
{
    const struct xd_reply *reply = answer->reply;
    struct xd_s3_failure failure;
    struct xd_s3_fault fault;

    if (answer->outcome->verdict != XD_VERDICT_OK) {
        failure = xd_s3_broken(t, answer->outcome);
        unknown(t, slot->step, &failure);
    } else if (reply->code == 200) {
        found(t, slot->step, reply->length, reply->etag);
    } else if (needs_reason(t, reply->code)) {
        t->why_of = slot->step;
        t->step = XD_S3_ASKS_WHY;
    } else if (reply->code == 404) {
        missing(t, slot->step);
    } else if (!xd_s3_refused(t, slot, answer, &failure, &fault)) {
        unknown(t, slot->step, &failure);
    }
}

/* Returns whether to upload although the check for an existing object was
 * refused.  Without permission to list a bucket, the answer for an absent
 * object is "forbidden", but uploading may be allowed. */
static bool may_put(const struct xd_s3_task *t, const struct xd_s3_fault *f)
{
    return t->why_of == XD_S3_LOOKS && t->order.kind == XD_TASK_PUT &&
           strcmp(f->code, "AccessDenied") == 0;
}

static void said_why(struct xd_s3_task *t, struct xd_s3_slot *slot,
                     const struct xd_answer *answer)
{
    const struct xd_reply *reply = answer->reply;
    struct xd_s3_failure failure;
    struct xd_s3_fault fault;

    t->step = t->why_of;
    if (answer->outcome->verdict != XD_VERDICT_OK) {
        failure = xd_s3_broken(t, answer->outcome);
        unknown(t, t->why_of, &failure);
    } else if (reply->code == 200 || reply->code == 206) {
        found(t, t->why_of, reply->length, reply->etag);
    } else if (reply->code == 416) {
        found(t, t->why_of, 0, reply->etag); /* the object is empty */
    } else if (xd_s3_refused(t, slot, answer, &failure, &fault)) {
        return;
    } else if (failure.kind == XD_TASK_ABSENT) {
        missing(t, t->why_of);
    } else if (may_put(t, &fault)) {
        xd_s3_put_begin(t);
    } else {
        unknown(t, t->why_of, &failure);
    }
}

/* Returns whether the body is, or begins with, the requested range. */
static bool is_wanted(const struct xd_s3_task *t,
                      const struct xd_answer *answer)
{
    const struct xd_reply *reply = answer->reply;
    struct xd_range wanted = t->order.range;

    if (answer->body_len < xd_range_length(wanted))
        return false;
    if (reply->code == 206)
        return reply->is_range && reply->range.begin == wanted.begin &&
               reply->range.end == wanted.end;
    return reply->code == 200 && wanted.begin == 0;
}

static void was_read(struct xd_s3_task *t, struct xd_s3_slot *slot,
                     const struct xd_answer *answer)
{
    struct xd_s3_failure failure;
    struct xd_s3_fault fault;

    if (answer->outcome->verdict != XD_VERDICT_OK) {
        failure = xd_s3_broken(t, answer->outcome);
        xd_s3_fail(t, &failure);
    } else if (is_wanted(t, answer)) {
        t->n_bytes = (size_t)xd_range_length(t->order.range);
        t->bytes = xd_alloc(t->n_bytes, 1);
        if (!t->bytes) {
            xd_s3_fail_nomem(t);
            return;
        }
        memcpy(t->bytes, answer->body, t->n_bytes);
        xd_s3_done(t);
    } else if (answer->reply->code < 300 || answer->reply->code == 416) {
        xd_s3_fail_with(t, XD_TASK_BAD,
                        "bytes %" PRIu64 "-%" PRIu64
                        " were asked for, and others came",
                        t->order.range.begin, t->order.range.end - 1);
    } else if (!xd_s3_refused(t, slot, answer, &failure, &fault)) {
        xd_s3_fail(t, &failure);
    }
}

/* Handles a list of uploads with exactly this key.  They are our own, because
 * the key has 128 random bits of ours.  If the store refuses to list uploads,
 * nothing more can be done. */
static void listed(struct xd_s3_task *t, struct xd_s3_slot *slot,
                   const struct xd_answer *answer)
{
    const struct xd_span body = xd_span(answer->body, answer->body_len);
    char id[XD_S3_UPLOAD_MAX + 1];
    struct xd_s3_failure failure;
    struct xd_s3_fault fault;

    if (answer->outcome->verdict != XD_VERDICT_OK) {
        failure = xd_s3_broken(t, answer->outcome);
        xd_s3_fail(t, &failure);
    } else if (answer->reply->code != 200) {
        if (xd_s3_refused(t, slot, answer, &failure, &fault))
            return;
        if (failure.kind == XD_TASK_MAY_PASS)
            xd_s3_fail(t, &failure);
        else
            xd_s3_done(t);
    } else if (xd_s3_xml_upload(body, t->key, id, sizeof id)) {
        t->step = XD_S3_ABORTS;
        xd_s3_name_upload(t, id);
    } else {
        xd_s3_done(t);
    }
}

/* Handles a successful removal.  If there may be more uploads to abort, lists
 * them again. */
static void was_removed(struct xd_s3_task *t)
{
    if (t->step != XD_S3_ABORTS || t->n_listed == 0 ||
        t->n_listed == MOST_LISTS) {
        xd_s3_done(t);
        return;
    }
    xd_s3_forget_upload(t);
    t->step = XD_S3_LISTS;
}

/* Handles the answer to DeleteObject and AbortMultipartUpload: 204 for success,
 * 204 or 404 if there is no such object.  A missing bucket is a failure,
 * because its name may be wrong. */
static void removed(struct xd_s3_task *t, struct xd_s3_slot *slot,
                    const struct xd_answer *answer)
{
    struct xd_s3_failure failure;
    struct xd_s3_fault fault;

    if (answer->outcome->verdict != XD_VERDICT_OK) {
        failure = xd_s3_broken(t, answer->outcome);
        xd_s3_fail(t, &failure);
    } else if (answer->reply->code == 204 || answer->reply->code == 200) {
        t->leaves_marker = answer->reply->leaves_marker;
        was_removed(t);
    } else if (!xd_s3_refused(t, slot, answer, &failure, &fault)) {
        if (failure.kind == XD_TASK_ABSENT ||
            strcmp(fault.code, "NoSuchUpload") == 0)
            was_removed(t);
        else
            xd_s3_fail(t, &failure);
    }
}

static void react(struct xd_s3_task *t, struct xd_s3_slot *slot,
                  const struct xd_answer *answer)
{
    switch (slot->step) {
    case XD_S3_LOOKS:
    case XD_S3_VERIFIES:
        looked(t, slot, answer);
        break;
    case XD_S3_ASKS_WHY:
        said_why(t, slot, answer);
        break;
    case XD_S3_READS:
        was_read(t, slot, answer);
        break;
    case XD_S3_LISTS:
        listed(t, slot, answer);
        break;
    case XD_S3_REMOVES:
    case XD_S3_ABORTS:
        removed(t, slot, answer);
        break;
    case XD_S3_SENDS:
    case XD_S3_CREATES:
    case XD_S3_SENDS_PARTS:
    case XD_S3_COMPLETES:
    case XD_S3_CLEARS_UP:
        xd_s3_put_answered(t, slot, answer);
        break;
    }
}

void xd_s3_answered(struct xd_task *task, unsigned id,
                    const struct xd_answer *answer)
{
    struct xd_s3_task *t = s3_task(task);

    for (size_t i = 0; i < XD_S3_MOST_CALLS; i++) {
        struct xd_s3_slot *slot = &t->slots[i];

        if (!slot->is_busy || slot->id != id)
            continue;
        xd_s3_end_call(t, slot);
        /* Ignore the answer for a part that was in flight when the task
         * failed. */
        if (t->state == XD_TASK_RUNS && slot->step == t->step)
            react(t, slot, answer);
        return;
    }
}

void xd_s3_result(const struct xd_task *task, struct xd_task_result *out)
{
    const struct xd_s3_task *t = (const struct xd_s3_task *)(const void *)task;

    *out = (struct xd_task_result){.state = t->state,
                                   .object = &t->object,
                                   .bytes = t->bytes,
                                   .n_bytes = t->n_bytes,
                                   .clock_off_s = t->clock_off_s};
    if (t->state == XD_TASK_FAILED) {
        out->failure = t->failure.kind;
        out->error = t->failure.error;
        out->retry_after = t->failure.retry_after;
    }
    if (t->state == XD_TASK_DONE && t->leaves_marker)
        xd_fail(
            &out->error, XD_E_STATE,
            "%s: its bucket keeps versions: it is hidden now, and its bytes "
            "stay in the store",
            t->name);
    if (t->state == XD_TASK_RUNS && t->pause_until > t->now)
        out->ready_at = t->pause_until;
    else if (t->state == XD_TASK_RUNS && t->looks.pause_until > t->now)
        out->ready_at = t->looks.pause_until;
}
