/* SPDX-License-Identifier: MIT */
#include "engine/sched_events.h"

#include "engine/depot.h"
#include "engine/depots.h"
#include "engine/lane.h"
#include "transfer/hosts.h"

xd_usec xd_report_time_locked(const struct xd_engine *e, xd_usec at)
{
    if (at == XD_NEVER)
        return at;
    return at > e->pause.former ? at - e->pause.former : 0;
}

void xd_report_event_locked(struct xd_engine *e, struct xd_sched_event event)
{
    if (!e->session.sched || xd_engine_is_over_locked(e))
        return;
    event.now = xd_engine_clock_locked(e);
    event.retry_at = xd_report_time_locked(e, event.retry_at);
    event.due = xd_report_time_locked(e, event.due);
    if (xd_sched_event(e->session.sched, &event) < 0)
        xd_engine_fail_nomem_locked(e);
}

void xd_report_bytes_locked(struct xd_engine *e, const struct xd_lane *lane,
                            uint64_t end, bool is_disordered)
{
    if (e->session.line)
        xd_line_received(e->session.line, lane->fetch, xd_now());
    xd_report_event_locked(
        e, (struct xd_sched_event){.kind = XD_EV_BYTES,
                                   .fetch = lane->fetch,
                                   .is_disordered = is_disordered,
                                   .round_trip = lane->way.round_trip,
                                   .range = {lane->range.begin, end}});
}

void xd_report_held_locked(struct xd_engine *e, struct xd_range range)
{
    xd_report_event_locked(
        e, (struct xd_sched_event){.kind = XD_EV_HELD, .range = range});
}

void xd_report_sized_locked(struct xd_engine *e, struct xd_range object)
{
    xd_report_event_locked(
        e, (struct xd_sched_event){.kind = XD_EV_SIZED, .range = object});
}

void xd_report_verified_locked(struct xd_engine *e, struct xd_range range)
{
    xd_report_event_locked(
        e, (struct xd_sched_event){.kind = XD_EV_VERIFIED, .range = range});
}

void xd_report_rejected_locked(struct xd_engine *e, struct xd_range range)
{
    xd_report_event_locked(
        e, (struct xd_sched_event){.kind = XD_EV_REJECTED, .range = range});
}

void xd_report_lost_locked(struct xd_engine *e, unsigned depot,
                           struct xd_range range)
{
    xd_report_event_locked(e, (struct xd_sched_event){.kind = XD_EV_LOST,
                                                      .depot = depot,
                                                      .range = range});
}

void xd_report_lent_locked(struct xd_engine *e, unsigned depot,
                           struct xd_range range)
{
    xd_report_event_locked(e, (struct xd_sched_event){.kind = XD_EV_LOST,
                                                      .depot = depot,
                                                      .range = range,
                                                      .is_lent = true});
}

void xd_report_holds_locked(struct xd_engine *e, unsigned depot,
                            struct xd_range range)
{
    xd_report_event_locked(e, (struct xd_sched_event){.kind = XD_EV_HOLDS,
                                                      .depot = depot,
                                                      .range = range});
}

void xd_report_joined_locked(struct xd_engine *e, unsigned depot,
                             struct xd_range range, unsigned max_requests,
                             uint8_t tier)
{
    xd_report_event_locked(e, (struct xd_sched_event){.kind = XD_EV_JOINED,
                                                      .depot = depot,
                                                      .range = range,
                                                      .max_lanes = max_requests,
                                                      .tier = tier});
}

void xd_report_extended_locked(struct xd_engine *e, struct xd_range more)
{
    xd_report_event_locked(
        e, (struct xd_sched_event){.kind = XD_EV_EXTENDED, .range = more});
}

void xd_report_unsized_locked(struct xd_engine *e, struct xd_range object)
{
    xd_report_event_locked(
        e, (struct xd_sched_event){.kind = XD_EV_UNSIZED, .range = object});
}

void xd_report_banned_locked(struct xd_engine *e, unsigned depot)
{
    xd_report_event_locked(
        e, (struct xd_sched_event){.kind = XD_EV_BANNED, .depot = depot});
}

void xd_report_shares_locked(struct xd_engine *e, struct xd_depot *depot)
{
    if (!depot->shares)
        xd_report_event_locked(e,
                               (struct xd_sched_event){.kind = XD_EV_SHARES,
                                                       .depot = depot->number});
    depot->shares = true;
}

void xd_report_hint_locked(struct xd_engine *e, struct xd_depot *depot,
                           struct xd_range range)
{
    const bool had_hint = depot->has_hint;

    depot->has_hint = !xd_range_is_empty(range);
    if (!depot->has_hint && !had_hint)
        return;
    xd_report_event_locked(e, (struct xd_sched_event){.kind = XD_EV_HINT,
                                                      .depot = depot->number,
                                                      .range = range});
}

void xd_report_connected_locked(struct xd_engine *e, struct xd_depot *depot)
{
    if (!depot->is_connected)
        xd_report_event_locked(e,
                               (struct xd_sched_event){.kind = XD_EV_CONNECTED,
                                                       .depot = depot->number});
    depot->is_connected = true;
}

void xd_report_demand_locked(struct xd_engine *e, unsigned reader,
                             const struct xd_demand *demand)
{
    xd_report_event_locked(
        e, (struct xd_sched_event){.kind = XD_EV_DEMAND,
                                   .reader = reader,
                                   .range = demand->range,
                                   .due = demand->due,
                                   .bytes_per_s = demand->bytes_per_s});
}

void xd_report_failure_locked(struct xd_engine *e, struct xd_depot *depot,
                              const struct xd_outcome *outcome)
{
    xd_depot_note_failure(depot, &outcome->error);
    depot->needs_login = outcome->needs_login;
    xd_depots_set_state(&e->depots, depot, XD_DEPOT_PAUSED);
    xd_engine_raise_locked(e, &e->notifier);
    xd_engine_log_locked(e, XD_LOG_INFO, "%s", outcome->error.msg);
}

void xd_report_refused_locked(struct xd_engine *e, struct xd_depot *depot,
                              const struct xd_error *error)
{
    xd_report_failure_locked(e, depot, &(struct xd_outcome){.error = *error});
    xd_depots_set_state(&e->depots, depot, XD_DEPOT_FAILED);
}

void xd_report_pinged_locked(struct xd_engine *e, const struct xd_depot *depot)
{
    struct xd_sched_event event = {.kind = XD_EV_PINGED,
                                   .depot = depot->number,
                                   .ping = depot->ping,
                                   .round_trip = depot->round_trip};
    xd_usec pause = 0;

    if (depot->ping == XD_PING_REFUSED)
        pause = xd_host_unreached(&depot->url);
    if (pause > 0)
        event.retry_at = xd_now() + pause;
    xd_report_event_locked(e, event);
}
