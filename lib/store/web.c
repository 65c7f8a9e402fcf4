/* SPDX-License-Identifier: MIT */
/*
 * A folder as a store: WebDAV, or plain HTTP with PUT.
 *
 *     PUT      HEAD --404--> PUT --success, or no answer--> HEAD to verify,
 *                             | ^                     repeatedly while the
 *                             | |                     server may process it
 *                             | |  400, 412, 501, and the object is absent:
 *                             | |  repeat without If-None-Match
 *                             v |  409, 404, 500: its folder is missing; also
 *                            MKCOL, from the target down,
 *              before the first PUT if the object is large
 *     LOOK     HEAD             READ    GET with a range
 *     RENEW    HEAD, since objects do not expire
 *     DELETE,  DELETE
 *     ABORT
 *
 * HEAD comes first because some servers ignore If-None-Match.  On other servers
 * the condition also covers the time between HEAD and PUT.  If a server does
 * not answer HEAD, or does not state a length, a GET requests the first byte
 * instead.  A plain HTTP server needs no MKCOL and may refuse it.
 */
#include "store/web.h"

#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "store/web_path.h"

#define MOST_READ ((uint64_t)64 << 10)

/* ---- the store ---- */

static int check_target(const struct xd_url *u, struct xd_error *err)
{
    const struct xd_span path = xd_url_path(u);
    const struct xd_url_name shown = xd_url_name(u);

    if (xd_url_has_login(u))
        return xd_fail(
            err, XD_E_INVAL,
            "%s: a name and a password must not be in the URL of a store, "
            "because manifests repeat it: use --user or --netrc",
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
    struct xd_web *s = (struct xd_web *)store;

    xd_free(s->is_unconditional);
    xd_free(s->text);
    xd_free(s);
}

static const char *web_name(const struct xd_store *store)
{
    return ((const struct xd_web *)store)->name.s;
}

static bool web_has(const struct xd_store *store, const char *manage)
{
    struct xd_url u;

    return xd_url_parse(&u, manage) &&
           xd_web_is_below(&((const struct xd_web *)store)->target, &u);
}

static struct xd_span web_host(const struct xd_store *store)
{
    return xd_url_host(&((const struct xd_web *)store)->target);
}

/* ---- tasks ---- */

static void web_result(const struct xd_task *task, struct xd_task_result *out)
{
    const struct xd_web_task *t = (const struct xd_web_task *)task;

    *out = (struct xd_task_result){.state = t->state,
                                   .failure = t->failure,
                                   .error = t->error,
                                   .retry_after = t->retry_after,
                                   .object = &t->object,
                                   .bytes = t->bytes.s,
                                   .n_bytes = t->bytes.len};
    if (t->state == XD_TASK_RUNS && t->looks.pause_until > t->now)
        out->ready_at = t->looks.pause_until;
}

static void web_free_task(struct xd_task *task)
{
    struct xd_web_task *t = (struct xd_web_task *)task;

    xd_object_fini(&t->object);
    xd_text_fini(&t->bytes);
    xd_text_fini(&t->fields);
    xd_text_fini(&t->folder);
    xd_free(t->url_text);
    xd_free(t);
}

static enum xd_web_step first_step(enum xd_task_kind kind)
{
    switch (kind) {
    case XD_TASK_PUT:
        return XD_WEB_LOOKS_FIRST;
    case XD_TASK_LOOK:
    case XD_TASK_RENEW:
        return XD_WEB_LOOKS;
    case XD_TASK_READ:
        return XD_WEB_READS;
    case XD_TASK_DELETE:
    case XD_TASK_ABORT:
        break;
    }
    return XD_WEB_REMOVES;
}

static int check_order(const struct xd_web *s, const struct xd_task_order *o,
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

static char *text_of(const struct xd_web *s, const struct xd_task_order *order)
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

/* Returns whether the order needs no request at all. */
static bool is_done(const struct xd_task_order *o)
{
    return (o->kind == XD_TASK_READ && xd_range_is_empty(o->range)) ||
           (o->kind == XD_TASK_ABORT && !o->object->manage);
}

static int set_object(struct xd_web_task *t, const struct xd_task_order *order)
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
    const struct xd_web *s = (const struct xd_web *)store;
    struct xd_web_task *t;
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
                                            .host = web_host,
                                            .most_calls = 1,
                                            .new_task = web_new_task,
                                            .free_task = web_free_task,
                                            .next = xd_web_next,
                                            .answered = xd_web_answered,
                                            .result = web_result};

int xd_web_new(struct xd_store **out, const struct xd_store_config *config,
               struct xd_error *err)
{
    const struct xd_url *u = config->target;
    const struct xd_span path = xd_url_path(u);
    const bool is_folder = path.len > 0 && path.s[path.len - 1] == '/';
    struct xd_text text = {.s = NULL};
    struct xd_web *s;

    if (check_target(u, err) < 0)
        return XD_E_INVAL;
    s = xd_alloc(1, sizeof *s);
    if (!s)
        return xd_fail_nomem(err);
    xd_text_addf(&text, "%s%s", xd_url_secret_text(u), is_folder ? "" : "/");
    s->base.ops = &web_ops;
    s->text = text.s;
    s->is_unconditional = xd_alloc(1, sizeof *s->is_unconditional);
    if (!s->is_unconditional || text.failed ||
        !xd_url_parse(&s->target, s->text)) {
        web_free(&s->base);
        return xd_fail_nomem(err);
    }
    s->name = xd_url_name(&s->target);
    *out = &s->base;
    return 0;
}
