/* SPDX-License-Identifier: MIT */
/* State of the rules, and how events change it. */
#include <string.h>
#include <xdownload/error.h>

#include "base/alloc.h"
#include "base/array.h"
#include "sched/core.h"
#include "sim/rules.h"

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

/* Sets the window of a reader; an empty window removes it.  Searches all
 * windows, because there are few. */
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

/* Returns whether the object is verified or given up. */
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

/* Prepares the check of which objects are in progress.  If there are no
 * readers, there is one window, which contains the objects that may be
 * started. */
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

/* ---- events ---- */

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

/* Returns whether there is a missing byte that only this depot has, in any
 * tier. */
static bool is_needed(const struct xd_rules *r, unsigned depot)
{
    uint64_t end = r->wanted.end;

    for (uint64_t at = r->wanted.begin; at < end; at = xd_rules_run(r, at, end))
        if (!xd_rules_has(&r->arrived, at) &&
            xd_rules_has(&r->depots[depot].has, at) && !is_spared(r, depot, at))
            return true;
    return false;
}

static bool was_preempted(const struct xd_rules *r,
                          const struct xd_ruled_fetch *f)
{
    return f->is_canceled && f->got == f->range.begin &&
           xd_rangeset_contains(&r->arrived, f->range);
}

/* Counts a request that ended without a byte.  A depot that is the only one
 * with some bytes may be asked any number of times, so its count stays 0. */
static void count_without_byte(struct xd_rules *r, unsigned depot)
{
    if (is_needed(r, depot))
        r->depots[depot].n_without_byte = 0;
    else
        r->depots[depot].n_without_byte++;
}

static void forget_all(struct xd_rules *r)
{
    r->wanted.end = UINT64_MAX;
    xd_rangeset_fini(&r->arrived);
    xd_rangeset_fini(&r->verified);
}

static void progress(struct xd_rules *r, struct xd_ruled_fetch *f,
                     const struct xd_sched_event *ev)
{
    struct xd_range fresh = {f->got, ev->kind == XD_EV_DONE ? f->range.end
                                                            : ev->range.end};

    if (fresh.begin >= fresh.end)
        return;
    arrive(r, fresh);
    r->depots[f->depot].n_without_byte = 0;
    r->depots[f->depot].has_delivered = true;
    f->got = fresh.end;
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

/* Handles a depot that joins.  Depots do not join under the policies of the
 * paper, so new cuts do not affect those. */
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
    xd_rules_ask_again(r);
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
    if (ev->kind == XD_EV_FAILED)
        xd_paper_failed(r, f);
    if (r->size_is_unknown &&
        (ev->kind != XD_EV_DONE || xd_rules_head(r, r->wanted) < r->wanted.end))
        forget_all(r);
    if ((f->got == f->range.begin && ev->kind == XD_EV_FAILED) ||
        was_preempted(r, f))
        count_without_byte(r, f->depot);
    return XD_RULE_NONE;
}

static void pinged(struct xd_rules *r, struct xd_ruled_depot *d)
{
    r->n_pings -= d->is_pinged;
    d->is_pinged = false;
}

static void reject(struct xd_rules *r, struct xd_range range)
{
    put(r, &r->arrived, range, false);
    put(r, &r->verified, range, false);
    if (r->size_is_unknown)
        forget_all(r);
}

/* Extends the wanted range.  No depot has the new bytes yet. */
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

/* Copies the state of a depot from the scheduler: how long it backs off,
 * whether it was given up, and how many requests it may have.  tests/unit/sched
 * tests these values (lib/sched/standing.c). */
static void look_at(struct xd_rules *r, unsigned depot,
                    const struct xd_holder *h)
{
    struct xd_ruled_depot *d = &r->depots[depot];
    const bool was_dropped = d->is_dropped, was_aside = d->is_aside;

    d->is_dropped = h->state == XD_HOLDER_DROPPED;
    d->is_aside = h->is_aside;
    d->back_off_until = h->is_backing_off ? h->back_off_until : 0;
    d->is_tested = h->failures + h->preempted > 0;
    d->ceiling = h->ceiling;
    d->ceiling_spreads = h->ceiling_spreads;
    d->governed = h->governed;
    d->spreads = h->spreads;
    r->tiers_are_stale |=
        d->is_dropped != was_dropped || d->is_aside != was_aside;
    if (was_dropped && !d->is_dropped) {
        d->n_without_byte = 0;
        xd_rules_ask_again(r);
    }
}

void xd_rules_look(struct xd_rules *r)
{
    for (unsigned i = 0; r->sched && i < r->n_depots; i++)
        look_at(r, i, &r->sched->book.depots[i]);
    xd_rules_settle_tiers(r);
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
    case XD_EV_UNSIZED:
    case XD_EV_SIZED:
        break;
    case XD_EV_REJECTED:
        reject(r, ev->range);
        break;
    case XD_EV_LOST:
    case XD_EV_HOLDS:
        if (ev->kind == XD_EV_HOLDS)
            xd_rules_ask_again(r);
        xd_rules_put(r, ev->depot, r->size_is_unknown ? everything : ev->range,
                     ev->kind == XD_EV_HOLDS);
        break;
    case XD_EV_JOINED:
        join(r, ev);
        break;
    case XD_EV_EXTENDED:
        extend(r, ev->range);
        break;
    case XD_EV_NORANGES:
        r->depots[ev->depot].is_last_resort = ev->is_last_resort;
        /* while the size is unknown, all depots are asked for the whole file
         * anyway */
        r->depots[ev->depot].no_ranges = !r->size_is_unknown;
        r->depots[ev->depot].n_without_byte = 0;
        break;
    case XD_EV_SHARES:
        r->depots[ev->depot].shares = true;
        break;
    case XD_EV_DEMAND:
        set_window(r, (struct xd_window){.reader = ev->reader,
                                         .range = ev->range,
                                         .due = ev->due,
                                         .bytes_per_s = ev->bytes_per_s});
        break;
    case XD_EV_PINGED:
        pinged(r, &r->depots[ev->depot]);
        break;
    case XD_EV_BANNED:
    case XD_EV_CONNECTED:
    case XD_EV_GOVERNED:
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
