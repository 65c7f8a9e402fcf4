/* SPDX-License-Identifier: MIT */
/* Rules for actions. */
#include "sim/rules.h"

const char *xd_rule_text(enum xd_rule rule)
{
    switch (rule) {
    case XD_RULE_NONE:
    case XD_N_RULES:
        break;
#define XD_X(name, text) \
    case XD_RULE_##name: \
        return text;
        XD_RULES(XD_X)
#undef XD_X
    }
    return "none";
}

/* ---- bytes ---- */

bool xd_rules_has(const struct xd_rangeset *s, uint64_t byte)
{
    return xd_rangeset_contains(s, (struct xd_range){byte, byte + 1});
}

static void nearer(uint64_t edge, uint64_t at, uint64_t *end)
{
    if (edge > at && edge < *end)
        *end = edge;
}

void xd_rules_nearer(const struct xd_rangeset *s, uint64_t at, uint64_t *end)
{
    struct xd_range next;

    if (s->n == 0)
        return;
    next = s->n == 1 ? s->ranges[0] /* most depots hold a single range */
                     : xd_rangeset_next(s, (struct xd_range){at, *end});
    nearer(next.begin, at, end);
    nearer(next.end, at, end);
}

uint64_t xd_rules_run(const struct xd_rules *r, uint64_t at, uint64_t end)
{
    xd_rules_nearer(&r->arrived, at, &end);
    for (unsigned i = 0; i < r->n_depots; i++) {
        xd_rules_nearer(&r->depots[i].holds, at, &end);
        if (r->has_tiers)
            xd_rules_nearer(&r->depots[i].has, at, &end);
    }
    for (size_t i = 0; i < r->n_windows; i++) {
        nearer(r->windows[i].range.begin, at, &end);
        nearer(r->windows[i].range.end, at, &end);
    }
    xd_rules_nearer(&r->reported, at, &end);
    xd_rules_nearer(&r->put_off, at, &end);
    for (unsigned i = 0; i < r->n_fetches; i++) {
        if (!r->fetches[i].is_live)
            continue;
        nearer(r->fetches[i].got, at, &end);
        nearer(r->fetches[i].range.end, at, &end);
    }
    return end;
}

static bool is_in_window(const struct xd_rules *r, uint64_t byte)
{
    for (size_t i = 0; i < r->n_windows; i++)
        if (r->windows[i].range.begin <= byte && byte < r->windows[i].range.end)
            return true;
    return false;
}

bool xd_rules_is_wanted(const struct xd_rules *r, struct xd_range range)
{
    for (uint64_t at = range.begin; at < range.end;
         at = xd_rules_run(r, at, range.end))
        if (!is_in_window(r, at))
            return false;
    return true;
}

/* Returns the time at which the first missing byte of a window is needed. */
static xd_usec needed_at(const struct xd_rules *r, const struct xd_window *w)
{
    uint64_t at = w->range.begin;

    while (at < w->range.end && xd_rules_has(&r->arrived, at))
        at = xd_rules_run(r, at, w->range.end);
    if (at == w->range.end || w->due == XD_NEVER)
        return XD_NEVER;
    if (w->bytes_per_s == 0)
        return w->due;
    return w->due + (xd_usec)((double)(at - w->range.begin) * 1e6 /
                              (double)w->bytes_per_s);
}

static void rank_windows(struct xd_rules *r)
{
    for (size_t i = 0; i < r->n_windows; i++)
        for (size_t j = i + 1; j < r->n_windows; j++) {
            struct xd_window a = r->windows[i], b = r->windows[j];
            xd_usec a_at = needed_at(r, &a), b_at = needed_at(r, &b);

            if (a_at < b_at || (a_at == b_at && a.reader < b.reader))
                continue;
            r->windows[i] = b;
            r->windows[j] = a;
        }
}

/* Returns the end of the running request that contains `byte`; `byte` if there
 * is none. */
static uint64_t in_flight_to(const struct xd_rules *r, uint64_t byte)
{
    for (unsigned i = 0; i < r->n_fetches; i++)
        if (r->fetches[i].is_live && r->fetches[i].got <= byte &&
            byte < r->fetches[i].range.end)
            return r->fetches[i].range.end;
    return byte;
}

bool xd_rules_in_flight(const struct xd_rules *r, uint64_t byte)
{
    return in_flight_to(r, byte) > byte;
}

/* Returns whether the byte has not arrived, and was not requested, given up or
 * put off. */
static bool is_due(const struct xd_rules *r, uint64_t byte)
{
    return !xd_rules_has(&r->arrived, byte) && !xd_rules_in_flight(r, byte) &&
           !xd_rules_has(&r->reported, byte) &&
           !xd_rules_has(&r->put_off, byte);
}

uint64_t xd_rules_head(const struct xd_rules *r, struct xd_range within)
{
    uint64_t at = within.begin;

    while (at < within.end && !is_due(r, at))
        at = xd_rules_run(r, at, within.end);
    return at;
}

/* ---- depots ---- */

bool xd_rules_is_awake(const struct xd_rules *r, unsigned depot, xd_usec now)
{
    return r->depots[depot].back_off_until <= now;
}

bool xd_rules_is_ready(const struct xd_rules *r, unsigned depot, xd_usec now)
{
    const struct xd_ruled_depot *d = &r->depots[depot];

    return d->is_open && !d->is_dropped && !d->no_ranges &&
           xd_rules_is_awake(r, depot, now);
}

unsigned xd_rules_lanes(const struct xd_rules *r, unsigned depot, bool spreads)
{
    const struct xd_ruled_depot *d = &r->depots[depot];

    unsigned most = d->lanes;

    if (d->is_tested)
        return 1;
    if (d->governed > 0 && d->governed < most)
        most = d->governed;
    if (!d->shares && r->o.connections_per_depot > 0 &&
        most > r->o.connections_per_depot)
        most = r->o.connections_per_depot;
    return d->ceiling > 0 && d->ceiling_spreads == spreads && d->ceiling < most
               ? d->ceiling
               : most;
}

unsigned xd_rules_running(const struct xd_rules *r, unsigned depot)
{
    unsigned n = 0;

    for (unsigned i = 0; i < r->n_fetches; i++)
        n += r->fetches[i].is_live && r->fetches[i].depot == depot;
    return n;
}

/* Returns true if a depot with ranges holds the byte and has delivered bytes
 * before.  With `any`, it need not have delivered any. */
static bool has_better_holder(const struct xd_rules *r, uint64_t byte, bool any)
{
    for (unsigned i = 0; i < r->n_depots; i++)
        if (xd_rules_has(&r->depots[i].holds, byte) &&
            !r->depots[i].is_dropped && !r->depots[i].no_ranges &&
            (any || r->depots[i].has_delivered))
            return true;
    return false;
}

bool xd_rules_could_deliver(const struct xd_rules *r, unsigned depot,
                            uint64_t byte)
{
    const struct xd_ruled_depot *d = &r->depots[depot];

    return xd_rules_has(&d->holds, byte) && !d->is_dropped &&
           (!d->no_ranges || !has_better_holder(r, byte, d->is_last_resort));
}

/* Returns whether the depot could deliver a missing byte of the range. */
static bool has_work(const struct xd_rules *r, unsigned depot,
                     struct xd_range range)
{
    for (uint64_t at = range.begin; at < range.end;
         at = xd_rules_run(r, at, range.end))
        if (!xd_rules_has(&r->arrived, at) &&
            xd_rules_could_deliver(r, depot, at))
            return true;
    return false;
}

static unsigned n_open(const struct xd_rules *r)
{
    unsigned n = 0;

    for (unsigned i = 0; i < r->n_depots; i++)
        n += r->depots[i].is_open;
    return n;
}

/* Returns true if a reader at another place needs bytes sooner.  A depot
 * without ranges delivers from one place at a time, so that reader may take it
 * over. */
static bool is_needed_elsewhere(struct xd_rules *r,
                                const struct xd_ruled_fetch *f)
{
    uint64_t to = f->got;

    while (to < r->wanted.end && is_in_window(r, to))
        to = xd_rules_run(r, to, r->wanted.end);
    rank_windows(r);
    for (size_t i = 0; i < r->n_windows; i++) {
        const struct xd_window *w = &r->windows[i];
        bool comes_to = f->got < w->range.end && w->range.begin < to;

        if (has_work(r, f->depot, w->range))
            return !comes_to && w->bytes_per_s > 0;
    }
    return false;
}

/* Returns whether a request will deliver a missing byte in a window.  For a
 * depot without ranges, only the window in which the request is counts. */
static bool delivers_wanted(struct xd_rules *r, const struct xd_ruled_fetch *f)
{
    uint64_t end = f->range.end;

    if (r->depots[f->depot].no_ranges) {
        for (uint64_t at = f->got; at < end && is_in_window(r, at);
             at = xd_rules_run(r, at, end))
            if (!xd_rules_has(&r->arrived, at) &&
                xd_rules_could_deliver(r, f->depot, at))
                return !is_needed_elsewhere(r, f);
        return false;
    }
    for (uint64_t at = f->got; at < end; at = xd_rules_run(r, at, end))
        if (!xd_rules_has(&r->arrived, at) && is_in_window(r, at))
            return true;
    return false;
}

/* Returns true if the request must continue although all its bytes have arrived
 * from other depots.  A request without ranges may stop, because it could block
 * other work of its depot. */
static bool must_run_on(const struct xd_rules *r,
                        const struct xd_ruled_fetch *f, struct xd_range rest)
{
    return r->o.run_losers && !r->depots[f->depot].no_ranges &&
           xd_rangeset_contains(&r->arrived, rest);
}

static enum xd_rule check_cancel(struct xd_rules *r,
                                 const struct xd_sched_action *a)
{
    struct xd_ruled_fetch *f = &r->fetches[a->fetch];
    struct xd_range rest = {f->got, f->range.end};

    if (a->fetch >= r->n_fetches || !f->is_live || f->is_canceled ||
        rest.begin >= rest.end ||
        (r->o.policy->cancel == NULL &&
         (delivers_wanted(r, f) || must_run_on(r, f, rest))))
        return XD_RULE_CANCEL;
    f->is_canceled = true;
    return XD_RULE_NONE;
}

static enum xd_rule check_shorten(struct xd_rules *r,
                                  const struct xd_sched_action *a)
{
    struct xd_ruled_fetch *f = &r->fetches[a->fetch];

    if (a->fetch >= r->n_fetches || !f->is_live || f->is_canceled ||
        a->range.end <= f->got || a->range.end >= f->range.end)
        return XD_RULE_SHORTEN;
    f->range.end = a->range.end;
    return XD_RULE_NONE;
}

static enum xd_rule check_open(struct xd_rules *r,
                               const struct xd_sched_action *a, xd_usec now)
{
    struct xd_ruled_depot *d = &r->depots[a->depot];

    if (a->depot >= r->n_depots || d->is_open || d->is_dropped ||
        !xd_rules_is_awake(r, a->depot, now) ||
        !has_work(r, a->depot, r->wanted) || n_open(r) == r->o.max_open)
        return XD_RULE_OPEN;
    d->is_open = true;
    return XD_RULE_NONE;
}

static enum xd_rule check_park(struct xd_rules *r,
                               const struct xd_sched_action *a)
{
    struct xd_ruled_depot *d = &r->depots[a->depot];

    if (a->depot >= r->n_depots || !d->is_open ||
        xd_rules_running(r, a->depot) > 0)
        return XD_RULE_PARK;
    d->is_open = false;
    return XD_RULE_NONE;
}

static enum xd_rule check_ping(struct xd_rules *r,
                               const struct xd_sched_action *a, xd_usec now)
{
    struct xd_ruled_depot *d = &r->depots[a->depot];

    if (a->depot >= r->n_depots || d->is_open || d->is_dropped ||
        d->is_pinged || !xd_rules_is_awake(r, a->depot, now) ||
        r->n_pings == r->o.max_pings)
        return XD_RULE_PING;
    d->is_pinged = true;
    r->n_pings++;
    return XD_RULE_NONE;
}

static enum xd_rule check_finish(const struct xd_rules *r)
{
    if (r->size_is_unknown && r->wanted.end == UINT64_MAX)
        return XD_RULE_FINISH;
    return xd_rangeset_contains(&r->verified, r->wanted) ? XD_RULE_NONE
                                                         : XD_RULE_FINISH;
}

static bool has_deliverer(const struct xd_rules *r, uint64_t byte)
{
    for (unsigned i = 0; i < r->n_depots; i++)
        if (xd_rules_could_deliver(r, i, byte))
            return true;
    return false;
}

static enum xd_rule check_fail(struct xd_rules *r,
                               const struct xd_sched_action *a)
{
    uint64_t at = a->range.begin, end = a->range.end;

    if (at < r->wanted.begin || at >= end || end > r->wanted.end ||
        (r->o.has_gaps && !xd_rules_is_wanted(r, a->range)))
        return XD_RULE_FAIL;
    for (; at < end; at = xd_rules_run(r, at, end))
        if (!is_due(r, at) || has_deliverer(r, at))
            return XD_RULE_FAIL;
    if (r->o.has_gaps && xd_rangeset_add(&r->reported, a->range) < 0)
        r->failed = true;
    xd_rules_bound_objects(r);
    return XD_RULE_NONE;
}

void xd_rules_put_off(struct xd_rules *r, struct xd_range range)
{
    if (xd_rangeset_add(&r->put_off, range) < 0)
        r->failed = true;
}

void xd_rules_ask_again(struct xd_rules *r)
{
    xd_rangeset_fini(&r->reported);
    xd_rangeset_fini(&r->put_off);
}

/* ---- WAIT ---- */

/* Returns whether an idle depot could deliver a byte that is due. */
static bool could_begin(const struct xd_rules *r, unsigned depot)
{
    uint64_t end = r->wanted.end;

    for (uint64_t at = r->wanted.begin;
         xd_rules_running(r, depot) == 0 && at < end;
         at = xd_rules_run(r, at, end))
        if (is_in_window(r, at) && is_due(r, at) &&
            xd_rules_could_deliver(r, depot, at))
            return true;
    return false;
}

static bool nothing_runs(const struct xd_rules *r)
{
    for (unsigned i = 0; i < r->n_fetches; i++)
        if (r->fetches[i].is_live)
            return false;
    return true;
}

/* Returns whether an open depot has a free lane that should have been used.
 * Policies other than the paper's may let some depots wait, but not all. */
static bool is_wrongly_idle(const struct xd_rules *r, unsigned depot,
                            xd_usec now)
{
    const struct xd_ruled_depot *d = &r->depots[depot];

    if (!d->is_open || d->is_dropped || !xd_rules_is_awake(r, depot, now) ||
        xd_rules_running(r, depot) >= xd_rules_lanes(r, depot, d->spreads))
        return false;
    if (r->size_is_unknown)
        return xd_rules_head(r, r->wanted) == r->wanted.begin;
    if (d->no_ranges)
        return could_begin(r, depot);
    if (r->is_papers)
        return !xd_range_is_empty(xd_paper_choice(r, depot, now));
    return nothing_runs(r) && could_begin(r, depot);
}

/* Returns whether the next byte waits although a depot could be opened for it
 * now.  Waiting is allowed while a ping is running that helps to choose a
 * depot. */
static bool head_waits_needlessly(const struct xd_rules *r, xd_usec now)
{
    uint64_t head = UINT64_MAX;
    bool in_reserve = false, has_room = n_open(r) < r->o.max_open;

    if (r->n_pings > 0 || n_open(r) == r->n_depots)
        return false;
    for (size_t i = 0; i < r->n_windows && head == UINT64_MAX; i++) {
        head = xd_rules_head(r, r->windows[i].range);
        if (head == r->windows[i].range.end)
            head = UINT64_MAX;
    }
    if (head >= r->wanted.end)
        return false;
    for (unsigned i = 0; i < r->n_depots; i++) {
        if (r->depots[i].is_open && xd_rules_running(r, i) == 0)
            has_room = true;
        if (!xd_rules_is_awake(r, i, now) ||
            !xd_rules_could_deliver(r, i, head))
            continue;
        if (r->depots[i].is_open)
            return false;
        in_reserve = true;
    }
    return in_reserve && has_room;
}

/* Returns whether a depot could deliver every byte. */
static bool has_holder_of_all(const struct xd_rules *r)
{
    for (unsigned i = 0; i < r->n_depots; i++) {
        const struct xd_ruled_depot *d = &r->depots[i];

        if (!d->is_dropped && !d->no_ranges &&
            xd_rangeset_contains(&d->holds, r->wanted))
            return true;
    }
    return false;
}

/* Returns whether a due byte cannot be delivered by any depot. */
static bool is_unavailable(const struct xd_rules *r)
{
    uint64_t end = r->wanted.end;

    if (has_holder_of_all(r))
        return false;
    for (uint64_t at = r->wanted.begin; at < end; at = xd_rules_run(r, at, end))
        if (is_due(r, at) && !has_deliverer(r, at) &&
            (!r->o.has_gaps || is_in_window(r, at)))
            return true;
    return false;
}

static enum xd_rule check_wait(const struct xd_rules *r,
                               const struct xd_sched_action *a, xd_usec now)
{
    bool has_room = n_open(r) < r->o.max_open && r->n_pings == 0 &&
                    (r->is_papers || r->size_is_unknown);

    if (a->until <= now)
        return XD_RULE_WAKE;
    for (unsigned i = 0; i < r->n_depots; i++) {
        const struct xd_ruled_depot *d = &r->depots[i];

        if (is_wrongly_idle(r, i, now) ||
            (has_room && !d->is_open && !d->is_dropped &&
             xd_rules_is_awake(r, i, now) && has_work(r, i, r->wanted)))
            return XD_RULE_IDLE;
        if (!d->is_dropped && d->back_off_until > now &&
            a->until > d->back_off_until)
            return XD_RULE_WAKE;
    }
    return is_unavailable(r) || head_waits_needlessly(r, now) ? XD_RULE_IDLE
                                                              : XD_RULE_NONE;
}

enum xd_rule xd_rules_assigned(const struct xd_rules *r,
                               const struct xd_ledger *ledger)
{
    struct xd_range rest = r->wanted, run;

    while (run = xd_ledger_next(ledger, 1 << XD_BYTE_ASSIGNED, rest),
           !xd_range_is_empty(run)) {
        for (uint64_t at = run.begin, to; at < run.end; at = to) {
            to = in_flight_to(r, at);
            if (to == at)
                return XD_RULE_ASSIGNED;
        }
        rest.begin = run.end;
    }
    return XD_RULE_NONE;
}

enum xd_rule xd_rules_action(struct xd_rules *r,
                             const struct xd_sched_action *a, xd_usec now)
{
    xd_rules_look(r);
    rank_windows(r);
    switch (a->kind) {
    case XD_DO_WAIT:
        return check_wait(r, a, now);
    case XD_DO_OPEN:
        return check_open(r, a, now);
    case XD_DO_PARK:
        return check_park(r, a);
    case XD_DO_PING:
        return check_ping(r, a, now);
    case XD_DO_FETCH:
        return xd_rules_fetch(r, a, now);
    case XD_DO_CANCEL:
        return check_cancel(r, a);
    case XD_DO_SHORTEN:
        return check_shorten(r, a);
    case XD_DO_FINISH:
        return check_finish(r);
    case XD_DO_FAIL:
        return check_fail(r, a);
    }
    return XD_RULE_NONE;
}
