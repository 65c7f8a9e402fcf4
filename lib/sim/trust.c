/* SPDX-License-Identifier: MIT */
#include "sim/trust.h"

#include <xdownload/error.h>

#include "base/alloc.h"
#include "sim/coded.h"
#include "sim/holdings.h"
#include "sim/request.h"

bool xd_trust_lies(const struct xd_run *r, unsigned depot)
{
    return depot != XD_HELD && xd_net_wire(&r->net, depot)->path.lies;
}

/* Returns the first part of the range that the depot holds as data, not as
 * parity. */
static struct xd_range next_own(const struct xd_run *r, unsigned depot,
                                struct xd_range range)
{
    return xd_sim_next_own(r->scenario, r->o, depot, range);
}

/* Returns whether the depot has the whole range as data. */
static bool has_range(const struct xd_run *r, unsigned depot,
                      struct xd_range range)
{
    while (!xd_range_is_empty(range)) {
        const struct xd_range own = next_own(r, depot, range);

        if (xd_range_is_empty(own) || own.begin > range.begin)
            return false;
        range.begin = own.end;
    }
    return true;
}

static struct xd_blame_depot look(const void *run, unsigned depot,
                                  struct xd_range range)
{
    const struct xd_run *r = run;
    const bool is_banned = r->trust.is_banned[depot];

    return (struct xd_blame_depot){.is_banned = is_banned,
                                   .has_range = has_range(r, depot, range),
                                   .has_some = !is_banned,
                                   .bytes = r->out->depots[depot].bytes};
}

int xd_trust_start(struct xd_run *r)
{
    struct xd_trust *t = &r->trust;

    t->blame = (struct xd_blame){.ledger = &r->driver.ledger,
                                 .pieces = &t->pieces,
                                 .wanted = &r->whole,
                                 .world = r,
                                 .look = look};
    t->is_banned = xd_alloc(r->scenario->n_depots, sizeof *t->is_banned);
    if (!t->is_banned)
        return XD_E_NOMEM;
    if (r->o->piece_bytes == 0)
        return 0;
    return xd_pieces_cut(&t->pieces, r->o->piece_bytes, r->o->size, r->whole);
}

void xd_trust_fini(struct xd_trust *t)
{
    xd_blame_fini(&t->blame);
    xd_pieces_fini(&t->pieces);
    xd_free(t->is_banned);
}

/* ---- reports to the scheduler ---- */

static void report(struct xd_run *r, enum xd_sched_event_kind kind,
                   unsigned depot, struct xd_range range)
{
    xd_run_take_event(r, (struct xd_sched_event){
                             .kind = kind, .depot = depot, .range = range});
}

static void accept(struct xd_run *r, struct xd_range range)
{
    if (xd_ledger_change(&r->driver.ledger, XD_VERIFY, range) < 0)
        xd_run_out_of_memory(r);
    report(r, XD_EV_VERIFIED, 0, range);
}

void xd_trust_reject(struct xd_run *r, struct xd_range range)
{
    while (!xd_range_is_empty(range)) {
        struct xd_range gap =
            xd_ledger_next_gap(&r->driver.ledger, XD_BYTES_CLAIMED, range);

        if (!xd_range_is_empty(gap))
            report(r, XD_EV_REJECTED, 0, gap);
        range.begin = gap.end;
    }
}

void xd_trust_discard(struct xd_run *r, struct xd_range range,
                      enum xd_discard_reason why)
{
    if (xd_ledger_discard(&r->driver.ledger, range, why) < 0)
        xd_run_out_of_memory(r);
    xd_pieces_reopen(&r->trust.pieces, range);
    xd_trust_reject(r, range);
}

/* ---- actions of session/blame.h ---- */

static void cut_off(struct xd_run *r, unsigned depot, struct xd_range range)
{
    for (unsigned i = 0; i < r->n_requests; i++) {
        struct xd_sim_request *q = &r->requests[i];

        if (q->is_live && q->depot == depot &&
            !xd_range_is_empty(xd_range_clip(q->range, range)))
            xd_sim_request_cut_off(r, q);
    }
}

void xd_trust_ban(struct xd_run *r, unsigned depot)
{
    struct xd_range rest = r->whole, run;

    if (r->trust.is_banned[depot])
        return;
    r->trust.is_banned[depot] = true;
    cut_off(r, depot, r->whole);
    report(r, XD_EV_BANNED, depot, r->whole);
    xd_sim_coded_drop(r, depot);
    while (run = xd_blame_next_unproved(&r->trust.blame, depot, rest),
           !xd_range_is_empty(run)) {
        xd_trust_discard(r, run, XD_DISCARD_BANNED);
        rest.begin = run.end;
    }
}

static void restore(struct xd_run *r, unsigned depot, struct xd_range range)
{
    for (struct xd_range run;
         run = next_own(r, depot, range), !xd_range_is_empty(run);
         range.begin = run.end)
        report(r, XD_EV_HOLDS, depot, run);
}

static void ask_alone(struct xd_run *r, unsigned depot, struct xd_range range)
{
    for (unsigned i = 0; i < r->n_joined; i++) {
        if (i == depot || r->trust.is_banned[i])
            continue;
        cut_off(r, i, range);
        report(r, XD_EV_LOST, i, range);
    }
    restore(r, depot, range);
    xd_trust_discard(r, range, XD_DISCARD_BAD_PIECE);
}

static void release(struct xd_run *r, struct xd_range range)
{
    for (unsigned i = 0; i < r->n_joined; i++)
        if (!r->trust.is_banned[i])
            restore(r, i, range);
}

/* Call when the second copy of a piece is right.  Marks the parts in which the
 * first copy was wrong. */
static void compare(struct xd_run *r, struct xd_suspicion *s)
{
    struct xd_range rest = s->range, run;
    unsigned depot;

    for (; run = xd_runs_next_depot(&s->origins, rest, &depot),
           !xd_range_is_empty(run);
         rest.begin = run.end)
        if (xd_trust_lies(r, depot) && xd_rangeset_add(&s->differs, run) < 0)
            xd_run_out_of_memory(r);
}

static void carry_out(struct xd_run *r, const struct xd_blame_action *a)
{
    switch (a->kind) {
    case XD_BLAME_DISCARD:
        xd_trust_discard(r, a->range, XD_DISCARD_BAD_PIECE);
        break;
    case XD_BLAME_BAN:
        xd_trust_ban(r, a->depot);
        break;
    case XD_BLAME_ASK:
        ask_alone(r, a->depot, a->range);
        break;
    case XD_BLAME_COMPARE:
        compare(r, a->suspicion);
        break;
    case XD_BLAME_RELEASE:
        release(r, a->range);
        break;
    case XD_BLAME_GIVE_UP:
        r->driver.is_over = true;
        break;
    case XD_BLAME_NO_MEMORY:
        xd_run_out_of_memory(r);
        break;
    /* The simulator stores no bytes, so it keeps no copy of wrong ones. */
    case XD_BLAME_COPY:
    case XD_BLAME_NOTHING:
        break;
    }
}

/* Simulates the search for the right combination of copies.  It reveals the
 * depots that lie; the bytes of the others are kept. */
static void combine(struct xd_run *r, const struct xd_suspicion *s)
{
    const struct xd_range range = s->range;
    const size_t piece = s->piece;
    struct xd_range rest = range, run;
    unsigned depot;
    bool was_any = false;

    for (; run = xd_runs_next_depot(&r->driver.ledger.origins, rest, &depot),
           !xd_range_is_empty(run);
         rest.begin = run.end)
        if (xd_trust_lies(r, depot)) {
            was_any = true;
            xd_trust_ban(r, depot);
        }
    if (was_any)
        xd_blame_refetch(&r->trust.blame, piece);
    else
        xd_blame_in_vain(&r->trust.blame, piece, 0, false);
}

static bool is_right(const struct xd_run *r, struct xd_range piece)
{
    struct xd_range run;
    unsigned depot;

    for (; run = xd_runs_next_depot(&r->driver.ledger.origins, piece, &depot),
           !xd_range_is_empty(run);
         piece.begin = run.end)
        if (xd_trust_lies(r, depot))
            return false;
    return true;
}

static void hash(struct xd_run *r, size_t i, struct xd_range piece)
{
    struct xd_trust *t = &r->trust;
    const struct xd_suspicion *s;
    struct xd_blame_action a;

    if (is_right(r, piece)) {
        t->pieces.states[i] = XD_PIECE_GOOD;
        accept(r, piece);
        xd_blame_right(&t->blame, i);
    } else if (xd_blame_wrong(&t->blame, i) < 0) {
        xd_run_out_of_memory(r);
    }
    do {
        while (a = xd_blame_next(&t->blame, r->n_joined),
               a.kind != XD_BLAME_NOTHING)
            carry_out(r, &a);
        if (!xd_blame_to_combine(&t->blame, &s))
            break;
        combine(r, s);
    } while (!r->driver.is_over);
}

void xd_trust_written(struct xd_run *r, struct xd_range range)
{
    const struct xd_range written = range;
    struct xd_range ready;
    size_t i;

    while (xd_pieces_next_ready(&r->trust.pieces, &r->driver.ledger, &range,
                                &ready, &i)) {
        if (i == XD_NO_PIECE)
            accept(r, ready);
        else
            hash(r, i, ready);
    }
    xd_sim_coded_written(r, written);
}

void xd_trust_joined(struct xd_run *r, unsigned depot)
{
    const struct xd_suspicion *s = r->trust.blame.list;

    for (; s; s = s->next)
        if (xd_blame_keeps_out(s, depot))
            report(r, XD_EV_LOST, depot, s->range);
}

bool xd_trust_ask_another(void *run, uint64_t byte)
{
    struct xd_run *r = run;
    struct xd_blame_action a;

    if (xd_sim_coded_spares(r, byte))
        return true;
    a = xd_blame_ask_another(&r->trust.blame, byte, r->n_joined);
    carry_out(r, &a);
    return a.kind != XD_BLAME_NOTHING || xd_sim_repair_gives_up(r);
}
