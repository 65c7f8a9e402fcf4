/* SPDX-License-Identifier: MIT */
#include "sim/coded.h"

#include <xdownload/error.h>

#include "base/alloc.h"
#include "session/stand_in.h"
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

static bool next_holder(const void *run, size_t stripe,
                        struct xd_parity_holder *h)
{
    const struct xd_run *r = run;
    const struct xd_sim_code *c = &r->o->code;

    while (c->k + h->i < c->n) {
        h->parity = c->k + (unsigned)h->i++;
        h->depot = xd_sim_depot_of(c, stripe, h->parity);
        if (h->depot < r->n_joined && !r->trust.is_banned[h->depot])
            return true;
    }
    return false;
}

/* ---- operations for session/stand_in.h ---- */

static void report(struct xd_run *r, enum xd_sched_event_kind kind,
                   unsigned depot, struct xd_range range)
{
    xd_run_take_event(
        r, (struct xd_sched_event){
               .kind = kind, .depot = depot, .range = range, .is_lent = true});
}

static void lend(void *run, unsigned depot, struct xd_range range)
{
    report(run, XD_EV_LOST, depot, range);
}

static void give_back(void *run, unsigned depot, struct xd_range range)
{
    report(run, XD_EV_HOLDS, depot, range);
}

static void join(void *run, unsigned depot, struct xd_range range)
{
    const struct xd_run *r = run;

    if (!r->standings[depot].is_given_up)
        report(run, XD_EV_JOINED, depot, range);
}

static void ask_again(void *run)
{
    struct xd_run *r = run;

    xd_driver_ask_again(&r->driver);
}

static void discard(void *run, struct xd_range range,
                    enum xd_discard_reason why)
{
    struct xd_run *r = run;

    if (xd_ledger_written(&r->driver.ledger, range, XD_NO_DEPOT) < 0)
        xd_run_out_of_memory(r);
    else
        xd_trust_discard(r, range, why);
}

static void run_out(void *run)
{
    xd_run_out_of_memory(run);
}

static const struct xd_stripe_ops ops = {.holds = holds,
                                         .fails = is_failing,
                                         .next_holder = next_holder,
                                         .lend = lend,
                                         .give_back = give_back,
                                         .join = join,
                                         .ask_again = ask_again,
                                         .discard = discard,
                                         .run_out = run_out};

/* ---- start and end ---- */

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
    s->ledger = &r->driver.ledger;
    s->pieces = &r->trust.pieces;
    s->ops = &ops;
    s->world = r;
    s->ignores_late = r->o->ignores_late;
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

static xd_usec now_of(const struct xd_run *r)
{
    return xd_run_usec(r->net.now);
}

enum xd_sim_coded_kind xd_sim_coded_begin(struct xd_run *r,
                                          const struct xd_sched_action *a)
{
    struct xd_coded_run run = {.depot = a->depot, .fetch = a->fetch};

    if (!xd_stand_in_choose(&r->stripes, a->depot, a->range, &run))
        return XD_SIM_IS_DATA;
    return xd_stand_in_begin(&r->stripes, &run, now_of(r)) ? XD_SIM_IS_PARITY
                                                           : XD_SIM_IS_KEPT;
}

void xd_sim_coded_stored(struct xd_run *r, unsigned fetch,
                         struct xd_range range)
{
    xd_stand_in_stored(&r->stripes, fetch, range, now_of(r));
    r->is_decision_due = true;
}

void xd_sim_coded_ended(struct xd_run *r, unsigned fetch, uint64_t byte)
{
    xd_stand_in_ended(&r->stripes, fetch, byte, now_of(r));
}

struct xd_range xd_sim_coded_coming(void *run, struct xd_range range)
{
    const struct xd_run *r = run;

    return xd_stand_in_coming(&r->stripes, range);
}

void xd_sim_coded_drop(struct xd_run *r, unsigned depot)
{
    xd_stand_in_drop(&r->stripes, depot, (struct xd_range){0, 0},
                     XD_DISCARD_BANNED);
}

bool xd_sim_coded_spares(struct xd_run *r, uint64_t byte)
{
    return xd_stand_in_spares(&r->stripes, byte, now_of(r));
}

void xd_sim_coded_written(struct xd_run *r, struct xd_range range)
{
    xd_stand_in_written(&r->stripes, range, now_of(r));
}

xd_usec xd_sim_coded_watch(struct xd_run *r)
{
    return xd_stand_in_watch(&r->stripes, now_of(r));
}

/* ---- decoding ---- */

/* Bans the depots with wrong parity in the stripe.  Returns whether there were
 * any. */
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
        i = 0; /* the ban has removed runs, so start over */
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
           (stripe = xd_stripes_take_ready(&r->stripes)) != XD_NO_STRIPE) {
        const bool is_wrong = find_liars(r, stripe);

        if (is_wrong)
            (void)xd_stand_in_drop_stripe(&r->stripes, stripe,
                                          XD_DISCARD_BAD_PIECE);
        while (!is_wrong &&
               xd_stripes_take(&r->stripes, stripe, XD_STORED, r->whole, &run))
            accept(r, &run);
    }
}
