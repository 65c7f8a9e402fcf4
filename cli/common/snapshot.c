#include "common/snapshot.h"

#include <stdio.h>
#include <stdlib.h>

#include "common/moment.h"

/* Depots are not looked at in all but one of so many parts of the time. */
#define IDLE_SHARE 50

void snapshot_init(struct snapshot *s)
{
    *s = (struct snapshot){.progress.struct_size = sizeof s->progress,
                           .progress.bytes_total = XD_SIZE_UNKNOWN};
}

void snapshot_fini(struct snapshot *s)
{
    free(s->depots);
    s->depots = NULL;
}

static bool has_room(struct snapshot *s)
{
    if (s->n_depots < s->cap)
        return true;
    const size_t cap = s->cap > 0 ? 2 * s->cap : 16;
    struct xd_depot_stats *depots = realloc(s->depots, cap * sizeof *depots);
    if (depots == NULL)
        return false;
    s->depots = depots;
    s->cap = cap;
    return true;
}

static void take_depots(struct snapshot *s, struct xd_download *d)
{
    s->depots_at = moment_s();
    for (s->n_depots = 0; has_room(s); s->n_depots++) {
        struct xd_depot_stats *depot = &s->depots[s->n_depots];
        depot->struct_size = sizeof *depot;
        if (xd_download_depot(d, s->n_depots, depot) < 0)
            break;
    }
    s->depots_cost = moment_s() - s->depots_at;
}

void snapshot_take(struct snapshot *s, struct xd_download *d)
{
    xd_download_progress(d, &s->progress);
    take_depots(s, d);
}

void snapshot_glance(struct snapshot *s, struct xd_download *d)
{
    xd_download_progress(d, &s->progress);
    if (moment_s() - s->depots_at >= s->depots_cost * IDLE_SHARE)
        take_depots(s, d);
}

const char *snapshot_state(enum xd_depot_state state)
{
    switch (state) {
    case XD_DEPOT_RESERVE:
        return "reserve";
    case XD_DEPOT_IDLE:
        return "idle";
    case XD_DEPOT_BUSY:
        return "busy";
    case XD_DEPOT_PAUSED:
        return "paused";
    case XD_DEPOT_FAILED:
        return "failed";
    }
    return "unknown"; /* to a newer library it means something */
}

#define WAITED_SECONDS 1.0

bool snapshot_waits(const struct snapshot *s, char *out, size_t size)
{
    const struct xd_depot_stats *first = NULL;

    for (size_t i = s->n_depots; i-- > 0;) {
        if (s->depots[i].state != XD_DEPOT_BUSY)
            continue;
        if (s->depots[i].waited_s < WAITED_SECONDS)
            return false;
        first = &s->depots[i];
    }
    if (first == NULL || s->progress.is_paused)
        return false;
    if (first->is_connected)
        snprintf(out, size, "waiting for %.200s, %u s", first->host,
                 (unsigned)first->waited_s);
    else
        snprintf(out, size, "connecting to %.200s...", first->host);
    return true;
}
