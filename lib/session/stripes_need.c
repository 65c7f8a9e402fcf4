/* SPDX-License-Identifier: MIT */
/* Finds the shards that need parity because they are lost or late. */
#include <string.h>
#include <xdownload/error.h>

#include "base/array.h"
#include "ledger/ledger.h"
#include "session/stripes_parts.h"

/* ---- queues ---- */

/* Appends to the queue.  Errors: NOMEM. */
static int put(struct xd_stripe_queue *q, size_t stripe, xd_usec now)
{
    struct xd_waiting_stripe *list;

    if (q->first > 0 && q->first >= q->n - q->first) {
        q->n -= q->first;
        memmove(q->list, &q->list[q->first], q->n * sizeof *q->list);
        q->first = 0;
    }
    list = xd_grow(q->list, q->n, &q->capacity, sizeof *list);
    if (!list)
        return XD_E_NOMEM;
    q->list = list;
    list[q->n++] = (struct xd_waiting_stripe){stripe, now};
    return 0;
}

/* Appends to the queue and sets `is_in`, a flag of the stripe, unless it is set
 * already. */
static int put_once(struct xd_stripe_queue *q, size_t stripe, xd_usec now,
                    bool *is_in)
{
    const int rc = *is_in ? 0 : put(q, stripe, now);

    *is_in |= rc == 0;
    return rc;
}

/* Removes the first stripe if it has waited for XD_STRIPES_LATE.  Otherwise
 * returns XD_NO_STRIPE, and sets *out_at to the time when it will have waited
 * that long. */
static size_t take_due(struct xd_stripe_queue *q, xd_usec now, xd_usec *out_at)
{
    *out_at = XD_NEVER;
    if (q->first == q->n)
        return XD_NO_STRIPE;
    if (now < q->list[q->first].since + XD_STRIPES_LATE) {
        *out_at = q->list[q->first].since + XD_STRIPES_LATE;
        return XD_NO_STRIPE;
    }
    return q->list[q->first++].number;
}

/* ---- stripes that are ready ---- */

int xd_stripes_put_ready(struct xd_stripes *s, size_t stripe)
{
    if (!xd_stripes_is_ready(s, stripe))
        return 0;
    return put_once(&s->ready, stripe, 0, &s->states[stripe].is_ready);
}

bool xd_stripes_has_ready(const struct xd_stripes *s)
{
    return s->ready.first < s->ready.n;
}

size_t xd_stripes_take_ready(struct xd_stripes *s)
{
    while (xd_stripes_has_ready(s)) {
        const size_t stripe = s->ready.list[s->ready.first++].number;

        s->states[stripe].is_ready = false;
        if (xd_stripes_is_ready(s, stripe))
            return stripe;
    }
    return XD_NO_STRIPE;
}

/* ---- where parity is needed ---- */

/* Returns whether a working depot has been asked for parity in place of `r`. */
static bool is_asked_at(const struct xd_stripes *s, size_t stripe,
                        struct xd_range r)
{
    const struct xd_open_stripe *o = xd_stripes_open(s, stripe);

    for (size_t i = 0; o && i < o->n_runs; i++)
        if (o->runs[i].fetch != XD_STORED &&
            !xd_range_is_empty(xd_range_clip(o->runs[i].range, r)) &&
            !s->ops->fails(s->world, o->runs[i].depot))
            return true;
    return false;
}

/* Returns whether the shard is lost at the positions of `r`, and no parity is
 * stored or requested in its place. */
static bool is_in_need(const struct xd_stripes *s, size_t stripe,
                       unsigned number, struct xd_range r)
{
    const struct xd_stripe_shape *shape = &s->list[stripe];
    const struct xd_range beside = xd_stripes_beside(shape, number, r);

    return !xd_range_is_empty(beside) && !xd_stripes_have(s, stripe, beside) &&
           !is_asked_at(s, stripe, beside) &&
           !s->ops->holds(s->world, xd_stripes_data(shape, number));
}

bool xd_stripes_has_parity(const struct xd_stripes *s, size_t stripe,
                           unsigned parity)
{
    struct xd_parity_holder h = {0};

    while (s->ops->next_holder(s->world, stripe, &h))
        if (h.parity == parity && !s->ops->fails(s->world, h.depot))
            return true;
    return false;
}

/* Returns whether the parity is unused at all positions of `r` and a depot has
 * it. */
static bool is_spare(const struct xd_stripes *s, size_t stripe, unsigned parity,
                     struct xd_range r)
{
    const struct xd_range rest = xd_stripes_next_unused(s, stripe, parity, r);

    return rest.begin == r.begin && rest.end == r.end &&
           xd_stripes_has_parity(s, stripe, parity);
}

bool xd_stripes_may_begin(const struct xd_stripes *s, size_t stripe,
                          const struct xd_coded_run *run)
{
    const struct xd_stripe_shape *shape = &s->list[stripe];
    unsigned own, n_in_need = 0, n_spare = 0;
    const struct xd_range shard =
        xd_stripes_shard(shape, run->range.begin, &own);

    if (!is_asked_at(s, stripe, run->range) && !s->ops->holds(s->world, shard))
        return true;
    for (unsigned i = 0; i < shape->k; i++)
        n_in_need += i != own && is_in_need(s, stripe, i, run->range);
    for (unsigned i = shape->k; n_in_need > 0 && i < shape->n; i++)
        n_spare += i != run->parity && is_spare(s, stripe, i, run->range);
    return n_in_need <= n_spare;
}

int xd_stripes_look_again(struct xd_stripes *s, size_t stripe, xd_usec now)
{
    struct xd_stripe_state *state = xd_stripes_state(s, stripe);

    return state ? put_once(&s->put_off, stripe, now, &state->is_put_off)
                 : XD_E_NOMEM;
}

size_t xd_stripes_next_again(struct xd_stripes *s, xd_usec now, xd_usec *out_at)
{
    const size_t stripe = take_due(&s->put_off, now, out_at);

    if (stripe != XD_NO_STRIPE)
        s->states[stripe].is_put_off = false;
    return stripe;
}

/* Returns up to where, from r.begin on, some parity is unused; r.begin if all
 * parity replaces other shards there. */
static uint64_t spare_to(const struct xd_stripes *s, size_t stripe,
                         struct xd_range r)
{
    const struct xd_stripe_shape *shape = &s->list[stripe];
    uint64_t to = r.begin;

    for (unsigned i = shape->k; i < shape->n; i++) {
        const struct xd_range unused = xd_stripes_next_unused(s, stripe, i, r);

        if (unused.begin == r.begin && unused.end > to &&
            xd_stripes_has_parity(s, stripe, i))
            to = unused.end;
    }
    return to;
}

bool xd_stripes_is_short(const struct xd_stripes *s, size_t stripe)
{
    const struct xd_stripe_shape *shape = &s->list[stripe];

    for (unsigned i = 0; i < shape->k; i++) {
        struct xd_range r = xd_stripes_data(shape, i);

        if (!is_in_need(s, stripe, i, r))
            continue;
        while (r.begin = xd_stripes_have_to(s, stripe, r), r.begin < r.end) {
            const uint64_t to = spare_to(s, stripe, r);

            if (to == r.begin)
                return true;
            r.begin = to;
        }
    }
    return false;
}

/* ---- late shards ---- */

bool xd_stripes_next_lacking(const struct xd_stripes *s, size_t stripe,
                             unsigned *number, struct xd_range *out)
{
    const struct xd_stripe_shape *shape = &s->list[stripe];

    for (; *number < shape->k; ++*number) {
        *out = xd_stripes_data(shape, *number);
        if (!xd_stripes_have(s, stripe, *out))
            return true;
    }
    return false;
}

static unsigned count_lacking(const struct xd_stripes *s, size_t stripe)
{
    struct xd_range range;
    unsigned n = 0;

    for (unsigned i = 0; xd_stripes_next_lacking(s, stripe, &i, &range); i++)
        n++;
    return n;
}

static bool has_before(const struct xd_open_stripe *o, size_t i)
{
    for (size_t j = 0; j < i; j++)
        if (o->runs[j].parity == o->runs[i].parity)
            return true;
    return false;
}

static unsigned count_spare(const struct xd_stripes *s, size_t stripe)
{
    const struct xd_open_stripe *o = xd_stripes_open(s, stripe);
    unsigned n = s->list[stripe].n - s->list[stripe].k;

    for (size_t i = 0; o && i < o->n_runs; i++)
        n -= !has_before(o, i);
    return n;
}

/* Returns true if shards are missing and there is enough parity for all of
 * them.  With less parity, late shards would use up what lost shards need. */
static bool lacks_few(const struct xd_stripes *s, size_t stripe)
{
    const unsigned n = count_lacking(s, stripe);

    return n > 0 && n <= count_spare(s, stripe);
}

int xd_stripes_look(struct xd_stripes *s, size_t stripe, xd_usec now)
{
    struct xd_stripe_state *state = xd_stripes_state(s, stripe);

    if (!state)
        return XD_E_NOMEM;
    if (state->has_waited || !lacks_few(s, stripe))
        return 0;
    return put_once(&s->waiting, stripe, now, &state->has_waited);
}

size_t xd_stripes_next_late(struct xd_stripes *s, xd_usec now, xd_usec *out_at)
{
    size_t stripe;

    while (stripe = take_due(&s->waiting, now, out_at),
           stripe != XD_NO_STRIPE) {
        if (lacks_few(s, stripe))
            return stripe;
        s->states[stripe].has_waited = false;
    }
    return XD_NO_STRIPE;
}
