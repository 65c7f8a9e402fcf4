/* SPDX-License-Identifier: MIT */
/* Creates the scheduler and handles events.  standing.c handles failures of
 * depots, and next.c makes the decisions. */
#include "sched/sched.h"

#include <xdownload/error.h>

#include "base/alloc.h"
#include "base/check.h"
#include "base/governor.h"
#include "sched/core.h"

/* Adjusts the options to the policy and the window.  With fewer than four
 * blocks in a window, or with P as large as that number, the policy could wait
 * for blocks that the window excludes. */
static void settle_options(struct xd_sched_options *o, unsigned n_depots)
{
    uint64_t in_window;

    o->policy->settle(o);
    if (o->connections_per_depot == 0 ||
        o->connections_per_depot > o->lanes_per_depot)
        o->connections_per_depot = o->lanes_per_depot;
    if (o->progress == XD_AUTO)
        o->progress = UINT64_C(2) * o->lanes_per_depot *
                      (o->max_open < n_depots ? o->max_open : n_depots);
    if (o->window_bytes == 0)
        return;
    if (o->block_bytes > o->window_bytes / 4)
        o->block_bytes = o->window_bytes < 4 ? 1 : o->window_bytes / 4;
    in_window = o->window_bytes / o->block_bytes;
    if (in_window < 2)
        o->progress = 0;
    else if (o->progress > in_window - 2)
        o->progress = in_window - 2;
}

static int copy_cuts(struct xd_sched *s, const struct xd_layout *l)
{
    s->cuts = xd_alloc(l->n_cuts, sizeof *s->cuts);
    if (s->cuts == NULL)
        return XD_E_NOMEM;
    for (size_t i = 0; i < l->n_cuts; i++)
        if (l->cuts[i] > s->book.wanted.begin &&
            l->cuts[i] < s->book.wanted.end)
            s->cuts[s->book.n_cuts++] = l->cuts[i];
    s->book.cuts = s->cuts;
    return 0;
}

static void know(struct xd_holder *d, const struct xd_guess *guess)
{
    d->guess = *guess;
    d->ceiling = guess->learned.ceiling;
    d->ceiling_is_known = d->ceiling > 0;
}

static unsigned tier_of(const struct xd_holding *h, size_t i)
{
    return h->tiers ? h->tiers[i] : 0;
}

static int copy_depots(struct xd_sched *s, const struct xd_layout *l)
{
    struct xd_book *b = &s->book;

    b->depots = xd_alloc(l->n_depots, sizeof *b->depots);
    if (b->depots == NULL)
        return XD_E_NOMEM;
    b->steps = &s->steps;
    b->backing_off = xd_alloc(l->n_depots, sizeof *b->backing_off);
    if (b->backing_off == NULL ||
        xd_depot_set_init(&b->usable, (unsigned)l->n_depots) < 0 ||
        xd_depot_set_init(&b->fresh, (unsigned)l->n_depots) < 0 ||
        xd_depot_set_init(&b->tried, (unsigned)l->n_depots) < 0 ||
        xd_depot_set_init(&b->unseen, (unsigned)l->n_depots) < 0 ||
        xd_depot_set_init(&b->unseen_tried, (unsigned)l->n_depots) < 0 ||
        xd_depot_set_init(&b->proven, (unsigned)l->n_depots) < 0 ||
        xd_depot_set_init(&b->without_ranges, (unsigned)l->n_depots) < 0)
        return XD_E_NOMEM;
    b->n_depots = (unsigned)l->n_depots;
    for (size_t i = 0; i < l->n_depots; i++) {
        b->depots[i].slot = XD_NO_SLOT;
        xd_core_place(s, (unsigned)i);
        b->depots[i].idle_to = b->wanted.begin;
        b->depots[i].max_lanes = l->depots[i].max_lanes;
        if (l->guesses)
            know(&b->depots[i], &l->guesses[i]);
        for (size_t j = 0; j < l->depots[i].n_held; j++)
            if (xd_tiers_note(s, (unsigned)i,
                              xd_core_clip(l->depots[i].held[j], b->wanted),
                              tier_of(&l->depots[i], j)) < 0)
                return XD_E_NOMEM;
    }
    return b->has_tiers ? xd_tiers_fill(s, b->wanted) : 0;
}

static int make_lanes(struct xd_sched *s)
{
    struct xd_book *b = &s->book;

    b->n_slots = b->o.max_open < b->n_depots ? b->o.max_open : b->n_depots;
    b->n_fetches = b->n_slots * b->o.lanes_per_depot;
    b->slots = xd_alloc(b->n_slots, sizeof *b->slots);
    s->fetches = xd_alloc(b->n_fetches, sizeof *s->fetches);
    b->assigned = xd_alloc(b->n_fetches, sizeof *b->assigned);
    if (b->slots == NULL || s->fetches == NULL || b->assigned == NULL)
        return XD_E_NOMEM;
    for (unsigned i = 0; i < b->n_slots; i++)
        b->slots[i] = b->n_depots;
    return 0;
}

struct xd_sched *xd_sched_new(const struct xd_layout *layout,
                              const struct xd_sched_options *o,
                              struct xd_range wanted, struct xd_ledger *ledger)
{
    struct xd_sched *s = xd_alloc(1, sizeof *s);

    if (s == NULL)
        return NULL;
    s->size_is_unknown = layout->size == UINT64_MAX;
    s->book.o = *o;
    if (s->size_is_unknown)
        s->book.o.policy = &xd_policy_whole;
    settle_options(&s->book.o, (unsigned)layout->n_depots);
    s->book.wanted = wanted;
    s->book.ledger = ledger;
    s->wake_at = s->last_byte_at = XD_NEVER;
    s->covered_to = wanted.begin;
    if (copy_cuts(s, layout) == 0 && copy_depots(s, layout) == 0 &&
        make_lanes(s) == 0 && xd_core_make_window(s) == 0 &&
        xd_core_make_horizon(s) == 0 &&
        xd_ledger_change(ledger, XD_RELEASE, wanted) == 0 &&
        xd_core_make_room(s) == 0)
        s->policy = s->book.o.policy->new (&s->book);
    if (s->policy == NULL || xd_core_settle_pings(s) < 0) {
        xd_sched_free(s);
        return NULL;
    }
    return s;
}

void xd_sched_free(struct xd_sched *s)
{
    if (s == NULL)
        return;
    if (s->policy)
        s->book.o.policy->free(s->policy);
    for (unsigned i = 0; i < s->book.n_depots; i++) {
        xd_rangeset_fini(&s->book.depots[i].held);
        xd_tiers_fini(s->book.depots[i].tiers);
    }
    for (unsigned i = 0; i < XD_TIERS; i++)
        xd_rangeset_fini(&s->covered[i]);
    xd_depot_set_fini(&s->book.usable);
    xd_depot_set_fini(&s->book.fresh);
    xd_depot_set_fini(&s->book.tried);
    xd_depot_set_fini(&s->book.unseen);
    xd_depot_set_fini(&s->book.unseen_tried);
    xd_depot_set_fini(&s->book.proven);
    xd_depot_set_fini(&s->book.without_ranges);
    xd_free(s->book.near);
    xd_free(s->book.backing_off);
    xd_rangeset_fini(&s->unavailable);
    xd_rangeset_fini(&s->asked);
    xd_rangeset_fini(&s->book.unsized);
    xd_free(s->horizon.begun);
    xd_free(s->book.windows);
    xd_free(s->book.depots);
    xd_free(s->book.slots);
    xd_free(s->book.assigned);
    xd_free(s->fetches);
    xd_free(s->cuts);
    xd_free(s);
}

const struct xd_sched_options *xd_sched_options(const struct xd_sched *s)
{
    return &s->book.o;
}

bool xd_sched_has_choice(const struct xd_sched *s)
{
    const struct xd_depot_set *usable = &s->book.usable;
    unsigned first = xd_depot_set_next(usable, 0);

    return first < usable->n &&
           xd_depot_set_next(usable, first + 1) < usable->n;
}

bool xd_sched_has_untried(const struct xd_sched *s)
{
    const struct xd_depot_set *fresh = &s->book.fresh;

    return xd_depot_set_next(fresh, 0) < fresh->n;
}

bool xd_sched_is_aside(const struct xd_sched *s, unsigned depot)
{
    return depot < s->book.n_depots && s->book.depots[depot].is_aside;
}

int xd_sched_put_off(struct xd_sched *s, struct xd_range range)
{
    return xd_rangeset_add(&s->unavailable, range);
}

void xd_sched_ask_again(struct xd_sched *s)
{
    if (s->unavailable.n == 0)
        return;
    xd_rangeset_fini(&s->unavailable);
    xd_core_forget_searches(s);
}

uint64_t xd_sched_steps(const struct xd_sched *s)
{
    return s->steps;
}

void xd_sched_set_limit(struct xd_sched *s, uint64_t bytes_per_s)
{
    s->book.limit_rate = bytes_per_s;
}

unsigned xd_sched_lanes(const struct xd_sched *s, unsigned depot,
                        enum xd_lanes_reason *out_why)
{
    const struct xd_policy *policy = s->book.o.policy;
    const struct xd_holder *d = &s->book.depots[depot];
    unsigned n = s->book.o.lanes_per_depot;

    *out_why = XD_LANES_USUAL;
    if (policy->lanes)
        n = policy->lanes(s->policy, depot, out_why);
    if (d->ceiling == 0 || d->ceiling >= n || d->ceiling_spreads != d->spreads)
        return n;
    *out_why = XD_LANES_REFUSED;
    return d->ceiling;
}

bool xd_sched_shares(const struct xd_sched *s, unsigned depot)
{
    const struct xd_policy *policy = s->book.o.policy;

    return s->book.depots[depot].shares &&
           !(policy->spreads && policy->spreads(s->policy, depot));
}

struct xd_learned xd_sched_learned(const struct xd_sched *s, unsigned depot)
{
    const struct xd_policy *policy = s->book.o.policy;
    const struct xd_holder *d;
    struct xd_learned learned = {.useful = 0};

    if (depot >= s->book.n_depots)
        return learned;
    d = &s->book.depots[depot];
    if (policy->learned)
        learned = policy->learned(s->policy, depot);
    /* A ceiling of one connection does not limit fetches that can share it. */
    if (!d->ceiling_spreads || d->ceiling > 1)
        learned.ceiling = d->ceiling;
    return learned;
}

bool xd_sched_heeds_path(const struct xd_sched *s)
{
    return s->book.o.policy->path != NULL;
}

xd_usec xd_sched_queue_time(const struct xd_sched *s, xd_usec now)
{
    return xd_bottleneck_silence(&s->book.bottleneck, now);
}

unsigned xd_sched_visits(const struct xd_sched *s)
{
    return s->visits;
}

/* Marks the fetches whose rest others have delivered.  Only fetches whose rest
 * touches `r`, which was just received, can be affected. */
static void find_losers(struct xd_sched *s, struct xd_range r)
{
    if (s->book.o.run_losers)
        return;
    for (unsigned i = 0; i < s->book.n_fetches; i++) {
        struct xd_fetch_state *f = &s->fetches[i];
        struct xd_range rest = {f->got, f->range.end};

        if (f->is_live && !f->is_loser && rest.begin < rest.end &&
            rest.begin <= r.end && r.begin <= rest.end)
            f->is_loser =
                xd_ledger_has(s->book.ledger, XD_BYTES_RECEIVED, rest);
    }
}

static int have(struct xd_sched *s, struct xd_range r)
{
    if (xd_range_is_empty(r))
        return 0;
    if (xd_ledger_change(s->book.ledger, XD_RECEIVE, r) < 0)
        return XD_E_NOMEM;
    find_losers(s, r);
    return s->book.o.policy->arrived ? s->book.o.policy->arrived(s->policy, r)
                                     : 0;
}

/* A depot that delivers only a few bytes for each request is failing.  But one
 * that delivers half of the rest will finish. */
static bool is_progress(const struct xd_fetch_state *f)
{
    const uint64_t got = f->got - f->range.begin;

    return f->got >= f->range.end || got >= XD_PROGRESS_BYTES ||
           got >= f->range.end - f->got;
}

/* Handles that everything of a fetch before `end` was received.  Progress ends
 * the depot's row of failures.  If the size is unknown only the end counts as
 * progress; otherwise a depot that always breaks off would be asked forever. */
static int progress(struct xd_sched *s, struct xd_fetch_state *f, uint64_t end,
                    xd_usec now)
{
    struct xd_range fresh = {f->got, end < f->asked_end ? end : f->asked_end};

    if (xd_range_is_empty(fresh))
        return 0;
    if (f->got == f->range.begin)
        xd_core_flows(s, f, now - f->began_at);
    xd_bottleneck_received(&s->book.bottleneck, now, fresh.end - f->got);
    f->got = fresh.end;
    if (f->is_chosen)
        XD_NOTIFY(s, received, (unsigned)(f - s->fetches), fresh.end, now);
    if (is_progress(f)) {
        s->last_byte_at = now;
        if (!s->size_is_unknown)
            s->book.depots[f->depot].failures =
                s->book.depots[f->depot].preempted = 0;
    }
    if (have(s, fresh) < 0)
        return XD_E_NOMEM;
    xd_core_has_delivered(s, f->depot, now);
    return 0;
}

static int accept(struct xd_sched *s, struct xd_range r)
{
    r = xd_core_clip(r, s->book.wanted);
    if (xd_ledger_change(s->book.ledger, XD_VERIFY, r) < 0)
        return XD_E_NOMEM;
    xd_core_move_horizon(s, r);
    return have(s, r);
}

/* Handles bytes that are missing again.  If the size is unknown, everything is
 * discarded, because the next response may be from another file. */
static int lack(struct xd_sched *s, struct xd_range r)
{
    if (s->size_is_unknown) {
        s->book.wanted.end = UINT64_MAX;
        r = s->book.wanted;
    }
    r = xd_core_clip(r, s->book.wanted);
    if (xd_range_is_empty(r))
        return 0;
    if (xd_ledger_change(s->book.ledger,
                         s->size_is_unknown ? XD_OUTDATE : XD_LOSE, r) < 0)
        return XD_E_NOMEM;
    for (unsigned i = 0; i < s->book.n_fetches; i++)
        s->fetches[i].is_loser = s->fetches[i].is_canceled;
    xd_core_forget_searches(s);
    if (xd_core_release(s, r) < 0)
        return XD_E_NOMEM;
    return s->book.o.policy->missing ? s->book.o.policy->missing(s->policy, r)
                                     : 0;
}

static int fetch_is_over(struct xd_sched *s, struct xd_fetch_state *f,
                         bool failed)
{
    struct xd_holder *d = &s->book.depots[f->depot];
    bool flows = f->got > f->range.begin;

    f->is_live = false;
    d->running--;
    d->flowing -= flows;
    d->sharing -= flows && !f->owns_connection;
    if (xd_core_unassign(s, (unsigned)(f - s->fetches)) < 0)
        return XD_E_NOMEM;
    if (!f->is_chosen)
        return 0;
    return s->book.o.policy->ended(s->policy, (unsigned)(f - s->fetches),
                                   failed);
}

static int lose(struct xd_sched *s, unsigned depot, struct xd_range r)
{
    if (xd_tiers_lose(s, depot, xd_core_held_range(s, r)) < 0)
        return XD_E_NOMEM;
    xd_core_forget_searches(s);
    XD_NOTIFY(s, lost, depot);
    xd_tiers_report(s);
    return 0;
}

static int regain(struct xd_sched *s, unsigned depot, struct xd_range r)
{
    if (xd_tiers_regain(s, depot, xd_core_held_range(s, r)) < 0)
        return XD_E_NOMEM;
    xd_rangeset_fini(&s->unavailable);
    xd_core_forget_searches(s);
    XD_NOTIFY(s, lost, depot);
    xd_tiers_report(s);
    return 0;
}

/* Returns whether the fetch of a file of unknown size has reached its end and
 * nothing of it was rejected. */
static bool stream_is_complete(const struct xd_sched *s,
                               const struct xd_sched_event *ev)
{
    return ev->kind == XD_EV_DONE &&
           xd_ledger_has(s->book.ledger, XD_BYTES_RECEIVED, s->book.wanted);
}

/* A fetch may have received more than it was shortened to. */
static uint64_t reported_end(const struct xd_fetch_state *f,
                             const struct xd_sched_event *ev)
{
    return ev->kind == XD_EV_DONE && ev->range.end < f->range.end
               ? f->range.end
               : ev->range.end;
}

/* A fetch that was canceled because no reader wants its bytes does not
 * count. */
static bool was_preempted(const struct xd_sched *s,
                          const struct xd_fetch_state *f)
{
    return f->is_canceled && f->got == f->range.begin &&
           xd_ledger_has(s->book.ledger, XD_BYTES_RECEIVED, f->range);
}

static int fetch_event(struct xd_sched *s, const struct xd_sched_event *ev)
{
    struct xd_fetch_state *f = &s->fetches[ev->fetch];
    int rc;

    XD_ASSERT(ev->fetch < s->book.n_fetches && f->is_live);
    if (ev->kind == XD_EV_STARTED)
        return 0;
    if (ev->kind == XD_EV_DONE && s->size_is_unknown)
        s->book.wanted.end = f->range.end = f->asked_end = ev->range.end;
    if (ev->kind == XD_EV_BYTES && f->is_chosen)
        XD_NOTIFY(s, path, ev->fetch, ev->is_disordered, ev->round_trip,
                  ev->now);
    rc = progress(s, f, reported_end(f, ev), ev->now);
    if (rc < 0 || ev->kind == XD_EV_BYTES)
        return rc;
    rc = fetch_is_over(s, f, ev->kind == XD_EV_FAILED);
    if (rc == 0 && s->size_is_unknown && !stream_is_complete(s, ev))
        rc = lack(s, s->book.wanted);
    if (ev->kind == XD_EV_FAILED)
        xd_core_failed(s, f, ev);
    else if (ev->kind == XD_EV_CANCELED && ev->retry_at > ev->now)
        xd_core_postponed(s, f, ev);
    else if (was_preempted(s, f))
        xd_core_preempted(s, f, ev->now);
    return rc;
}

/* Number of objects in the moving average. */
#define LENGTHS_SEEN 16

static int learn_length(struct xd_book *b, struct xd_range object)
{
    const struct xd_range place =
        xd_book_cut(b, (struct xd_range){object.begin, b->wanted.end});

    if (b->n_sized < LENGTHS_SEEN)
        b->n_sized++;
    b->mean_size +=
        ((double)xd_range_length(object) - b->mean_size) / b->n_sized;
    return xd_rangeset_remove(&b->unsized, place);
}

/* Hints are ignored with readers, who determine the order. */
static void hint(struct xd_sched *s, const struct xd_sched_event *ev)
{
    if (s->book.o.window_bytes == 0)
        XD_NOTIFY(s, hinted, ev->depot,
                  xd_core_clip(ev->range, s->book.wanted));
}

static int event(struct xd_sched *s, const struct xd_sched_event *ev)
{
    switch (ev->kind) {
    case XD_EV_STARTED:
    case XD_EV_BYTES:
    case XD_EV_DONE:
    case XD_EV_FAILED:
    case XD_EV_CANCELED:
        return fetch_event(s, ev);
    case XD_EV_HELD:
        return have(s, xd_core_clip(ev->range, s->book.wanted));
    case XD_EV_UNSIZED:
        return xd_rangeset_add(&s->book.unsized, ev->range);
    case XD_EV_SIZED:
        return learn_length(&s->book, ev->range);
    case XD_EV_VERIFIED:
        return accept(s, ev->range);
    case XD_EV_REJECTED:
        return lack(s, ev->range);
    case XD_EV_LOST:
        return lose(s, ev->depot, ev->range);
    case XD_EV_HOLDS:
        return regain(s, ev->depot, ev->range);
    case XD_EV_JOINED:
        return xd_core_join(s, ev);
    case XD_EV_EXTENDED:
        return xd_core_extend(s, ev->range);
    case XD_EV_NORANGES:
        xd_core_no_ranges(s, ev->depot, ev->is_last_resort);
        return 0;
    case XD_EV_SHARES:
        xd_core_shares(&s->book.depots[ev->depot]);
        return 0;
    case XD_EV_HINT:
        hint(s, ev);
        return 0;
    case XD_EV_CONNECTED:
        s->book.depots[ev->depot].has_connected = true;
        return 0;
    case XD_EV_GOVERNED:
        xd_core_governed(s, ev);
        return 0;
    case XD_EV_BANNED:
        xd_core_ban(s, ev->depot);
        return 0;
    case XD_EV_DEMAND:
        return xd_core_demand(s, ev);
    case XD_EV_PINGED:
        xd_core_pinged(s, ev);
        return 0;
    case XD_EV_TICK:
        return 0;
    }
    return 0;
}

int xd_sched_event(struct xd_sched *s, const struct xd_sched_event *ev)
{
    int rc = event(s, ev);

    if (rc == 0 && (ev->kind == XD_EV_REJECTED || ev->kind == XD_EV_BANNED ||
                    (ev->kind == XD_EV_LOST && !ev->is_lent)))
        xd_core_reconsider(s, ev->now);
    if (rc == 0 && s->is_out_of_memory)
        return XD_E_NOMEM;
    return rc < 0 ? rc : xd_core_make_room(s);
}
