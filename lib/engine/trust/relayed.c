/* SPDX-License-Identifier: MIT */
#include "engine/trust/relayed.h"

#include "base/error.h"
#include "engine/depot.h"
#include "engine/engine.h"
#include "engine/lane.h"
#include "engine/lanes.h"
#include "engine/source.h"
#include "engine/trust/discard.h"
#include "engine/via.h"

/* How often a node is excused because another node misled it.  A node that
 * needs more excuses is probably wrong itself. */
#define MOST_EXCUSES 3

/* Returns the mesh file with the range; NULL if the depot is not a mesh node or
 * never had the range. */
static const struct xd_via_file *file_of(struct xd_depot *depot,
                                         struct xd_range range)
{
    const struct xd_depot_source *s =
        depot->node_id ? xd_depot_any_source(depot, range) : NULL;

    return s ? xd_source_via(s) : NULL;
}

/* Returns true if the depot may have got the range from node `owner`, or is
 * that node itself. */
static bool has_from(const struct xd_engine *e, struct xd_depot *depot,
                     struct xd_range range, size_t owner)
{
    const struct xd_via_file *f = file_of(depot, range);

    return f && xd_via_was_named(e->depots.via, f, range.begin, owner);
}

/* Stops running requests whose bytes may come from that node. */
static void distrust_lanes_locked(struct xd_engine *e, struct xd_depot *depot,
                                  size_t owner)
{
    struct xd_worker *w = depot->worker;

    for (unsigned i = 0; w && i < w->n_lanes; i++) {
        struct xd_lane *lane = &w->lanes[i];

        if (lane->state == LANE_FREE || !has_from(e, depot, lane->range, owner))
            continue;
        lane->is_distrusted = true;
        xd_lanes_stop_locked(e, lane);
    }
}

static struct xd_range chunk_of(const struct xd_via *v,
                                const struct xd_via_file *f, uint64_t byte)
{
    return xd_via_chunk(v, f, xd_via_chunk_of(v, f, byte));
}

/* Discards unverified bytes that may come from that node. */
static void discard_locked(struct xd_engine *e, struct xd_depot *depot,
                           size_t owner)
{
    struct xd_range rest = {e->readers.handed_out, e->wanted.end}, run;

    while (run = xd_blame_next_unproved(&e->verify.blame, depot->number, rest),
           !xd_range_is_empty(run) && !xd_engine_is_over_locked(e)) {
        const struct xd_via_file *f =
            file_of(depot, (struct xd_range){run.begin, run.begin + 1});

        if (f)
            run = xd_range_clip(run, chunk_of(e->depots.via, f, run.begin));
        if (has_from(e, depot, run, owner))
            xd_discard_locked(e, run, XD_DISCARD_BANNED);
        rest.begin = run.end;
    }
}

/* Drops samples that the depot may have got from that node. */
static void forget_samples_locked(struct xd_engine *e, struct xd_depot *depot,
                                  size_t owner)
{
    for (size_t i = 0; i < e->sampler.n; i++) {
        struct xd_sample_copies *c = &e->sampler.samples[i];

        if (depot->node != owner && has_from(e, depot, c->range, owner))
            xd_sample_copies_forget(c, depot->number);
    }
}

void xd_relayed_distrust_locked(struct xd_engine *e, size_t node)
{
    struct xd_via *v = e->depots.via;

    if (v->misleads[node])
        return;
    v->misleads[node] = true;
    for (unsigned i = 0; i < e->depots.n; i++) {
        if (!e->depots.list[i]->node_id)
            continue;
        distrust_lanes_locked(e, e->depots.list[i], node);
        discard_locked(e, e->depots.list[i], node);
        forget_samples_locked(e, e->depots.list[i], node);
    }
}

/* Logs the error, and records it in the first depot of the node. */
static void note_locked(struct xd_engine *e, size_t node,
                        const struct xd_depot *depot,
                        const struct xd_error *why)
{
    const char *id = e->depots.via->mesh->nodes[node].id;
    struct xd_error error = {0};
    unsigned i = 0;

    xd_fail(&error, why->code, "%s got wrong bytes from %s: %s", depot->node_id,
            id, why->msg);
    xd_engine_log_locked(e, XD_LOG_WARN,
                         "%s; nodes are no longer told to ask %s", error.msg,
                         id);
    while (i < e->depots.n &&
           !(e->depots.list[i]->node_id && e->depots.list[i]->node == node))
        i++;
    if (i < e->depots.n)
        xd_depot_note_failure(e->depots.list[i], &error);
}

/* Returns true if some of the range may come from the node. */
static bool has_some_from(const struct xd_via *v, const struct xd_via_file *f,
                          struct xd_range range, size_t node)
{
    while (!xd_range_is_empty(range)) {
        if (xd_via_was_named(v, f, range.begin, node))
            return true;
        range.begin = chunk_of(v, f, range.begin).end;
    }
    return false;
}

/* Returns the node to blame: one that is known to mislead others, or the node
 * that was named as owner for all of the range.  If several nodes were named,
 * returns `own`, the only node that is known to have had all of it. */
static size_t find_culprit(const struct xd_via *v, const struct xd_via_file *f,
                           struct xd_range range, size_t own)
{
    const size_t named = xd_via_named(v, f, range.begin);

    for (size_t i = 0; i < v->mesh->n_nodes; i++)
        if (v->misleads[i] && has_some_from(v, f, range, i))
            return i;
    while (!xd_range_is_empty(range)) {
        if (xd_via_named(v, f, range.begin) != named)
            return own;
        range.begin = chunk_of(v, f, range.begin).end;
    }
    return named;
}

bool xd_relayed_excuses_locked(struct xd_engine *e, struct xd_depot *depot,
                               struct xd_range range,
                               const struct xd_error *why)
{
    struct xd_via *v = e->depots.via;
    const struct xd_via_file *f = v ? file_of(depot, range) : NULL;
    size_t culprit;

    if (!f || v->mesh->hops < 2 || depot->n_excuses >= MOST_EXCUSES)
        return false;
    culprit = find_culprit(v, f, xd_range_clip(range, f->range), depot->node);
    if (culprit == depot->node)
        return false;
    depot->n_excuses++;
    if (!v->misleads[culprit])
        note_locked(e, culprit, depot, why);
    xd_relayed_distrust_locked(e, culprit);
    return true;
}
