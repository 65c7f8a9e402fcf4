/* SPDX-License-Identifier: MIT */
/*
 * WebDAV, and plain HTTP that takes PUT: a folder as a store.
 *
 *     PUT      HEAD --404--> PUT --ok--> HEAD: is all of it there?
 *                             | ^
 *                             v |  409, 404, 500: its folder is missing; and
 *                            MKCOL, from the target down,
 *              before the first PUT if the object is large
 *     LOOK     HEAD             READ    GET with a range
 *     RENEW    HEAD: objects do not expire, if they are there
 *     DELETE,  DELETE
 *     ABORT
 *
 * Some servers do not know If-None-Match, which is why HEAD comes first; where they
 * do it holds what happens in between.  A plain server needs no MKCOL, and may
 * refuse it.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/check.h"
#include "base/error.h"
#include "base/text.h"
#include "store/task.h"
#include "store/web_path.h"

#define MOST_READ ((uint64_t)64 << 10)

/* Of a server that sends a whole object in place of a range, so much is read to
 * come to that range. */
#define MOST_READ_PAST ((uint64_t)1 << 20)

/* nginx takes all of an object before it looks for the folder.  One of so many bytes
 * takes longer than to ask for that. */
#define LARGE ((uint64_t)1 << 20)

/* Constant after new(). */
struct web {
    struct xd_store base;
    char *text; /* owned: of the target, with '/' at its end */
    struct xd_url target;
    struct xd_url_name name;
};

/* The call that is due, or in flight. */
enum step { LOOKS_FIRST, SENDS, MAKES_FOLDER, VERIFIES, LOOKS, READS, REMOVES };

struct web_task {
    struct xd_task base;
    /* Constant after new(). */
    const struct web *store;
    struct xd_task_order order; /* its strings and its object are not used */
    char *url_text;             /* owned: of the object */
    struct xd_url url;

    enum xd_task_state state;
    enum xd_task_failure failure;
    struct xd_error error;
    xd_usec retry_after;
    struct xd_object object;
    struct xd_text bytes; /* of READ */

    enum step step;
    bool is_asked; /* its call is in flight */
    unsigned id;   /* of the last call */
    struct xd_text fields, folder;
    struct xd_url folder_url;
    size_t n_folder;  /* MAKES_FOLDER: bytes of url_text that are its URL */
    bool is_early;    /* MAKES_FOLDER: before PUT, which decides */
    bool has_climbed; /* its folders are there, or were made */
};

/* ---- the store ---- */

static int check_target(const struct xd_url *u, struct xd_error *err)
{
    const struct xd_span path = xd_url_path(u);
    const struct xd_url_name shown = xd_url_name(u);

    if (xd_url_has_login(u))
        return xd_fail(
            err, XD_E_INVAL,
            "%s: a name and a password do not belong into the URL of a "
            "store, which manifests repeat: use user or netrc",
            shown.s);
    if (path.s[path.len] != '\0')
        return xd_fail(err, XD_E_INVAL,
                       "%s: a store is a folder, and has no query", shown.s);
    if (!xd_web_path_is_plain(path))
        return xd_fail(err, XD_E_INVAL,
                       "%s: the path of a store has no parts \".\" and \"..\", "
                       "and no escaped slashes",
                       shown.s);
    return 0;
}

static void web_free(struct xd_store *store)
{
    struct web *s = (struct web *)store;

    xd_free(s->text);
    xd_free(s);
}

static const char *web_name(const struct xd_store *store)
{
    return ((const struct web *)store)->name.s;
}

static bool web_has(const struct xd_store *store, const char *manage)
{
    struct xd_url u;

    return xd_url_parse(&u, manage) &&
           xd_web_is_below(&((const struct web *)store)->target, &u);
}

/* ---- how a task ends ---- */

static void fail(struct web_task *t, enum xd_task_failure failure)
{
    t->state = XD_TASK_FAILED;
    t->failure = failure;
    xd_url_locate(&t->error, &t->store->target, &t->url);
}

static void fail_nomem(struct web_task *t)
{
    xd_fail_nomem(&t->error);
    fail(t, XD_TASK_MAY_PASS);
}

static bool is_ok(int64_t code)
{
    return code / 100 == 2;
}

static bool is_absent(int64_t code)
{
    return code == 404 || code == 410;
}

static const char *method_of(enum step step)
{
    switch (step) {
    case LOOKS_FIRST:
    case VERIFIES:
    case LOOKS:
        return "HEAD";
    case SENDS:
        return "PUT";
    case MAKES_FOLDER:
        return "MKCOL";
    case READS:
        return "GET";
    case REMOVES:
        break;
    }
    return "DELETE";
}

/* What was asked for, as sentences name it. */
static struct xd_url_name shown(const struct web_task *t)
{
    return xd_url_name(t->step == MAKES_FOLDER ? &t->folder_url : &t->url);
}

static void fail_redirected(struct web_task *t, const struct xd_reply *reply)
{
    struct xd_url to;

    xd_url_parse(&to, reply->location ? reply->location : "");
    xd_fail(&t->error, XD_E_NET,
            "%s: answered %s with %" PRId64
            ", which points to %s: objects are put "
            "at the URL of the store alone; give another one",
            shown(t).s, method_of(t->step), reply->code,
            reply->location ? xd_url_name(&to).s : "nothing");
    fail(t, XD_TASK_BAD);
}

/* What a status means, whatever was asked for. */
static const struct meaning {
    int64_t code;
    enum xd_task_failure failure;
    const char *words;
} meanings[] = {
    {401, XD_TASK_REFUSED,
     "it wants a name and a password: use user, and auth-host for its server"},
    {403, XD_TASK_REFUSED,
     "it does not let us: see user, and auth-host for its server"},
    {404, XD_TASK_ABSENT, "it has no such object"},
    {405, XD_TASK_UNABLE, "it does not do that there"},
    {407, XD_TASK_REFUSED, "the proxy wants a name and a password"},
    {408, XD_TASK_MAY_PASS, "it has waited for too long"},
    {410, XD_TASK_ABSENT, "it has no such object"},
    {413, XD_TASK_FULL, "it takes no objects of that size"},
    {423, XD_TASK_MAY_PASS, "it is locked"},
    {425, XD_TASK_MAY_PASS, "it is too early"},
    {429, XD_TASK_MAY_PASS, "too many requests"},
    {500, XD_TASK_MAY_PASS, "a fault of the server"},
    {501, XD_TASK_UNABLE, "it does not do that"},
    {502, XD_TASK_MAY_PASS, "a fault of the server behind it"},
    {503, XD_TASK_MAY_PASS, "it is busy"},
    {504, XD_TASK_MAY_PASS, "the server behind it is silent"},
    {507, XD_TASK_FULL, "it has no space left"},
};

/* Of PUT these say more. */
static const char *words_of(const struct web_task *t, const struct meaning *m)
{
    if (t->step == SENDS && m->failure == XD_TASK_UNABLE)
        return "it does not take objects by PUT";
    return m->words;
}

static void fail_by_reply(struct web_task *t, const struct xd_reply *reply)
{
    const struct meaning *m = meanings, *end = m + sizeof meanings / sizeof *m;

    if (reply->code / 100 == 3) {
        fail_redirected(t, reply);
        return;
    }
    while (m < end && m->code != reply->code)
        m++;
    if (m == end)
        xd_fail(&t->error, XD_E_NET, "%s: answered %s with %" PRId64,
                shown(t).s, method_of(t->step), reply->code);
    else
        xd_fail(&t->error, XD_E_NET, "%s: answered %s with %" PRId64 ": %s",
                shown(t).s, method_of(t->step), reply->code, words_of(t, m));
    t->error.http_status = (int)reply->code;
    fail(t, m == end ? XD_TASK_BAD : m->failure);
    if (t->failure == XD_TASK_MAY_PASS)
        t->retry_after = reply->retry_after;
}

/* No answer came. */
static void fail_by_outcome(struct web_task *t, const struct xd_outcome *o)
{
    t->error = o->error;
    t->retry_after = o->retry_after;
    fail(t, o->verdict == XD_VERDICT_AGAIN || o->verdict == XD_VERDICT_LOCAL
                ? XD_TASK_MAY_PASS
                : XD_TASK_BAD);
}

static void fail_exists(struct web_task *t)
{
    xd_object_fini(&t->object); /* it is another's */
    xd_fail(&t->error, XD_E_NET, "%s: is there already, and stays as it is",
            shown(t).s);
    fail(t, XD_TASK_EXISTS);
}

static void fail_bad(struct web_task *t, const char *words)
{
    xd_fail(&t->error, XD_E_NET, "%s: %s", shown(t).s, words);
    fail(t, XD_TASK_BAD);
}

/* ---- calls ---- */

/* The folders of the object, one after the other, from the target's on. */
static bool next_folder(struct web_task *t)
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
        fail_nomem(t);
    return true;
}

/* From here on there is something that can be removed. */
static bool name_object(struct web_task *t)
{
    struct xd_object *o = &t->object;

    o->size = t->order.size;
    if (!o->read)
        o->read = xd_strdup(t->url_text);
    if (!o->manage)
        o->manage = xd_strdup(t->url_text);
    return o->read && o->manage;
}

static void prepare_send(struct web_task *t, struct xd_call *out)
{
    if (!name_object(t))
        fail_nomem(t);
    out->fields = "Content-Type: application/octet-stream\nIf-None-Match: *\n";
    out->body = (struct xd_range){0, t->order.size};
}

static void prepare_read(struct web_task *t, struct xd_call *out)
{
    const struct xd_range r = t->order.range;

    xd_text_clear(&t->fields);
    xd_text_addf(&t->fields, "Range: bytes=%" PRIu64 "-%" PRIu64 "\n", r.begin,
                 r.end - 1);
    if (t->fields.failed)
        fail_nomem(t);
    out->fields = t->fields.s;
    out->most_answer =
        (size_t)(r.end <= MOST_READ_PAST ? r.end : xd_range_length(r));
}

static bool web_next(struct xd_task *task, int64_t now, struct xd_call *out)
{
    struct web_task *t = (struct web_task *)task;

    (void)now;
    if (t->state != XD_TASK_RUNS || t->is_asked)
        return false;
    *out = (struct xd_call){.id = ++t->id,
                            .url = &t->url,
                            .method = method_of(t->step),
                            .logs_in = true};
    if (t->step == MAKES_FOLDER)
        out->url = &t->folder_url;
    else if (t->step == SENDS)
        prepare_send(t, out);
    else if (t->step == READS)
        prepare_read(t, out);
    t->is_asked = t->state == XD_TASK_RUNS;
    return t->is_asked;
}

/* ---- answers ---- */

/* Size and validator, as HEAD has them. */
static bool take_head(struct web_task *t, const struct xd_reply *reply)
{
    struct xd_object *o = &t->object;

    if (reply->length == XD_SIZE_UNKNOWN) {
        fail_bad(t, "does not say how many bytes the object has");
        return false;
    }
    xd_free(o->validator);
    o->validator = reply->etag ? xd_strdup(reply->etag) : NULL;
    if (reply->etag && !o->validator) {
        fail_nomem(t);
        return false;
    }
    o->size = reply->length;
    return true;
}

static void make_folders(struct web_task *t, bool is_early)
{
    t->is_early = is_early;
    t->n_folder = 0;
    t->step = MAKES_FOLDER;
    (void)next_folder(t);
}

static void looked_first(struct web_task *t, const struct xd_reply *reply)
{
    if (is_absent(reply->code) && t->order.size >= LARGE)
        make_folders(t, true);
    else if (is_absent(reply->code))
        t->step = SENDS;
    else if (is_ok(reply->code))
        fail_exists(t);
    else
        fail_by_reply(t, reply);
}

/* nginx says 500 of a folder that is missing. */
static bool may_lack_folder(int64_t code)
{
    return code == 404 || code == 409 || code == 500;
}

static void sent(struct web_task *t, const struct xd_reply *reply)
{
    if (is_ok(reply->code)) {
        t->step = VERIFIES;
    } else if (reply->code == 412) {
        fail_exists(t);
    } else if (may_lack_folder(reply->code) && !t->has_climbed) {
        make_folders(t, false);
    } else if (reply->code == 404) {
        fail_bad(t, "answered PUT with 404: its folder is not there");
    } else {
        fail_by_reply(t, reply);
    }
}

/* 405: it is there, or the server has no folders. */
static void made_folder(struct web_task *t, const struct xd_reply *reply)
{
    if (is_ok(reply->code) || reply->code == 405 || reply->code == 501) {
        if (next_folder(t))
            return;
        t->has_climbed = true;
        t->step = SENDS;
    } else if (t->is_early) {
        t->step = SENDS;
    } else if (is_absent(reply->code) || reply->code == 409) {
        fail_bad(t, "cannot be made: the folder above it is not there");
    } else {
        fail_by_reply(t, reply);
    }
}

static void verified(struct web_task *t, const struct xd_reply *reply)
{
    char words[120];

    if (is_absent(reply->code)) {
        fail_bad(t, "took the object, and does not have it");
        return;
    }
    if (!is_ok(reply->code)) {
        fail_by_reply(t, reply);
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
    fail_bad(t, words);
}

static void looked(struct web_task *t, const struct xd_reply *reply)
{
    if (!is_ok(reply->code))
        fail_by_reply(t, reply);
    else if (take_head(t, reply))
        t->state = XD_TASK_DONE;
}

/* Where in the answer's body the range begins; false: it is not there. */
static bool find_range(const struct web_task *t, const struct xd_answer *answer,
                       size_t *out)
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

static void was_read(struct web_task *t, const struct xd_answer *answer)
{
    size_t at;

    if (!is_ok(answer->reply->code)) {
        fail_by_reply(t, answer->reply);
        return;
    }
    if (!find_range(t, answer, &at)) {
        fail_bad(t, "was asked for some bytes, and sent others or too few");
        return;
    }
    xd_text_add(&t->bytes, answer->body + at,
                (size_t)xd_range_length(t->order.range));
    if (t->bytes.failed)
        fail_nomem(t);
    else
        t->state = XD_TASK_DONE;
}

static void removed(struct web_task *t, const struct xd_reply *reply)
{
    if (is_absent(reply->code) || (is_ok(reply->code) && reply->code != 207))
        t->state = XD_TASK_DONE;
    else
        fail_by_reply(t, reply);
}

static void web_answered(struct xd_task *task, unsigned id,
                         const struct xd_answer *answer)
{
    struct web_task *t = (struct web_task *)task;

    XD_ASSERT(t->is_asked && id == t->id);
    t->is_asked = false;
    if (answer->outcome->verdict != XD_VERDICT_OK) {
        fail_by_outcome(t, answer->outcome);
        return;
    }
    switch (t->step) {
    case LOOKS_FIRST:
        looked_first(t, answer->reply);
        break;
    case SENDS:
        sent(t, answer->reply);
        break;
    case MAKES_FOLDER:
        made_folder(t, answer->reply);
        break;
    case VERIFIES:
        verified(t, answer->reply);
        break;
    case LOOKS:
        looked(t, answer->reply);
        break;
    case READS:
        was_read(t, answer);
        break;
    case REMOVES:
        removed(t, answer->reply);
        break;
    }
}

static void web_result(const struct xd_task *task, struct xd_task_result *out)
{
    const struct web_task *t = (const struct web_task *)task;

    *out = (struct xd_task_result){.state = t->state,
                                   .failure = t->failure,
                                   .error = t->error,
                                   .retry_after = t->retry_after,
                                   .object = &t->object,
                                   .bytes = t->bytes.s,
                                   .n_bytes = t->bytes.len};
}

/* ---- new tasks ---- */

static void web_free_task(struct xd_task *task)
{
    struct web_task *t = (struct web_task *)task;

    xd_object_fini(&t->object);
    xd_text_fini(&t->bytes);
    xd_text_fini(&t->fields);
    xd_text_fini(&t->folder);
    xd_free(t->url_text);
    xd_free(t);
}

static enum step first_step(enum xd_task_kind kind)
{
    switch (kind) {
    case XD_TASK_PUT:
        return LOOKS_FIRST;
    case XD_TASK_LOOK:
    case XD_TASK_RENEW:
        return LOOKS;
    case XD_TASK_READ:
        return READS;
    case XD_TASK_DELETE:
    case XD_TASK_ABORT:
        break;
    }
    return REMOVES;
}

static int check_order(const struct web *s, const struct xd_task_order *o,
                       struct xd_error *err)
{
    if (o->kind == XD_TASK_PUT && !xd_web_name_is_good(o->name))
        return xd_fail(err, XD_E_INVAL, "%s: '%s' is no name of an object",
                       s->name.s, o->name);
    if (o->kind == XD_TASK_READ && (o->range.end < o->range.begin ||
                                    xd_range_length(o->range) > MOST_READ))
        return xd_fail(err, XD_E_INVAL, "%s: no such range can be read at once",
                       s->name.s);
    if (o->kind == XD_TASK_PUT ||
        (o->kind == XD_TASK_ABORT && !o->object->manage))
        return 0;
    if (!xd_store_has(&s->base, o->object->manage))
        return xd_fail(err, XD_E_INVAL, "%s: the object is not in this store",
                       s->name.s);
    return 0;
}

static char *text_of(const struct web *s, const struct xd_task_order *order)
{
    struct xd_text text = {.s = NULL};

    if (order->kind != XD_TASK_PUT)
        return xd_strdup(order->object->manage ? order->object->manage
                                               : s->text);
    xd_text_addf(&text, "%s", s->text);
    xd_web_add_name(&text, order->name);
    if (text.failed)
        xd_text_fini(&text);
    return text.s;
}

/* What there is nothing to be asked about. */
static bool is_done(const struct xd_task_order *o)
{
    return (o->kind == XD_TASK_READ && xd_range_is_empty(o->range)) ||
           (o->kind == XD_TASK_ABORT && !o->object->manage);
}

static int set_object(struct web_task *t, const struct xd_task_order *order)
{
    if (order->kind == XD_TASK_PUT || !order->object->manage)
        return 0;
    t->object.size = order->object->size;
    t->object.read = xd_strdup(t->url_text);
    t->object.manage = xd_strdup(t->url_text);
    return t->object.read && t->object.manage ? 0 : XD_E_NOMEM;
}

static int web_new_task(struct xd_task **out, const struct xd_store *store,
                        const struct xd_task_order *order, struct xd_error *err)
{
    const struct web *s = (const struct web *)store;
    struct web_task *t;
    int rc = check_order(s, order, err);

    if (rc < 0)
        return rc;
    t = xd_alloc(1, sizeof *t);
    if (!t)
        return xd_fail_nomem(err);
    t->base.ops = s->base.ops;
    t->store = s;
    t->order = *order;
    t->step = first_step(order->kind);
    t->state = is_done(order) ? XD_TASK_DONE : XD_TASK_RUNS;
    t->url_text = text_of(s, order);
    if (!t->url_text || set_object(t, order) < 0) {
        web_free_task(&t->base);
        return xd_fail_nomem(err);
    }
    if (!xd_url_parse(&t->url, t->url_text)) {
        web_free_task(&t->base);
        return xd_fail(err, XD_E_INVAL, "%s: '%s' is too long a name",
                       s->name.s, order->name);
    }
    *out = &t->base;
    return 0;
}

static const struct xd_store_ops web_ops = {.free = web_free,
                                            .name = web_name,
                                            .has = web_has,
                                            .most_calls = 1,
                                            .new_task = web_new_task,
                                            .free_task = web_free_task,
                                            .next = web_next,
                                            .answered = web_answered,
                                            .result = web_result};

int xd_web_new(struct xd_store **out, const struct xd_store_config *config,
               struct xd_error *err)
{
    const struct xd_url *u = config->target;
    const struct xd_span path = xd_url_path(u);
    const bool is_folder = path.len > 0 && path.s[path.len - 1] == '/';
    struct xd_text text = {.s = NULL};
    struct web *s;

    if (check_target(u, err) < 0)
        return XD_E_INVAL;
    s = xd_alloc(1, sizeof *s);
    if (!s)
        return xd_fail_nomem(err);
    xd_text_addf(&text, "%s%s", xd_url_secret_text(u), is_folder ? "" : "/");
    s->base.ops = &web_ops;
    s->text = text.s;
    if (text.failed || !xd_url_parse(&s->target, s->text)) {
        web_free(&s->base);
        return xd_fail_nomem(err);
    }
    s->name = xd_url_name(&s->target);
    *out = &s->base;
    return 0;
}
