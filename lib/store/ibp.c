/* SPDX-License-Identifier: MIT */
/*
 * An IBP depot as a store.  An object is a byte array with a lifetime.  The
 * depot chooses its names, which are called capabilities.
 *
 *     PUT      ALLOCATE, STORE until all is sent, PROBE to verify
 *     LOOK     PROBE            READ    LOAD
 *     RENEW    PROBE, CHANGE, PROBE to verify the lifetime
 *     DELETE,  PROBE, then DECREMENT of the references for reading and for
 *     ABORT    writing, until there are none
 *
 * The capabilities of a new object use the host and port that the user gave,
 * even if the depot calls itself by another name.  So nothing is sent to
 * another server.
 *
 * An allocation is hard if the depot has space for that, otherwise soft.  If
 * the caller wants no particular lifetime, it lives for a day, or for the
 * longest time that the depot allows.
 */
#include <string.h>

#include "base/alloc.h"
#include "base/check.h"
#include "base/error.h"
#include "io/ibp/ibp_wire.h"
#include "store/ibp_task.h"

/* Limit of a READ in bytes. */
#define MOST_READ ((uint64_t)64 << 10)

/* ---- the store ---- */

/* Returns "ibp://HOST:PORT" in lower case, with an IPv6 address in brackets. */
static char *make_name(const struct xd_url *u)
{
    struct xd_span host = xd_url_host(u);
    bool is_bare = host.s[0] != '[' && memchr(host.s, ':', host.len);
    struct xd_text name = {.s = NULL};

    xd_text_addf(&name, "ibp://%s%.*s%s:%u", is_bare ? "[" : "", (int)host.len,
                 host.s, is_bare ? "]" : "", u->port);
    if (name.failed)
        xd_text_fini(&name);
    for (char *s = name.s; s && *s; s++) {
        if (*s >= 'A' && *s <= 'Z')
            *s = (char)(*s - 'A' + 'a');
    }
    return name.s;
}

static void store_free(struct xd_store *base)
{
    struct xd_ibp_store *s = (struct xd_ibp_store *)base;

    xd_free(s->name);
    xd_free(s);
}

static const char *store_name(const struct xd_store *s)
{
    return ((const struct xd_ibp_store *)s)->name;
}

bool xd_ibp_store_has_capability(const struct xd_ibp_store *s, const char *text,
                                 const char *right)
{
    struct xd_ibp_capability c;
    struct xd_url u;

    return text && xd_url_parse(&u, text) && !xd_url_has_login(&u) &&
           xd_url_same_origin(&u, &s->target) &&
           xd_ibp_split_right(&u, right, &c);
}

static bool store_has(const struct xd_store *s, const char *manage)
{
    return xd_ibp_store_has_capability((const struct xd_ibp_store *)s, manage,
                                       "MANAGE");
}

static struct xd_span store_host(const struct xd_store *s)
{
    return xd_url_host(&((const struct xd_ibp_store *)s)->target);
}

/* ---- tasks ---- */

static enum xd_ibp_task_step first_step(enum xd_task_kind kind)
{
    switch (kind) {
    case XD_TASK_PUT:
        return XD_IBP_ALLOCATES;
    case XD_TASK_READ:
        return XD_IBP_READS;
    case XD_TASK_LOOK:
    case XD_TASK_RENEW:
    case XD_TASK_DELETE:
    case XD_TASK_ABORT:
        break;
    }
    return XD_IBP_LOOKS;
}

/* Returns true for an upload that was interrupted before the depot named the
 * allocation.  It has left nothing to delete. */
static bool has_nothing_to_do(const struct xd_task_order *order)
{
    return order->kind == XD_TASK_ABORT && order->object->manage == NULL;
}

static bool can_be_asked(const struct xd_ibp_store *s,
                         const struct xd_task_order *order)
{
    if (order->kind == XD_TASK_PUT || has_nothing_to_do(order))
        return true;
    if (order->kind == XD_TASK_READ)
        return xd_ibp_store_has_capability(s, order->object->read, "READ") &&
               !xd_range_is_empty(order->range) &&
               xd_range_length(order->range) <= MOST_READ;
    return xd_ibp_store_has_capability(s, order->object->manage, "MANAGE");
}

static void task_free(struct xd_task *base)
{
    struct xd_ibp_task *t = (struct xd_ibp_task *)base;

    xd_object_fini(&t->object);
    xd_text_fini(&t->fields);
    xd_text_fini(&t->bytes);
    xd_free(t);
}

static int task_new(struct xd_task **out, const struct xd_store *store,
                    const struct xd_task_order *order, struct xd_error *err)
{
    const struct xd_ibp_store *s = (const struct xd_ibp_store *)store;
    struct xd_ibp_task *t;

    if (!can_be_asked(s, order))
        return xd_fail(err, XD_E_INVAL, "%s: has no such object", s->name);
    t = xd_alloc(1, sizeof *t);
    if (t == NULL)
        return xd_fail_nomem(err);
    t->base.ops = store->ops;
    t->store = s;
    t->order = *order;
    t->step = first_step(order->kind);
    t->reliability = XD_IBP_HARD;
    t->result.object = &t->object;
    if (order->kind == XD_TASK_PUT) {
        t->object.size = order->size;
    } else if (xd_object_copy(&t->object, order->object) < 0) {
        task_free(&t->base);
        return xd_fail_nomem(err);
    } else if (has_nothing_to_do(order)) {
        t->result.state = XD_TASK_DONE;
    }
    *out = &t->base;
    return 0;
}

static void task_answered(struct xd_task *base, unsigned id,
                          const struct xd_answer *answer)
{
    struct xd_ibp_task *t = (struct xd_ibp_task *)base;

    XD_ASSERT(t->is_asked && id == t->id);
    t->is_asked = false;
    xd_ibp_task_take(t, answer);
}

static void task_result(const struct xd_task *t, struct xd_task_result *out)
{
    *out = ((const struct xd_ibp_task *)t)->result;
}

/* ---- the table of functions ---- */

static const struct xd_store_ops ibp_ops = {
    .free = store_free,
    .name = store_name,
    .has = store_has,
    .host = store_host,
    .most_calls = 1,
    .new_task = task_new,
    .free_task = task_free,
    .next = xd_ibp_task_next,
    .answered = task_answered,
    .result = task_result,
};

int xd_ibp_store_new(struct xd_store **out,
                     const struct xd_store_config *config, struct xd_error *err)
{
    const struct xd_url *u = config->target;
    struct xd_url_name shown = xd_url_name(u);
    struct xd_ibp_store *s;

    if (!xd_ibp_is_depot(u))
        return xd_fail(err, XD_E_INVAL,
                       "%s: is no IBP depot: use ibp://HOST:PORT", shown.s);
    s = xd_alloc(1, sizeof *s);
    if (s == NULL)
        return xd_fail_nomem(err);
    s->base.ops = &ibp_ops;
    s->lifetime_s = config->lifetime_s;
    s->name = make_name(u);
    if (s->name == NULL || !xd_url_parse(&s->target, s->name)) {
        store_free(&s->base);
        return xd_fail_nomem(err);
    }
    *out = &s->base;
    return 0;
}
