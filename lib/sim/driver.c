/* SPDX-License-Identifier: MIT */
#include "sim/driver.h"

#include <xdownload/error.h>

/* Limit on the actions without time passing.  A working scheduler never reaches
 * it. */
#define MOST_ACTIONS 200000

int xd_driver_begin(struct xd_driver *d, const struct xd_layout *layout,
                    const struct xd_sched_options *o, struct xd_range wanted)
{
    const struct xd_session_event started = {.kind = XD_SESSION_STARTED,
                                             .is_size_known = true};

    xd_sched_free(d->session.sched);
    xd_rules_free(d->rules);
    d->rules = NULL;
    d->session.sched = xd_sched_new(layout, o, wanted, &d->ledger);
    if (!d->session.sched)
        return XD_E_NOMEM;
    if (d->session.phase == XD_PHASE_NEW)
        xd_session_step(&d->session, &started);
    if (d->is_unchecked)
        return 0;
    d->rules = xd_rules_new(layout, xd_sched_options(d->session.sched), wanted);
    if (!d->rules)
        return XD_E_NOMEM;
    d->rules->sched = d->session.sched;
    return 0;
}

void xd_driver_fini(struct xd_driver *d)
{
    xd_session_fini(&d->session);
    xd_ledger_fini(&d->ledger);
    xd_rules_free(d->rules);
}

static void end_broken(struct xd_driver *d, enum xd_rule rule)
{
    d->broken = rule;
    d->is_over = true;
}

static bool is_out_of_memory(const struct xd_driver *d)
{
    return d->rules && d->rules->failed;
}

void xd_driver_take_event(struct xd_driver *d, struct xd_sched_event ev)
{
    enum xd_rule rule = XD_RULE_NONE;

    if (d->is_over)
        return;
    ev.now = d->now;
    if (d->rules)
        rule = xd_rules_event(d->rules, &ev);
    if (rule != XD_RULE_NONE) {
        end_broken(d, rule);
        return;
    }
    if (xd_sched_event(d->session.sched, &ev) < 0 || is_out_of_memory(d))
        d->is_over = d->failed = true;
}

void xd_driver_ask_again(struct xd_driver *d)
{
    if (d->rules)
        xd_rules_ask_again(d->rules);
    xd_sched_ask_again(d->session.sched);
}

/* Returns true if only bytes that no depot can deliver are missing. */
static bool ends_with_gaps(const struct xd_driver *d)
{
    const struct xd_rules *r = d->rules;

    return r && r->reported.bytes > 0 &&
           r->verified.bytes + r->reported.bytes >=
               r->wanted.end - r->wanted.begin;
}

static enum xd_rule check(struct xd_driver *d, const struct xd_sched_action *a)
{
    enum xd_rule rule;

    if (!d->rules)
        return XD_RULE_NONE;
    rule = xd_rules_action(d->rules, a, d->now);
    if (rule == XD_RULE_NONE && a->kind == XD_DO_WAIT)
        rule = xd_rules_assigned(d->rules, &d->ledger);
    return rule;
}

/* Returns whether the download fails because of a byte that no depot can
 * deliver. */
static bool gives_up(struct xd_driver *d, const struct xd_sched_action *a)
{
    return a->kind == XD_DO_FAIL &&
           !(d->ask_another && d->ask_another(d->world, a->range.begin)) &&
           !xd_sched_options(d->session.sched)->has_gaps;
}

/* Postpones bytes that no depot can be asked for, if they may still arrive, for
 * example as parity. */
static bool put_off(struct xd_driver *d, const struct xd_sched_action *a)
{
    const struct xd_range none = {0, 0};
    const struct xd_range coming = a->kind == XD_DO_FAIL && d->coming
                                       ? d->coming(d->world, a->range)
                                       : none;

    if (xd_range_is_empty(coming))
        return false;
    if (d->rules)
        xd_rules_put_off(d->rules, coming);
    if (xd_sched_put_off(d->session.sched, coming) < 0)
        d->is_over = d->failed = true;
    return true;
}

/* Checks the whole file after its last byte has arrived. */
static void complete(struct xd_driver *d)
{
    const struct xd_session_event event = {
        .kind = XD_SESSION_COMPLETE, .is_to_be_checked = d->check != NULL};

    xd_session_step(&d->session, &event);
    if (d->session.phase != XD_PHASE_FINISH)
        d->check(d->world);
    d->is_complete = d->session.phase == XD_PHASE_FINISH;
    d->is_over |= d->is_complete;
}

/* Returns false if the scheduler waits. */
static bool obey(struct xd_driver *d, struct xd_sched_action *a)
{
    enum xd_rule rule;

    if (d->spoil)
        d->spoil(a);
    rule = check(d, a);
    if (rule != XD_RULE_NONE)
        end_broken(d, rule);
    else if (is_out_of_memory(d))
        d->is_over = d->failed = true;
    else if (a->kind == XD_DO_WAIT && !ends_with_gaps(d))
        return false;
    else if (put_off(d, a))
        return true;
    else if (a->kind == XD_DO_FINISH)
        complete(d);
    else if (a->kind == XD_DO_WAIT || gives_up(d, a))
        d->is_over = true;
    else if (a->kind != XD_DO_FAIL)
        d->carry_out(d->world, a);
    return true;
}

xd_usec xd_driver_act(struct xd_driver *d)
{
    unsigned n = 0;

    while (!d->is_over) {
        struct xd_session_action a =
            xd_session_next(&d->session, d->now, d->now);

        if (a.kind == XD_SESSION_REST)
            return a.until;
        if (a.kind == XD_SESSION_OBEY && !obey(d, &a.order))
            return a.order.until;
        if (a.kind == XD_SESSION_STOP_ALL)
            d->begin_round(d->world);
        if (a.kind == XD_SESSION_STOP)
            d->carry_out(d->world, &a.order);
        d->is_over |= a.kind == XD_SESSION_LOSE;
        if (++n == MOST_ACTIONS)
            d->is_over = d->is_endless = true;
    }
    return XD_NEVER;
}
