#include "engine/outage.h"

#include "base/error.h"
#include "engine/decide.h"
#include "os/routes.h"

/* How often the system is asked for new routes. */
#define LOOK_EVERY (200 * XD_MS)

int xd_outage_start_locked(struct xd_engine *e, unsigned max_open)
{
    xd_line_free(e->line);
    e->line = xd_line_new(max_open * xd_options_lanes(&e->options),
                          e->options.silence, e->options.patience);
    if (e->routes < 0)
        e->routes = xd_routes_open();
    return e->line ? 0 : XD_E_NOMEM;
}

/* What was said of the line before is not so any more. */
static void say_change_locked(struct xd_engine *e, xd_usec now)
{
    bool is_down = xd_line_is_down(e->line);

    if (is_down == e->is_line_down)
        return;
    e->is_line_down = is_down;
    if (is_down)
        e->line_down_at = now;
    if (is_down)
        xd_engine_say_locked(e, XD_LOG_WARN,
                             "no depot answers any more: waiting for the "
                             "network");
    else
        xd_engine_say_locked(e, XD_LOG_INFO, "the network is back after %.1f s",
                             (double)(now - e->line_down_at) /
                                 (double)XD_SECOND);
}

bool xd_outage_look_locked(struct xd_engine *e)
{
    xd_usec now = xd_now();

    if (!e->line || now < e->looked_at + LOOK_EVERY)
        return false;
    e->looked_at = now;
    if (!xd_routes_have_appeared(e->routes))
        return false;
    xd_line_changed(e->line, now);
    return xd_line_is_down(e->line);
}

xd_usec xd_outage_until_locked(const struct xd_engine *e, xd_usec now,
                               xd_usec until)
{
    xd_usec wake = e->line ? xd_line_wake(e->line) : XD_NEVER;

    if (wake != XD_NEVER && wake > now + LOOK_EVERY)
        wake = now + LOOK_EVERY;
    return wake < until ? wake : until;
}

static bool is_lost_locked(struct xd_engine *e, xd_usec now)
{
    struct xd_error error = {0};
    xd_usec silent;

    if (!xd_line_is_lost(e->line, now, &silent))
        return false;
    xd_fail(&error, XD_E_NOREPLICA,
            "the network is down: no depot has answered for %.0f s (patience)",
            (double)silent / (double)XD_SECOND);
    xd_engine_fail_locked(e, &error);
    return true;
}

bool xd_outage_pauses_locked(struct xd_engine *e, xd_usec now)
{
    unsigned fetch;

    if (!e->line || !e->sched)
        return false;
    (void)xd_outage_look_locked(e);
    say_change_locked(e, now);
    if (is_lost_locked(e, now))
        return true;
    while (xd_line_next_stop(e->line, now, &fetch))
        xd_decide_stop_locked(e, e->fetches[fetch]);
    if (xd_line_pause(e->line, now) <= now)
        return false;
    e->until = xd_outage_until_locked(e, now, e->deadline);
    return true;
}
