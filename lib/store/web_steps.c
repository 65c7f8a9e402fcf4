/* SPDX-License-Identifier: MIT */
/* What each step asks, and which one follows from its answer: see web.c. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/check.h"
#include "store/web.h"

/* Of a server that sends a whole object in place of a range, so much is read to
 * come to that range. */
#define MOST_READ_PAST ((uint64_t)1 << 20)

/* nginx takes all of an object before it looks for the folder.  One of so many bytes
 * takes longer than to ask for that. */
#define LARGE ((uint64_t)1 << 20)

/* ---- calls ---- */

/* The folders of the object, one after the other, from the target's on. */
static bool next_folder(struct xd_web_task *t)
{
    const char *from = t->url_text + t->n_folder;
    const char *slash = t->n_folder == 0 ? NULL : strchr(from, '/');

    if (t->n_folder == 0)
        t->n_folder = strlen(t->store->text);
    else if (slash)
        t->n_folder += (size_t)(slash - from) + 1;
    else
        return false;
    xd_text_clear(&t->folder);
    xd_text_add(&t->folder, t->url_text, t->n_folder);
    if (t->folder.failed || !xd_url_parse(&t->folder_url, t->folder.s))
        xd_web_fail_nomem(t);
    return true;
}

static void prepare_send(struct xd_web_task *t, struct xd_call *out)
{
    if (!xd_web_name_object(t))
        xd_web_fail_nomem(t);
    out->fields = "Content-Type: application/octet-stream\nIf-None-Match: *\n";
    out->body = (struct xd_range){0, t->order.size};
}

static void prepare_read(struct xd_web_task *t, struct xd_call *out)
{
    const struct xd_range r = t->order.range;

    xd_text_clear(&t->fields);
    xd_text_addf(&t->fields, "Range: bytes=%" PRIu64 "-%" PRIu64 "\n", r.begin,
                 r.end - 1);
    if (t->fields.failed)
        xd_web_fail_nomem(t);
    out->fields = t->fields.s;
    out->most_answer =
        (size_t)(r.end <= MOST_READ_PAST ? r.end : xd_range_length(r));
}

bool xd_web_next(struct xd_task *task, int64_t now, struct xd_call *out)
{
    struct xd_web_task *t = (struct xd_web_task *)task;

    (void)now;
    if (t->state != XD_TASK_RUNS || t->is_asked)
        return false;
    *out = (struct xd_call){.id = ++t->id,
                            .url = &t->url,
                            .method = xd_web_method(t->step),
                            .logs_in = true};
    if (t->step == XD_WEB_MAKES_FOLDER)
        out->url = &t->folder_url;
    else if (t->step == XD_WEB_SENDS)
        prepare_send(t, out);
    else if (t->step == XD_WEB_READS)
        prepare_read(t, out);
    t->is_asked = t->state == XD_TASK_RUNS;
    return t->is_asked;
}

/* ---- answers ---- */

/* Size and validator, as HEAD has them. */
static bool take_head(struct xd_web_task *t, const struct xd_reply *reply)
{
    struct xd_object *o = &t->object;

    if (reply->length == XD_SIZE_UNKNOWN) {
        xd_web_fail_bad(t, "does not say how many bytes the object has");
        return false;
    }
    xd_free(o->validator);
    o->validator = reply->etag ? xd_strdup(reply->etag) : NULL;
    if (reply->etag && !o->validator) {
        xd_web_fail_nomem(t);
        return false;
    }
    o->size = reply->length;
    return true;
}

static void make_folders(struct xd_web_task *t, bool is_early)
{
    t->is_early = is_early;
    t->n_folder = 0;
    t->step = XD_WEB_MAKES_FOLDER;
    (void)next_folder(t);
}

static void looked_first(struct xd_web_task *t, const struct xd_reply *reply)
{
    if (xd_web_is_absent(reply->code) && t->order.size >= LARGE)
        make_folders(t, true);
    else if (xd_web_is_absent(reply->code))
        t->step = XD_WEB_SENDS;
    else if (xd_web_is_ok(reply->code))
        xd_web_fail_exists(t);
    else
        xd_web_fail_by_reply(t, reply);
}

/* nginx says 500 of a folder that is missing. */
static bool may_lack_folder(int64_t code)
{
    return code == 404 || code == 409 || code == 500;
}

static void sent(struct xd_web_task *t, const struct xd_reply *reply)
{
    if (xd_web_is_ok(reply->code)) {
        t->step = XD_WEB_VERIFIES;
    } else if (reply->code == 412) {
        xd_web_fail_exists(t);
    } else if (may_lack_folder(reply->code) && !t->has_climbed) {
        make_folders(t, false);
    } else if (reply->code == 404) {
        xd_web_fail_bad(t, "answered PUT with 404: its folder is not there");
    } else {
        xd_web_fail_by_reply(t, reply);
    }
}

/* 405: it is there, or the server has no folders. */
static void made_folder(struct xd_web_task *t, const struct xd_reply *reply)
{
    if (xd_web_is_ok(reply->code) || reply->code == 405 || reply->code == 501) {
        if (next_folder(t))
            return;
        t->has_climbed = true;
        t->step = XD_WEB_SENDS;
    } else if (t->is_early) {
        t->step = XD_WEB_SENDS;
    } else if (xd_web_is_absent(reply->code) || reply->code == 409) {
        xd_web_fail_bad(t, "cannot be made: the folder above it is not there");
    } else {
        xd_web_fail_by_reply(t, reply);
    }
}

static void verified(struct xd_web_task *t, const struct xd_reply *reply)
{
    char words[120];

    if (xd_web_is_absent(reply->code)) {
        xd_web_fail_bad(t, "took the object, and does not have it");
        return;
    }
    if (!xd_web_is_ok(reply->code)) {
        xd_web_fail_by_reply(t, reply);
        return;
    }
    if (!take_head(t, reply))
        return;
    if (reply->length == t->order.size) {
        t->state = XD_TASK_DONE;
        return;
    }
    snprintf(words, sizeof words,
             "took %" PRIu64 " bytes, and says that it has %" PRIu64,
             t->order.size, reply->length);
    t->object.size = t->order.size;
    xd_web_fail_bad(t, words);
}

static void looked(struct xd_web_task *t, const struct xd_reply *reply)
{
    if (!xd_web_is_ok(reply->code))
        xd_web_fail_by_reply(t, reply);
    else if (take_head(t, reply))
        t->state = XD_TASK_DONE;
}

/* Where in the answer's body the range begins; false: it is not there. */
static bool find_range(const struct xd_web_task *t,
                       const struct xd_answer *answer, size_t *out)
{
    const struct xd_range r = t->order.range;
    const struct xd_reply *reply = answer->reply;
    const uint64_t n = xd_range_length(r);

    *out = 0;
    if (reply->code == 206)
        return reply->is_range && reply->range.begin == r.begin &&
               reply->range.end == r.end && answer->body_len >= n;
    *out = (size_t)r.begin;
    return reply->code == 200 && r.end <= MOST_READ_PAST &&
           answer->body_len >= r.end;
}

static void was_read(struct xd_web_task *t, const struct xd_answer *answer)
{
    size_t at;

    if (!xd_web_is_ok(answer->reply->code)) {
        xd_web_fail_by_reply(t, answer->reply);
        return;
    }
    if (!find_range(t, answer, &at)) {
        xd_web_fail_bad(t,
                        "was asked for some bytes, and sent others or too few");
        return;
    }
    xd_text_add(&t->bytes, answer->body + at,
                (size_t)xd_range_length(t->order.range));
    if (t->bytes.failed)
        xd_web_fail_nomem(t);
    else
        t->state = XD_TASK_DONE;
}

static void removed(struct xd_web_task *t, const struct xd_reply *reply)
{
    if (xd_web_is_absent(reply->code) ||
        (xd_web_is_ok(reply->code) && reply->code != 207))
        t->state = XD_TASK_DONE;
    else
        xd_web_fail_by_reply(t, reply);
}

void xd_web_answered(struct xd_task *task, unsigned id,
                     const struct xd_answer *answer)
{
    struct xd_web_task *t = (struct xd_web_task *)task;

    XD_ASSERT(t->is_asked && id == t->id);
    t->is_asked = false;
    if (answer->outcome->verdict != XD_VERDICT_OK) {
        xd_web_fail_by_outcome(t, answer->outcome);
        return;
    }
    switch (t->step) {
    case XD_WEB_LOOKS_FIRST:
        looked_first(t, answer->reply);
        break;
    case XD_WEB_SENDS:
        sent(t, answer->reply);
        break;
    case XD_WEB_MAKES_FOLDER:
        made_folder(t, answer->reply);
        break;
    case XD_WEB_VERIFIES:
        verified(t, answer->reply);
        break;
    case XD_WEB_LOOKS:
        looked(t, answer->reply);
        break;
    case XD_WEB_READS:
        was_read(t, answer);
        break;
    case XD_WEB_REMOVES:
        removed(t, answer->reply);
        break;
    }
}
