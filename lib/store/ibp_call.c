/* SPDX-License-Identifier: MIT */
#include <inttypes.h>

#include "io/ibp/ibp_wire.h"
#include "store/ibp_task.h"

/* Default lifetime in seconds, the same as in LoRS. */
#define DEFAULT_LIFETIME ((uint64_t)86400)

/* Depots read a lifetime into an int. */
#define MOST_LIFETIME ((uint64_t)INT32_MAX)

void xd_ibp_task_count_seconds(struct xd_ibp_task *t)
{
    int64_t until = t->order.until;

    if (t->is_shortened)
        return;
    t->is_demanded = until != 0 || t->store->lifetime_s > 0;
    if (until != 0)
        t->seconds = until > t->now ? (uint64_t)(until - t->now) : 1;
    else if (t->store->lifetime_s > 0)
        t->seconds = t->store->lifetime_s;
    else
        t->seconds = DEFAULT_LIFETIME;
    if (t->seconds > MOST_LIFETIME)
        t->seconds = MOST_LIFETIME;
}

/* Some depots refuse an allocation of 0 bytes. */
static uint64_t room(const struct xd_ibp_task *t)
{
    return t->order.size > 0 ? t->order.size : 1;
}

static void set_fields(struct xd_ibp_task *t)
{
    const struct xd_range r = t->order.range;

    xd_text_clear(&t->fields);
    switch (t->step) {
    case XD_IBP_ALLOCATES:
        xd_ibp_task_count_seconds(t);
        t->asked_at = t->now;
        xd_text_addf(&t->fields, "%d %d %" PRIu64 " %" PRIu64, t->reliability,
                     XD_IBP_BYTE_ARRAY, t->seconds, room(t));
        return;
    case XD_IBP_CHANGES:
        t->asked_at = t->now;
        xd_text_addf(&t->fields, "%" PRIu64 " %" PRIu64 " %d", t->allocated,
                     t->seconds, t->reliability);
        return;
    case XD_IBP_DECREMENTS:
        xd_text_addf(&t->fields, "%d", t->of);
        return;
    case XD_IBP_READS:
        xd_text_addf(&t->fields, "%" PRIu64 " %" PRIu64, r.begin,
                     xd_range_length(r));
        return;
    case XD_IBP_ASKS_LIMIT:
    case XD_IBP_STORES_BYTES:
    case XD_IBP_LOOKS:
        return;
    }
}

static const char *method_of(enum xd_ibp_task_step step)
{
    static const char *const methods[] = {
        [XD_IBP_ALLOCATES] = "ALLOCATE", [XD_IBP_ASKS_LIMIT] = "STATUS",
        [XD_IBP_STORES_BYTES] = "STORE", [XD_IBP_LOOKS] = "PROBE",
        [XD_IBP_CHANGES] = "CHANGE",     [XD_IBP_DECREMENTS] = "DECREMENT",
        [XD_IBP_READS] = "LOAD",
    };

    return methods[step];
}

static void set_url(struct xd_ibp_task *t)
{
    const struct xd_object *o = &t->object;

    t->url = t->store->target;
    if (t->step == XD_IBP_STORES_BYTES)
        xd_url_parse(&t->url, o->write);
    else if (t->step == XD_IBP_READS)
        xd_url_parse(&t->url, o->read);
    else if (t->step != XD_IBP_ALLOCATES && t->step != XD_IBP_ASKS_LIMIT)
        xd_url_parse(&t->url, o->manage);
}

bool xd_ibp_task_next(struct xd_task *base, int64_t now, struct xd_call *out)
{
    struct xd_ibp_task *t = (struct xd_ibp_task *)base;

    if (t->is_asked || t->result.state != XD_TASK_RUNS)
        return false;
    t->now = now;
    set_url(t);
    set_fields(t);
    if (t->fields.failed) {
        xd_ibp_task_fail_nomem(t);
        return false;
    }
    t->is_asked = true;
    *out = (struct xd_call){.id = ++t->id,
                            .url = &t->url,
                            .method = method_of(t->step),
                            .fields = t->fields.len > 0 ? t->fields.s : NULL};
    if (t->step == XD_IBP_STORES_BYTES)
        out->body = (struct xd_range){t->written, t->order.size};
    if (t->step == XD_IBP_READS)
        out->most_answer = (size_t)xd_range_length(t->order.range);
    return true;
}
