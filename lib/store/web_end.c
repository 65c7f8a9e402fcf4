/* SPDX-License-Identifier: MIT */
#include "store/web.h"

#include <inttypes.h>

#include "base/alloc.h"
#include "base/error.h"

static void fail(struct xd_web_task *t, enum xd_task_failure failure)
{
    t->state = XD_TASK_FAILED;
    t->failure = failure;
    xd_url_locate(&t->error, &t->store->target, &t->url);
}

void xd_web_fail_nomem(struct xd_web_task *t)
{
    xd_fail_nomem(&t->error);
    fail(t, XD_TASK_MAY_PASS);
}

const char *xd_web_method(const struct xd_web_task *t)
{
    switch (t->step) {
    case XD_WEB_LOOKS_FIRST:
    case XD_WEB_LOOKS_WHY:
    case XD_WEB_VERIFIES:
    case XD_WEB_LOOKS:
        return t->uses_get ? "GET" : "HEAD";
    case XD_WEB_SENDS:
        return "PUT";
    case XD_WEB_MAKES_FOLDER:
        return "MKCOL";
    case XD_WEB_READS:
        return "GET";
    case XD_WEB_REMOVES:
        break;
    }
    return "DELETE";
}

/* Returns the name of the object for messages. */
static struct xd_url_name shown(const struct xd_web_task *t)
{
    return xd_url_name(t->step == XD_WEB_MAKES_FOLDER ? &t->folder_url
                                                      : &t->url);
}

static void fail_redirected(struct xd_web_task *t, const struct xd_reply *reply)
{
    struct xd_url to;

    xd_url_parse(&to, reply->location ? reply->location : "");
    xd_fail(&t->error, XD_E_NET,
            "%s: answered %s with %" PRId64
            ", which points to %s: objects are put "
            "at the URL of the store alone; give another one",
            shown(t).s, xd_web_method(t), reply->code,
            reply->location ? xd_url_name(&to).s : "nothing");
    fail(t, XD_TASK_BAD);
}

/* Meanings of statuses, for any request. */
static const struct meaning {
    int64_t code;
    enum xd_task_failure failure;
    const char *words;
} meanings[] = {
    {401, XD_TASK_REFUSED,
     "it wants a name and a password: use --user, and "
     "--auth-host for its server"},
    {403, XD_TASK_REFUSED,
     "it refuses access: check --user, and --auth-host for its server"},
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

/* Returns the message for a failure.  Some statuses have a more precise meaning
 * after PUT. */
static const char *words_of(const struct xd_web_task *t,
                            const struct meaning *m)
{
    if (t->step == XD_WEB_SENDS && m->failure == XD_TASK_UNABLE)
        return "it does not take objects by PUT";
    return m->words;
}

void xd_web_fail_by_reply(struct xd_web_task *t, const struct xd_reply *reply)
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
                shown(t).s, xd_web_method(t), reply->code);
    else
        xd_fail(&t->error, XD_E_NET, "%s: answered %s with %" PRId64 ": %s",
                shown(t).s, xd_web_method(t), reply->code, words_of(t, m));
    t->error.http_status = (int)reply->code;
    /* any other 5xx is a failure that may be temporary */
    fail(t, m < end                  ? m->failure
            : reply->code / 100 == 5 ? XD_TASK_MAY_PASS
                                     : XD_TASK_BAD);
    if (t->failure == XD_TASK_MAY_PASS)
        t->retry_after = reply->retry_after;
}

void xd_web_fail_in_doubt(struct xd_web_task *t)
{
    t->state = XD_TASK_FAILED;
    t->failure = t->doubt.failure;
    t->error = t->doubt.error;
    t->retry_after = t->doubt.retry_after;
}

void xd_web_fail_by_outcome(struct xd_web_task *t, const struct xd_outcome *o)
{
    t->error = o->error;
    t->retry_after = o->retry_after;
    fail(t, o->verdict == XD_VERDICT_AGAIN || o->verdict == XD_VERDICT_LOCAL
                ? XD_TASK_MAY_PASS
                : XD_TASK_BAD);
}

bool xd_web_name_object(struct xd_web_task *t)
{
    struct xd_object *o = &t->object;

    o->size = t->order.size;
    if (!o->read)
        o->read = xd_strdup(t->url_text);
    if (!o->manage)
        o->manage = xd_strdup(t->url_text);
    return o->read && o->manage;
}

void xd_web_fail_exists(struct xd_web_task *t)
{
    if (!xd_web_name_object(t)) {
        xd_web_fail_nomem(t);
        return;
    }
    xd_fail(&t->error, XD_E_NET, "%s: is there already, and stays as it is",
            shown(t).s);
    fail(t, XD_TASK_EXISTS);
}

void xd_web_fail_bad(struct xd_web_task *t, const char *words)
{
    xd_fail(&t->error, XD_E_NET, "%s: %s", shown(t).s, words);
    fail(t, XD_TASK_BAD);
}
