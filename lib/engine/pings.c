/* SPDX-License-Identifier: MIT */
#include "engine/pings.h"

#include "base/error.h"
#include "base/url.h"
#include "engine/depot.h"
#include "engine/engine.h"
#include "engine/sched_events.h"
#include "io/pinger.h"

void xd_pings_note_locked(struct xd_depot *depot, enum xd_ping_result result,
                          xd_usec round_trip)
{
    depot->was_pinged = true;
    depot->ping = result;
    depot->round_trip = round_trip;
}

static void count_refusal_locked(struct xd_engine *e, struct xd_depot *depot,
                                 int os_errno)
{
    struct xd_span host = xd_url_host(&depot->url);
    struct xd_error error = {0};

    xd_fail_errno(&error, XD_E_NET, os_errno,
                  "%s: Failed to connect to %.*s port %u", depot->shown_url,
                  (int)host.len, host.s, depot->url.port);
    xd_report_refused_locked(e, depot, &error);
}

/* Ignores silence during an outage: a depot that does not answer then may be as
 * good as any other. */
static enum xd_ping_result judge_locked(const struct xd_engine *e,
                                        enum xd_ping_result result)
{
    bool is_down = e->session.line && xd_line_is_down(e->session.line);

    return is_down && result == XD_PING_SILENT ? XD_PING_UNKNOWN : result;
}

static void report_locked(struct xd_engine *e, struct xd_depot *depot,
                          const struct xd_ping *ping)
{
    enum xd_ping_result result = judge_locked(e, ping->result);

    depot->is_pinged = false;
    if (!depot->is_pinged_for_line)
        xd_pings_note_locked(depot, result, ping->round_trip);
    if (xd_engine_is_over_locked(e))
        return;
    if (e->session.line &&
        (result == XD_PING_ANSWERED || result == XD_PING_REFUSED))
        xd_line_answered(e->session.line, xd_now());
    if (depot->is_pinged_for_line)
        return;
    if (result == XD_PING_REFUSED && !depot->worker)
        count_refusal_locked(e, depot, ping->os_errno);
    if (e->session.size_probe)
        xd_size_probe_pinged(e->session.size_probe, depot->number, result);
    else
        xd_report_pinged_locked(e, depot);
}

static void answered(void *user, const struct xd_ping *pings, size_t n)
{
    struct xd_engine *e = user;

    xd_engine_lock(e);
    for (size_t i = 0; i < n; i++)
        report_locked(e, e->depots.list[pings[i].number], &pings[i]);
    xd_engine_decide_later_locked(e);
    xd_engine_unlock(e);
}

/* Starts a ping.  If no thread or memory is available, the depot is used
 * without one. */
static void ask_locked(struct xd_engine *e, struct xd_depot *depot)
{
    if (depot->is_pinged) /* the size probe has started this ping, and its
                             result also serves the scheduler */
        return;
    if (!e->pings.pinger)
        xd_pinger_new(&e->pings.pinger, &e->options.net, e->context, answered,
                      e, NULL);
    depot->is_pinged = true;
    if (!e->pings.pinger ||
        xd_pinger_ask(e->pings.pinger, depot->number, &depot->url,
                      xd_depot_reach(depot)) < 0)
        report_locked(e, depot, &(struct xd_ping){.result = XD_PING_UNKNOWN});
}

void xd_pings_ask_locked(struct xd_engine *e, struct xd_depot *depot)
{
    depot->is_pinged_for_line = false;
    ask_locked(e, depot);
}

void xd_pings_ask_of_line_locked(struct xd_engine *e, struct xd_depot *depot)
{
    depot->is_pinged_for_line = true;
    ask_locked(e, depot);
}

int xd_pings_report_known_locked(struct xd_engine *e)
{
    size_t n = xd_sched_has_pings(e->session.sched) ? e->depots.n : 0;
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < n; i++) {
        const struct xd_depot *d = e->depots.list[i];

        if (d->was_pinged && !d->is_pinged)
            rc = xd_sched_event(
                e->session.sched,
                &(struct xd_sched_event){.kind = XD_EV_PINGED,
                                         .now = xd_engine_clock_locked(e),
                                         .depot = d->number,
                                         .ping = d->ping,
                                         .round_trip = d->round_trip});
    }
    return rc;
}
