/* SPDX-License-Identifier: MIT */
#include "engine/via_watch.h"

#include <stdlib.h>

#include "engine/depot.h"
#include "engine/engine.h"
#include "engine/lane.h"
#include "engine/lanes.h"
#include "engine/source.h"
#include "engine/via.h"

#define LOOKS_EVERY (50 * XD_MS)

/* It was asked for so long in all. */
#define BUSY (10 * XD_SECOND)

/* Of the median: a node of many has a bad moment, and clients that differ about one
 * have the origin send a chunk twice. */
#define SLOW 0.25

/* A median of fewer says nothing. */
#define LEAST_NODES 3

/* A node has sent nothing for so long, and another has a moment ago.  A little less
 * than what the scheduler takes for the end of one (sched/tiers.c): it would set aside
 * those that wait, too. */
#define HANGS (19 * XD_SECOND / 10)

/* And so long another node, that is to ask it, has kept a request waiting: alone its
 * silence is that of a line with many clients. */
#define WAITS (3 * XD_SECOND / 2)
#define MOMENT (XD_SECOND / 2)

/* What is known of one, from all of its addresses. */
struct view {
    double rate; /* bytes per second of the time in which it was asked; below 0:
                      for too short a time */
    xd_usec since; /* the last byte of it, or when it was asked; 0: it is not */
    xd_usec sent;  /* the last byte */
};

static void look(struct view *view, const struct xd_depot *d, xd_usec now)
{
    const bool is_busy = d->lanes_busy > 0;
    const xd_usec busy = d->busy_time + (is_busy ? now - d->busy_since : 0);
    const double rate =
        busy >= BUSY ? (double)d->bytes_received / xd_seconds(busy) : -1;
    const xd_usec since =
        d->last_byte_at > d->busy_since ? d->last_byte_at : d->busy_since;

    if (rate > view->rate)
        view->rate = rate;
    if (is_busy && since > view->since)
        view->since = since;
    if (d->last_byte_at > view->sent)
        view->sent = d->last_byte_at;
}

static struct view view_of(const struct xd_via *v, size_t number, size_t n,
                           xd_usec now)
{
    struct view view = {.rate = -1};

    for (size_t i = number; i < number + n; i++)
        if (v->depots[i])
            look(&view, v->depots[i], now);
    return view;
}

static int by_value(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

/* Below 0: nothing is too slow. */
static double least_rate(const struct view *views, size_t n)
{
    double known[XD_MESH_NODES_MAX];
    size_t n_known = 0;

    for (size_t i = 0; i < n; i++)
        if (views[i].rate >= 0)
            known[n_known++] = views[i].rate;
    if (n_known < LEAST_NODES)
        return -1;
    qsort(known, n_known, sizeof *known, by_value);
    return SLOW * known[n_known / 2];
}

void xd_via_note_avoided(struct xd_via *v, const bool *is_waited_for,
                         xd_usec now)
{
    const size_t n = v->mesh->n_nodes;
    struct view views[XD_MESH_NODES_MAX];
    xd_usec last = 0;
    size_t number = 0;
    double least;

    for (size_t i = 0; i < n; i++) {
        views[i] = view_of(v, number, v->mesh->nodes[i].n_addresses, now);
        number += v->mesh->nodes[i].n_addresses;
        if (views[i].sent > last)
            last = views[i].sent;
    }
    least = least_rate(views, n);
    for (size_t i = 0; i < n; i++) {
        const bool is_slow = views[i].rate >= 0 && views[i].rate < least;
        const bool hangs = views[i].since > 0 && now - views[i].since >= HANGS;

        if (hangs && is_waited_for[i] && now - last < MOMENT)
            v->hung_at[i] = now;
        else if (views[i].sent > v->hung_at[i])
            v->hung_at[i] = 0;
        v->avoids[i] = is_slow || v->hung_at[i] > 0;
    }
}

/* Which node another one was to ask for what a request waits for; n_nodes: it does
 * not wait, or was to ask none. */
static size_t waits_for(const struct xd_via *v, const struct xd_worker *w,
                        const struct xd_lane *lane)
{
    size_t named;

    if (lane->state != LANE_RUNNING || !lane->source ||
        lane->in.reported > lane->range.begin)
        return v->mesh->n_nodes;
    named = xd_via_named(v, xd_source_via(lane->source), lane->range.begin);
    return named == w->depot->node ? v->mesh->n_nodes : named;
}

static void note_waits_locked(const struct xd_engine *e,
                              const struct xd_worker *w, bool *is_waited_for,
                              xd_usec now)
{
    for (unsigned i = 0; i < w->n_lanes; i++) {
        const struct xd_lane *lane = &w->lanes[i];
        const size_t node = waits_for(e->depots.via, w, lane);

        if (node < e->depots.via->mesh->n_nodes && now - lane->queued >= WAITS)
            is_waited_for[node] = true;
    }
}

static void stop_waiting_locked(struct xd_engine *e, struct xd_worker *w)
{
    const struct xd_via *v = e->depots.via;

    for (unsigned i = 0; i < w->n_lanes; i++) {
        const size_t node = waits_for(v, w, &w->lanes[i]);

        if (node < v->mesh->n_nodes && v->avoids[node])
            xd_lanes_stop_locked(e, &w->lanes[i]);
    }
}

static bool serves_node(const struct xd_worker *w)
{
    return w->depot && w->depot->node_id;
}

void xd_via_watch_locked(struct xd_engine *e, xd_usec now)
{
    struct xd_via *v = e->depots.via;
    bool is_waited_for[XD_MESH_NODES_MAX] = {false};

    if (!v || v->mesh->hops < 2 || now - v->watched_at < LOOKS_EVERY)
        return;
    v->watched_at = now;
    for (unsigned i = 0; i < e->workers.n; i++)
        if (serves_node(e->workers.list[i]))
            note_waits_locked(e, e->workers.list[i], is_waited_for, now);
    xd_via_note_avoided(v, is_waited_for, now);
    for (unsigned i = 0; i < e->workers.n; i++)
        if (serves_node(e->workers.list[i]))
            stop_waiting_locked(e, e->workers.list[i]);
}
