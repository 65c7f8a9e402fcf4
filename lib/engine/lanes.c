/* SPDX-License-Identifier: MIT */
#include "engine/lanes.h"

#include "engine/depot.h"
#include "engine/lane.h"

/* Wakes the worker, unless it was woken since it began to wait for its
 * transport. */
static void wake_locked(struct xd_worker *w)
{
    if (w->must_wake)
        xd_runner_wakeup(w->runner);
    w->must_wake = false;
}

void xd_lanes_wake_locked(struct xd_engine *e, const struct xd_lane *lane)
{
    for (unsigned i = 0; i < e->workers.n; i++) {
        struct xd_worker *w = e->workers.list[i];

        if (lane >= w->lanes && lane < w->lanes + w->n_lanes)
            wake_locked(w);
    }
}

void xd_lanes_stop_locked(struct xd_engine *e, struct xd_lane *lane)
{
    lane->stop = true;
    xd_lanes_wake_locked(e, lane);
}

bool xd_lanes_end_locked(struct xd_engine *e)
{
    bool is_busy = false;

    for (unsigned i = 0; i < e->workers.n; i++) {
        for (unsigned j = 0; j < e->workers.list[i]->n_lanes; j++) {
            struct xd_lane *lane = &e->workers.list[i]->lanes[j];

            if (lane->state == LANE_FREE)
                continue;
            is_busy = true;
            if (!lane->stop)
                xd_lanes_stop_locked(e, lane);
        }
    }
    return !is_busy;
}

/* Requests of the size probe may continue, because they are for a single
 * byte. */
void xd_lanes_hold_locked(struct xd_engine *e)
{
    for (unsigned i = 0; !e->session.size_probe && i < e->workers.n; i++) {
        struct xd_worker *w = e->workers.list[i];

        for (unsigned j = 0; j < w->n_lanes; j++) {
            struct xd_lane *lane = &w->lanes[j];

            if (lane->state != LANE_FREE && !lane->stop && w->depot &&
                !w->depot->knows_no_ranges &&
                lane->range.end != XD_SIZE_UNKNOWN)
                xd_lanes_stop_locked(e, lane);
        }
    }
}
