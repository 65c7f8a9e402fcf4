/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <string.h>

#include "base/error.h"
#include "io/ibp/ibp_wire.h"
#include "store/ibp_task.h"

/* Number of seconds by which a lifetime may be too short without failing.  The
 * depot counts from the time at which it reads the request. */
#define SLACK 60

/* Limit on the references that DELETE removes from an object.  The original
 * tools add one for each copy of a manifest. */
#define MOST_DECREMENTS 100

/* Limit on the number of STORE calls of a task.  A depot may accept only a part
 * of the bytes of each call. */
#define MOST_STORES 1000

/* ---- how a task ends ---- */

static void finish(struct xd_ibp_task *t)
{
    t->result.state = XD_TASK_DONE;
}

static void fail(struct xd_ibp_task *t, enum xd_task_failure failure)
{
    t->result.state = XD_TASK_FAILED;
    t->result.failure = failure;
}

static void fail_garbage(struct xd_ibp_task *t)
{
    fail(t, XD_TASK_BAD);
    xd_fail(&t->result.error, XD_E_NET,
            "%s: answers with what is not a reply of IBP", t->store->name);
}

void xd_ibp_task_fail_nomem(struct xd_ibp_task *t)
{
    fail(t, XD_TASK_MAY_PASS);
    xd_fail_nomem(&t->result.error);
}

/* Fails because there was no answer. */
static void fail_outcome(struct xd_ibp_task *t, const struct xd_outcome *o)
{
    bool may_pass =
        o->verdict == XD_VERDICT_AGAIN || o->verdict == XD_VERDICT_LOCAL;

    fail(t, may_pass ? XD_TASK_MAY_PASS : XD_TASK_BAD);
    t->result.error = o->error;
    t->result.retry_after = o->retry_after;
}

static bool is_full(int64_t code)
{
    return code == XD_IBP_BEYOND_END || code == XD_IBP_NO_RESOURCE ||
           code == XD_IBP_ALLOCATION_FAILED;
}

static enum xd_task_failure failure_of(const struct xd_ibp_task *t,
                                       int64_t code)
{
    bool needs_room =
        t->step == XD_IBP_ALLOCATES || t->step == XD_IBP_STORES_BYTES;

    if (code == XD_IBP_NOT_FOUND || code == XD_IBP_DELETING)
        return XD_TASK_ABSENT;
    if (code == XD_IBP_DENIED || code == XD_IBP_PASSWORD ||
        code == XD_IBP_POLICY)
        return XD_TASK_REFUSED;
    if (needs_room && is_full(code))
        return XD_TASK_FULL;
    return xd_ibp_may_pass(code) ? XD_TASK_MAY_PASS : XD_TASK_BAD;
}

static void fail_by_code(struct xd_ibp_task *t, int64_t code)
{
    fail(t, failure_of(t, code));
    if (t->result.failure == XD_TASK_FULL)
        xd_fail(&t->result.error, XD_E_NET,
                "%s: no space left for %" PRIu64 " bytes (%" PRId64 ")",
                t->store->name, t->order.size, code);
    else
        xd_fail(&t->result.error, XD_E_NET, "%s: %s (%" PRId64 ")",
                t->store->name, xd_ibp_words(code), code);
}

/* Fails because the depot does not allow such a lifetime.  `limit` is 0 if
 * unknown. */
static void fail_beyond(struct xd_ibp_task *t, uint64_t limit)
{
    fail(t, XD_TASK_BEYOND);
    t->result.limit = limit;
    if (limit > 0)
        xd_fail(&t->result.error, XD_E_NET,
                "%s: keeps objects for %" PRIu64 " s at most, not for %" PRIu64
                " s",
                t->store->name, limit, t->seconds);
    else
        xd_fail(&t->result.error, XD_E_NET,
                "%s: does not keep objects for %" PRIu64 " s", t->store->name,
                t->seconds);
}

/* ---- answers ---- */

/* Writes the name of one capability of the new object.  The name has the host
 * of the store as the user gave it. */
static bool name(const struct xd_ibp_task *t, char **out,
                 const struct xd_ibp_capability *c, const char *right)
{
    struct xd_text text = {.s = NULL};

    xd_text_addf(&text, "%s/%.*s/%.*s/%s", t->store->name, c->key_len, c->key,
                 c->type_key_len, c->type_key, right);
    if (text.failed)
        xd_text_fini(&text);
    *out = text.s;
    return text.s != NULL;
}

static void take_allocation(struct xd_ibp_task *t, const char *words)
{
    struct xd_object *o = &t->object;
    struct xd_ibp_allocation a;

    if (!xd_ibp_allocated(words, &a)) {
        fail_garbage(t);
        return;
    }
    if (!name(t, &o->read, &a.read, "READ") ||
        !name(t, &o->write, &a.write, "WRITE") ||
        !name(t, &o->manage, &a.manage, "MANAGE")) {
        xd_ibp_task_fail_nomem(t);
        return;
    }
    if (!xd_ibp_store_has_capability(t->store, o->read, "READ") ||
        !xd_ibp_store_has_capability(t->store, o->write, "WRITE") ||
        !xd_ibp_store_has_capability(t->store, o->manage, "MANAGE")) {
        xd_object_fini(o);
        o->size = t->order.size;
        fail_garbage(t);
        return;
    }
    t->step = t->order.size > 0 ? XD_IBP_STORES_BYTES : XD_IBP_LOOKS;
}

/* Tries the other kind of space, or a shorter lifetime, because the depot has
 * no room. */
static void take_no_allocation(struct xd_ibp_task *t, int64_t code)
{
    if (code == XD_IBP_TOO_LONG) {
        t->step = XD_IBP_ASKS_LIMIT;
    } else if (t->reliability == XD_IBP_HARD &&
               (is_full(code) || code == XD_IBP_TYPE ||
                code == XD_IBP_RELIABILITY)) {
        t->reliability = XD_IBP_SOFT;
    } else {
        fail_by_code(t, code);
    }
}

static void take_limit(struct xd_ibp_task *t, int64_t code, const char *words)
{
    uint64_t longest = 0;

    if (code != XD_IBP_OK || !xd_ibp_longest(words, &longest) ||
        longest >= t->seconds)
        longest = 0;
    if (longest == 0 || t->is_demanded || t->is_shortened ||
        t->order.kind == XD_TASK_RENEW) {
        fail_beyond(t, longest);
        return;
    }
    t->seconds = longest;
    t->is_shortened = true;
    t->step = XD_IBP_ALLOCATES;
}

/* Sends the rest to a depot that accepted only a part. */
static void take_stored(struct xd_ibp_task *t, const char *words)
{
    struct xd_ibp_reply r = {.code = XD_IBP_OK};
    uint64_t n, left = t->order.size - t->written;

    if (!xd_ibp_parse_numbers(words, strlen(words), &r) ||
        !xd_ibp_loaded(&r, &n) || n == 0 || n > left ||
        t->n_stores++ == MOST_STORES) {
        fail(t, XD_TASK_BAD);
        xd_fail(&t->result.error, XD_E_NET,
                "%s: does not say how many of %" PRIu64 " bytes it has written",
                t->store->name, left);
        return;
    }
    t->written += n;
    if (t->written == t->order.size)
        t->step = XD_IBP_LOOKS;
}

/* Returns whether the object lives as long as wanted.  Otherwise the task
 * fails. */
static bool lives(struct xd_ibp_task *t, const struct xd_ibp_probe *p)
{
    if (t->object.expires_at + SLACK >= t->asked_at + (int64_t)t->seconds)
        return true;
    fail_beyond(t, p->lifetime);
    return false;
}

static void take_put(struct xd_ibp_task *t, const struct xd_ibp_probe *p)
{
    if (p->written != t->order.size) {
        fail(t, XD_TASK_BAD);
        xd_fail(&t->result.error, XD_E_NET,
                "%s: has %" PRIu64 " bytes of %" PRIu64
                " that it said it had written",
                t->store->name, p->written, t->order.size);
    } else if (!t->is_demanded || lives(t, p)) {
        finish(t);
    }
}

static void take_renew(struct xd_ibp_task *t, const struct xd_ibp_probe *p)
{
    if (t->has_changed) {
        if (lives(t, p))
            finish(t);
        return;
    }
    xd_ibp_task_count_seconds(t);
    if (p->lifetime >= t->seconds) {
        finish(t);
        return;
    }
    t->allocated = p->allocated;
    t->reliability = p->reliability;
    t->step = XD_IBP_CHANGES;
}

static void take_delete(struct xd_ibp_task *t, const struct xd_ibp_probe *p)
{
    t->of = p->readers > 0 ? XD_IBP_READERS : XD_IBP_WRITERS;
    if (p->readers == 0 && p->writers == 0) {
        finish(t);
    } else if (t->n_decrements++ < MOST_DECREMENTS) {
        t->step = XD_IBP_DECREMENTS;
    } else {
        fail(t, XD_TASK_BAD);
        xd_fail(&t->result.error, XD_E_NET,
                "%s: has the object still, of which %d references were removed",
                t->store->name, MOST_DECREMENTS);
    }
}

static void take_probe(struct xd_ibp_task *t, const char *words)
{
    struct xd_ibp_reply r = {.code = XD_IBP_OK};
    struct xd_ibp_probe p;

    if (!xd_ibp_parse_numbers(words, strlen(words), &r) ||
        !xd_ibp_probed(&r, &p) || p.lifetime > INT64_MAX / 2) {
        fail_garbage(t);
        return;
    }
    t->object.expires_at = t->now + (int64_t)p.lifetime;
    if (t->order.kind == XD_TASK_PUT) {
        take_put(t, &p);
    } else if (t->order.kind == XD_TASK_RENEW) {
        take_renew(t, &p);
    } else if (t->order.kind == XD_TASK_LOOK) {
        t->object.size = p.written;
        finish(t);
    } else {
        take_delete(t, &p);
    }
}

static void take_bytes(struct xd_ibp_task *t, const struct xd_answer *a)
{
    uint64_t wanted = xd_range_length(t->order.range);

    if (a->body_len != wanted) {
        fail(t, XD_TASK_BAD);
        xd_fail(&t->result.error, XD_E_NET,
                "%s: sent %zu bytes of %" PRIu64 " at offset %" PRIu64,
                t->store->name, a->body_len, wanted, t->order.range.begin);
        return;
    }
    xd_text_add(&t->bytes, a->body, a->body_len);
    if (t->bytes.failed) {
        xd_ibp_task_fail_nomem(t);
        return;
    }
    t->result.bytes = t->bytes.s;
    t->result.n_bytes = t->bytes.len;
    finish(t);
}

static void take_reply(struct xd_ibp_task *t, const struct xd_answer *a)
{
    const char *words = a->reply->words ? a->reply->words : "";

    switch (t->step) {
    case XD_IBP_ALLOCATES:
        take_allocation(t, words);
        return;
    case XD_IBP_STORES_BYTES:
        take_stored(t, words);
        return;
    case XD_IBP_LOOKS:
        take_probe(t, words);
        return;
    case XD_IBP_CHANGES:
        t->has_changed = true;
        t->step = XD_IBP_LOOKS;
        return;
    case XD_IBP_DECREMENTS:
        t->step = XD_IBP_LOOKS;
        return;
    case XD_IBP_READS:
        take_bytes(t, a);
        return;
    case XD_IBP_ASKS_LIMIT:
        take_limit(t, a->reply->code, words);
        return;
    }
}

static void take_error(struct xd_ibp_task *t, int64_t code)
{
    bool removes =
        t->order.kind == XD_TASK_DELETE || t->order.kind == XD_TASK_ABORT;

    if (removes && failure_of(t, code) == XD_TASK_ABSENT)
        finish(t);
    else if (t->step == XD_IBP_ALLOCATES)
        take_no_allocation(t, code);
    else if (t->step == XD_IBP_CHANGES &&
             (code == XD_IBP_TOO_LONG || code == XD_IBP_POLICY))
        t->step = XD_IBP_ASKS_LIMIT;
    else
        fail_by_code(t, code);
}

void xd_ibp_task_take(struct xd_ibp_task *t, const struct xd_answer *answer)
{
    if (answer->outcome->verdict != XD_VERDICT_OK)
        fail_outcome(t, answer->outcome);
    else if (answer->reply->code == XD_IBP_OK || t->step == XD_IBP_ASKS_LIMIT)
        take_reply(t, answer);
    else
        take_error(t, answer->reply->code);
}
