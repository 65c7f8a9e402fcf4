/* SPDX-License-Identifier: MIT */
/* The request of each step, and the step after its answer: see web.c. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/check.h"
#include "store/web.h"

/* Largest number of bytes before the requested range that are read and skipped
 * if a server sends the whole object instead of the range. */
#define MOST_READ_PAST ((uint64_t)1 << 20)

/* nginx reads a whole object before it looks for the folder.  Above this size
 * it is faster to create the folder first. */
#define LARGE ((uint64_t)1 << 20)

/* ---- calls ---- */

/* Chooses the next folder of the object, from the target down. */
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
    t->is_conditional = !atomic_load(t->store->is_unconditional);
    out->fields = t->is_conditional
                      ? "Content-Type: application/octet-stream\n"
                        "If-None-Match: *\n"
                      : "Content-Type: application/octet-stream\n";
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

static void prepare_first_byte(struct xd_call *out)
{
    out->fields = "Range: bytes=0-0\n";
    out->most_answer = 1;
}

static bool changes_nothing(enum xd_web_step step)
{
    return step == XD_WEB_LOOKS_FIRST || step == XD_WEB_LOOKS_WHY ||
           step == XD_WEB_VERIFIES || step == XD_WEB_LOOKS ||
           step == XD_WEB_READS;
}

static void prepare(struct xd_web_task *t, struct xd_call *out)
{
    *out = (struct xd_call){.id = ++t->id,
                            .url = &t->url,
                            .method = xd_web_method(t),
                            .logs_in = true};
    if (!changes_nothing(t->step))
        out->patience = t->order.patience;
    if (t->step == XD_WEB_MAKES_FOLDER)
        out->url = &t->folder_url;
    else if (t->step == XD_WEB_SENDS)
        prepare_send(t, out);
    else if (t->step == XD_WEB_READS)
        prepare_read(t, out);
    else if (t->uses_get)
        prepare_first_byte(out);
}

bool xd_web_next(struct xd_task *task, int64_t now, struct xd_call *out)
{
    struct xd_web_task *t = (struct xd_web_task *)task;

    t->now = now;
    if (t->state != XD_TASK_RUNS || t->is_asked ||
        xd_looks_pause(&t->looks, now))
        return false;
    prepare(t, out);
    t->is_asked = t->state == XD_TASK_RUNS;
    return t->is_asked;
}

/* ---- looking at an object, by HEAD or GET ---- */

/* Returns whether the status may mean that HEAD is not supported or not
 * allowed. */
static bool may_lack_head(int64_t code)
{
    return code == 400 || code == 403 || code == 405 || code == 406 ||
           code == 501;
}

/* Returns whether the object exists.  416 means that it is empty. */
static bool is_there(const struct xd_web_task *t, const struct xd_reply *reply)
{
    return xd_web_is_ok(reply->code) || (t->uses_get && reply->code == 416);
}

static uint64_t length_of(const struct xd_web_task *t,
                          const struct xd_reply *reply)
{
    return t->uses_get && reply->code == 416 ? 0 : reply->length;
}

static uint64_t expected_size(const struct xd_web_task *t)
{
    return t->order.kind == XD_TASK_PUT ? t->order.size : t->object.size;
}

/* Returns whether GET may tell more than this answer to HEAD.  Some servers
 * always state a length of 0, and some answer 404 because they do not support
 * HEAD. */
static bool needs_get(const struct xd_web_task *t, const struct xd_reply *reply)
{
    if (t->uses_get)
        return false;
    if (xd_web_is_ok(reply->code))
        return reply->length == XD_SIZE_UNKNOWN ||
               (reply->length == 0 && expected_size(t) > 0);
    return may_lack_head(reply->code) ||
           (t->step == XD_WEB_VERIFIES && xd_web_is_absent(reply->code));
}

/* Takes the size and the validator from the answer. */
static bool take_look(struct xd_web_task *t, const struct xd_reply *reply)
{
    struct xd_object *o = &t->object;
    const uint64_t length = length_of(t, reply);

    if (length == XD_SIZE_UNKNOWN) {
        xd_web_fail_bad(t, "does not say how many bytes the object has");
        return false;
    }
    xd_free(o->validator);
    o->validator = reply->etag ? xd_strdup(reply->etag) : NULL;
    if (reply->etag && !o->validator) {
        xd_web_fail_nomem(t);
        return false;
    }
    o->size = length;
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
    else if (is_there(t, reply))
        xd_web_fail_exists(t);
    else
        xd_web_fail_by_reply(t, reply);
}

/* Handles the check that follows a failed If-None-Match.  Either the object was
 * created since the first check, or the server does not support the
 * condition. */
static void looked_why(struct xd_web_task *t, const struct xd_reply *reply)
{
    if (xd_web_is_absent(reply->code)) {
        atomic_store(t->store->is_unconditional, true);
        t->step = XD_WEB_SENDS;
    } else if (is_there(t, reply)) {
        xd_web_fail_exists(t);
    } else {
        xd_web_fail_by_reply(t, reply);
    }
}

/* Returns whether the status may mean that a folder is missing.  nginx answers
 * 500 then. */
static bool may_lack_folder(int64_t code)
{
    return code == 404 || code == 409 || code == 500;
}

/* Returns whether the status may mean that the server does not support
 * If-None-Match, or that it compares "*" with a validator. */
static bool may_lack_condition(int64_t code)
{
    return code == 400 || code == 412 || code == 422 || code == 501;
}

static void verify(struct xd_web_task *t, const struct xd_answer *answer)
{
    t->step = XD_WEB_VERIFIES;
    xd_looks_begin(&t->looks, answer, t->order.patience);
}

/* Starts to check whether the object exists, if the failed upload may have
 * created it. */
static void verify_in_doubt(struct xd_web_task *t,
                            const struct xd_answer *answer)
{
    if (t->failure != XD_TASK_MAY_PASS || !xd_looks_may_help(answer))
        return;
    t->is_in_doubt = true;
    t->doubt = (struct xd_web_doubt){t->failure, t->error, t->retry_after};
    t->state = XD_TASK_RUNS;
    t->error = (struct xd_error){.code = XD_OK};
    t->retry_after = 0;
    verify(t, answer);
}

static void sent(struct xd_web_task *t, const struct xd_answer *answer)
{
    const struct xd_reply *reply = answer->reply;

    if (xd_web_is_ok(reply->code)) {
        verify(t, answer);
    } else if (t->is_conditional && may_lack_condition(reply->code)) {
        t->step = XD_WEB_LOOKS_WHY;
    } else if (may_lack_folder(reply->code) && !t->has_climbed) {
        make_folders(t, false);
    } else if (reply->code == 404) {
        xd_web_fail_bad(t, "answered PUT with 404: its folder is not there");
    } else {
        xd_web_fail_by_reply(t, reply);
        verify_in_doubt(t, answer);
    }
}

/* Handles the answer to MKCOL.  405 means that the folder exists, or that the
 * server has no folders. */
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

/* Handles a check that found no object, or an incomplete one. */
static void verify_failed(struct xd_web_task *t, const char *words)
{
    if (xd_looks_again(&t->looks, t->now))
        return;
    if (t->is_in_doubt)
        xd_web_fail_in_doubt(t);
    else
        xd_web_fail_bad(t, words);
}

/* Handles a check that got no answer, which proves nothing. */
static void verify_unanswered(struct xd_web_task *t)
{
    if (t->failure != XD_TASK_MAY_PASS || !t->is_in_doubt)
        return;
    if (xd_looks_again(&t->looks, t->now))
        t->state = XD_TASK_RUNS;
    else
        xd_web_fail_in_doubt(t);
}

static void verified(struct xd_web_task *t, const struct xd_reply *reply)
{
    char words[120];

    if (xd_web_is_absent(reply->code)) {
        verify_failed(t, "took the object, and does not have it");
        return;
    }
    if (!is_there(t, reply)) {
        xd_web_fail_by_reply(t, reply);
        verify_unanswered(t);
        return;
    }
    if (!take_look(t, reply))
        return;
    if (t->object.size == t->order.size) {
        t->state = XD_TASK_DONE;
        return;
    }
    snprintf(words, sizeof words,
             "took %" PRIu64 " bytes, and says that it has %" PRIu64,
             t->order.size, t->object.size);
    t->object.size = t->order.size;
    verify_failed(t, words);
}

static void looked(struct xd_web_task *t, const struct xd_reply *reply)
{
    if (!is_there(t, reply))
        xd_web_fail_by_reply(t, reply);
    else if (take_look(t, reply))
        t->state = XD_TASK_DONE;
}

/* Finds the requested range in the body of the answer.  Returns false if the
 * body does not contain it. */
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

/* Handles a missing or incomplete answer. */
static void broke_off(struct xd_web_task *t, const struct xd_answer *answer)
{
    xd_web_fail_by_outcome(t, answer->outcome);
    if (t->step == XD_WEB_SENDS)
        verify_in_doubt(t, answer);
    else if (t->step == XD_WEB_VERIFIES)
        verify_unanswered(t);
}

static void react(struct xd_web_task *t, const struct xd_answer *answer)
{
    const enum xd_web_step step = t->step;

    switch (step) {
    case XD_WEB_LOOKS_FIRST:
        looked_first(t, answer->reply);
        break;
    case XD_WEB_SENDS:
        sent(t, answer);
        break;
    case XD_WEB_LOOKS_WHY:
        looked_why(t, answer->reply);
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

static bool is_look(enum xd_web_step step)
{
    return changes_nothing(step) && step != XD_WEB_READS;
}

void xd_web_answered(struct xd_task *task, unsigned id,
                     const struct xd_answer *answer)
{
    struct xd_web_task *t = (struct xd_web_task *)task;

    XD_ASSERT(t->is_asked && id == t->id);
    t->is_asked = false;
    if (answer->outcome->verdict != XD_VERDICT_OK) {
        broke_off(t, answer);
    } else if (is_look(t->step) && needs_get(t, answer->reply)) {
        t->uses_get = true;
        return;
    } else {
        react(t, answer);
    }
    t->uses_get = false;
}
