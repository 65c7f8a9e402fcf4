/* SPDX-License-Identifier: MIT */
/* What the rules keep in mind, and how events change it. */
#include <string.h>
#include <xdownload/error.h>

#include "base/alloc.h"
#include "base/array.h"
#include "sim/rules.h"

#define FIRST_REST (250 * XD_MS)
#define LONGEST_REST (30 * XD_SECOND)

static const struct xd_range everything = {0, UINT64_MAX};

static void put(struct xd_rules *r, struct xd_rangeset *s,
                struct xd_range range, bool value)
{
    int rc = value ? xd_rangeset_add(s, range) : xd_rangeset_remove(s, range);

    if (rc < 0)
        r->failed = true;
}

static int copy_depots(struct xd_rules *r, const struct xd_layout *l)
{
    r->depots = xd_alloc(l->n_depots + 1, sizeof *r->depots);
    if (!r->depots)
        return XD_E_NOMEM;
    r->n_depots = (unsigned)l->n_depots;
    for (size_t d = 0; d < l->n_depots; d++) {
        unsigned most = l->depots[d].max_lanes;

        r->depots[d].lanes = r->o.lanes_per_depot;
        if (most > 0 && most < r->depots[d].lanes)
            r->depots[d].lanes = most;
        for (size_t i = 0; i < l->depots[d].n_held; i++)
            xd_rules_put_tier(r, (unsigned)d, l->depots[d].held[i],
                              l->depots[d].tiers ? l->depots[d].tiers[i] : 0);
    }
    xd_rules_settle_tiers(r);
    return r->failed ? XD_E_NOMEM : 0;
}

static int copy_cuts(struct xd_rules *r, const struct xd_layout *l)
{
    r->cuts = xd_alloc(l->n_cuts + 1, sizeof *r->cuts);
    if (!r->cuts)
        return XD_E_NOMEM;
    if (l->n_cuts > 0)
        memcpy(r->cuts, l->cuts, l->n_cuts * sizeof *r->cuts);
    r->n_cuts = l->n_cuts;
    return 0;
}

static unsigned n_slots(const struct xd_rules *r)
{
    return r->o.max_open < r->n_depots ? r->o.max_open : r->n_depots;
}

static int make_fetches(struct xd_rules *r)
{
    r->n_fetches = n_slots(r) * r->o.lanes_per_depot;
    r->fetches = xd_alloc(r->n_fetches + 1u, sizeof *r->fetches);
    return r->fetches ? 0 : XD_E_NOMEM;
}

/* Windows are few. */
static void set_window(struct xd_rules *r, struct xd_window w)
{
    size_t n = 0;

    for (size_t i = 0; i < r->n_windows; i++)
        if (r->windows[i].reader != w.reader)
            r->windows[n++] = r->windows[i];
    r->n_windows = n;
    if (w.range.begin < r->wanted.begin)
        w.range.begin = r->wanted.begin;
    if (w.range.end > r->wanted.end)
        w.range.end = r->wanted.end;
    if (w.range.begin >= w.range.end)
        return;
    if (n == r->windows_capacity) {
        struct xd_window *list =
            xd_realloc(r->windows, n + 4, sizeof *r->windows);

        if (!list) {
            r->failed = true;
            return;
        }
        r->windows = list;
        r->windows_capacity = n + 4;
    }
    r->windows[r->n_windows++] = w;
}

static struct xd_window first_window(const struct xd_rules *r)
{
    struct xd_window w = {.range = r->wanted};

    if (r->o.window_bytes > 0 &&
        r->o.window_bytes < r->wanted.end - r->wanted.begin)
        w.range.end = w.range.begin + r->o.window_bytes;
    return w;
}

/* Verified, or given up. */
static bool is_done_with(const struct xd_rules *r, struct xd_range object)
{
    return xd_rangeset_contains(&r->verified, object) ||
           !xd_range_is_empty(xd_rangeset_next(&r->reported, object));
}

static uint64_t next_cut(const struct xd_rules *r, uint64_t at)
{
    for (size_t i = 0; i < r->n_cuts; i++)
        if (r->cuts[i] > at && r->cuts[i] < r->wanted.end)
            return r->cuts[i];
    return r->wanted.end;
}

void xd_rules_bound_objects(struct xd_rules *r)
{
    struct xd_range *window = &r->windows[0].range;
    unsigned n = 0;

    if (!r->begun)
        return;
    for (unsigned i = 0; i < r->n_begun_objects; i++)
        if (!is_done_with(r, r->begun[i]))
            r->begun[n++] = r->begun[i];
    for (; n < r->o.most_objects && window->end < r->wanted.end;
         window->end = next_cut(r, window->end)) {
        r->begun[n].begin = window->end;
        r->begun[n].end = next_cut(r, window->end);
        n += !is_done_with(r, r->begun[n]);
    }
    r->n_begun_objects = n;
}

/* Without readers what may be begun is a window. */
static int init_objects(struct xd_rules *r)
{
    if (r->o.most_objects == 0 || r->o.window_bytes > 0 || r->size_is_unknown ||
        r->n_windows == 0)
        return 0;
    r->begun = xd_alloc(r->o.most_objects, sizeof *r->begun);
    if (!r->begun)
        return XD_E_NOMEM;
    r->windows[0].range.end = r->wanted.begin;
    xd_rules_bound_objects(r);
    return 0;
}

struct xd_rules *xd_rules_new(const struct xd_layout *l,
                              const struct xd_sched_options *in_force,
                              struct xd_range wanted)
{
    struct xd_rules *r = xd_alloc(1, sizeof *r);

    if (!r)
        return NULL;
    r->o = *in_force;
    r->wanted = wanted;
    r->size_is_unknown = l->size == UINT64_MAX;
    set_window(r, first_window(r));
    if (!r->failed && copy_depots(r, l) == 0 && copy_cuts(r, l) == 0 &&
        make_fetches(r) == 0 && xd_paper_init(r) == 0 && init_objects(r) == 0)
        return r;
    xd_rules_free(r);
    return NULL;
}

void xd_rules_free(struct xd_rules *r)
{
    if (!r)
        return;
    for (unsigned i = 0; i < r->n_depots; i++) {
        xd_rangeset_fini(&r->depots[i].holds);
        xd_rangeset_fini(&r->depots[i].has);
        for (unsigned t = 0; t < XD_TIERS; t++)
            xd_rangeset_fini(&r->depots[i].in[t]);
    }
    xd_rangeset_fini(&r->arrived);
    xd_rangeset_fini(&r->verified);
    xd_rangeset_fini(&r->reported);
    xd_rangeset_fini(&r->put_off);
    xd_free(r->begun);
    xd_free(r->windows);
    xd_free(r->depots);
    xd_free(r->fetches);
    xd_free(r->cuts);
    xd_free(r->blocks);
    xd_free(r->tried);
    xd_free(r);
}

/* Events. */

static void arrive(struct xd_rules *r, struct xd_range range)
{
    put(r, &r->arrived, range, true);
    xd_paper_arrived(r, range);
}

static bool is_spared(const struct xd_rules *r, unsigned depot, uint64_t byte)
{
    for (unsigned i = 0; i < r->n_depots; i++)
        if (i != depot && !r->depots[i].is_dropped &&
            xd_rules_has(&r->depots[i].has, byte))
            return true;
    return false;
}

/* Whether it alone has a byte that is missing, in any tier. */
static bool is_needed(const struct xd_rules *r, unsigned depot)
{
    uint64_t end = r->wanted.end;

    for (uint64_t at = r->wanted.begin; at < end; at = xd_rules_run(r, at, end))
        if (!xd_rules_has(&r->arrived, at) &&
            xd_rules_has(&r->depots[depot].has, at) && !is_spared(r, depot, at))
            return true;
    return false;
}

static xd_usec rest_of(const struct xd_ruled_depot *d)
{
    unsigned n = d->failures + (d->preempted < 3 ? 0 : d->preempted - 3);
    xd_usec rest = n == 0 ? 0 : FIRST_REST << (n < 10 ? n - 1 : 10);

    return rest < LONGEST_REST ? rest : LONGEST_REST;
}

/* It backs off, or is dropped unless no other holds what it holds. */
static void pause(struct xd_rules *r, unsigned depot, xd_usec now,
                  xd_usec until)
{
    struct xd_ruled_depot *d = &r->depots[depot];
    xd_usec last = XD_NEVER;

    if (d->failures >= 2)
        xd_rules_set_aside(r, depot, true);
    if (d->failures >= r->o.max_failures ||
        (d->preempted > 0 && d->failures + d->preempted >= 10)) {
        last = r->size_is_unknown || !is_needed(r, depot)
                   ? 0
                   : r->last_byte_at + r->o.patience;
        d->is_dropped = last <= now;
        r->tiers_are_stale = true;
    }
    if (until < now + rest_of(d))
        until = now + rest_of(d);
    if (until > last)
        until = last;
    if (until > d->back_off_until)
        d->back_off_until = until;
}

static unsigned count_flowing(const struct xd_ruled_depot *d)
{
    unsigned shared = d->sharing > 0;

    return d->spreads ? d->flowing - d->sharing + shared : d->flowing;
}

static bool is_second_too_many(const struct xd_rules *r,
                               const struct xd_ruled_fetch *f,
                               const struct xd_sched_event *ev)
{
    return r->depots[f->depot].most_flowing <= 1 && f->is_beside &&
           !ev->is_unanswered;
}

static unsigned served_at_a_time(const struct xd_ruled_depot *d)
{
    unsigned n = 4 * d->refused_most > 5 * d->refused_least ? 2 : 1;

    return n < d->most_flowing ? d->most_flowing : n;
}

static void refused(struct xd_rules *r, const struct xd_ruled_fetch *f,
                    xd_usec now)
{
    struct xd_ruled_depot *d = &r->depots[f->depot];
    xd_usec after = now - f->began_at;

    if (d->refused_to <= f->number) {
        d->refused_to = r->n_begun;
        d->refused_least = d->refused_most = after;
        d->served = count_flowing(d);
        d->ceiling = 0;
        d->ceiling_spreads = d->spreads;
    }
    if (d->refused_least > after)
        d->refused_least = after;
    if (d->refused_most < after)
        d->refused_most = after;
    if (d->ceiling < served_at_a_time(d))
        d->ceiling = served_at_a_time(d);
}

static void depot_failed(struct xd_rules *r, const struct xd_ruled_fetch *f,
                         const struct xd_sched_event *ev)
{
    struct xd_ruled_depot *d = &r->depots[f->depot];

    if (d->is_dropped)
        return;
    if (ev->is_refusal && f->got == f->range.begin &&
        (f->has_company || (f->is_beside && d->flowing > 0) ||
         is_second_too_many(r, f, ev))) {
        refused(r, f, ev->now);
        if (d->flowing > 0)
            return;
    }
    if (f->number >= d->forgiven_to) {
        d->failures++;
        d->forgiven_to = r->n_begun;
        pause(r, f->depot, ev->now, ev->retry_at);
    } else if (ev->retry_at > d->back_off_until) {
        d->back_off_until = ev->retry_at;
    }
}

static bool was_preempted(const struct xd_rules *r,
                          const struct xd_ruled_fetch *f)
{
    return f->is_canceled && f->got == f->range.begin &&
           xd_rangeset_contains(&r->arrived, f->range);
}

static void preempted(struct xd_rules *r, const struct xd_ruled_fetch *f,
                      xd_usec now)
{
    struct xd_ruled_depot *d = &r->depots[f->depot];

    if (d->is_dropped || f->number < d->excused_to)
        return;
    d->preempted++;
    d->excused_to = r->n_begun;
    pause(r, f->depot, now, 0);
}

/* A row of them matters only where others hold the same. */
static void in_vain(struct xd_rules *r, unsigned depot)
{
    if (is_needed(r, depot))
        r->depots[depot].in_vain = 0;
    else
        r->depots[depot].in_vain++;
}

static void forget_all(struct xd_rules *r)
{
    r->wanted.end = UINT64_MAX;
    xd_rangeset_fini(&r->arrived);
    xd_rangeset_fini(&r->verified);
}

void xd_rules_spread(struct xd_rules *r, unsigned depot, bool spreads)
{
    struct xd_ruled_depot *d = &r->depots[depot];
    bool was = d->spreads;

    d->spreads = spreads;
    if (spreads && !was)
        d->most_flowing = count_flowing(d);
}

static void flows(struct xd_ruled_depot *d, const struct xd_ruled_fetch *f)
{
    unsigned n;

    d->flowing++;
    d->sharing += !f->owns_connection;
    n = count_flowing(d);
    if (d->most_flowing < n)
        d->most_flowing = n;
    if (f->number < d->refused_to && (f->owns_connection || !d->spreads))
        d->served++;
    if (n < d->served)
        n = d->served;
    if (d->ceiling > 0 && d->ceiling < n && d->ceiling_spreads == d->spreads)
        d->ceiling = n;
}

static void progress(struct xd_rules *r, struct xd_ruled_fetch *f,
                     const struct xd_sched_event *ev)
{
    struct xd_range fresh = {f->got, ev->kind == XD_EV_DONE ? f->range.end
                                                            : ev->range.end};

    if (fresh.begin >= fresh.end)
        return;
    arrive(r, fresh);
    r->depots[f->depot].in_vain = 0;
    r->depots[f->depot].has_delivered = true;
    r->depots[f->depot].answered_at = ev->now;
    if (!r->depots[f->depot].is_dropped)
        xd_rules_set_aside(r, f->depot, false);
    if (!r->size_is_unknown)
        r->depots[f->depot].failures = r->depots[f->depot].preempted = 0;
    if (f->got == f->range.begin)
        flows(&r->depots[f->depot], f);
    f->got = fresh.end;
    r->last_byte_at = ev->now;
}

static void take_back(struct xd_rules *r, struct xd_ruled_depot *d)
{
    d->is_dropped = d->is_banned = d->is_aside = false;
    r->tiers_are_stale = true;
    d->failures = d->preempted = d->in_vain = 0;
    d->back_off_until = 0;
    d->forgiven_to = d->excused_to = r->n_begun;
    xd_rules_ask_again(r);
}

/* A depot that failed is asked again when no other holds the same bytes. */
static void reconsider(struct xd_rules *r, xd_usec now)
{
    bool is_missed = false;

    if (r->size_is_unknown || now >= r->last_byte_at + r->o.patience)
        return;
    for (unsigned i = 0; i < r->n_depots; i++)
        is_missed |= r->depots[i].is_dropped && !r->depots[i].is_banned &&
                     is_needed(r, i);
    for (unsigned i = 0; is_missed && i < r->n_depots; i++) {
        struct xd_ruled_depot *d = &r->depots[i];

        if (!d->is_dropped || d->is_banned)
            continue;
        take_back(r, d);
    }
}

static int add_depot(struct xd_rules *r)
{
    unsigned n = r->n_depots, n_fetches = r->n_fetches;

    if (xd_lengthen(&r->depots, n, n + 1, sizeof *r->depots) < 0)
        return XD_E_NOMEM;
    r->depots[n].lanes = r->o.lanes_per_depot;
    r->n_depots++;
    r->n_fetches = n_slots(r) * r->o.lanes_per_depot;
    if (xd_lengthen(&r->fetches, n_fetches, r->n_fetches + 1,
                    sizeof *r->fetches) < 0)
        return XD_E_NOMEM;
    return xd_lengthen(&r->tried, n * r->n_blocks, (n + 1) * r->n_blocks + 1,
                       sizeof *r->tried);
}

static int add_cut(struct xd_rules *r, uint64_t at)
{
    size_t i;

    if (xd_lengthen(&r->cuts, r->n_cuts, r->n_cuts + 1, sizeof *r->cuts) < 0)
        return XD_E_NOMEM;
    for (i = r->n_cuts++; i > 0 && r->cuts[i - 1] > at; i--)
        r->cuts[i] = r->cuts[i - 1];
    r->cuts[i] = at;
    return 0;
}

/* The paper knows no cuts that are made while it runs. */
static void join(struct xd_rules *r, const struct xd_sched_event *ev)
{
    struct xd_ruled_depot *d;

    if ((ev->depot == r->n_depots && add_depot(r) < 0) ||
        add_cut(r, ev->range.begin) < 0 || add_cut(r, ev->range.end) < 0) {
        r->failed = true;
        return;
    }
    d = &r->depots[ev->depot];
    if (ev->max_lanes > 0 && ev->max_lanes < d->lanes)
        d->lanes = ev->max_lanes;
    xd_rules_put_tier(r, ev->depot, r->size_is_unknown ? everything : ev->range,
                      ev->tier);
    if (d->is_dropped)
        take_back(r, d);
    xd_rules_ask_again(r);
}

/* For no fault of its own it is not asked for a while. */
static void postponed(struct xd_rules *r, const struct xd_ruled_fetch *f,
                      const struct xd_sched_event *ev)
{
    struct xd_ruled_depot *d = &r->depots[f->depot];

    if (ev->now >= r->last_byte_at + r->o.patience)
        depot_failed(r, f, ev);
    else if (!d->is_dropped && d->back_off_until < ev->retry_at)
        d->back_off_until = ev->retry_at;
}

static enum xd_rule fetch_event(struct xd_rules *r,
                                const struct xd_sched_event *ev)
{
    struct xd_ruled_fetch *f = &r->fetches[ev->fetch];

    if (ev->fetch >= r->n_fetches || !f->is_live)
        return XD_RULE_ENDS;
    if (ev->kind == XD_EV_STARTED)
        return XD_RULE_NONE;
    if (ev->kind == XD_EV_DONE && r->size_is_unknown)
        r->wanted.end = f->range.end = ev->range.end;
    progress(r, f, ev);
    if (ev->kind == XD_EV_BYTES)
        return XD_RULE_NONE;
    f->is_live = false;
    r->depots[f->depot].flowing -= f->got > f->range.begin;
    r->depots[f->depot].sharing -=
        f->got > f->range.begin && !f->owns_connection;
    if (ev->kind == XD_EV_FAILED)
        xd_paper_failed(r, f);
    if (r->size_is_unknown &&
        (ev->kind != XD_EV_DONE || xd_rules_head(r, r->wanted) < r->wanted.end))
        forget_all(r);
    if (ev->kind == XD_EV_FAILED)
        depot_failed(r, f, ev);
    else if (ev->kind == XD_EV_CANCELED && ev->retry_at > ev->now)
        postponed(r, f, ev);
    else if (was_preempted(r, f))
        preempted(r, f, ev->now);
    if ((f->got == f->range.begin && ev->kind == XD_EV_FAILED) ||
        was_preempted(r, f))
        in_vain(r, f->depot);
    return XD_RULE_NONE;
}

static void no_ranges(struct xd_rules *r, struct xd_ruled_depot *d)
{
    d->no_ranges = !r->size_is_unknown; /* else all are asked for all */
    d->back_off_until = 0;
    d->failures = d->preempted = d->in_vain = 0;
    d->forgiven_to = r->n_begun;
}

/* A refusal is a failure, without a request. */
static void pinged(struct xd_rules *r, const struct xd_sched_event *ev)
{
    struct xd_ruled_depot *d = &r->depots[ev->depot];

    if (ev->ping == XD_PING_ANSWERED)
        d->answered_at = ev->now;
    r->n_pings -= d->is_pinged;
    d->is_pinged = false;
    if (ev->ping != XD_PING_REFUSED || d->is_open || d->is_dropped ||
        d->back_off_until > ev->now)
        return;
    d->failures++;
    d->forgiven_to = r->n_begun;
    pause(r, ev->depot, ev->now, 0);
}

static void reject(struct xd_rules *r, struct xd_range range)
{
    put(r, &r->arrived, range, false);
    put(r, &r->verified, range, false);
    if (r->size_is_unknown)
        forget_all(r);
}

/* More is wanted, which no depot holds yet. */
static void extend(struct xd_rules *r, struct xd_range more)
{
    if (add_cut(r, more.begin) < 0) {
        r->failed = true;
        return;
    }
    r->wanted.end = more.end;
    if (!r->begun)
        r->windows[0].range.end = more.end;
    xd_rules_bound_objects(r);
}

static enum xd_rule event(struct xd_rules *r, const struct xd_sched_event *ev)
{
    switch (ev->kind) {
    case XD_EV_STARTED:
    case XD_EV_BYTES:
    case XD_EV_DONE:
    case XD_EV_FAILED:
    case XD_EV_CANCELED:
        return fetch_event(r, ev);
    case XD_EV_VERIFIED:
        put(r, &r->verified, ev->range, true);
        arrive(r, ev->range);
        xd_rules_bound_objects(r);
        break;
    case XD_EV_HELD:
        arrive(r, ev->range);
        break;
    case XD_EV_SIZED:
        break;
    case XD_EV_REJECTED:
        reject(r, ev->range);
        reconsider(r, ev->now);
        break;
    case XD_EV_LOST:
    case XD_EV_HOLDS:
        if (ev->kind == XD_EV_HOLDS)
            xd_rules_ask_again(r);
        xd_rules_put(r, ev->depot, r->size_is_unknown ? everything : ev->range,
                     ev->kind == XD_EV_HOLDS);
        if (ev->kind == XD_EV_LOST && !ev->is_lent)
            reconsider(r, ev->now);
        break;
    case XD_EV_JOINED:
        join(r, ev);
        break;
    case XD_EV_EXTENDED:
        extend(r, ev->range);
        break;
    case XD_EV_NORANGES:
        r->depots[ev->depot].is_last_resort = ev->is_last_resort;
        no_ranges(r, &r->depots[ev->depot]);
        break;
    case XD_EV_SHARES:
        r->depots[ev->depot].shares = true;
        if (!r->depots[ev->depot].has_delivered)
            r->depots[ev->depot].ceiling_spreads = true;
        break;
    case XD_EV_BANNED:
        r->depots[ev->depot].is_dropped = r->tiers_are_stale = true;
        r->depots[ev->depot].is_banned = true;
        reconsider(r, ev->now);
        break;
    case XD_EV_DEMAND:
        set_window(r, (struct xd_window){.reader = ev->reader,
                                         .range = ev->range,
                                         .due = ev->due,
                                         .bytes_per_s = ev->bytes_per_s});
        break;
    case XD_EV_PINGED:
        pinged(r, ev);
        break;
    case XD_EV_CONNECTED:
    case XD_EV_HINT:
    case XD_EV_TICK:
        break;
    }
    return XD_RULE_NONE;
}

enum xd_rule xd_rules_event(struct xd_rules *r, const struct xd_sched_event *ev)
{
    enum xd_rule rule = event(r, ev);

    xd_rules_settle_tiers(r);
    return rule;
}
