/* SPDX-License-Identifier: MIT */
#include "engine/readers/readers.h"

#include <string.h>

#include "base/alloc.h"
#include "base/array.h"
#include "engine/depot.h"
#include "engine/engine.h"
#include "engine/readers/look.h"
#include "engine/sched_events.h"
#include "engine/readers/drop.h"
#include "engine/readers/shares.h"
#include "engine/readers/window.h"

int xd_readers_init(struct xd_readers *r)
{
    r->next_number = XD_LOOKAHEAD_READERS;
    return xd_cond_init(&r->readable);
}

void xd_readers_fini(struct xd_readers *r)
{
    xd_rangeset_fini(&r->gaps);
    xd_free(r->shares);
    xd_free(r->list);
    xd_cond_fini(&r->readable);
}

uint64_t xd_readers_window_locked(struct xd_engine *e)
{
    const struct xd_output_traits *output = e->dest.output;
    bool share = xd_engine_is_bounded(e) && !output->is_read_once;

    e->readers.by_demand =
        output->has_readers && e->session.phase != XD_PHASE_REFETCH;
    if (!e->readers.by_demand)
        return 0;
    /* Readers of a store in memory share the lookahead.  Smaller blocks let
     * each of them have some. */
    return xd_window_least(e) / 4 * (share ? 1 : 3);
}

static void report_demand_locked(struct xd_engine *e, unsigned number,
                                 struct xd_demand *known,
                                 struct xd_demand demand)
{
    if (xd_range_is_empty(demand.range) && xd_range_is_empty(known->range))
        return;
    *known = demand;
    xd_report_demand_locked(e, number, &demand);
}

/* Requests head and tail once a reader has begun to read.  Before that, they
 * would slow down a player that only opens and closes a reader. */
static void hint_locked(struct xd_engine *e)
{
    struct xd_readers *all = &e->readers;
    struct xd_demand nothing = {.due = XD_NEVER};
    bool is_read = false;

    for (size_t i = 0; i < all->n; i++)
        is_read |= all->list[i]->has_begun;
    if (is_read == all->are_hinted)
        return;
    all->are_hinted = is_read;
    if (!xd_range_is_empty(all->head.range))
        xd_report_demand_locked(e, XD_LOOKAHEAD_HEAD,
                                is_read ? &all->head : &nothing);
    if (!xd_range_is_empty(all->tail.range))
        xd_report_demand_locked(e, XD_LOOKAHEAD_TAIL,
                                is_read ? &all->tail : &nothing);
}

/* Wakes requests that cannot be shortened and are waiting for a window to
 * move. */
static void wake_held_back_locked(struct xd_engine *e)
{
    for (size_t i = 0; i < e->depots.n; i++) {
        const struct xd_depot *d = e->depots.list[i];

        if (d->worker &&
            (d->knows_no_ranges || e->depots.size == XD_SIZE_UNKNOWN))
            xd_runner_wakeup(d->worker->runner);
    }
}

/* Returns true if windows can be reported.  Returns false while another thread
 * still creates the store. */
static bool can_report_locked(const struct xd_engine *e)
{
    return e->readers.by_demand && e->session.sched && e->dest.sink &&
           xd_session_is_running(&e->session);
}

/* Reports the windows whose length has changed, because readers share the
 * lookahead. */
static void report_changed_locked(struct xd_engine *e)
{
    for (size_t i = 0; i < e->readers.n; i++) {
        struct xd_reader *r = e->readers.list[i];
        struct xd_demand d = xd_window_demand(r);

        if (d.range.end != r->demand.range.end)
            report_demand_locked(e, r->number, &r->demand, d);
    }
}

void xd_readers_widen_locked(struct xd_engine *e)
{
    if (!can_report_locked(e))
        return;
    for (size_t i = 0; i < e->readers.n; i++) {
        struct xd_reader *r = e->readers.list[i];
        const struct xd_range range = xd_coded_widen(e, r->demand.range);

        if (range.begin < r->demand.range.begin ||
            range.end > r->demand.range.end)
            report_demand_locked(e, r->number, &r->demand,
                                 (struct xd_demand){range, r->demand.due,
                                                    r->demand.bytes_per_s});
    }
}

void xd_readers_moved_locked(struct xd_reader *r)
{
    struct xd_engine *e = r->engine;
    bool others_change;

    if (r->is_probing &&
        (r->is_waiting || r->position - r->arrived_at >= XD_PROBE_BYTES))
        r->is_probing = false;
    if (!r->is_probing)
        r->stream = r->position;
    if (r->position - r->arrived_at >= XD_PROBE_BYTES)
        r->has_former = false;
    if (!can_report_locked(e))
        return;
    others_change = xd_windows_fit_locked(e) || e->readers.shares;
    xd_windows_share_locked(e);
    r->reported_at = r->position;
    report_demand_locked(e, r->number, &r->demand, xd_window_demand(r));
    hint_locked(e);
    if (others_change)
        report_changed_locked(e);
    if (e->readers.store)
        xd_readers_drop_locked(e);
    xd_engine_decide_later_locked(e);
    wake_held_back_locked(e);
}

/* Returns true if the next XD_PROBE_BYTES after `position`, or all bytes up to
 * the end, have arrived. */
static bool probe_is_here(const struct xd_engine *e, uint64_t position)
{
    struct xd_range probe = {xd_engine_byte_at(e, position), e->wanted.end};

    if (probe.end - probe.begin > XD_PROBE_BYTES)
        probe.end = probe.begin + XD_PROBE_BYTES;
    return xd_ledger_has(&e->ledger, XD_BYTES_READABLE, probe);
}

void xd_readers_seek_locked(struct xd_reader *r, uint64_t to)
{
    uint64_t at;

    r->revoked = (struct xd_error){0};
    r->end_by = 0;
    if (to == r->position)
        return;
    if (!r->has_former) {
        r->has_former = true;
        r->former = r->demand.range;
    }
    r->position = r->arrived_at = to;
    r->is_probing = to != r->stream && probe_is_here(r->engine, to);
    at = xd_engine_byte_at(r->engine, to);
    if (r->former.begin <= at && at < r->former.end)
        r->has_former = false; /* the reader is back in its former window */
    xd_readers_moved_locked(r);
}

void xd_readers_begin_locked(struct xd_engine *e)
{
    struct xd_readers *all = &e->readers;
    struct xd_range w = e->wanted, head = xd_lookahead_head(w);
    struct xd_range tail = xd_lookahead_tail(w);
    struct xd_demand nothing = {.due = XD_NEVER};
    xd_usec soon = e->times.started + XD_LOOKAHEAD_HINT_AFTER;

    if (!all->by_demand)
        return;
    all->rest = nothing;
    if (e->dest.path)
        all->rest.range = w;
    xd_report_demand_locked(e, XD_LOOKAHEAD_REST, &all->rest);
    if (w.end == XD_SIZE_UNKNOWN)
        tail.begin = tail.end;
    if (e->dest.output->is_read_once) /* read in order */
        head = tail = nothing.range;
    all->head = (struct xd_demand){xd_window_pieces(e, head), soon, 0};
    all->tail = (struct xd_demand){xd_window_pieces(e, tail), soon, 0};
    all->are_hinted = false;
    hint_locked(e);
    xd_windows_fit_locked(e);
    xd_windows_share_locked(e);
    for (size_t i = 0; i < all->n; i++)
        report_demand_locked(e, all->list[i]->number, &all->list[i]->demand,
                             xd_window_demand(all->list[i]));
    xd_engine_wake_readers_locked(e); /* the size is known */
}

static int grow(struct xd_engine *e)
{
    struct xd_readers *all = &e->readers;
    size_t n = all->capacity ? 2 * all->capacity : 4;

    if (xd_lengthen(&all->list, all->n, n, sizeof(struct xd_reader *)) < 0 ||
        (xd_engine_is_bounded(e) &&
         xd_lengthen(&all->shares, all->n, n, sizeof *all->shares) < 0))
        return XD_E_NOMEM;
    all->capacity = n;
    return 0;
}

int xd_readers_add_locked(struct xd_engine *e, struct xd_reader **out)
{
    struct xd_readers *all = &e->readers;
    struct xd_reader *r;

    if (all->n == all->capacity && grow(e) < 0)
        return XD_E_NOMEM;
    r = xd_alloc(1, sizeof *r);
    if (!r)
        return XD_E_NOMEM;
    r->engine = e;
    r->number = all->next_number++;
    xd_notifier_init(&r->notifier);
    xd_meter_init(&r->meter);
    xd_meter_blocks(&r->meter, e->options.block_bytes);
    all->list[all->n++] = r;
    *out = r;
    return 0;
}

void xd_readers_remove_locked(struct xd_reader *r)
{
    struct xd_engine *e = r->engine;
    struct xd_readers *all = &e->readers;
    size_t i = 0;

    while (all->list[i] != r)
        i++;
    all->list[i] = all->list[--all->n];
    xd_windows_rate_locked(e);
    if (can_report_locked(e)) {
        report_demand_locked(e, r->number, &r->demand,
                             (struct xd_demand){.due = XD_NEVER});
        hint_locked(e);
        xd_windows_share_locked(e);
        if (e->readers.shares)
            report_changed_locked(e);
        xd_engine_decide_later_locked(e);
    }
}

void xd_reader_release(struct xd_reader *r)
{
    xd_notifier_fini(&r->engine->notifiers, &r->notifier);
    xd_meter_fini(&r->meter);
    xd_runs_fini(&r->unverified);
    xd_free(r);
}

void xd_readers_measure_locked(struct xd_reader *r)
{
    const struct xd_engine *e = r->engine;
    struct xd_range rest = {0, e->wanted.end};
    uint64_t byte, begin = e->wanted.begin;

    xd_meter_pass(&r->meter, xd_now(), &byte);
    rest.begin = xd_engine_byte_at(e, byte);
    xd_meter_here(&r->meter,
                  xd_engine_readable_to_locked(e, rest.begin) - begin,
                  e->wanted.end - begin);
}

void xd_readers_wake_locked(struct xd_engine *e)
{
    for (size_t i = 0; i < e->readers.n; i++) {
        struct xd_reader *r = e->readers.list[i];

        xd_readers_measure_locked(r);
        if (!r->notifier.is_raised && xd_look_is_ready_locked(r))
            xd_engine_raise_locked(e, &r->notifier);
    }
    xd_cond_broadcast(&e->readers.readable);
}

void xd_readers_gap_locked(struct xd_engine *e, struct xd_range range,
                           const struct xd_error *why)
{
    e->readers.gap_error = *why;
    if (xd_rangeset_add(&e->readers.gaps, xd_window_pieces(e, range)) < 0)
        xd_engine_fail_nomem_locked(e);
    xd_engine_log_locked(e, XD_LOG_INFO, "%s", why->msg);
    xd_engine_wake_readers_locked(e);
}

void xd_readers_no_gap_locked(struct xd_engine *e, struct xd_range range)
{
    if (xd_rangeset_remove(&e->readers.gaps, range) < 0)
        xd_engine_fail_nomem_locked(e);
}

bool xd_readers_end_locked(struct xd_engine *e)
{
    const struct xd_rangeset *gaps = &e->readers.gaps;
    uint64_t missing = gaps->bytes;

    if (missing == 0)
        return false;
    for (size_t i = 0; i < gaps->n; i++)
        missing -=
            xd_ledger_count(&e->ledger, XD_BYTES_READABLE, gaps->ranges[i]);
    if (missing == 0 ||
        xd_ledger_bytes(&e->ledger, XD_BYTES_READABLE) + missing <
            xd_range_length(e->wanted))
        return false;
    xd_engine_fail_locked(e, &e->readers.gap_error);
    return true;
}

/* Returns how far a request that continues at `byte` may go because of this
 * window; `byte` if it may not go on.  With `leads`, bytes before the window
 * are allowed, too: a request that starts at the beginning of the object has to
 * pass through them, and the disk has room. */
static uint64_t window_end_for(const struct xd_demand *d, uint64_t byte,
                               bool leads)
{
    return (leads || d->range.begin <= byte) && byte < d->range.end
               ? d->range.end
               : byte;
}

bool xd_readers_allow(struct xd_engine *e, uint64_t begin, uint64_t end)
{
    const struct xd_readers *all = &e->readers;
    bool leads = !xd_engine_is_bounded(e);
    uint64_t from, to = begin;

    xd_engine_lock(e);
    do {
        from = to;
        to = window_end_for(&all->rest, to, false);
        to = window_end_for(&all->head, to, false);
        to = window_end_for(&all->tail, to, false);
        for (size_t i = 0; i < all->n; i++)
            to = window_end_for(&all->list[i]->demand, to, leads);
    } while (from < to && to < end);
    if (!all->by_demand)
        to = end;
    xd_engine_unlock(e);
    return end <= to;
}

/* Returns true if the notifier of the reader must be raised when end_by has
 * passed.  This is not needed if it is raised already. */
static bool polls_for_end(const struct xd_reader *r)
{
    return r->end_by > 0 && !r->notifier.is_raised;
}

void xd_readers_end_waits_locked(struct xd_engine *e)
{
    xd_usec now = xd_now();

    for (size_t i = 0; i < e->readers.n; i++) {
        struct xd_reader *r = e->readers.list[i];

        if (polls_for_end(r) && r->end_by <= now && xd_look_is_ready_locked(r))
            xd_engine_raise_locked(e, &r->notifier);
    }
}

xd_usec xd_readers_until_locked(const struct xd_engine *e, xd_usec until)
{
    xd_usec now = xd_now();

    for (size_t i = 0; i < e->readers.n; i++) {
        const struct xd_reader *r = e->readers.list[i];

        if (polls_for_end(r) && r->end_by > now && r->end_by < until)
            until = r->end_by;
    }
    return until;
}
