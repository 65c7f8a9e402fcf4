/* SPDX-License-Identifier: MIT */
#include "sim/repair.h"

#include <xdownload/error.h>

#include "sim/request.h"

enum { FILE_COPY, SECOND_COPY };

static struct xd_repair_depot look(const void *run, unsigned depot)
{
    const struct xd_run *r = run;

    return (struct xd_repair_depot){r->trust.is_banned[depot], true};
}

void xd_sim_repair_start(struct xd_run *r)
{
    r->repair.core = (struct xd_repair){.ledger = &r->driver.ledger,
                                        .wanted = &r->whole,
                                        .world = r,
                                        .look = look};
}

void xd_sim_repair_fini(struct xd_sim_repair *p)
{
    xd_repair_fini(&p->core);
    xd_rangeset_fini(&p->wrong[FILE_COPY]);
    xd_rangeset_fini(&p->wrong[SECOND_COPY]);
}

/* ---- stored bytes ---- */

static void mark(struct xd_run *r, unsigned copy, struct xd_range range,
                 bool is_wrong)
{
    struct xd_rangeset *wrong = &r->repair.wrong[copy];

    if ((is_wrong ? xd_rangeset_add(wrong, range)
                  : xd_rangeset_remove(wrong, range)) < 0)
        xd_run_out_of_memory(r);
}

/* Returns the first bytes of `within` that are all wrong or all right. */
static struct xd_range first_run(const struct xd_rangeset *wrong,
                                 struct xd_range within, bool *is_wrong)
{
    struct xd_range run = xd_rangeset_next(wrong, within);

    *is_wrong = run.begin == within.begin && !xd_range_is_empty(run);
    return *is_wrong ? run : (struct xd_range){within.begin, run.begin};
}

static void exchange(struct xd_run *r, struct xd_range rest)
{
    struct xd_sim_repair *p = &r->repair;
    bool is_wrong, was_wrong;

    for (struct xd_range run; !xd_range_is_empty(rest); rest.begin = run.end) {
        run = first_run(&p->wrong[SECOND_COPY], rest, &is_wrong);
        run = first_run(&p->wrong[FILE_COPY], run, &was_wrong);
        if (is_wrong == was_wrong)
            continue;
        if (xd_rangeset_add(&p->core.exchanged, run) < 0)
            xd_run_out_of_memory(r);
        mark(r, FILE_COPY, run, is_wrong);
        mark(r, SECOND_COPY, run, was_wrong);
    }
}

/* ---- actions of session/repair.h ---- */

static void step(struct xd_run *r, enum xd_session_event_kind kind)
{
    const struct xd_session_event event = {.kind = kind,
                                           .round = {.kind = XD_ROUND_REPAIR}};

    xd_session_step(&r->driver.session, &event);
    r->is_decision_due = true;
}

static void hash(struct xd_run *r)
{
    if (xd_range_is_empty(
            xd_rangeset_next(&r->repair.wrong[FILE_COPY], r->whole)))
        xd_repair_right(&r->repair.core);
    else /* readers may have read the wrong bytes already */
        xd_repair_wrong(&r->repair.core, r->o->sched.window_bytes == 0);
}

static void carry_out(struct xd_run *r, const struct xd_repair_action *a)
{
    switch (a->kind) {
    case XD_REPAIR_SUSPECT:
    case XD_REPAIR_FETCH_ALONE:
        r->out->n_repairs++;
        step(r, XD_SESSION_RESTART);
        break;
    case XD_REPAIR_EXCHANGE:
        exchange(r, a->range);
        break;
    case XD_REPAIR_CHECK:
        step(r, XD_SESSION_REPLACED);
        hash(r);
        break;
    case XD_REPAIR_BLAME:
        r->out->depots[a->depot].is_blamed = true;
        break;
    case XD_REPAIR_FINISH:
        step(r, XD_SESSION_MATCHED);
        break;
    case XD_REPAIR_GIVE_UP:
        r->driver.is_over = true;
        break;
    case XD_REPAIR_NO_MEMORY:
        xd_run_out_of_memory(r);
        break;
    case XD_REPAIR_FETCH_HELD: /* there was no earlier run */
    case XD_REPAIR_PREPARE:
    case XD_REPAIR_NOTHING:
        break;
    }
}

static void advance(struct xd_run *r)
{
    struct xd_repair_action a;

    while (!r->driver.is_over &&
           (a = xd_repair_next(&r->repair.core, r->n_joined),
            a.kind != XD_REPAIR_NOTHING))
        carry_out(r, &a);
}

void xd_sim_repair_check(void *run)
{
    struct xd_run *r = run;

    if (xd_repair_is_fetching(&r->repair.core))
        xd_repair_fetched(&r->repair.core);
    else
        hash(r);
    advance(r);
}

bool xd_sim_repair_gives_up(struct xd_run *r)
{
    if (!xd_repair_unavailable(&r->repair.core))
        return false;
    advance(r);
    return true;
}

/* ---- a round ---- */

/* Called when bytes from `depot` differ from the suspect's.  Asks all other
 * depots; in the simulation this takes no time. */
static void vote(struct xd_run *r, unsigned depot)
{
    struct xd_repair *core = &r->repair.core;
    unsigned n_lie = 0, n = (unsigned)r->n_joined;
    bool minority_lies;

    for (unsigned i = 0; i < n; i++)
        n_lie += xd_trust_lies(r, i);
    minority_lies = 2 * n_lie < n;
    xd_repair_disputed(core);
    if (2 * n_lie == n)
        return;
    if (xd_trust_lies(r, core->depot) == minority_lies)
        depot = core->depot;
    if (xd_repair_outvoted(core, depot))
        advance(r);
}

void xd_sim_repair_written(struct xd_run *r, struct xd_range range,
                           unsigned depot)
{
    struct xd_repair *core = &r->repair.core;
    const bool is_wrong = xd_trust_lies(r, depot);
    bool was_wrong;

    if (!xd_repair_is_fetching(core)) {
        mark(r, FILE_COPY, range, is_wrong);
        return;
    }
    mark(r, SECOND_COPY, range, is_wrong);
    (void)first_run(&r->repair.wrong[FILE_COPY], range, &was_wrong);
    if (is_wrong != was_wrong && xd_repair_compares(core, r->n_joined))
        vote(r, depot);
}

void xd_sim_repair_joined(struct xd_run *r, unsigned depot)
{
    if (xd_repair_avoids(&r->repair.core, depot))
        xd_run_take_event(
            r, (struct xd_sched_event){.kind = XD_EV_BANNED, .depot = depot});
}

static void report_stored(struct xd_run *r)
{
    const struct xd_ledger *ledger = &r->driver.ledger;
    struct xd_range rest = r->whole, run;

    for (; run = xd_ledger_next(ledger, XD_BYTES_STORED, rest),
           !xd_range_is_empty(run);
         rest.begin = run.end)
        xd_run_take_event(
            r, (struct xd_sched_event){.kind = XD_EV_VERIFIED, .range = run});
}

void xd_sim_repair_begin_round(void *run)
{
    struct xd_run *r = run;

    for (unsigned i = 0; i < r->n_requests; i++)
        xd_sim_request_end(r, &r->requests[i], XD_EV_CANCELED);
    step(r, XD_SESSION_IDLE);
    if (xd_repair_set_aside(&r->repair.core) < 0 || xd_run_begin(r) < 0) {
        xd_run_out_of_memory(r);
        return;
    }
    for (unsigned i = 0; i < r->n_joined; i++)
        xd_sim_repair_joined(r, i);
    report_stored(r);
}
