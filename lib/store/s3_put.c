/* SPDX-License-Identifier: MIT */
#include "store/s3_put.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "store/s3_xml.h"

/* Limit of the answer to CompleteMultipartUpload.  It is long, because the
 * server sends blanks while it works, possibly for minutes. */
#define MOST_COMPLETE_ANSWER ((size_t)64 << 10)

#define MIB ((uint64_t)1 << 20)

#define NAMESPACE "http://s3.amazonaws.com/doc/2006-03-01/"

/* Returns a part size with which at most 10,000 parts are needed. */
static uint64_t part_bytes_for(uint64_t size, uint64_t wanted)
{
    uint64_t least = (size - 1) / XD_S3_MOST_PARTS + 1;

    return least <= wanted ? wanted : (least + MIB - 1) / MIB * MIB;
}

static bool begin_parts(struct xd_s3_task *t)
{
    t->part_bytes = part_bytes_for(t->order.size, t->store->part_bytes);
    t->n_parts = (size_t)((t->order.size - 1) / t->part_bytes + 1);
    t->parts = xd_alloc(t->n_parts, sizeof *t->parts);
    return t->parts != NULL;
}

/* Sets the names of the object.  Returns false if the task has failed. */
static bool name_object(struct xd_s3_task *t)
{
    struct xd_text read = {.s = NULL};

    xd_text_addf(&read, "%s%s", t->store->place.origin, t->path);
    t->object.read = read.failed ? (xd_text_fini(&read), NULL) : read.s;
    t->object.manage = xd_strdup(t->name);
    t->object.size = t->order.size;
    if (t->object.read && t->object.manage)
        return true;
    xd_s3_fail_nomem(t);
    return false;
}

/* Begins an upload.  From now on an object may exist that has to be deleted
 * after a failure, so the task sets the object's names. */
void xd_s3_put_begin(struct xd_s3_task *t)
{
    t->step =
        t->order.size <= t->store->part_bytes ? XD_S3_SENDS : XD_S3_CREATES;
    if (name_object(t) && t->step == XD_S3_CREATES && !begin_parts(t))
        xd_s3_fail_nomem(t);
}

void xd_s3_put_exists(struct xd_s3_task *t)
{
    if (name_object(t))
        xd_s3_fail_with(t, XD_TASK_EXISTS,
                        "an object of this name is there already");
}

static struct xd_range range_of(const struct xd_s3_task *t, size_t part)
{
    uint64_t begin = part * t->part_bytes, end = begin + t->part_bytes;

    return (struct xd_range){begin, end < t->order.size ? end : t->order.size};
}

static bool is_pending(const struct xd_s3_part *p)
{
    return !p->etag && !p->is_in_flight;
}

/* Returns the first part that is neither uploaded nor in flight, or n_parts. */
static size_t pending_part(struct xd_s3_task *t)
{
    size_t i;

    while (t->first_part < t->n_parts && t->parts[t->first_part].etag)
        t->first_part++;
    for (i = t->first_part; i < t->n_parts && !is_pending(&t->parts[i]); i++)
        ;
    return i;
}

static bool next_part(struct xd_s3_task *t, struct xd_call *out)
{
    size_t i = pending_part(t);
    struct xd_s3_slot *slot = i < t->n_parts ? xd_s3_free_slot(t) : NULL;
    struct xd_s3_request r = {.method = "PUT",
                              .most_answer = XD_S3_MOST_ANSWER};
    char number[24];

    if (!slot)
        return false;
    snprintf(number, sizeof number, "%zu", i + 1);
    xd_s3_add_query(&r, "partNumber", number);
    xd_s3_add_query(&r, "uploadId", t->object.upload);
    r.body = range_of(t, i);
    if (!xd_s3_make_call(t, slot, &r, out))
        return false;
    slot->part = &t->parts[i];
    t->parts[i].is_in_flight = true;
    return true;
}

static void add_escaped(struct xd_text *out, const char *s)
{
    for (; *s != '\0'; s++) {
        if (strchr("&<>\"'", *s))
            xd_text_addf(out, "&#%d;", *s);
        else
            xd_text_add(out, s, 1);
    }
}

static void add_parts(const struct xd_s3_task *t, struct xd_text *out)
{
    xd_text_addf(out, "<CompleteMultipartUpload xmlns=\"" NAMESPACE "\">");
    for (size_t i = 0; i < t->n_parts; i++) {
        xd_text_addf(out, "<Part><PartNumber>%zu</PartNumber><ETag>", i + 1);
        add_escaped(out, t->parts[i].etag);
        xd_text_addf(out, "</ETag></Part>");
    }
    xd_text_addf(out, "</CompleteMultipartUpload>");
}

/* Adds If-None-Match ("Conditional requests").  A server that supports it does
 * not overwrite an object, even if the object was created after the HEAD. */
static void add_condition(const struct xd_s3_task *t, struct xd_s3_request *r)
{
    if (!t->is_unconditional)
        xd_s3_add_header(r, "if-none-match", "*");
}

bool xd_s3_put_next(struct xd_s3_task *t, struct xd_call *out)
{
    struct xd_s3_request r = {.most_answer = XD_S3_MOST_ANSWER};
    struct xd_s3_slot *slot;

    if (t->step == XD_S3_SENDS_PARTS)
        return next_part(t, out);
    slot = xd_s3_free_slot(t);
    if (t->step == XD_S3_SENDS) {
        r.method = "PUT";
        r.body = (struct xd_range){0, t->order.size};
        xd_s3_add_header(&r, "content-type", "application/octet-stream");
        add_condition(t, &r);
    } else if (t->step == XD_S3_CREATES) {
        r.method = "POST";
        xd_s3_add_header(&r, "content-type", "application/octet-stream");
        xd_s3_add_query(&r, "uploads", "");
    } else if (t->step == XD_S3_COMPLETES) {
        r.method = "POST";
        r.most_answer = MOST_COMPLETE_ANSWER;
        add_parts(t, &slot->text);
        xd_s3_add_header(&r, "content-type", "application/xml");
        add_condition(t, &r);
        xd_s3_add_query(&r, "uploadId", t->object.upload);
    } else {
        r.method = "DELETE";
        xd_s3_add_query(&r, "uploadId", t->object.upload);
    }
    return xd_s3_make_call(t, slot, &r, out);
}

/* Starts to check that the object exists, after an answer that accepted it. */
static void verify(struct xd_s3_task *t, const struct xd_answer *answer)
{
    xd_looks_begin(&t->looks, answer, t->order.patience);
    t->step = XD_S3_VERIFIES;
    t->tries = 0;
    xd_s3_succeeded(t);
}

/* Starts to check whether the object exists, because no answer confirmed the
 * upload. */
static void verify_in_doubt(struct xd_s3_task *t,
                            const struct xd_answer *answer,
                            const struct xd_s3_failure *failure)
{
    t->looks = (struct xd_looks){.has_begun = false};
    if (xd_looks_may_help(answer))
        xd_looks_begin(&t->looks, answer, t->order.patience);
    t->is_in_doubt = true;
    t->doubt = *failure;
    t->step = XD_S3_VERIFIES;
}

/* Handles a refusal of a conditional request.  Returns true if it should be
 * repeated without the condition.  That is safe: a HEAD did not find the
 * object, and its name is random. */
static bool drop_condition(struct xd_s3_task *t, const struct xd_s3_fault *f)
{
    if (t->is_unconditional ||
        (strcmp(f->code, "NotImplemented") != 0 && f->status != 501))
        return false;
    t->is_unconditional = true;
    return true;
}

static void sent(struct xd_s3_task *t, struct xd_s3_slot *slot,
                 const struct xd_answer *answer)
{
    struct xd_s3_failure failure;
    struct xd_s3_fault fault;

    if (answer->outcome->verdict != XD_VERDICT_OK) {
        failure = xd_s3_broken(t, answer->outcome);
    } else if (answer->reply->code == 200) {
        verify(t, answer);
        return;
    } else if (xd_s3_refused(t, slot, answer, &failure, &fault) ||
               drop_condition(t, &fault)) {
        return;
    }
    if (failure.kind == XD_TASK_MAY_PASS)
        verify_in_doubt(t, answer, &failure);
    else
        xd_s3_fail(t, &failure);
}

static void created(struct xd_s3_task *t, struct xd_s3_slot *slot,
                    const struct xd_answer *answer)
{
    char id[XD_S3_UPLOAD_MAX + 1];
    struct xd_s3_failure failure;
    struct xd_s3_fault fault;

    if (answer->outcome->verdict != XD_VERDICT_OK) {
        failure = xd_s3_broken(t, answer->outcome);
        xd_s3_fail(t, &failure);
    } else if (answer->reply->code != 200) {
        if (!xd_s3_refused(t, slot, answer, &failure, &fault))
            xd_s3_fail(t, &failure);
    } else if (!xd_s3_xml_child(xd_span(answer->body, answer->body_len),
                                "UploadId", id, sizeof id) ||
               id[0] == '\0') {
        xd_s3_fail_with(t, XD_TASK_BAD,
                        "its answer names no upload: is s3-endpoint one of "
                        "S3?");
    } else {
        t->step = XD_S3_SENDS_PARTS;
        xd_s3_name_upload(t, id);
    }
}

static bool is_etag(const char *s)
{
    size_t len = s ? strlen(s) : 0;

    for (size_t i = 0; i < len; i++)
        if (s[i] <= ' ' || s[i] >= 0x7f)
            return false;
    return len > 0 && len <= XD_S3_ETAG_MAX;
}

static void part_done(struct xd_s3_task *t, struct xd_s3_part *part,
                      const char *etag)
{
    if (!is_etag(etag)) {
        xd_s3_fail_with(t, XD_TASK_BAD, "its answer to a part has no ETag");
        return;
    }
    part->etag = xd_strdup(etag);
    if (!part->etag) {
        xd_s3_fail_nomem(t);
        return;
    }
    xd_s3_succeeded(t);
    if (++t->n_parts_done == t->n_parts) {
        t->step = XD_S3_COMPLETES;
        t->tries = 0;
    }
}

static void part_answered(struct xd_s3_task *t, struct xd_s3_slot *slot,
                          const struct xd_answer *answer)
{
    struct xd_s3_part *part = slot->part;
    struct xd_s3_failure failure;
    struct xd_s3_fault fault = {.status = 0};

    if (answer->outcome->verdict != XD_VERDICT_OK) {
        failure = xd_s3_broken(t, answer->outcome);
    } else if (answer->reply->code == 200) {
        part_done(t, part, answer->reply->etag);
        return;
    } else if (xd_s3_refused(t, slot, answer, &failure, &fault)) {
        return;
    }
    t->upload_is_gone = strcmp(fault.code, "NoSuchUpload") == 0;
    if (t->upload_is_gone || !xd_s3_try_again(t, &part->tries, &failure))
        xd_s3_fail(t, &failure);
}

/* Handles the answer to CompleteMultipartUpload.  A status 200 may be followed
 * by an <Error>, because the server sent the status before it was done. */
static void completed(struct xd_s3_task *t, struct xd_s3_slot *slot,
                      const struct xd_answer *answer)
{
    struct xd_span root = xd_span(NULL, 0);
    struct xd_s3_failure failure;
    struct xd_s3_fault fault = {.status = 0};

    if (answer->outcome->verdict != XD_VERDICT_OK) {
        failure = xd_s3_broken(t, answer->outcome);
    } else {
        root = xd_s3_xml_root(xd_span(answer->body, answer->body_len));
        if (answer->reply->code == 200 &&
            xd_span_is(root, "CompleteMultipartUploadResult")) {
            verify(t, answer);
            return;
        }
        if (xd_s3_refused(t, slot, answer, &failure, &fault) ||
            drop_condition(t, &fault))
            return;
    }
    t->upload_is_gone = strcmp(fault.code, "NoSuchUpload") == 0;
    /* A 200 without a clear result counts as no answer. */
    if (failure.kind == XD_TASK_MAY_PASS ||
        (fault.status == 200 && fault.code[0] == '\0'))
        verify_in_doubt(t, answer, &failure);
    else
        xd_s3_fail(t, &failure);
}

void xd_s3_put_answered(struct xd_s3_task *t, struct xd_s3_slot *slot,
                        const struct xd_answer *answer)
{
    if (t->step == XD_S3_SENDS) {
        sent(t, slot, answer);
    } else if (t->step == XD_S3_CREATES) {
        created(t, slot, answer);
    } else if (t->step == XD_S3_SENDS_PARTS) {
        part_answered(t, slot, answer);
    } else if (t->step == XD_S3_COMPLETES) {
        completed(t, slot, answer);
    } else {
        xd_s3_forget_upload(t);
        t->state = XD_TASK_FAILED;
    }
}

void xd_s3_put_found(struct xd_s3_task *t, uint64_t size, const char *etag)
{
    if (size == XD_SIZE_UNKNOWN) {
        xd_s3_fail_with(t, XD_TASK_BAD, "it does not say how long it is");
        return;
    }
    if (!t->is_in_doubt)
        xd_s3_forget_upload(t);
    if (size != t->order.size) {
        xd_s3_fail_with(t, XD_TASK_BAD,
                        "it says that all is there, and has %" PRIu64
                        " of %" PRIu64 " bytes",
                        size, t->order.size);
        return;
    }
    xd_s3_forget_upload(t);
    t->object.validator = etag ? xd_strdup(etag) : NULL;
    if (etag && !t->object.validator)
        xd_s3_fail_nomem(t);
    else
        xd_s3_done(t);
}

void xd_s3_put_missing(struct xd_s3_task *t)
{
    /* no retry_after, because the task has already waited for the host before
     * it looked */
    const struct xd_s3_failure again = {.kind = t->doubt.kind};

    if (xd_looks_again(&t->looks, t->now))
        return;
    if (!t->is_in_doubt) {
        xd_s3_fail_with(t, XD_TASK_BAD,
                        "it has taken the object, and does not have it");
        return;
    }
    t->is_in_doubt = false;
    if (t->upload_is_gone) {
        xd_s3_forget_upload(t);
    } else if (t->object.upload && xd_s3_try_again(t, &t->tries, &again)) {
        t->step = XD_S3_COMPLETES;
        return;
    }
    xd_s3_fail(t, &t->doubt);
}

void xd_s3_put_unverified(struct xd_s3_task *t,
                          const struct xd_s3_failure *failure)
{
    if (!xd_s3_try_again(t, &t->tries, failure))
        xd_s3_fail(t, failure);
}
