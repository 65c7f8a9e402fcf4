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

/* A node is judged after requests to it have run for this long in total. */
#define BUSY (10 * XD_SECOND)

/* A node is slow if its throughput is below this fraction of the median.  The
 * fraction is low, because nodes have bad moments.  Besides, if clients
 * disagree about a node, the origin sends a chunk twice. */
#define SLOW 0.25

/* A median of fewer nodes means nothing. */
#define LEAST_NODES 3

/* A node may hang if it has sent nothing for this long while most others have.
 * This is slightly less than the limit at which the scheduler drops a silent
 * depot (sched/tiers.c), because that would also drop the nodes that wait for
 * this one. */
#define HANGS (19 * XD_SECOND / 10)

/* At first no node has any chunk, and all of them are silent for seconds.  A
 * node that has sent this many bytes is past that phase. */
#define WARM ((uint64_t)2 << 20)

/* A node hangs only if, in addition, LEAST_WAITING other nodes have each kept a
 * request waiting for it for the time WAITS.  Silence alone may only mean a
 * slow network with many clients. */
#define WAITS (3 * XD_SECOND / 2)
#define LEAST_WAITING 2
#define MOMENT (XD_SECOND / 2)

/* What the requests to a node show, over all of its addresses. */
struct view {
    double rate;   /* bytes per second while requests to it were running; < 0 if
                      they have not run for long enough */
    xd_usec since; /* time of its last byte, or of the start of the request; 0
                      if no request is running */
    xd_usec sent;  /* time of its last byte */
    uint64_t bytes;
};

static void look(struct view *view, const struct xd_depot *d, xd_usec now)
{
    const bool is_busy = d->lanes_busy > 0;
    const xd_usec busy = d->busy_time + (is_busy ? now - d->busy_since : 0);
    const double rate =
        busy >= BUSY ? (double)d->bytes_received / xd_seconds(busy) : -1;
    const xd_usec since =
        d->last_byte_at > d->busy_since ? d->last_byte_at : d->busy_since;

    view->bytes += d->bytes_received;
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

/* Returns the median throughput; < 0 if it is known for too few nodes. */
static double median_rate(const struct view *views, size_t n)
{
    double known[XD_MESH_NODES_MAX];
    size_t n_known = 0;

    for (size_t i = 0; i < n; i++)
        if (views[i].rate >= 0)
            known[n_known++] = views[i].rate;
    if (n_known < LEAST_NODES)
        return -1;
    qsort(known, n_known, sizeof *known, by_value);
    return known[n_known / 2];
}

/* Returns true if the node hangs: other nodes wait for it, and most nodes with
 * requests are sending. */
static bool hangs(const struct view *view, unsigned n_waiting, bool most_send,
                  xd_usec now)
{
    return view->since > 0 && view->bytes >= WARM &&
           now - view->since >= HANGS && n_waiting >= LEAST_WAITING &&
           most_send;
}

/* Stores the error in the depots of the node that were used, so that users see
 * which node failed. */
static void blame_node(struct xd_via *v, size_t node,
                       const struct xd_error *why)
{
    for (size_t i = 0; i < v->n_depots; i++) {
        struct xd_depot *d = v->depots[i];

        if (!d || d->node != node || d->bytes_received == 0)
            continue;
        xd_kept_error_free(d->avoided_why);
        d->avoided_why = xd_error_keep(why);
    }
}

static void judge(struct xd_via *v, size_t node, const struct view *view,
                  double median, xd_usec now)
{
    const bool is_slow = view->rate >= 0 && view->rate < SLOW * median;
    const bool was_avoided = v->avoids[node];
    struct xd_error why;

    v->avoids[node] = is_slow || v->hung_at[node] > 0;
    if (was_avoided || !v->avoids[node])
        return;
    if (is_slow)
        xd_fail(&why, XD_E_NET,
                "delivers %.1f KiB/s, and half of the nodes %.1f KiB/s or "
                "more: other nodes are not sent to it",
                view->rate / 1024, median / 1024);
    else
        xd_fail(&why, XD_E_NET,
                "sent nothing for %.1f s, while other nodes waited for it",
                xd_seconds(now - view->since));
    blame_node(v, node, &why);
}

void xd_via_note_avoided(struct xd_via *v, const unsigned *n_waiting,
                         xd_usec now)
{
    const size_t n = v->mesh->n_nodes;
    struct view views[XD_MESH_NODES_MAX];
    size_t number = 0, n_sending = 0, n_asked = 0;
    double median;

    for (size_t i = 0; i < n; i++) {
        views[i] = view_of(v, number, v->mesh->nodes[i].n_addresses, now);
        number += v->mesh->nodes[i].n_addresses;
        n_asked += views[i].since > 0;
        n_sending += views[i].sent > 0 && now - views[i].sent < MOMENT;
    }
    median = median_rate(views, n);
    for (size_t i = 0; i < n; i++) {
        if (hangs(&views[i], n_waiting[i], 3 * n_sending >= 2 * (n_asked - 1),
                  now))
            v->hung_at[i] = now;
        else if (views[i].sent > v->hung_at[i])
            v->hung_at[i] = 0;
        judge(v, i, &views[i], median, now);
    }
}

/* Returns the node from which another node should fetch the chunk that the
 * request waits for.  Returns n_nodes if the request does not wait or names no
 * other node. */
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

/* Returns true if one of the worker's first `n` requests has waited for that
 * node. */
static bool waits_locked(const struct xd_via *v, const struct xd_worker *w,
                         unsigned n, size_t node, xd_usec now)
{
    for (unsigned i = 0; i < n; i++)
        if (waits_for(v, w, &w->lanes[i]) == node &&
            now - w->lanes[i].queued >= WAITS)
            return true;
    return false;
}

/* Adds one to n_waiting of each node that some request of the worker waits
 * for. */
static void count_waiting_locked(const struct xd_via *v,
                                 const struct xd_worker *w, unsigned *n_waiting,
                                 xd_usec now)
{
    for (unsigned i = 0; i < w->n_lanes; i++) {
        const size_t node = waits_for(v, w, &w->lanes[i]);

        if (node < v->mesh->n_nodes && !waits_locked(v, w, i, node, now) &&
            waits_locked(v, w, i + 1, node, now))
            n_waiting[node]++;
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

static void watch_locked(struct xd_engine *e, xd_usec now)
{
    struct xd_via *v = e->depots.via;
    unsigned n_waiting[XD_MESH_NODES_MAX] = {0};

    for (unsigned i = 0; i < e->workers.n; i++)
        if (serves_node(e->workers.list[i]))
            count_waiting_locked(v, e->workers.list[i], n_waiting, now);
    xd_via_note_avoided(v, n_waiting, now);
    for (unsigned i = 0; i < e->workers.n; i++)
        if (serves_node(e->workers.list[i]))
            stop_waiting_locked(e, e->workers.list[i]);
}

void xd_via_watch_locked(struct xd_engine *e, xd_usec now)
{
    struct xd_via *v = e->depots.via;

    if (!v || v->mesh->hops < 2 || now - v->watched_at < LOOKS_EVERY)
        return;
    v->watched_at = now;
    watch_locked(e, now);
}
