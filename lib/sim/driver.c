#include "sim/driver.h"

#include <xdownload/error.h>

/* Nobody decides more at one moment. */
#define MOST_ACTIONS 200000

int xd_driver_start(struct xd_driver *d, const struct xd_layout *layout,
                    const struct xd_sched_options *o, struct xd_range wanted)
{
    d->sched = xd_sched_new(layout, o, wanted, &d->ledger);
    if (!d->sched)
        return XD_E_NOMEM;
    if (d->is_unchecked)
        return 0;
    d->rules = xd_rules_new(layout, xd_sched_options(d->sched), wanted);
    return d->rules ? 0 : XD_E_NOMEM;
}

void xd_driver_fini(struct xd_driver *d)
{
    xd_sched_free(d->sched);
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

void xd_driver_tell(struct xd_driver *d, struct xd_sched_event ev)
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
    if (xd_sched_event(d->sched, &ev) < 0 || is_out_of_memory(d))
        d->is_over = d->failed = true;
}

/* All is here but what nobody can bring. */
static bool ends_with_gaps(const struct xd_driver *d)
{
    const struct xd_rules *r = d->rules;

    return r && r->told.bytes > 0 &&
           r->accepted.bytes + r->told.bytes >= r->wanted.end - r->wanted.begin;
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

xd_usec xd_driver_act(struct xd_driver *d)
{
    struct xd_sched_action a = {.until = XD_NEVER};
    unsigned n = 0;

    while (!d->is_over) {
        enum xd_rule rule;

        a = xd_sched_next(d->sched, d->now);
        if (d->spoil)
            d->spoil(&a);
        rule = check(d, &a);
        if (rule != XD_RULE_NONE)
            end_broken(d, rule);
        else if (is_out_of_memory(d))
            d->is_over = d->failed = true;
        else if (a.kind == XD_DO_WAIT && !ends_with_gaps(d))
            return a.until;
        else if (a.kind == XD_DO_FINISH || a.kind == XD_DO_WAIT ||
                 (a.kind == XD_DO_FAIL &&
                  !xd_sched_options(d->sched)->has_gaps))
            d->is_over = true;
        else if (a.kind != XD_DO_FAIL)
            d->carry_out(d->world, &a);
        d->is_complete =
            d->is_over && a.kind == XD_DO_FINISH && d->broken == XD_RULE_NONE;
        if (++n == MOST_ACTIONS)
            d->is_over = d->is_endless = true;
    }
    return a.until;
}
