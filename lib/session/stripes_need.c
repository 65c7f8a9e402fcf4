/* SPDX-License-Identifier: MIT */
/* Which shards are asked of parity: those that are lost, and those that are late. */
#include <xdownload/error.h>

#include "base/alloc.h"
#include "base/array.h"
#include "ledger/ledger.h"
#include "session/stripes_parts.h"

/* ---- queues ---- */

/* Behind the others, once as long as that is noted in `is_in`.  Errors: NOMEM. */
static int put(const struct xd_stripes *s, struct xd_stripe_queue *q,
               bool **is_in, size_t stripe, xd_usec now)
{
    struct xd_waiting_stripe *list;

    if (!*is_in)
        *is_in = xd_alloc(s->n, sizeof **is_in);
    if (!*is_in)
        return XD_E_NOMEM;
    if ((*is_in)[stripe])
        return 0;
    list = xd_grow(q->list, q->n, &q->capacity, sizeof *list);
    if (!list)
        return XD_E_NOMEM;
    q->list = list;
    (*is_in)[stripe] = true;
    list[q->n++] = (struct xd_waiting_stripe){stripe, now};
    return 0;
}

/* The first, if XD_STRIPES_LATE has passed. */
static size_t take_due(struct xd_stripe_queue *q, xd_usec now, xd_usec *out_at)
{
    *out_at = XD_NEVER;
    if (q->first == q->n) {
        q->first = q->n = 0;
        return XD_NO_STRIPE;
    }
    if (now < q->list[q->first].since + XD_STRIPES_LATE) {
        *out_at = q->list[q->first].since + XD_STRIPES_LATE;
        return XD_NO_STRIPE;
    }
    return q->list[q->first++].number;
}

/* ---- for what parity is needed ---- */

/* By a depot that does not fail. */
static bool is_asked_at(const struct xd_stripes *s, size_t stripe,
                        struct xd_range r)
{
    const struct xd_open_stripe *o = xd_stripes_open(s, stripe);

    for (size_t i = 0; o && i < o->n_runs; i++)
        if (o->runs[i].fetch != XD_STORED &&
            !xd_range_is_empty(xd_range_clip(o->runs[i].range, r)) &&
            !s->fails(s->world, o->runs[i].depot))
            return true;
    return false;
}

/* Whether the shard has to be decoded at the positions of `r`, and no parity for
 * that is there yet, or on its way. */
static bool is_in_need(const struct xd_stripes *s, size_t stripe,
                       const struct xd_ledger *l, unsigned number,
                       struct xd_range r)
{
    const struct xd_stripe_shape *shape = &s->list[stripe];
    const struct xd_open_stripe *o = xd_stripes_open(s, stripe);
    const struct xd_range beside = xd_stripes_beside(shape, number, r);

    return !xd_range_is_empty(beside) && !xd_stripes_have(o, beside, l) &&
           !is_asked_at(s, stripe, beside) &&
           !s->holds(s->world, xd_stripes_data(shape, number));
}

/* Whether no run has that parity at any position of `r`, and a depot has it. */
static bool is_spare(const struct xd_stripes *s, size_t stripe, unsigned parity,
                     struct xd_range r)
{
    const struct xd_range rest = xd_stripes_next_unused(s, stripe, parity, r);

    return rest.begin == r.begin && rest.end == r.end &&
           s->has_parity(s->world, stripe, parity);
}

bool xd_stripes_may_begin(const struct xd_stripes *s, size_t stripe,
                          const struct xd_ledger *l,
                          const struct xd_coded_run *run)
{
    const struct xd_stripe_shape *shape = &s->list[stripe];
    unsigned own, n_in_need = 0, n_spare = 0;
    const struct xd_range shard =
        xd_stripes_shard(shape, run->range.begin, &own);

    if (!is_asked_at(s, stripe, run->range) && !s->holds(s->world, shard))
        return true;
    for (unsigned i = 0; i < shape->k; i++)
        n_in_need += i != own && is_in_need(s, stripe, l, i, run->range);
    for (unsigned i = shape->k; n_in_need > 0 && i < shape->n; i++)
        n_spare += i != run->parity && is_spare(s, stripe, i, run->range);
    return n_in_need <= n_spare;
}

int xd_stripes_look_again(struct xd_stripes *s, size_t stripe, xd_usec now)
{
    return put(s, &s->put_off, &s->is_put_off, stripe, now);
}

bool xd_stripes_was_put_off(struct xd_stripes *s, size_t stripe)
{
    const bool was_put_off = s->is_put_off && s->is_put_off[stripe];

    if (was_put_off)
        s->is_put_off[stripe] = false;
    return was_put_off;
}

size_t xd_stripes_next_again(struct xd_stripes *s, xd_usec now, xd_usec *out_at)
{
    size_t stripe;

    while (stripe = take_due(&s->put_off, now, out_at), stripe != XD_NO_STRIPE)
        if (xd_stripes_was_put_off(s, stripe))
            return stripe;
    return XD_NO_STRIPE;
}

static bool has_spare(const struct xd_stripes *s, size_t stripe,
                      struct xd_range r)
{
    const struct xd_stripe_shape *shape = &s->list[stripe];

    for (unsigned i = shape->k; i < shape->n; i++)
        if (!xd_range_is_empty(xd_stripes_next_unused(s, stripe, i, r)) &&
            s->has_parity(s->world, stripe, i))
            return true;
    return false;
}

bool xd_stripes_is_short(const struct xd_stripes *s, size_t stripe,
                         const struct xd_ledger *l)
{
    const struct xd_stripe_shape *shape = &s->list[stripe];

    for (unsigned i = 0; i < shape->k; i++) {
        const struct xd_range r = xd_stripes_data(shape, i);

        if (is_in_need(s, stripe, l, i, r) && !has_spare(s, stripe, r))
            return true;
    }
    return false;
}

/* ---- late shards ---- */

bool xd_stripes_next_lacking(const struct xd_stripes *s, size_t stripe,
                             const struct xd_ledger *l, unsigned *number,
                             struct xd_range *out)
{
    const struct xd_stripe_shape *shape = &s->list[stripe];
    const struct xd_open_stripe *o = xd_stripes_open(s, stripe);

    for (; *number < shape->k; ++*number) {
        *out = xd_stripes_data(shape, *number);
        if (!xd_stripes_have(o, *out, l))
            return true;
    }
    return false;
}

static unsigned count_lacking(const struct xd_stripes *s, size_t stripe,
                              const struct xd_ledger *l)
{
    struct xd_range range;
    unsigned n = 0;

    for (unsigned i = 0; xd_stripes_next_lacking(s, stripe, l, &i, &range); i++)
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

/* How many shards of parity take the place of none. */
static unsigned count_spare(const struct xd_stripes *s, size_t stripe)
{
    const struct xd_open_stripe *o = xd_stripes_open(s, stripe);
    unsigned n = s->list[stripe].n - s->list[stripe].k;

    for (size_t i = 0; o && i < o->n_runs; i++)
        n -= !has_before(o, i);
    return n;
}

/* Whether some shards are not there, and there is parity for each of them: where
 * there is less, what is only late would take it from what is lost. */
static bool lacks_few(const struct xd_stripes *s, size_t stripe,
                      const struct xd_ledger *l)
{
    const unsigned n = count_lacking(s, stripe, l);

    return n > 0 && n <= count_spare(s, stripe);
}

int xd_stripes_look(struct xd_stripes *s, size_t stripe,
                    const struct xd_ledger *l, xd_usec now)
{
    if ((s->has_waited && s->has_waited[stripe]) || !lacks_few(s, stripe, l))
        return 0;
    return put(s, &s->waiting, &s->has_waited, stripe, now);
}

size_t xd_stripes_next_late(struct xd_stripes *s, const struct xd_ledger *l,
                            xd_usec now, xd_usec *out_at)
{
    size_t stripe;

    while (stripe = take_due(&s->waiting, now, out_at),
           stripe != XD_NO_STRIPE) {
        if (lacks_few(s, stripe, l))
            return stripe;
        s->has_waited[stripe] = false;
    }
    return XD_NO_STRIPE;
}
