/* SPDX-License-Identifier: MIT */
#include "engine/coded.h"

#include "base/alloc.h"
#include "base/error.h"
#include "engine/depot.h"
#include "engine/depots.h"
#include "engine/engine.h"
#include "engine/lane.h"
#include "engine/sched_events.h"
#include "engine/source.h"
#include "engine/trust/discard.h"
#include "engine/via.h"
#include "manifest/model.h"
#include "session/stand_in.h"

/* Parity is used for bytes that are kept in memory only if two stripes fit into
 * this much. */
#define MOST_IN_MEMORY ((uint64_t)64 << 20)

static struct xd_range data_of(const struct xd_model_stripe *m)
{
    return (struct xd_range){m->offset, m->offset + m->length};
}

static bool is_within(struct xd_range r, struct xd_range of)
{
    return of.begin <= r.begin && r.end <= of.end;
}

static bool is_too_long(const struct xd_engine *e,
                        const struct xd_model_stripe *m)
{
    return xd_engine_is_bounded(e) && m->length > MOST_IN_MEMORY / 2;
}

/* Drops parity of stripes that are not needed. */
static void drop_useless(struct xd_engine *e)
{
    for (size_t i = 0; i < e->depots.n; i++) {
        struct xd_depot *d = e->depots.list[i];

        for (size_t k = 0; k < d->n_parity; k++)
            if (xd_stripes_find(&e->coded.stripes, d->parity[k]->range.begin) ==
                XD_NO_STRIPE)
                xd_depot_drop_source(d, d->parity[k]);
    }
}

static bool fails(const struct xd_engine *e, const struct xd_depot *d)
{
    return (e->session.sched &&
            xd_sched_is_aside(e->session.sched, d->number)) ||
           d->state == XD_DEPOT_FAILED || d->state == XD_DEPOT_PAUSED ||
           (d->failures > 0 && d->bytes_received == 0);
}

static bool is_failing(const void *engine, unsigned depot)
{
    const struct xd_engine *e = engine;

    return fails(e, e->depots.list[depot]);
}

/* Returns true if depots hold the range together, even if each holds only a
 * part of it. */
static bool holds(const void *engine, struct xd_range range)
{
    const struct xd_engine *e = engine;
    struct xd_rangeset all = {0}, held;
    bool is_held;
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < e->depots.n; i++) {
        const struct xd_depot *d = e->depots.list[i];

        if (fails(e, d))
            continue;
        rc = xd_depot_holds(d, range, &held);
        for (size_t k = 0; rc == 0 && k < held.n; k++)
            rc = xd_rangeset_add(&all, held.ranges[k]);
        xd_rangeset_fini(&held);
    }
    is_held = rc == 0 && xd_rangeset_contains(&all, range);
    xd_rangeset_fini(&all);
    return is_held;
}

static bool next_holder(const void *engine, size_t stripe,
                        struct xd_parity_holder *h)
{
    const struct xd_engine *e = engine;
    const uint64_t begin = e->coded.stripes.list[stripe].range.begin;

    for (; h->i < e->depots.n; h->i++, h->k = 0) {
        const struct xd_depot *d = e->depots.list[h->i];
        const struct xd_depot_source *s = xd_depot_parity(d, begin, h->k);

        if (!s)
            continue;
        h->k++;
        h->depot = d->number;
        h->parity = xd_source_parity(s).number;
        return true;
    }
    return false;
}

/* ---- decisions of session/stand_in.h ---- */

typedef void report_fn(struct xd_engine *e, unsigned depot,
                       struct xd_range range);

/* Reports the range, except for bytes that the depot holds itself. */
static void report_gaps_locked(struct xd_engine *e, unsigned depot,
                               struct xd_range range, report_fn *report)
{
    struct xd_rangeset held;

    if (xd_depot_holds(e->depots.list[depot], range, &held) < 0) {
        xd_engine_fail_nomem_locked(e);
        return;
    }
    while (!xd_range_is_empty(range)) {
        const struct xd_range gap = xd_rangeset_next_gap(&held, range);

        if (!xd_range_is_empty(gap))
            report(e, depot, gap);
        range.begin = gap.end;
    }
    xd_rangeset_fini(&held);
}

static void lend_locked(void *engine, unsigned depot, struct xd_range range)
{
    report_gaps_locked(engine, depot, range, xd_report_lent_locked);
}

static void give_back_locked(void *engine, unsigned depot,
                             struct xd_range range)
{
    report_gaps_locked(engine, depot, range, xd_report_holds_locked);
}

static void join_locked(void *engine, unsigned depot, struct xd_range range)
{
    struct xd_engine *e = engine;
    const struct xd_depot *d = e->depots.list[depot];

    if (!d->is_banned && d->state != XD_DEPOT_FAILED)
        xd_report_joined_locked(e, depot, range, 0,
                                e->depots.via ? XD_TIER_DIRECT : XD_TIER_OWNER);
}

static void ask_again_locked(void *engine)
{
    struct xd_engine *e = engine;

    if (e->session.sched)
        xd_sched_ask_again(e->session.sched);
}

static void discard_locked(void *engine, struct xd_range range,
                           enum xd_discard_reason why)
{
    struct xd_engine *e = engine;

    if (xd_ledger_written(&e->ledger, range, XD_NO_DEPOT) < 0)
        xd_engine_fail_nomem_locked(e);
    else
        xd_discard_locked(e, range, why);
}

static void run_out_locked(void *engine)
{
    xd_engine_fail_nomem_locked(engine);
}

static const struct xd_stripe_ops ops = {.holds = holds,
                                         .fails = is_failing,
                                         .next_holder = next_holder,
                                         .lend = lend_locked,
                                         .give_back = give_back_locked,
                                         .join = join_locked,
                                         .ask_again = ask_again_locked,
                                         .discard = discard_locked,
                                         .run_out = run_out_locked};

/* ---- creation and release ---- */

int xd_coded_start_locked(struct xd_engine *e, struct xd_error *err)
{
    const struct xd_model_rare *rare =
        e->depots.manifest->files[e->depots.file].rare;
    struct xd_coded *c = &e->coded;
    size_t n_too_long = 0;

    if (rare->n_stripes == 0 || c->stripes.list)
        return 0;
    c->stripes.list = xd_alloc(rare->n_stripes, sizeof *c->stripes.list);
    c->of = xd_alloc(rare->n_stripes, sizeof *c->of);
    if (!c->stripes.list || !c->of)
        return xd_fail_nomem(err);
    c->stripes.ledger = &e->ledger;
    c->stripes.pieces = &e->verify.pieces;
    c->stripes.ops = &ops;
    c->stripes.world = e;
    for (size_t i = 0; i < rare->n_stripes; i++) {
        const struct xd_model_stripe *m = &rare->stripes[i];

        n_too_long += is_too_long(e, m);
        if (is_too_long(e, m) || !is_within(data_of(m), e->wanted))
            continue;
        c->of[c->stripes.n].model = m;
        c->stripes.list[c->stripes.n++] =
            (struct xd_stripe_shape){data_of(m), m->shard_bytes, m->k, m->n};
    }
    drop_useless(e);
    if (n_too_long > 0)
        xd_engine_log_locked(e, XD_LOG_WARN,
                             "%zu stripes are longer than 32 MiB: their parity "
                             "is not used where bytes are kept in memory",
                             n_too_long);
    return 0;
}

void xd_coded_fini(struct xd_coded *c)
{
    xd_stripes_fini(&c->stripes);
    xd_free(c->of);
    *c = (struct xd_coded){.of = NULL};
}

/* Returns the depot's source of parity shard `number`, or of any parity shard
 * if `number` is 0. */
static struct xd_depot_source *parity_of(const struct xd_depot *d,
                                         uint64_t byte, unsigned number)
{
    struct xd_depot_source *s;

    for (size_t i = 0; (s = xd_depot_parity(d, byte, i)); i++)
        if (number == 0 || xd_source_parity(s).number == number)
            return s;
    return NULL;
}

void xd_coded_give_up_locked(struct xd_engine *e, size_t stripe,
                             unsigned parity)
{
    const struct xd_range range = e->coded.stripes.list[stripe].range;

    for (size_t i = 0; i < e->depots.n; i++) {
        struct xd_depot *d = e->depots.list[i];
        struct xd_depot_source *s;

        while ((s = parity_of(d, range.begin, parity))) {
            xd_depot_drop_source(d, s);
            report_gaps_locked(e, d->number, range, xd_report_lost_locked);
            xd_stand_in_hold(&e->coded.stripes, stripe, d->number);
        }
    }
}

/* ---- requests ---- */

/* Returns true if data of the stripe was read and dropped, so that the stripe
 * cannot be decoded. */
static bool was_evicted(const struct xd_engine *e, struct xd_range range)
{
    return !xd_range_is_empty(
        xd_ledger_next(&e->ledger, 1u << XD_BYTE_EVICTED, range));
}

bool xd_coded_fetch_locked(struct xd_engine *e, struct xd_depot *depot,
                           struct xd_lane *lane)
{
    struct xd_stripes *s = &e->coded.stripes;
    struct xd_coded_run run = {.depot = depot->number, .fetch = lane->fetch};
    size_t stripe;
    unsigned number;

    if (xd_depot_source(depot, lane->range) ||
        !xd_stand_in_choose(s, depot->number, lane->range, &run))
        return false;
    lane->is_cut = run.range.end < lane->range.end;
    lane->range = run.range;
    lane->end = run.range.end;
    stripe = xd_stripes_find(s, run.range.begin);
    if (was_evicted(e, s->list[stripe].range)) {
        lane->stop = true;
        xd_coded_give_up_locked(e, stripe, 0);
        return false;
    }
    lane->is_coded = xd_stand_in_begin(s, &run, xd_engine_clock_locked(e));
    if (!lane->is_coded) {
        lane->stop = true; /* stopped before it starts */
        return false;
    }
    lane->parity = run.parity;
    (void)xd_stripes_shard(&s->list[stripe], run.range.begin, &number);
    xd_engine_log_locked(
        e, XD_LOG_DEBUG, "%s: shard %u of stripe %llu replaces shard %u",
        depot->host, run.parity,
        (unsigned long long)e->coded.of[stripe].model->number, number);
    return true;
}

struct xd_depot_source *xd_coded_source_locked(const struct xd_depot *depot,
                                               const struct xd_lane *lane)
{
    return parity_of(depot, lane->range.begin, lane->parity);
}

/* Wakes the keeper if there may be a stripe to decode. */
static void wake_keeper_locked(struct xd_engine *e)
{
    if (xd_stripes_has_ready(&e->coded.stripes))
        xd_cond_signal(&e->bytes_ready);
}

void xd_coded_stored_locked(struct xd_engine *e, const struct xd_lane *lane,
                            struct xd_range range)
{
    xd_stand_in_stored(&e->coded.stripes, lane->fetch, range,
                       xd_engine_clock_locked(e));
    wake_keeper_locked(e);
}

void xd_coded_written_locked(struct xd_engine *e, struct xd_range range)
{
    if (e->coded.stripes.n == 0)
        return;
    xd_stand_in_written(&e->coded.stripes, range, xd_engine_clock_locked(e));
    wake_keeper_locked(e);
}

xd_usec xd_coded_watch_locked(struct xd_engine *e)
{
    xd_usec at;

    if (e->session.phase != XD_PHASE_FETCH)
        return XD_NEVER;
    at = xd_stand_in_watch(&e->coded.stripes, xd_engine_clock_locked(e));
    return at == XD_NEVER ? at : at + e->pause.former;
}

void xd_coded_ended_locked(struct xd_engine *e, const struct xd_lane *lane)
{
    if (e->coded.stripes.n > 0)
        xd_stand_in_ended(&e->coded.stripes, lane->fetch, lane->range.begin,
                          xd_engine_clock_locked(e));
}

/* Called when a source is gone.  If it was parity, other parity of the stripe
 * on that depot can be requested now. */
static void source_lost(struct xd_engine *e, const struct xd_depot *depot,
                        const struct xd_depot_source *s)
{
    const size_t stripe =
        s->is_parity ? xd_stripes_find(&e->coded.stripes, s->range.begin)
                     : XD_NO_STRIPE;

    if (stripe != XD_NO_STRIPE)
        xd_stand_in_hold(&e->coded.stripes, stripe, depot->number);
}

void xd_coded_lose_source_locked(struct xd_engine *e, struct xd_depot *depot,
                                 struct xd_depot_source *source,
                                 const struct xd_error *why)
{
    const unsigned number = depot->number;
    struct xd_range rest = source->range;
    struct xd_rangeset held;

    if (source->is_gone)
        return; /* another lane has reported it */
    xd_depot_lose_source(depot, source, why);
    if (xd_depot_holds(depot, rest, &held) < 0) {
        xd_engine_fail_nomem_locked(e);
        return;
    }
    if (depot->n_left == 0) {
        xd_depots_set_state(&e->depots, depot, XD_DEPOT_FAILED);
        xd_report_banned_locked(e, number);
        rest.begin = rest.end;
    }
    while (!xd_range_is_empty(rest)) {
        struct xd_range gap = xd_rangeset_next_gap(&held, rest);

        if (!xd_range_is_empty(gap))
            xd_report_lost_locked(e, number, gap);
        rest.begin = gap.end;
    }
    xd_rangeset_fini(&held);
    source_lost(e, depot, source);
}

/* ---- parity that is given up ---- */

/* If the keeper is decoding such a stripe, it checks afterwards whether the
 * depot was banned. */
void xd_coded_drop_depot_locked(struct xd_engine *e, unsigned depot)
{
    xd_stand_in_drop(&e->coded.stripes, depot, e->verify.reading,
                     XD_DISCARD_BANNED);
}

void xd_coded_stop_locked(struct xd_engine *e)
{
    xd_stand_in_drop(&e->coded.stripes, XD_STORED, e->verify.reading,
                     XD_DISCARD_DROPPED);
    for (size_t i = 0; i < e->depots.n; i++) {
        struct xd_depot *d = e->depots.list[i];

        for (size_t k = 0; k < d->n_parity; k++)
            xd_depot_drop_source(d, d->parity[k]);
    }
}

bool xd_coded_may_come_locked(struct xd_engine *e, struct xd_range range)
{
    const struct xd_range coming = xd_stand_in_coming(&e->coded.stripes, range);

    if (xd_range_is_empty(coming))
        return false;
    if (xd_sched_put_off(e->session.sched, coming) < 0)
        xd_engine_fail_nomem_locked(e);
    return true;
}

bool xd_coded_spares_locked(struct xd_engine *e, uint64_t byte)
{
    return xd_stand_in_spares(&e->coded.stripes, byte,
                              xd_engine_clock_locked(e));
}

bool xd_coded_fail_locked(struct xd_engine *e, uint64_t byte)
{
    struct xd_stripes *s = &e->coded.stripes;
    const size_t stripe = xd_stripes_find(s, byte);
    const struct xd_model_stripe *model;

    if (stripe == XD_NO_STRIPE || !xd_stripes_is_open(s, stripe))
        return false;
    e->coded.of[stripe].n_left = xd_coded_n_left_locked(e, byte, &model);
    xd_coded_give_up_locked(e, stripe, 0);
    return xd_stand_in_drop_stripe(s, stripe, XD_DISCARD_DROPPED);
}

/* ---- facts for messages ---- */

static bool can_be_had(const struct xd_engine *e, size_t stripe,
                       unsigned number)
{
    const struct xd_stripe_shape *shape = &e->coded.stripes.list[stripe];
    struct xd_range range;

    if (number >= shape->k)
        return xd_stripes_has_parity(&e->coded.stripes, stripe, number);
    range = xd_stripes_data(shape, number);
    return xd_ledger_has(&e->ledger, XD_BYTES_STORED, range) || holds(e, range);
}

unsigned xd_coded_n_left_locked(const struct xd_engine *e, uint64_t byte,
                                const struct xd_model_stripe **out)
{
    const size_t stripe = xd_stripes_find(&e->coded.stripes, byte);
    unsigned n = 0;

    *out = stripe == XD_NO_STRIPE ? NULL : e->coded.of[stripe].model;
    if (*out && e->coded.of[stripe].n_left > 0)
        return e->coded.of[stripe].n_left;
    for (unsigned i = 0; *out && i < (*out)->n; i++)
        n += can_be_had(e, stripe, i);
    return n;
}

/* ---- facts for readers ---- */

struct xd_range xd_coded_widen(const struct xd_engine *e, struct xd_range r)
{
    const struct xd_stripes *s = &e->coded.stripes;
    size_t first, last;

    if (xd_range_is_empty(r) || s->n_open == 0)
        return r;
    first = xd_stripes_find(s, r.begin);
    last = xd_stripes_find(s, r.end - 1);
    if (first != XD_NO_STRIPE && xd_stripes_is_open(s, first))
        r.begin = s->list[first].range.begin;
    if (last != XD_NO_STRIPE && xd_stripes_is_open(s, last))
        r.end = s->list[last].range.end;
    return r;
}

struct xd_range xd_coded_leave_locked(struct xd_engine *e,
                                      const struct xd_rangeset *safe)
{
    struct xd_stripes *s = &e->coded.stripes;

    for (size_t i = 0; i < s->n_open; i++) {
        const size_t stripe = s->open[i].number;
        const struct xd_range range = s->list[stripe].range;
        struct xd_coded_run run;

        if (!xd_range_is_empty(xd_rangeset_next(safe, range)) ||
            !xd_stripes_take(s, stripe, XD_STORED, range, &run))
            continue;
        xd_stand_in_release(s, stripe, &run, XD_DISCARD_DROPPED);
        return run.range;
    }
    return (struct xd_range){0, 0};
}

struct xd_range xd_coded_unfinished(const struct xd_engine *e,
                                    struct xd_range r)
{
    const struct xd_stripes *s = &e->coded.stripes;
    const size_t stripe = xd_stripes_find(s, r.begin);

    if (xd_range_is_empty(r) || stripe == XD_NO_STRIPE ||
        xd_ledger_has(&e->ledger, XD_BYTES_DONE, s->list[stripe].range))
        return (struct xd_range){r.begin, r.begin};
    return s->list[stripe].range;
}
