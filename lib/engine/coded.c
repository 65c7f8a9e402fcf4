/* SPDX-License-Identifier: MIT */
#include "engine/coded.h"

#include "base/alloc.h"
#include "base/array.h"
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

/* Where bytes stay in memory until they are read, two stripes have to fit in. */
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

/* No depot is asked for parity of stripes that are of no use. */
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

/* Perhaps one a part of it, and another the rest. */
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

static bool has_parity(const void *engine, size_t stripe, unsigned parity)
{
    const struct xd_engine *e = engine;
    const uint64_t begin = e->coded.stripes.list[stripe].range.begin;

    for (size_t i = 0; i < e->depots.n; i++) {
        const struct xd_depot *d = e->depots.list[i];
        const struct xd_depot_source *s = xd_depot_parity(d, begin);

        if (s && xd_source_parity(s).number == parity && !fails(e, d))
            return true;
    }
    return false;
}

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
    c->stripes.world = e;
    c->stripes.holds = holds;
    c->stripes.fails = is_failing;
    c->stripes.has_parity = has_parity;
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
    xd_free(c->ready);
    *c = (struct xd_coded){.of = NULL};
}

/* ---- which depots can be asked ---- */

typedef void report_fn(struct xd_engine *e, unsigned depot,
                       struct xd_range range);

/* What the depot holds itself of the range is not concerned. */
static void report_gaps_locked(struct xd_engine *e,
                               const struct xd_depot *depot,
                               struct xd_range range, report_fn *report)
{
    struct xd_rangeset held;

    if (xd_depot_holds(depot, range, &held) < 0) {
        xd_engine_fail_nomem_locked(e);
        return;
    }
    while (!xd_range_is_empty(range)) {
        const struct xd_range gap = xd_rangeset_next_gap(&held, range);

        if (!xd_range_is_empty(gap))
            report(e, depot->number, gap);
        range.begin = gap.end;
    }
    xd_rangeset_fini(&held);
}

/* Where its own parity takes the place of none. */
static void report_unused_locked(struct xd_engine *e, size_t stripe,
                                 const struct xd_depot *depot,
                                 struct xd_range rest, report_fn *report)
{
    const struct xd_depot_source *s =
        xd_depot_parity(depot, e->coded.stripes.list[stripe].range.begin);
    struct xd_range gap;

    while (gap = xd_stripes_next_unused(&e->coded.stripes, stripe,
                                        xd_source_parity(s).number, rest),
           !xd_range_is_empty(gap)) {
        report_gaps_locked(e, depot, gap, report);
        rest.begin = gap.end;
    }
}

/* That parity at the positions of `r`, which is in one shard, is or is not to be had
 * any more in the places of all others; and where one depot is to deliver all of a
 * shard, others in the place of this one. */
static void report_others_locked(struct xd_engine *e, size_t stripe,
                                 unsigned parity, struct xd_range r,
                                 report_fn *report)
{
    const struct xd_stripe_shape *shape = &e->coded.stripes.list[stripe];
    struct xd_range own_range;
    unsigned own;

    if (xd_range_is_empty(r))
        return;
    own_range = xd_stripes_shard(shape, r.begin, &own);
    for (size_t i = 0; i < e->depots.n; i++) {
        const struct xd_depot *d = e->depots.list[i];
        const struct xd_depot_source *s =
            xd_depot_parity(d, shape->range.begin);

        if (!s)
            continue;
        if (xd_source_parity(s).number != parity) {
            if (e->coded.of[stripe].is_apart)
                report_unused_locked(e, stripe, d, own_range, report);
            continue;
        }
        for (unsigned k = 0; k < shape->k; k++)
            if (k != own)
                report_gaps_locked(e, d, xd_stripes_beside(shape, k, r),
                                   report);
    }
}

/* What no run has of it can take the place of others. */
static void give_back_locked(struct xd_engine *e, size_t stripe,
                             const struct xd_coded_run *run)
{
    struct xd_range rest = run->range, gap;

    while (gap = xd_stripes_next_unused(&e->coded.stripes, stripe, run->parity,
                                        rest),
           !xd_range_is_empty(gap)) {
        report_others_locked(e, stripe, run->parity, gap,
                             xd_report_holds_locked);
        rest.begin = gap.end;
    }
}

/* Whatever was lent of parity that takes the place of none. */
static void hold_again_locked(struct xd_engine *e, size_t stripe)
{
    const struct xd_stripe_shape *shape = &e->coded.stripes.list[stripe];

    e->coded.of[stripe].has_refused = false;
    for (size_t i = 0; i < e->depots.n && !e->coded.of[stripe].is_apart; i++) {
        const struct xd_depot *d = e->depots.list[i];

        for (unsigned k = 0;
             k < shape->k && xd_depot_parity(d, shape->range.begin); k++)
            report_unused_locked(e, stripe, d, xd_stripes_data(shape, k),
                                 xd_report_holds_locked);
    }
}

void xd_coded_release_locked(struct xd_engine *e, size_t stripe,
                             const struct xd_coded_run *run,
                             enum xd_discard_reason why)
{
    if (xd_ledger_written(&e->ledger, run->range, XD_NO_DEPOT) < 0) {
        xd_engine_fail_nomem_locked(e);
        return;
    }
    xd_discard_locked(e, run->range, why);
    give_back_locked(e, stripe, run);
}

static void look_again_locked(struct xd_engine *e, size_t stripe)
{
    if (xd_stripes_look_again(&e->coded.stripes, stripe,
                              xd_engine_clock_locked(e)) < 0)
        xd_engine_fail_nomem_locked(e);
}

/* Parity that takes the place of data which a depot holds is for data that none
 * does.  False: there is no such parity. */
static bool spare_locked(struct xd_engine *e, size_t stripe)
{
    struct xd_stripes *s = &e->coded.stripes;
    struct xd_coded_run run;
    struct xd_range shard;
    unsigned number;

    for (size_t i = 0; xd_stripes_next_run(s, stripe, &i, &run); i++) {
        shard = xd_stripes_shard(&s->list[stripe], run.range.begin, &number);
        if (!holds(e, shard))
            continue;
        while (xd_stripes_take_in(s, stripe, shard, &run))
            xd_coded_release_locked(e, stripe, &run, XD_DISCARD_DROPPED);
        look_again_locked(e, stripe);
        return true;
    }
    return false;
}

static void reconsider_locked(struct xd_engine *e, size_t stripe)
{
    if (e->coded.of[stripe].has_refused)
        hold_again_locked(e, stripe);
    xd_sched_ask_again(e->session.sched);
    if (xd_stripes_is_short(&e->coded.stripes, stripe, &e->ledger))
        (void)spare_locked(e, stripe);
    if (xd_stripes_is_open(&e->coded.stripes, stripe))
        look_again_locked(e, stripe);
}

void xd_coded_give_up_locked(struct xd_engine *e, size_t stripe,
                             unsigned parity)
{
    const struct xd_range range = e->coded.stripes.list[stripe].range;

    for (size_t i = 0; i < e->depots.n; i++) {
        struct xd_depot *d = e->depots.list[i];
        struct xd_depot_source *s;

        while ((s = xd_depot_parity(d, range.begin)) &&
               (parity == 0 || xd_source_parity(s).number == parity)) {
            xd_depot_drop_source(d, s);
            report_gaps_locked(e, d, range, xd_report_lost_locked);
        }
    }
}

/* ---- requests ---- */

/* Data that was read once does not come again: the stripe cannot be decoded. */
static bool has_left(const struct xd_engine *e, struct xd_range range)
{
    return !xd_range_is_empty(
        xd_ledger_next(&e->ledger, 1u << XD_BYTE_EVICTED, range));
}

/* Its parity is kept for others, which is a request that ends before it begins. */
static void refuse_locked(struct xd_engine *e, const struct xd_depot *depot,
                          struct xd_lane *lane, size_t stripe)
{
    e->coded.of[stripe].has_refused = true;
    look_again_locked(e, stripe);
    lane->stop = true;
    report_gaps_locked(e, depot, lane->range, xd_report_lent_locked);
}

bool xd_coded_fetch_locked(struct xd_engine *e, struct xd_depot *depot,
                           struct xd_lane *lane)
{
    struct xd_stripes *s = &e->coded.stripes;
    const size_t stripe = xd_stripes_find(s, lane->range.begin);
    const struct xd_depot_source *source =
        xd_depot_parity(depot, lane->range.begin);
    struct xd_coded_run run = {.depot = depot->number, .fetch = lane->fetch};
    unsigned number;

    if (stripe == XD_NO_STRIPE || !source ||
        xd_depot_source(depot, lane->range))
        return false;
    run.parity = xd_source_parity(source).number;
    run.range = xd_range_clip(
        lane->range,
        xd_stripes_shard(&s->list[stripe], lane->range.begin, &number));
    lane->is_cut = run.range.end < lane->range.end;
    lane->range = run.range;
    lane->end = run.range.end;
    if (has_left(e, s->list[stripe].range)) {
        lane->stop = true;
        xd_coded_give_up_locked(e, stripe, 0);
        return false;
    }
    if (!xd_stripes_may_begin(s, stripe, &e->ledger, &run)) {
        refuse_locked(e, depot, lane, stripe);
        return false;
    }
    if (xd_stripes_begin(s, stripe, &run) < 0) {
        xd_engine_fail_nomem_locked(e);
        return true;
    }
    lane->is_coded = true;
    report_others_locked(e, stripe, run.parity, run.range,
                         xd_report_lent_locked);
    xd_engine_log_locked(
        e, XD_LOG_DEBUG, "%s: shard %u of stripe %llu in the place of shard %u",
        depot->host, run.parity,
        (unsigned long long)e->coded.of[stripe].model->number, number);
    return true;
}

void xd_coded_stored_locked(struct xd_engine *e, const struct xd_lane *lane,
                            struct xd_range range)
{
    if (xd_stripes_stored(&e->coded.stripes, lane->fetch, range) < 0)
        xd_engine_fail_nomem_locked(e);
    xd_coded_written_locked(e, range);
}

static void join_late_locked(struct xd_engine *e, size_t stripe,
                             struct xd_range range)
{
    const uint8_t tier = e->depots.via ? XD_TIER_DIRECT : XD_TIER_OWNER;

    for (size_t i = 0; i < e->depots.n; i++) {
        const struct xd_depot *d = e->depots.list[i];
        const struct xd_depot_source *s = xd_depot_parity(d, range.begin);
        struct xd_range rest = range, gap;

        if (!s || d->is_banned || d->state == XD_DEPOT_FAILED)
            continue;
        while (gap = xd_stripes_next_unused(&e->coded.stripes, stripe,
                                            xd_source_parity(s).number, rest),
               !xd_range_is_empty(gap)) {
            xd_report_joined_locked(e, d->number, gap, 0, tier);
            rest.begin = gap.end;
        }
    }
}

static int put_ready(struct xd_coded *c, size_t stripe)
{
    size_t *list;

    for (size_t i = 0; i < c->n_ready; i++)
        if (c->ready[i] == stripe)
            return 0;
    list = xd_grow(c->ready, c->n_ready, &c->capacity, sizeof *list);
    if (!list)
        return XD_E_NOMEM;
    c->ready = list;
    list[c->n_ready++] = stripe;
    return 0;
}

void xd_coded_written_locked(struct xd_engine *e, struct xd_range range)
{
    struct xd_coded *c = &e->coded;
    struct xd_stripes *s = &c->stripes;

    for (size_t i = xd_stripes_from(s, range.begin);
         i < s->n && s->list[i].range.begin < range.end; i++) {
        int rc = xd_stripes_look(s, i, &e->ledger, xd_engine_clock_locked(e));

        if (rc == 0 && xd_stripes_is_ready(s, i, &e->ledger, &e->verify.pieces))
            rc = put_ready(c, i);
        if (rc < 0)
            xd_engine_fail_nomem_locked(e);
    }
    if (c->n_ready > 0)
        xd_cond_signal(&e->bytes_ready);
}

xd_usec xd_coded_watch_locked(struct xd_engine *e)
{
    struct xd_stripes *s = &e->coded.stripes;
    const xd_usec now = xd_engine_clock_locked(e);
    struct xd_range range;
    xd_usec late_at, again_at;
    size_t stripe;

    if (e->session.phase != XD_PHASE_FETCH)
        return XD_NEVER;
    while (stripe = xd_stripes_next_late(s, &e->ledger, now, &late_at),
           stripe != XD_NO_STRIPE)
        for (unsigned i = 0;
             xd_stripes_next_lacking(s, stripe, &e->ledger, &i, &range); i++)
            join_late_locked(e, stripe, range);
    while (stripe = xd_stripes_next_again(s, now, &again_at),
           stripe != XD_NO_STRIPE)
        reconsider_locked(e, stripe);
    late_at = xd_earlier(late_at, again_at);
    return late_at == XD_NEVER ? late_at : late_at + e->pause.former;
}

void xd_coded_ended_locked(struct xd_engine *e, const struct xd_lane *lane)
{
    struct xd_coded_run run;
    size_t stripe;

    if (!xd_stripes_end(&e->coded.stripes, lane->fetch, &stripe, &run))
        return;
    give_back_locked(e, stripe, &run);
    if (e->coded.of[stripe].has_refused)
        hold_again_locked(e, stripe);
    if (e->session.sched)
        xd_sched_ask_again(e->session.sched);
    if (xd_stripes_is_open(&e->coded.stripes, stripe))
        look_again_locked(e, stripe);
}

/* ---- what does not count ---- */

/* What the keeper decodes now it looks at afterwards. */
void xd_coded_drop_depot_locked(struct xd_engine *e, unsigned depot)
{
    struct xd_coded_run run;
    size_t stripe;

    while (xd_stripes_take(&e->coded.stripes, depot, e->verify.reading, &stripe,
                           &run))
        xd_coded_release_locked(e, stripe, &run, XD_DISCARD_BANNED);
}

void xd_coded_stop_locked(struct xd_engine *e)
{
    struct xd_coded_run run;
    size_t stripe;

    while (xd_stripes_take(&e->coded.stripes, XD_STORED, e->verify.reading,
                           &stripe, &run))
        xd_coded_release_locked(e, stripe, &run, XD_DISCARD_DROPPED);
    for (size_t i = 0; i < e->depots.n; i++) {
        struct xd_depot *d = e->depots.list[i];

        for (size_t k = 0; k < d->n_parity; k++)
            xd_depot_drop_source(d, d->parity[k]);
    }
}

bool xd_coded_may_come_locked(const struct xd_engine *e, uint64_t byte)
{
    const size_t stripe = xd_stripes_find(&e->coded.stripes, byte);

    return stripe != XD_NO_STRIPE &&
           xd_stripes_is_asked(&e->coded.stripes, stripe);
}

bool xd_coded_spares_locked(struct xd_engine *e, uint64_t byte)
{
    const size_t stripe = xd_stripes_find(&e->coded.stripes, byte);

    if (stripe == XD_NO_STRIPE)
        return false;
    if (e->coded.of[stripe].has_refused) {
        hold_again_locked(e, stripe);
        xd_sched_ask_again(e->session.sched);
        return true;
    }
    return spare_locked(e, stripe);
}

bool xd_coded_fail_locked(struct xd_engine *e, uint64_t byte)
{
    struct xd_stripes *s = &e->coded.stripes;
    const size_t stripe = xd_stripes_find(s, byte);
    const struct xd_model_stripe *model;
    struct xd_coded_run run;
    bool had_some = false;

    if (stripe == XD_NO_STRIPE || !xd_stripes_is_open(s, stripe))
        return false;
    e->coded.of[stripe].n_left = xd_coded_n_left_locked(e, byte, &model);
    xd_coded_give_up_locked(e, stripe, 0);
    while (xd_stripes_take_in(s, stripe, s->list[stripe].range, &run)) {
        xd_coded_release_locked(e, stripe, &run, XD_DISCARD_DROPPED);
        had_some = true;
    }
    return had_some;
}

/* ---- for people ---- */

static bool can_be_had(const struct xd_engine *e, size_t stripe,
                       unsigned number)
{
    const struct xd_stripe_shape *shape = &e->coded.stripes.list[stripe];
    struct xd_range range;

    if (number >= shape->k)
        return has_parity(e, stripe, number);
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

/* ---- for readers ---- */

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
            !xd_stripes_take_in(s, stripe, range, &run))
            continue;
        xd_coded_release_locked(e, stripe, &run, XD_DISCARD_DROPPED);
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
