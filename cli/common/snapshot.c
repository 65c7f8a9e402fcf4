/* SPDX-License-Identifier: MIT */
#include "common/snapshot.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/moment.h"

/* Reading depot states takes at most 1 / IDLE_SHARE of the time. */
#define IDLE_SHARE 50

void snapshot_init(struct snapshot *s)
{
    *s = (struct snapshot){.progress.struct_size = sizeof s->progress,
                           .progress.bytes_total = XD_SIZE_UNKNOWN};
}

void snapshot_fini(struct snapshot *s)
{
    for (size_t i = 0; i < s->cap; i++)
        free(s->depots[i].error);
    free(s->depots);
    s->depots = NULL;
    s->n_depots = s->cap = 0;
}

void snapshot_forget_errors(struct snapshot *s)
{
    for (size_t i = 0; i < s->n_depots; i++) {
        if (s->depots[i].state != XD_DEPOT_FAILED)
            continue;
        free(s->depots[i].error);
        s->depots[i].error = NULL;
    }
}

bool snapshot_reserve(struct snapshot *s, size_t n)
{
    if (n <= s->cap)
        return true;
    const size_t cap = s->cap > 0 ? 2 * s->cap : 16;
    struct snapshot_depot *depots = realloc(s->depots, cap * sizeof *depots);
    if (depots == NULL)
        return false;
    memset(depots + s->cap, 0, (cap - s->cap) * sizeof *depots);
    s->depots = depots;
    s->cap = cap;
    return true;
}

/* Copies an error, unless it is the same as in the last snapshot, as most
 * errors are. */
static void take_error(struct snapshot_depot *depot, const struct xd_error *err)
{
    if (depot->error != NULL && err->code != XD_OK &&
        strcmp(depot->error, err->msg) == 0)
        return;
    free(depot->error);
    depot->error = err->code != XD_OK ? strdup(err->msg) : NULL;
}

static void take_depot(struct snapshot_depot *depot,
                       const struct xd_depot_stats *stats)
{
    take_error(depot, &stats->last_error);
    *depot =
        (struct snapshot_depot){.host = stats->host,
                                .url = stats->url,
                                .state = stats->state,
                                .bytes_held = stats->bytes_held,
                                .bytes = stats->bytes,
                                .bytes_redundant = stats->bytes_redundant,
                                .requests = stats->requests,
                                .failures = stats->failures,
                                .connections = stats->connections,
                                .most_connections = stats->most_connections,
                                .bytes_per_s = stats->bytes_per_s,
                                .mean_bytes_per_s = stats->mean_bytes_per_s,
                                .first_byte_s = stats->first_byte_s,
                                .waited_s = stats->waited_s,
                                .is_connected = stats->is_connected,
                                .is_node = stats->node != NULL,
                                .error = depot->error};
}

static void take_depots(struct snapshot *s, struct xd_download *d)
{
    struct xd_depot_stats stats = {.struct_size = sizeof stats};

    s->depots_at = moment_s();
    for (s->n_depots = 0; snapshot_reserve(s, s->n_depots + 1); s->n_depots++) {
        if (xd_download_depot(d, s->n_depots, &stats) < 0)
            break;
        take_depot(&s->depots[s->n_depots], &stats);
    }
    s->depots_cost = moment_s() - s->depots_at;
}

void snapshot_take(struct snapshot *s, struct xd_download *d)
{
    xd_download_progress(d, &s->progress);
    take_depots(s, d);
}

/* Number of files to examine after the first unfinished file.  At most 64 files
 * are in flight at a time. */
#define FILES_AHEAD 128

/* Counts the file if it has ended.  Returns false if it has not ended or does
 * not exist. */
static bool take_ended(struct xd_download *d, size_t i,
                       struct xd_file_progress *p, size_t *ended,
                       size_t *failed)
{
    if (xd_download_file_progress(d, i, p) < 0 || p->state == XD_FILE_WAITING ||
        p->state == XD_FILE_COMPLETE)
        return false;
    ++*ended;
    *failed += p->state == XD_FILE_FAILED;
    return true;
}

static void add_in_flight(struct snapshot_files *f, const char *path)
{
    const size_t len = strlen(f->in_flight);

    if (len + 2 + strlen(path) < sizeof f->in_flight)
        sprintf(f->in_flight + len, "%s%s", len > 0 ? ", " : "", path);
}

/* Updates the counts of files.  Files before the first unfinished one are not
 * examined again, so each call examines only a few. */
static void take_files(struct snapshot_files *f, struct xd_download *d)
{
    struct xd_file_progress p = {.struct_size = sizeof p};

    while (f->first < f->n &&
           take_ended(d, f->first, &p, &f->first, &f->failed_before))
        ;
    f->ended = f->first;
    f->failed = f->failed_before;
    f->in_flight[0] = '\0';
    for (size_t i = f->first; i < f->n && i < f->first + FILES_AHEAD; i++)
        if (!take_ended(d, i, &p, &f->ended, &f->failed) &&
            p.state == XD_FILE_WAITING)
            add_in_flight(f, p.path);
}

void snapshot_glance(struct snapshot *s, struct xd_download *d)
{
    xd_download_progress(d, &s->progress);
    take_files(&s->files, d);
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
    return "unknown"; /* a state that only a newer library knows */
}

#define WAITED_SECONDS 1.0

bool snapshot_waits(const struct snapshot *s, char *out, size_t size)
{
    const struct snapshot_depot *first = NULL;

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
