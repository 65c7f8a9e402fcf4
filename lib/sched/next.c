/* SPDX-License-Identifier: MIT */
/*
 * Decides what to do next.  The first action that applies is taken:
 *
 *     PING   a depot in reserve that must be pinged before it is opened
 *     SHORTEN  a fetch whose tail the policy gave to another
 *     CANCEL a fetch whose rest others delivered, or that no reader wants
 *     FINISH if everything is verified
 *     FAIL   if no depot is left for a missing byte; with gaps allowed, only
 *            for bytes in a window, and once
 *     PARK   a depot that runs nothing and is dropped or has no work
 *     OPEN   a depot, if a slot is free
 *     FETCH  on a free lane, what the policy chooses for the most urgent window
 *     PARK   a depot that runs nothing, if one in reserve could deliver the
 *            next byte and no open one can
 *     WAIT
 */
#include "sched/sched.h"

#include "sched/core.h"
#include "sched/holders.h"

typedef bool counts_fn(const struct xd_sched *s,
                       const struct xd_fetch_state *f);

/* Other depots may still be asked for the bytes of a stopgap. */
static bool is_lasting(const struct xd_sched *s, const struct xd_fetch_state *f)
{
    return !f->is_stopgap ||
           s->book.depots[f->depot].state == XD_HOLDER_DROPPED;
}

static bool is_any(const struct xd_sched *s, const struct xd_fetch_state *f)
{
    (void)s;
    (void)f;
    return true;
}

static bool has_no_ranges(const struct xd_sched *s,
                          const struct xd_fetch_state *f)
{
    return s->book.depots[f->depot].no_ranges;
}

/* Returns how far a fetch that counts will deliver the bytes; `byte` if none
 * does. */
static uint64_t in_flight_to(const struct xd_sched *s, uint64_t byte,
                             counts_fn *counts)
{
    for (unsigned i = 0; i < s->book.n_fetches; i++) {
        const struct xd_fetch_state *f = &s->fetches[i];

        if (f->is_live && f->got <= byte && byte < f->range.end && counts(s, f))
            return f->range.end;
    }
    return byte;
}

/* Returns how far the bytes were already reported as unavailable; `byte` if
 * they were not. */
static uint64_t unavailable_to(const struct xd_sched *s, uint64_t byte)
{
    struct xd_range run =
        xd_rangeset_next(&s->unavailable, (struct xd_range){byte, UINT64_MAX});

    return run.begin == byte ? run.end : byte;
}

/* Returns the first byte at or after `from` that is missing, that no counting
 * fetch will deliver and that was not given up; `end` if there is none. */
static uint64_t next_byte(const struct xd_sched *s, uint64_t from, uint64_t end,
                          counts_fn *counts)
{
    while (from < end) {
        uint64_t byte = xd_ledger_first_gap(s->book.ledger, XD_BYTES_RECEIVED,
                                            (struct xd_range){from, end});

        from = in_flight_to(s, byte, counts);
        if (from == byte)
            from = unavailable_to(s, byte);
        if (from == byte)
            return byte;
    }
    return end;
}

static uint64_t next_idle_byte(const struct xd_sched *s, uint64_t from,
                               uint64_t end)
{
    return next_byte(s, from, end, is_lasting);
}

static bool is_to_end(const struct xd_sched *s, unsigned fetch)
{
    const struct xd_fetch_state *f = &s->fetches[fetch];
    const struct xd_policy *policy = s->book.o.policy;

    if (!f->is_live || f->is_canceled || f->got == f->range.end)
        return false; /* it has delivered everything and ends by itself */
    if (f->is_loser && f->is_chosen && policy->spares &&
        policy->spares(s->policy, fetch))
        return false;
    return f->is_loser || xd_core_is_unwanted(s, f);
}

static bool cancel(struct xd_sched *s, unsigned fetch,
                   struct xd_sched_action *a)
{
    struct xd_fetch_state *f = &s->fetches[fetch];

    f->is_canceled = true;
    if (f->is_chosen)
        XD_NOTIFY(s, canceled, fetch);
    a->kind = XD_DO_CANCEL;
    a->fetch = fetch;
    a->depot = f->depot;
    a->lane = fetch % s->book.o.lanes_per_depot;
    a->range = f->range;
    return true;
}

static bool try_cancel(struct xd_sched *s, struct xd_sched_action *a)
{
    const struct xd_policy *policy = s->book.o.policy;
    unsigned fetch;

    if (policy->cancel && policy->cancel(s->policy, &fetch))
        return cancel(s, fetch, a);
    for (unsigned i = 0; i < s->book.n_fetches; i++)
        if (is_to_end(s, i))
            return cancel(s, i, a);
    return false;
}

static bool try_shorten(struct xd_sched *s, struct xd_sched_action *a)
{
    const struct xd_policy *policy = s->book.o.policy;
    struct xd_fetch_state *f;
    uint64_t end;

    if (policy->shorten == NULL || !policy->shorten(s->policy, &a->fetch, &end))
        return false;
    f = &s->fetches[a->fetch];
    f->range.end = end;
    a->kind = XD_DO_SHORTEN;
    a->depot = f->depot;
    a->lane = a->fetch % s->book.o.lanes_per_depot;
    a->range = f->range;
    return true;
}

static bool try_finish(struct xd_sched *s, struct xd_sched_action *a)
{
    struct xd_range wanted = s->book.wanted;

    if (!xd_range_is_empty(wanted) &&
        xd_ledger_bytes(s->book.ledger, XD_BYTES_DONE) <
            xd_range_length(wanted))
        return false;
    a->kind = XD_DO_FINISH;
    return true;
}

/* Returns the end of the bytes, starting at `byte`, that are missing, not in
 * flight and on no depot; at most `end`. */
static uint64_t gap_to(const struct xd_sched *s, uint64_t byte, uint64_t end)
{
    const struct xd_book *b = &s->book;
    struct xd_range gap = xd_ledger_next_gap(b->ledger, XD_BYTES_RECEIVED,
                                             (struct xd_range){byte, end});

    gap = xd_rangeset_next_gap(&s->unavailable, gap);
    for (unsigned i = 0; i < b->n_fetches; i++)
        if (s->fetches[i].is_live && s->fetches[i].got > byte &&
            s->fetches[i].got < gap.end)
            gap.end = s->fetches[i].got;
    for (unsigned i = 0; i < b->n_depots; i++)
        if (b->depots[i].state != XD_HOLDER_DROPPED)
            gap.end = xd_rangeset_next(&b->depots[i].held, gap).begin;
    return gap.end;
}

/* Returns how far usable depots hold the bytes, according to the tiers; `byte`
 * if that is unknown.  Avoids a search for each chunk of a file. */
static uint64_t covered_to(const struct xd_sched *s, uint64_t byte)
{
    struct xd_range run = xd_rangeset_next(&s->covered[XD_TIERS - 1],
                                           (struct xd_range){byte, UINT64_MAX});

    return run.begin == byte ? run.end : byte;
}

static bool fails_within(struct xd_sched *s, struct xd_range r,
                         struct xd_sched_action *a)
{
    const struct xd_book *b = &s->book;
    uint64_t byte = r.begin, to;

    while (byte = next_idle_byte(s, byte, r.end), byte < r.end) {
        to = covered_to(s, byte);
        if (to > byte) {
            byte = to;
            continue;
        }
        if (xd_holders_deliverer(b, 0, byte, &byte) < b->n_depots)
            continue;
        a->kind = XD_DO_FAIL;
        a->range = (struct xd_range){byte, gap_to(s, byte, r.end)};
        return true;
    }
    return false;
}

/* Finds a byte of a window for which FAIL must be reported.  If there is no
 * memory to note that, it is reported again. */
static bool try_report_gap(struct xd_sched *s, struct xd_sched_action *a)
{
    for (unsigned i = 0; i < s->book.n_windows; i++)
        if (fails_within(s, s->book.windows[i].range, a)) {
            (void)xd_rangeset_add(&s->unavailable, a->range);
            xd_core_move_horizon(s, a->range);
            return true;
        }
    return false;
}

/* Returns whether the depot of a request no longer has the bytes: it was
 * dropped, or has lost them. */
static bool is_for_lost(const struct xd_book *b, const struct xd_fetch_state *f)
{
    const struct xd_holder *d = &b->depots[f->depot];
    const struct xd_range rest = {f->got, f->range.end};

    return d->state == XD_HOLDER_DROPPED ||
           !xd_rangeset_contains(xd_holder_has(d), rest);
}

static bool try_fail(struct xd_sched *s, struct xd_sched_action *a)
{
    const struct xd_book *b = &s->book;

    if (s->all_have_holders)
        return false;
    if (b->o.has_gaps ? try_report_gap(s, a) : fails_within(s, b->wanted, a))
        return true;
    /* Bytes in flight were skipped, but those of a lost depot may not
     * arrive. */
    s->all_have_holders = true;
    for (unsigned i = 0; i < b->n_fetches; i++)
        if (s->fetches[i].is_live && is_for_lost(b, &s->fetches[i]))
            s->all_have_holders = false;
    return false;
}

static void park(struct xd_sched *s, unsigned depot, struct xd_sched_action *a)
{
    struct xd_holder *d = &s->book.depots[depot];
    unsigned slot = d->slot;

    s->book.slots[slot] = s->book.n_depots;
    d->slot = XD_NO_SLOT;
    if (d->state == XD_HOLDER_OPEN)
        d->state = XD_HOLDER_RESERVE;
    xd_core_place(s, depot);
    s->covered_to = s->book.wanted.begin;
    XD_NOTIFY(s, parked, depot, slot);
    a->kind = XD_DO_PARK;
    a->depot = depot;
}

static bool try_park(struct xd_sched *s, struct xd_sched_action *a)
{
    for (unsigned slot = 0; slot < s->book.n_slots; slot++) {
        unsigned depot = s->book.slots[slot];
        const struct xd_holder *d = &s->book.depots[depot];

        if (depot == s->book.n_depots || d->running > 0)
            continue;
        if (d->state == XD_HOLDER_OPEN && xd_core_has_work(s, depot))
            continue;
        park(s, depot, a);
        return true;
    }
    return false;
}

/* Returns the depot in reserve that could deliver the first byte, at or after
 * *from, that is neither in flight nor held by an open depot that is awake.
 * Bytes without such a depot are skipped.  n_depots: none. */
static unsigned find_urgent_from(struct xd_sched *s, uint64_t *from,
                                 uint64_t end)
{
    const struct xd_book *b = &s->book;
    uint64_t byte;

    while (byte = next_idle_byte(s, *from, end), byte < end) {
        unsigned depot;

        *from = byte;
        if (xd_holders_deliverer(b, XD_NEED_OPEN | XD_NEED_AWAKE, byte, from) <
            b->n_depots)
            continue;
        depot = xd_holders_deliverer(b, XD_NEED_RESERVE | XD_NEED_AWAKE, byte,
                                     &byte);
        if (depot < b->n_depots)
            return depot;
        if (xd_holders_deliverer(b, 0, byte, from) == b->n_depots)
            ++*from;
    }
    *from = end;
    return b->n_depots;
}

static unsigned find_urgent(struct xd_sched *s)
{
    const struct xd_book *b = &s->book;
    unsigned depot = b->n_depots;

    if (b->o.window_bytes == 0)
        return find_urgent_from(s, &s->covered_to, b->wanted.end);
    for (unsigned i = 0; i < b->n_windows && depot == b->n_depots; i++) {
        uint64_t from = b->windows[i].range.begin;

        depot = find_urgent_from(s, &from, b->windows[i].range.end);
    }
    return depot;
}

/* Depots that have not failed come first. */
static unsigned find_preferred(struct xd_sched *s)
{
    unsigned i = xd_core_find_worker(s, &s->book.fresh);

    return i < s->book.n_depots ? i : xd_core_find_worker(s, &s->book.tried);
}

/* With pings, chooses the nearest depot.  If that does not have the whole file,
 * it may lack the very byte for which `urgent` was found. */
static unsigned choose_to_open(struct xd_sched *s, unsigned preferred,
                               unsigned urgent)
{
    const struct xd_book *b = &s->book;
    unsigned depot;

    if (!b->has_pings)
        return urgent < b->n_depots ? urgent : preferred;
    depot = xd_core_choose_reserve(s, preferred);
    if (depot == b->n_depots || urgent == b->n_depots)
        return depot;
    return b->depots[depot].no_ranges ||
                   !xd_rangeset_contains(&b->depots[depot].held, b->wanted)
               ? urgent
               : depot;
}

static bool try_open(struct xd_sched *s, struct xd_sched_action *a)
{
    struct xd_book *b = &s->book;
    unsigned slot = 0, preferred, depot;

    while (slot < b->n_slots && b->slots[slot] < b->n_depots)
        slot++;
    if (slot == b->n_slots)
        return false;
    preferred = find_preferred(s);
    if (preferred == b->n_depots)
        return false;
    depot = find_urgent(s);
    if (depot == b->n_depots && b->o.policy->wants_more &&
        !b->o.policy->wants_more(s->policy))
        return false;
    depot = choose_to_open(s, preferred, depot);
    if (depot == b->n_depots)
        return false;
    s->n_unseen += b->depots[depot].nearness == XD_NOT_PINGED;
    b->slots[slot] = depot;
    b->depots[depot].slot = slot;
    b->depots[depot].state = XD_HOLDER_OPEN;
    xd_core_place(s, depot);
    XD_NOTIFY(s, opened, depot);
    a->kind = XD_DO_OPEN;
    a->depot = depot;
    return true;
}

/* A depot without ranges sends its object from the start.  So it gets one
 * request, for everything that no proven depot holds.  The window does not
 * limit it, because each further request would send everything again. */
static bool choose_without_ranges(struct xd_sched *s, unsigned depot,
                                  struct xd_range *out)
{
    const struct xd_book *b = &s->book;
    uint64_t byte = b->depots[depot].idle_search == b->search
                        ? b->depots[depot].idle_to
                        : b->wanted.begin;
    uint64_t idle;
    struct xd_range rest, gap;

    if (b->depots[depot].running > 0)
        return false;
    if (byte < b->window->range.begin)
        byte = b->window->range.begin;
    for (;;) {
        byte = xd_holders_work(b, depot, byte);
        if (byte >= b->window->range.end)
            return false;
        idle = in_flight_to(s, byte, has_no_ranges);
        if (idle == byte)
            break;
        byte = idle;
    }
    rest = (struct xd_range){byte, xd_holders_sole_end(b, depot, byte)};
    for (unsigned i = 0; i < b->n_fetches; i++) {
        const struct xd_fetch_state *f = &s->fetches[i];

        if (f->is_live && f->got < f->range.end && f->got > byte &&
            f->got < rest.end && has_no_ranges(s, f))
            rest.end = f->got;
    }
    *out = (struct xd_range){byte, byte};
    while (gap = xd_ledger_next_gap(b->ledger, XD_BYTES_RECEIVED, rest),
           !xd_range_is_empty(gap)) {
        out->end = gap.end;
        rest.begin = gap.end;
    }
    return true;
}

static bool choose(struct xd_sched *s, unsigned fetch, unsigned depot,
                   xd_usec now, struct xd_range *out)
{
    unsigned visits = 0;
    bool chosen = false;

    for (unsigned i = 0; i < s->book.n_windows && !chosen; i++) {
        s->book.window = &s->book.windows[i];
        chosen = s->book.depots[depot].no_ranges
                     ? choose_without_ranges(s, depot, out)
                     : s->book.o.policy->choose(s->policy, fetch, depot, now,
                                                out, &visits);
        if (visits > s->visits)
            s->visits = visits;
    }
    if (chosen)
        s->book.depots[depot].guess.begun_to = 0;
    return chosen;
}

/* After a failed request the depot gets one request at a time, until a byte
 * arrives. */
static bool has_free_lane(const struct xd_holder *d, unsigned lane,
                          bool spreads)
{
    if (d->failures + d->preempted > 0 && d->running > 0)
        return false;
    if (xd_core_is_at_ceiling(d, spreads) ||
        (d->governed > 0 && d->running >= d->governed))
        return false;
    return d->max_lanes == 0 || lane < d->max_lanes;
}

/* Returns whether a depot with ranges, proven or not, holds some of these
 * bytes. */
static bool others_hold(const struct xd_sched *s, struct xd_range r)
{
    const struct xd_book *b = &s->book;
    unsigned i = xd_depot_set_next(&b->usable, 0);

    for (; i < b->n_depots; i = xd_depot_set_next(&b->usable, i + 1))
        if (!b->depots[i].no_ranges &&
            !xd_range_is_empty(xd_rangeset_next(&b->depots[i].held, r)))
            return true;
    return false;
}

static bool spreads(const struct xd_sched *s, unsigned depot)
{
    const struct xd_policy *policy = s->book.o.policy;

    return policy->spreads != NULL && !s->book.depots[depot].no_ranges &&
           policy->spreads(s->policy, depot);
}

/* Returns whether a running request once covered the byte that is requested
 * now. */
static bool was_another_for(const struct xd_sched *s, uint64_t byte)
{
    for (unsigned i = 0; i < s->book.n_fetches; i++) {
        const struct xd_fetch_state *f = &s->fetches[i];

        if (f->is_live && byte >= f->got && byte < f->asked_end)
            return true;
    }
    return false;
}

/* Returns why `r` is requested, before it is assigned.  It is only shown to
 * people, so a lack of memory may make it inexact. */
static enum xd_fetch_reason reason_for(struct xd_sched *s, struct xd_range r)
{
    bool is_assigned = xd_ledger_has(s->book.ledger, XD_BYTES_ASSIGNED,
                                     (struct xd_range){r.begin, r.begin + 1});
    bool was_asked = xd_rangeset_contains(
        &s->asked, (struct xd_range){r.begin, r.begin + 1});

    (void)!xd_rangeset_add(&s->asked, r);
    if (!was_asked)
        return XD_FETCH_NEXT;
    if (is_assigned)
        return XD_FETCH_HEDGE;
    return was_another_for(s, r.begin) ? XD_FETCH_SPLIT : XD_FETCH_AGAIN;
}

static bool try_lane(struct xd_sched *s, unsigned slot, unsigned lane,
                     xd_usec now, struct xd_sched_action *a)
{
    unsigned fetch = slot * s->book.o.lanes_per_depot + lane;
    unsigned depot = s->book.slots[slot];
    struct xd_holder *d = &s->book.depots[depot];
    bool is_stopgap, owns;

    if (depot == s->book.n_depots || d->state != XD_HOLDER_OPEN ||
        d->is_backing_off || s->fetches[fetch].is_live)
        return false;
    owns = spreads(s, depot);
    if (!has_free_lane(d, lane, owns && d->shares) ||
        !choose(s, fetch, depot, now, &a->range))
        return false;
    is_stopgap = d->no_ranges && others_hold(s, a->range);
    a->reason = reason_for(s, a->range);
    xd_core_assign(s, fetch, a->range, is_stopgap);
    s->fetches[fetch] = (struct xd_fetch_state){
        .is_live = true,
        .is_chosen = !d->no_ranges,
        .is_stopgap = is_stopgap,
        .depot = depot,
        .owns_connection = owns,
        .is_beside = d->running > 0,
        .has_company = d->flowing > 0,
        .range = a->range,
        .asked_end = a->range.end,
        .got = a->range.begin,
        .number = s->n_begun++,
        .began_at = now,
    };
    if (d->running == 0 && d->preempted == 0)
        d->asked_since = now;
    d->running++;
    xd_core_spread(d, owns && d->shares);
    if (s->last_byte_at == XD_NEVER)
        s->last_byte_at = now;
    a->kind = XD_DO_FETCH;
    a->fetch = fetch;
    a->depot = depot;
    a->lane = lane;
    a->owns_connection = owns;
    return true;
}

static bool is_aside(const struct xd_book *b, unsigned slot)
{
    return b->slots[slot] < b->n_depots && b->depots[b->slots[slot]].is_aside;
}

/* Uses the first lane of each depot before the second of any, to spread a
 * few blocks over many depots.  `of_aside` selects the depots that were set
 * aside. */
static bool try_lanes(struct xd_sched *s, bool of_aside, xd_usec now,
                      struct xd_sched_action *a)
{
    for (unsigned lane = 0; lane < s->book.o.lanes_per_depot; lane++)
        for (unsigned slot = 0; slot < s->book.n_slots; slot++)
            if (is_aside(&s->book, slot) == of_aside &&
                try_lane(s, slot, lane, now, a))
                return true;
    return false;
}

static bool try_fetch(struct xd_sched *s, xd_usec now,
                      struct xd_sched_action *a)
{
    return try_lanes(s, false, now, a) ||
           (s->book.has_tiers && try_lanes(s, true, now, a));
}

/* Returns the first byte, of the most urgent window with one, that no counting
 * fetch delivers; wanted.end if there is none. */
static uint64_t first_byte(const struct xd_sched *s, counts_fn *counts)
{
    const struct xd_book *b = &s->book;

    for (unsigned i = 0; i < b->n_windows; i++) {
        struct xd_range w = b->windows[i].range;
        uint64_t byte = next_byte(s, w.begin, w.end, counts);

        if (byte < w.end)
            return byte;
    }
    return b->wanted.end;
}

/* Returns whether only depots in reserve could deliver the next byte. */
static bool waits_in_reserve(const struct xd_sched *s, counts_fn *counts)
{
    const struct xd_book *b = &s->book;
    uint64_t unused, byte = first_byte(s, counts);

    return byte < b->wanted.end &&
           xd_holders_deliverer(b, XD_NEED_OPEN | XD_NEED_AWAKE, byte,
                                &unused) == b->n_depots &&
           xd_holders_deliverer(b, XD_NEED_RESERVE | XD_NEED_AWAKE, byte,
                                &unused) < b->n_depots;
}

/* Nothing more can be started.  If only depots in reserve could deliver the
 * next byte, parks a depot that runs nothing.  Only the first such byte counts,
 * and afterwards an open depot can deliver it; so two depots never replace each
 * other without doing work. */
static bool try_swap(struct xd_sched *s, struct xd_sched_action *a)
{
    const struct xd_book *b = &s->book;
    unsigned victim = b->n_depots;

    if (find_preferred(s) == b->n_depots ||
        (!waits_in_reserve(s, is_lasting) && !waits_in_reserve(s, is_any)))
        return false;
    for (unsigned slot = 0; slot < b->n_slots; slot++) {
        unsigned depot = b->slots[slot];

        if (depot < b->n_depots && b->depots[depot].running == 0 &&
            (victim == b->n_depots || !b->depots[victim].is_backing_off))
            victim = depot;
    }
    if (victim == b->n_depots ||
        (b->has_pings &&
         xd_core_choose_reserve(s, find_preferred(s)) == b->n_depots))
        return false;
    park(s, victim, a);
    return true;
}

struct xd_sched_action xd_sched_next(struct xd_sched *s, xd_usec now)
{
    const struct xd_policy *policy = s->book.o.policy;
    struct xd_sched_action a = {.kind = XD_DO_WAIT};

    if (s->wake_at <= now)
        xd_core_wake(s, now);
    a.until = xd_tiers_watch(s, now);
    if (s->book.has_pings && xd_core_try_ping(s, &a))
        return a;
    xd_core_rank_windows(s);
    s->visits = policy->look ? policy->look(s->policy, now) : 0;
    if (try_shorten(s, &a) || try_cancel(s, &a) || try_finish(s, &a) ||
        try_fail(s, &a) || try_park(s, &a) || try_open(s, &a) ||
        try_fetch(s, now, &a) || try_swap(s, &a) ||
        (s->book.has_pings && xd_core_try_ping(s, &a)))
        return a;
    if (s->wake_at < a.until)
        a.until = s->wake_at;
    if (policy->wake) {
        xd_usec at = policy->wake(s->policy, now);

        a.until = at < a.until ? at : a.until;
    }
    return a;
}
