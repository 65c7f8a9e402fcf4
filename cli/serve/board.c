/* SPDX-License-Identifier: MIT */
#include "serve/board.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <pthread.h>

#include "command/downloads.h"
#include "command/readers.h"
#include "command/records.h"
#include "common/json.h"
#include "common/moment.h"
#include "common/outcome.h"
#include "common/snapshot.h"

/* Seconds between events. */
#define EVERY_S 0.5

/* Limits for each file in an event.  A part is drawn as four pixels of a
 * bar. */
#define PARTS 160
#define PAST_REQUESTS 256
#define REQUESTS 100
#define READERS 32
#define DEPOTS 100
#define FIRST_DEPOTS 20
#define EVENT_MOST (256 << 10)

/* Seconds after which a page that has sent no report is considered closed. */
#define VIEWER_S 5

/* A request that has ended. */
struct past_request {
    unsigned depot, lane;
    double start_s, end_s;
    char outcome[OUTCOME_SIZE];
};

struct board_file {
    unsigned opening; /* `opening` of the source that is shown; 0: none yet */
    struct snapshot snapshot;
    /* ring buffer of PAST_REQUESTS; NULL: no request has ended */
    struct past_request *past;
    size_t n_past; /* number of all requests that have ended */
};

struct board {
    /* constant */
    struct catalog *catalog;
    struct events *events;

    pthread_mutex_t lock;
    /* Guarded by lock.  The viewers of the catalog's sources are guarded by it
     * too. */
    /* files[i] belongs to source i of the catalog */
    struct board_file files[CATALOG_OPEN];
    size_t first;       /* index of the first file in the next event */
    double published_s; /* moment_s() of the last event */
};

struct board *board_new(struct catalog *s, struct events *e)
{
    struct board *b = calloc(1, sizeof *b);

    if (b == NULL)
        return NULL;
    b->catalog = s;
    b->events = e;
    pthread_mutex_init(&b->lock, NULL);
    return b;
}

static void forget(struct board_file *f)
{
    if (f->opening != 0)
        snapshot_fini(&f->snapshot);
    free(f->past);
    *f = (struct board_file){.opening = 0};
}

void board_free(struct board *b)
{
    if (b == NULL)
        return;
    for (size_t i = 0; i < CATALOG_OPEN; i++)
        forget(&b->files[i]);
    pthread_mutex_destroy(&b->lock);
    free(b);
}

/* Returns open source `i`, which the caller must release with catalog_leave().
 * Returns NULL if it is not open. */
static struct catalog_source *look_at_locked(struct board *b, size_t i)
{
    struct catalog_source *of = catalog_look(b->catalog, i);
    struct board_file *f = &b->files[i];

    if (of == NULL || of->opening == f->opening)
        return of;
    forget(f);
    f->opening = of->opening;
    snapshot_init(&f->snapshot);
    trace_leave_records(of->trace, true);
    return of;
}

bool board_lists_depot(size_t i, enum xd_depot_state state, unsigned requests,
                       size_t n_listed)
{
    return n_listed < DEPOTS &&
           (i < FIRST_DEPOTS || requests > 0 || state != XD_DEPOT_RESERVE);
}

/* ---- players ---- */

/* Returns the reader for the player of this page, or NULL if another page is
 * playing the file. */
static struct xd_reader *viewer_locked(struct catalog_source *of,
                                       const char *id)
{
    struct catalog_viewer *v = &of->viewer;
    struct xd_reader *fresh;
    struct xd_error err;

    if (strlen(id) >= sizeof v->id)
        return NULL;
    if (v->reader != NULL && strcmp(v->id, id) == 0)
        return v->reader;
    if (v->reader != NULL && v->state != XD_PLAY_ENDED &&
        moment_s() - v->said_s < VIEWER_S)
        return NULL;
    if (xd_reader_new(&fresh, of->source, &err) < 0)
        return NULL;
    trace_viewer(of->trace, fresh);
    xd_reader_free(v->reader);
    v->reader = fresh;
    snprintf(v->id, sizeof v->id, "%s", id);
    return fresh;
}

static bool play_locked(struct catalog_source *of, const struct board_player *p)
{
    struct xd_progress g = {.struct_size = sizeof g};

    xd_download_progress(xd_source_download(of->source), &g);
    const double size =
        g.bytes_total != XD_SIZE_UNKNOWN ? (double)g.bytes_total : 0;
    const double rate = p->of_s > 0 ? size / p->of_s : 0;
    const double at_s = p->at_s < p->of_s ? p->at_s : p->of_s;
    struct xd_reader *viewer = viewer_locked(of, p->id);

    if (viewer == NULL)
        return false;
    xd_reader_playhead(viewer, (uint64_t)(at_s * rate), rate * p->speed,
                       p->state);
    of->viewer.state = p->state;
    of->viewer.said_s = moment_s();
    return true;
}

bool board_play(struct board *b, const struct board_player *p)
{
    struct catalog_source *of;
    struct xd_error err;

    if (catalog_enter(b->catalog, &b->catalog->files[p->file], CATALOG_OTHER,
                      &of, &err) < 0)
        return false;
    pthread_mutex_lock(&b->lock);
    const bool is_taken = play_locked(of, p);
    pthread_mutex_unlock(&b->lock);
    catalog_leave(b->catalog, of, CATALOG_OTHER);
    return is_taken;
}

/* ---- requests ---- */

static void keep_locked(struct board_file *f, const struct xd_fetch_record *r)
{
    if (f->past == NULL)
        f->past = calloc(PAST_REQUESTS, sizeof *f->past);
    if (f->past == NULL)
        return;
    struct past_request *p = &f->past[f->n_past++ % PAST_REQUESTS];
    *p = (struct past_request){r->depot, r->lane, r->start_s, r->end_s, ""};
    outcome_name(p->outcome, r);
}

static void take_records_locked(struct board_file *f,
                                const struct catalog_source *of)
{
    struct xd_download *d = xd_source_download(of->source);
    struct xd_fetch_record r = {.struct_size = sizeof r};

    while (xd_download_next_record(d, &r, NULL)) {
        trace_record(of->trace, &r);
        keep_locked(f, &r);
    }
}

static void put_request(struct json *j, unsigned depot, unsigned lane,
                        double start_s, double end_s, const char *outcome)
{
    json_open_array(j, NULL);
    json_count(j, NULL, depot);
    json_count(j, NULL, lane);
    json_number(j, NULL, start_s);
    if (end_s < 0)
        json_null(j, NULL);
    else
        json_number(j, NULL, end_s);
    json_string(j, NULL, outcome);
    json_close_array(j);
}

static void put_requests(struct json *j, const struct board_file *f,
                         struct xd_download *d)
{
    struct xd_fetch_record running[REQUESTS] = {
        {.struct_size = sizeof *running}};
    const size_t n_past = f->n_past < PAST_REQUESTS ? f->n_past : PAST_REQUESTS;
    size_t n = xd_download_requests(d, running, REQUESTS);

    json_open_array(j, "requests");
    for (size_t i = 0; i < n_past; i++) {
        const struct past_request *p = &f->past[i];
        put_request(j, p->depot, p->lane, p->start_s, p->end_s, p->outcome);
    }
    for (size_t i = 0; i < n && i < REQUESTS; i++)
        put_request(j, running[i].depot, running[i].lane, running[i].start_s,
                    -1, "running");
    json_close_array(j);
}

/* ---- the event ---- */

static unsigned percent(uint64_t part, uint64_t whole)
{
    return whole > 0 ? (unsigned)(100 * part / whole) : 0;
}

/* Writes each part of the file as [stored, readable, requested], in percent. */
static void put_parts(struct json *j, struct xd_download *d)
{
    struct xd_part p[PARTS] = {{.struct_size = sizeof *p}};
    const size_t n = xd_download_parts(d, p, PARTS);

    json_open_array(j, "parts");
    for (size_t i = 0; i < n; i++) {
        const uint64_t length = p[i].end - p[i].begin;
        json_open_array(j, NULL);
        json_count(j, NULL, percent(p[i].bytes_stored, length));
        json_count(j, NULL, percent(p[i].bytes_readable, length));
        json_count(j, NULL, percent(p[i].bytes_requested, length));
        json_close_array(j);
    }
    json_close_array(j);
}

static void put_readers(struct json *j, struct xd_source *s)
{
    uint64_t at[READERS];
    const size_t n = xd_source_positions(s, at, READERS);

    json_open_array(j, "readers");
    for (size_t i = 0; i < n && i < READERS; i++)
        json_count(j, NULL, at[i]);
    json_close_array(j);
}

static void put_depots(struct json *j, const struct snapshot *s)
{
    size_t n = 0;

    json_open_array(j, "depots");
    for (size_t i = 0; i < s->n_depots; i++) {
        const struct snapshot_depot *d = &s->depots[i];
        if (!board_lists_depot(i, d->state, d->requests, n))
            continue;
        n++;
        json_open_object(j, NULL);
        json_count(j, "depot", i);
        json_string(j, "host", d->host);
        json_string(j, "state", snapshot_state(d->state));
        json_number(j, "rate", d->bytes_per_s);
        json_count(j, "bytes", d->bytes);
        json_count(j, "connections", d->connections);
        json_count(j, "failures", d->failures);
        json_string(j, "error", d->error);
        json_close_object(j);
    }
    json_close_array(j);
    json_count(j, "more_depots", s->n_depots - n);
}

static void put_player(struct json *j, const struct catalog_viewer *v)
{
    struct xd_playback p = {.struct_size = sizeof p};

    if (v->reader == NULL) {
        json_null(j, "player");
        return;
    }
    xd_reader_playback(v->reader, &p);
    json_open_object(j, "player");
    json_string(j, "id", v->id);
    json_number(j, "startup", p.startup_s);
    json_number(j, "startup_least", p.startup_least_s);
    json_count(j, "stalls", p.n_stalls);
    json_number(j, "stall", p.stall_s);
    json_number(j, "stall_least", p.stall_least_s);
    json_bool(j, "is_stalled", p.is_stalled);
    json_count(j, "seeks", p.n_seeks);
    json_number(j, "restart", p.restart_s);
    json_number(j, "restart_least", p.restart_least_s);
    json_number(j, "ahead", p.level_s);
    json_count(j, "at", p.byte);
    json_close_object(j);
}

static const char *state_name(int rc)
{
    if (rc == 0)
        return "complete";
    return rc == XD_E_AGAIN ? "running" : "failed";
}

static void put_progress(struct json *j, const struct xd_progress *p)
{
    json_number(j, "seconds", p->seconds);
    json_size(j, "size", p->bytes_total);
    json_count(j, "done", p->bytes_done);
    json_count(j, "received", p->bytes_received);
    json_count(j, "duplicate", p->bytes_redundant);
    json_number(j, "rate", p->bytes_per_s);
    json_count(j, "in_flight", p->lanes_busy);
    json_string(j, "verified", p->verified);
}

static void put_file_locked(struct json *j, struct board_file *shown,
                            const struct catalog_source *of, size_t number)
{
    struct xd_download *d = xd_source_download(of->source);
    struct xd_error err;
    const int rc = xd_download_wait(d, 0, &err);

    if (rc == XD_E_STATE)
        return; /* no client has read the file yet, so there is nothing to
                   show */
    snapshot_glance(&shown->snapshot, d);
    json_open_object(j, NULL);
    json_count(j, "file", number);
    json_string(j, "state", state_name(rc));
    json_string(j, "error", rc < 0 && rc != XD_E_AGAIN ? err.msg : NULL);
    json_bool(j, "has_pieces", of->file->has_pieces);
    put_progress(j, &shown->snapshot.progress);
    put_parts(j, d);
    put_readers(j, of->source);
    put_depots(j, &shown->snapshot);
    put_requests(j, shown, d);
    put_player(j, &of->viewer);
    json_close_object(j);
}

/* Writes the files of the event.  Leaves out files that no client has read; the
 * page keeps showing them as they were when it was loaded. */
static void put_files_locked(FILE *to, struct board *b)
{
    const size_t first = b->first;
    struct json j;

    json_init(&j, to);
    json_open_object(&j, NULL);
    json_open_array(&j, "files");
    for (size_t k = 0; k < CATALOG_OPEN && ftell(to) < EVENT_MOST; k++) {
        const size_t i = (first + k) % CATALOG_OPEN;
        struct catalog_source *of = look_at_locked(b, i);
        b->first = (i + 1) % CATALOG_OPEN;
        if (of == NULL)
            continue;
        put_file_locked(&j, &b->files[i], of,
                        (size_t)(of->file - b->catalog->files) + 1);
        catalog_leave(b->catalog, of, CATALOG_OTHER);
    }
    json_close_array(&j);
    json_close_object(&j);
}

static void publish_locked(struct board *b)
{
    char *text = NULL;
    size_t len = 0;
    FILE *to = open_memstream(&text, &len);

    if (to == NULL)
        return;
    fputs("data: ", to);
    put_files_locked(to, b);
    fputs("\n\n", to);
    const bool is_whole = !ferror(to);
    if (fclose(to) == 0 && is_whole)
        events_publish(b->events, text, len);
    else
        free(text);
}

void board_look(struct board *b)
{
    const double now = moment_s();

    pthread_mutex_lock(&b->lock);
    for (size_t i = 0; i < CATALOG_OPEN; i++) {
        struct catalog_source *of = look_at_locked(b, i);
        if (of == NULL)
            continue;
        take_records_locked(&b->files[i], of);
        trace_look(of->trace);
        catalog_leave(b->catalog, of, CATALOG_OTHER);
    }
    if (now - b->published_s >= EVERY_S && events_are_wanted(b->events)) {
        b->published_s = now;
        publish_locked(b);
    }
    pthread_mutex_unlock(&b->lock);
}
