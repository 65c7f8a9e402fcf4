/* SPDX-License-Identifier: MIT */
#include "sim/coded.h"

#include <xdownload/error.h>

#include "base/alloc.h"
#include "sim/holdings.h"
#include "sim/request.h"

static bool fails(const struct xd_run *r, unsigned depot)
{
    return depot >= r->n_joined || r->trust.is_banned[depot] ||
           r->standings[depot].fails ||
           xd_sched_is_aside(r->driver.session.sched, depot);
}

static bool is_failing(const void *run, unsigned depot)
{
    return fails(run, depot);
}

static bool holds(const void *run, struct xd_range range)
{
    const struct xd_run *r = run;

    for (unsigned i = 0; i < r->n_joined; i++)
        if (!fails(r, i) &&
            !xd_range_is_empty(xd_sim_next_own(r->scenario, r->o, i, range)))
            return true;
    return false;
}

static bool has_parity(const void *run, size_t stripe, unsigned parity)
{
    const struct xd_run *r = run;

    return !fails(r, xd_sim_depot_of(&r->o->code, stripe, parity));
}

int xd_sim_coded_start(struct xd_run *r)
{
    const struct xd_sim_code *c = &r->o->code;
    const uint64_t bytes = c->k * r->o->object_bytes;
    struct xd_stripes *s = &r->stripes;

    if (c->k == 0)
        return 0;
    s->list = xd_alloc((size_t)((r->o->size - 1) / bytes) + 1, sizeof *s->list);
    if (!s->list)
        return XD_E_NOMEM;
    s->world = r;
    s->holds = holds;
    s->fails = is_failing;
    s->has_parity = has_parity;
    for (uint64_t at = 0; at < r->o->size; at += bytes)
        s->list[s->n++] = (struct xd_stripe_shape){
            xd_range_clip((struct xd_range){at, at + bytes}, r->whole),
            r->o->object_bytes, c->k, c->n};
    return 0;
}

void xd_sim_coded_fini(struct xd_run *r)
{
    xd_stripes_fini(&r->stripes);
}

/* ---- which depots can be asked ---- */

/* That a depot with parity can or cannot take the place of the range. */
static void report(struct xd_run *r, unsigned depot, struct xd_range range,
                   enum xd_sched_event_kind kind)
{
    if (depot < r->n_joined && !r->trust.is_banned[depot] &&
        !xd_range_is_empty(range))
        xd_run_take_event(r, (struct xd_sched_event){.kind = kind,
                                                     .depot = depot,
                                                     .range = range,
                                                     .is_lent = true});
}

/* Likewise that shard of parity at the positions of `range`, which is in one shard,
 * the places of all others. */
static void report_others(struct xd_run *r, size_t stripe, unsigned parity,
                          struct xd_range range, enum xd_sched_event_kind kind)
{
    const struct xd_stripe_shape *shape = &r->stripes.list[stripe];
    unsigned own;

    (void)xd_stripes_shard(shape, range.begin, &own);
    for (unsigned i = 0; i < shape->k; i++)
        if (i != own)
            report(r, xd_sim_depot_of(&r->o->code, stripe, parity),
                   xd_stripes_beside(shape, i, range), kind);
}

/* What no run has of it can take the place of others. */
static void give_back(struct xd_run *r, size_t stripe,
                      const struct xd_coded_run *run)
{
    struct xd_range rest = run->range, gap;

    while (gap = xd_stripes_next_unused(&r->stripes, stripe, run->parity, rest),
           !xd_range_is_empty(gap)) {
        report_others(r, stripe, run->parity, gap, XD_EV_HOLDS);
        rest.begin = gap.end;
    }
}

/* Whatever was lent of parity that takes the place of none. */
static void hold_again(struct xd_run *r, size_t stripe)
{
    const struct xd_sim_code *c = &r->o->code;

    for (unsigned i = c->k; i < c->n; i++)
        for (unsigned k = 0; k < c->k; k++) {
            struct xd_range rest = xd_stripes_data(&r->stripes.list[stripe], k),
                            gap;

            while (gap = xd_stripes_next_unused(&r->stripes, stripe, i, rest),
                   !xd_range_is_empty(gap)) {
                report(r, xd_sim_depot_of(c, stripe, i), gap, XD_EV_HOLDS);
                rest.begin = gap.end;
            }
        }
}

static void look_again(struct xd_run *r, size_t stripe)
{
    if (xd_stripes_look_again(&r->stripes, stripe, xd_run_usec(r->net.now)) < 0)
        xd_run_out_of_memory(r);
}

/* ---- requests ---- */

enum xd_sim_coded_kind xd_sim_coded_begin(struct xd_run *r,
                                          const struct xd_sched_action *a)
{
    const size_t stripe = xd_stripes_find(&r->stripes, a->range.begin);
    struct xd_coded_run run = {
        .range = a->range, .depot = a->depot, .fetch = a->fetch};

    if (stripe == XD_NO_STRIPE)
        return XD_SIM_IS_DATA;
    run.parity = xd_sim_shard_of(&r->o->code, a->depot, stripe);
    if (run.parity < r->o->code.k)
        return XD_SIM_IS_DATA;
    if (!xd_stripes_may_begin(&r->stripes, stripe, &r->driver.ledger, &run)) {
        look_again(r, stripe);
        report(r, a->depot, a->range, XD_EV_LOST);
        return XD_SIM_IS_KEPT;
    }
    if (xd_stripes_begin(&r->stripes, stripe, &run) < 0)
        xd_run_out_of_memory(r);
    report_others(r, stripe, run.parity, run.range, XD_EV_LOST);
    return XD_SIM_IS_PARITY;
}

void xd_sim_coded_stored(struct xd_run *r, unsigned fetch,
                         struct xd_range range)
{
    if (xd_stripes_stored(&r->stripes, fetch, range) < 0)
        xd_run_out_of_memory(r);
    xd_sim_coded_written(r, range);
    r->is_decision_due = true;
}

void xd_sim_coded_ended(struct xd_run *r, unsigned fetch)
{
    struct xd_coded_run run;
    size_t stripe;

    if (!xd_stripes_end(&r->stripes, fetch, &stripe, &run))
        return;
    give_back(r, stripe, &run);
    if (xd_stripes_was_put_off(&r->stripes, stripe))
        hold_again(r, stripe);
    if (xd_stripes_is_open(&r->stripes, stripe))
        look_again(r, stripe);
}

bool xd_sim_coded_is_coming(void *user, uint64_t byte)
{
    const struct xd_run *r = user;
    const size_t stripe = xd_stripes_find(&r->stripes, byte);

    return stripe != XD_NO_STRIPE && xd_stripes_is_asked(&r->stripes, stripe);
}

/* ---- what does not count ---- */

/* A run that was taken out: its bytes are missing again. */
static void release(struct xd_run *r, size_t stripe,
                    const struct xd_coded_run *run)
{
    if (xd_ledger_written(&r->driver.ledger, run->range, XD_NO_DEPOT) < 0) {
        xd_run_out_of_memory(r);
        return;
    }
    xd_trust_discard(r, run->range, XD_DISCARD_BAD_PIECE);
    give_back(r, stripe, run);
}

void xd_sim_coded_drop(struct xd_run *r, unsigned depot)
{
    const struct xd_range none = {0, 0};
    struct xd_coded_run run;
    size_t stripe;

    while (xd_stripes_take(&r->stripes, depot, none, &stripe, &run))
        release(r, stripe, &run);
}

/* Parity that takes the place of data which a depot holds is for data that none
 * does.  False: there is no such parity. */
static bool spare(struct xd_run *r, size_t stripe)
{
    struct xd_stripes *s = &r->stripes;
    struct xd_coded_run run;
    unsigned number;

    for (size_t i = 0; xd_stripes_next_run(s, stripe, &i, &run); i++) {
        const struct xd_range shard =
            xd_stripes_shard(&s->list[stripe], run.range.begin, &number);

        if (!holds(r, shard))
            continue;
        while (xd_stripes_take_in(s, stripe, shard, &run))
            release(r, stripe, &run);
        look_again(r, stripe);
        return true;
    }
    return false;
}

static void reconsider(struct xd_run *r, size_t stripe)
{
    hold_again(r, stripe);
    if (xd_stripes_is_short(&r->stripes, stripe, &r->driver.ledger))
        (void)spare(r, stripe);
    if (xd_stripes_is_open(&r->stripes, stripe))
        look_again(r, stripe);
}

bool xd_sim_coded_spares(struct xd_run *r, uint64_t byte)
{
    const size_t stripe = xd_stripes_find(&r->stripes, byte);

    if (stripe == XD_NO_STRIPE)
        return false;
    if (xd_stripes_was_put_off(&r->stripes, stripe)) {
        hold_again(r, stripe);
        return true;
    }
    return spare(r, stripe);
}

/* ---- late shards ---- */

void xd_sim_coded_written(struct xd_run *r, struct xd_range range)
{
    struct xd_stripes *s = &r->stripes;

    while (!r->o->ignores_late && !xd_range_is_empty(range)) {
        const size_t stripe = xd_stripes_find(s, range.begin);

        if (stripe == XD_NO_STRIPE)
            return;
        if (xd_stripes_look(s, stripe, &r->driver.ledger,
                            xd_run_usec(r->net.now)) < 0)
            xd_run_out_of_memory(r);
        range.begin = s->list[stripe].range.end;
    }
}

/* Depots with parity of the stripe hold the shard as its own does. */
static void join_late(struct xd_run *r, size_t stripe, struct xd_range shard)
{
    const struct xd_sim_code *c = &r->o->code;

    for (unsigned i = c->k; i < c->n; i++) {
        const unsigned depot = xd_sim_depot_of(c, stripe, i);
        struct xd_range rest = shard, gap;

        if (depot >= r->n_joined || r->trust.is_banned[depot] ||
            r->standings[depot].is_given_up)
            continue;
        while (gap = xd_stripes_next_unused(&r->stripes, stripe, i, rest),
               !xd_range_is_empty(gap)) {
            xd_run_take_event(r, (struct xd_sched_event){.kind = XD_EV_JOINED,
                                                         .depot = depot,
                                                         .range = gap});
            rest.begin = gap.end;
        }
    }
}

xd_usec xd_sim_coded_watch(struct xd_run *r)
{
    const xd_usec now = xd_run_usec(r->net.now);
    struct xd_range shard;
    xd_usec late_at, again_at;
    size_t stripe;

    while (stripe = xd_stripes_next_late(&r->stripes, &r->driver.ledger, now,
                                         &late_at),
           stripe != XD_NO_STRIPE)
        for (unsigned i = 0; xd_stripes_next_lacking(
                 &r->stripes, stripe, &r->driver.ledger, &i, &shard);
             i++)
            join_late(r, stripe, shard);
    while (stripe = xd_stripes_next_again(&r->stripes, now, &again_at),
           stripe != XD_NO_STRIPE)
        reconsider(r, stripe);
    return xd_earlier(late_at, again_at);
}

/* ---- decoding ---- */

/* Depots whose parity lies in the places of data of the stripe are banned if it is
 * wrong; returns whether any was. */
static bool find_liars(struct xd_run *r, size_t stripe)
{
    struct xd_coded_run run;
    bool are_there = false;
    size_t i = 0;

    while (xd_stripes_next_run(&r->stripes, stripe, &i, &run)) {
        i++;
        if (!xd_trust_lies(r, run.depot))
            continue;
        are_there = true;
        xd_trust_ban(r, run.depot);
        i = 0; /* its runs are gone */
    }
    return are_there;
}

static void accept(struct xd_run *r, const struct xd_coded_run *run)
{
    if (xd_ledger_written(&r->driver.ledger, run->range, run->depot) < 0)
        xd_run_out_of_memory(r);
    else
        xd_trust_written(r, run->range);
}

void xd_sim_coded_decode(struct xd_run *r)
{
    struct xd_coded_run run;
    size_t stripe;

    while (!r->driver.is_over &&
           (stripe = xd_stripes_ready(&r->stripes, &r->driver.ledger,
                                      &r->trust.pieces)) != XD_NO_STRIPE) {
        const bool is_wrong = find_liars(r, stripe);

        while (xd_stripes_take_in(&r->stripes, stripe, r->whole, &run)) {
            if (is_wrong)
                release(r, stripe, &run);
            else
                accept(r, &run);
        }
    }
}
