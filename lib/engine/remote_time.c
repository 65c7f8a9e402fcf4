/* SPDX-License-Identifier: MIT */
#include "engine/remote_time.h"

#include "base/alloc.h"
#include "engine/depot.h"
#include "engine/engine.h"
#include "engine/lane.h"
#include "engine/source.h"
#include "os/file.h"

void xd_remote_time_learned(struct xd_engine *e, const struct xd_lane *lane,
                            const struct xd_head *head)
{
    struct xd_source_facts *facts;

    if (!e->options.remote_time || !lane->source)
        return;
    xd_engine_lock(e);
    facts = xd_source_facts(lane->source);
    if (facts)
        facts->modified = head->modified;
    xd_engine_unlock(e);
}

static int64_t older(int64_t a, int64_t b)
{
    return a == 0 || (b != 0 && b < a) ? b : a;
}

/* Returns true if the depot may have delivered bytes of `range`.  It is unknown
 * which depot sent bytes that a repair replaced, so every depot that has not
 * failed counts. */
static bool has_bytes_of_locked(const struct xd_engine *e,
                                const struct xd_depot *depot,
                                struct xd_range range)
{
    return xd_ledger_bytes_of(&e->ledger, depot->number, range) > 0 ||
           (e->repair.exchanged.n > 0 && depot->state != XD_DEPOT_FAILED);
}

/* Returns the time that the depot states for the objects with bytes of
 * `range`. */
static int64_t stated_by_locked(const struct xd_engine *e,
                                const struct xd_depot *depot,
                                struct xd_range range)
{
    const struct xd_depot_source *s = NULL;
    int64_t oldest = 0;

    while ((s = xd_depot_next_source(depot, s)) != NULL) {
        const struct xd_range both = xd_range_clip(s->range, range);
        if (xd_source_known(s)->modified != 0 &&
            has_bytes_of_locked(e, depot, both))
            oldest = older(oldest, xd_source_known(s)->modified);
    }
    return oldest;
}

int64_t xd_remote_time_locked(struct xd_engine *e)
{
    int64_t oldest = 0;

    if (!e->options.remote_time || e->dest.output->has_many_files)
        return 0;
    if (!e->dest.path) {
        xd_engine_log_locked(e, XD_LOG_WARN,
                             "a pipe has no time that could be set "
                             "(remote-time)");
        return 0;
    }
    for (size_t i = 0; i < e->depots.n; i++)
        oldest =
            older(oldest, stated_by_locked(e, e->depots.list[i], e->wanted));
    if (oldest == 0)
        xd_engine_log_locked(e, XD_LOG_WARN,
                             "no depot has said when the file was modified: "
                             "its time is that of its last byte "
                             "(remote-time)");
    return oldest;
}

/* Returns the time for a file of a set.  Examines one source per depot, because
 * a set has too many sources to examine all of them for each file. */
static int64_t time_of_place_locked(const struct xd_engine *e,
                                    struct xd_range place)
{
    int64_t oldest = 0;

    for (size_t i = 0; i < e->depots.n; i++) {
        struct xd_depot *depot = e->depots.list[i];
        const struct xd_depot_source *s = xd_depot_any_source(depot, place);
        if (s && xd_ledger_bytes_of(&e->ledger, depot->number, place) > 0)
            oldest = older(oldest, xd_source_known(s)->modified);
    }
    return oldest;
}

void xd_remote_time_set(struct xd_engine *e, size_t i)
{
    const struct xd_set_place *place = &e->set.places[i];
    int64_t modified;
    char *path;

    if (!e->options.remote_time)
        return;
    xd_engine_lock(e);
    modified = time_of_place_locked(e, place->range);
    xd_engine_unlock(e);
    path = modified != 0 ? xd_set_place_path(place, e->set.directory) : NULL;
    if (path)
        xd_path_set_time(path, modified);
    xd_free(path);
}
