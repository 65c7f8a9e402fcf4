/* SPDX-License-Identifier: MIT */
#include "engine/outage.h"

#include "base/error.h"
#include "engine/depot.h"
#include "engine/engine.h"
#include "engine/lane.h"
#include "engine/pings.h"

/* Number of depots to ping when it is unclear whether the network is up.  One
 * answer is enough. */
#define DOUBT_PINGS 4

int xd_outage_start_locked(struct xd_engine *e)
{
    const struct xd_options *o = &e->options;

    if (!e->session.line)
        e->session.line =
            xd_line_new(xd_options_most_depots(o) * e->workers.n_lanes,
                        o->silence, o->patience);
    if (e->outage.routes.fd < 0)
        xd_routes_open(&e->outage.routes);
    return e->session.line ? 0 : XD_E_NOMEM;
}

bool xd_outage_was_it_locked(struct xd_engine *e, const struct xd_lane *lane,
                             bool all_were_asked, xd_usec now,
                             xd_usec *retry_at)
{
    const struct xd_outcome *o = &lane->outcome;
    struct xd_line_failure failure = {
        .is_unanswered = o->is_unanswered,
        .is_only = e->session.sched && !xd_sched_has_choice(e->session.sched),
        .is_depots_own =
            !all_were_asked || (o->lacks_address && xd_routes_lead_out())};

    return e->session.line && xd_line_failed(e->session.line, lane->fetch,
                                             &failure, now, retry_at);
}

/* Logs the beginning or the end of an outage. */
static void log_change_locked(struct xd_engine *e, xd_usec now)
{
    bool is_down = xd_line_is_down(e->session.line);

    if (is_down == e->outage.is_down)
        return;
    e->outage.is_down = is_down;
    if (is_down)
        e->outage.down_at = now;
    if (is_down)
        xd_engine_log_locked(e, XD_LOG_WARN,
                             "no depot answers: waiting for the network");
    else
        xd_engine_log_locked(e, XD_LOG_INFO, "the network is back after %.1f s",
                             xd_seconds(now - e->outage.down_at));
}

bool xd_outage_look_locked(struct xd_engine *e)
{
    xd_usec now = xd_now();

    if (!e->session.line || !xd_routes_have_appeared(&e->outage.routes, now))
        return false;
    xd_line_changed(e->session.line, now);
    return xd_line_is_down(e->session.line);
}

void xd_outage_begin_locked(struct xd_engine *e, xd_usec now)
{
    if (!e->session.line)
        return;
    (void)xd_outage_look_locked(e);
    log_change_locked(e, now);
}

xd_usec xd_outage_until_locked(const struct xd_engine *e, xd_usec now,
                               xd_usec until)
{
    if (!e->session.line || xd_line_wake(e->session.line) == XD_NEVER)
        return until;
    return xd_earlier(until, now + XD_ROUTES_LOOK_EVERY);
}

void xd_outage_doubt_locked(struct xd_engine *e)
{
    size_t n = e->depots.n, n_pinged = 0;

    for (size_t i = 0; i < n && n_pinged < DOUBT_PINGS; i++) {
        struct xd_depot *d = e->depots.list[e->outage.ping_next++ % n];

        if (d->lanes_busy > 0 || d->state == XD_DEPOT_FAILED || d->is_pinged)
            continue;
        xd_pings_ask_of_line_locked(e, d);
        n_pinged++;
    }
}

void xd_outage_lose_locked(struct xd_engine *e, xd_usec silent)
{
    struct xd_error error = {0};

    xd_fail(&error, XD_E_NOREPLICA,
            xd_line_was_up(e->session.line)
                ? "the network is down: no depot has answered for %.0f s "
                  "(patience)"
                : "no depot has answered for %.0f s: the network is down, or "
                  "none of them can be reached",
            xd_seconds(silent));
    xd_engine_fail_locked(e, &error);
}
