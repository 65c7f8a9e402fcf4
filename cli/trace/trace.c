/* SPDX-License-Identifier: MIT */
#include "trace/trace.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <pthread.h>

#include <xdownload/version.h>

#include "command/records.h"
#include "common/json.h"
#include "common/moment.h"
#include "common/outcome.h"
#include "common/output.h"
#include "common/status.h"
#include "common/words.h"
#include "trace/trace_format.h"
#include "trace/trace_run.h"

/* Recording the counters of all depots takes at most 1 / IDLE_SHARE of the
 * time. */
#define IDLE_SHARE 50

struct trace {
    /* Constant. */
    char *path;
    double began; /* moment_s() when the trace began */

    pthread_mutex_t lock;
    /* Guarded by lock. */
    FILE *to;
    struct json json;
    unsigned n_runs, n_readers;
    bool is_first;
};

/* ---- events ---- */

static uint64_t usec(double s)
{
    return s > 0 ? (uint64_t)(s * 1e6 + 0.5) : 0;
}

static double now_s(const struct trace *t)
{
    return moment_s() - t->began;
}

/* Converts a time of the run to microseconds since the trace began. */
static uint64_t at(const struct trace_run *r, double s)
{
    return usec((r->base_s > 0 ? r->base_s : 0) + s);
}

/* Takes the lock, and writes the beginning of an event up to its arguments.
 * end_event() releases the lock. */
static struct json *begin_event(struct trace *t, const char *name,
                                const char *category, const char *phase,
                                uint64_t when, unsigned pid, unsigned tid)
{
    pthread_mutex_lock(&t->lock);
    if (!t->is_first)
        fputs(",\n", t->to);
    t->is_first = false;
    json_init(&t->json, t->to);
    json_open_object(&t->json, NULL);
    json_string(&t->json, "name", name);
    json_string(&t->json, "cat", category);
    json_string(&t->json, "ph", phase);
    json_count(&t->json, "ts", when);
    json_count(&t->json, "pid", pid);
    json_count(&t->json, "tid", tid);
    return &t->json;
}

static void end_event(struct trace *t)
{
    json_close_object(&t->json);
    pthread_mutex_unlock(&t->lock);
}

static void flush(struct trace *t)
{
    pthread_mutex_lock(&t->lock);
    fflush(t->to);
    pthread_mutex_unlock(&t->lock);
}

static void put_name(struct trace *t, const char *kind, unsigned pid,
                     unsigned tid, const char *name)
{
    struct json *j = begin_event(t, kind, "", "M", 0, pid, tid);

    json_open_object(j, "args");
    json_string(j, "name", name);
    json_close_object(j);
    end_event(t);
}

/* ---- the file ---- */

static void put_version(struct trace *t)
{
    struct json *j = begin_event(t, "xdownload_trace", "", "M", 0, 0, 0);

    json_open_object(j, "args");
    json_count(j, "format", TRACE_FORMAT);
    json_string(j, "xdownload", xd_version());
    json_close_object(j);
    end_event(t);
}

int trace_open(struct trace **out, const char *path)
{
    struct trace *t = calloc(1, sizeof *t);
    int status = STATUS_FAILED;

    *out = NULL;
    if (t != NULL)
        t->path = strdup(path);
    if (t == NULL || t->path == NULL)
        words_error("out of memory");
    else
        status = output_open(&t->to, path, "the trace");
    if (status != 0) {
        if (t != NULL)
            free(t->path);
        free(t);
        return status;
    }
    t->is_first = true;
    t->began = moment_s();
    pthread_mutex_init(&t->lock, NULL);
    fputs("[\n", t->to);
    put_version(t);
    *out = t;
    return 0;
}

int trace_close(struct trace *t)
{
    if (t == NULL)
        return 0;
    fputs("\n]\n", t->to);
    const bool has_failed = ferror(t->to);
    const bool is_whole = fclose(t->to) == 0 && !has_failed;
    if (!is_whole)
        words_error("%s: the trace could not be written", t->path);
    pthread_mutex_destroy(&t->lock);
    free(t->path);
    free(t);
    return is_whole ? 0 : STATUS_LOCAL;
}

static const char *level_name(enum xd_log_level level)
{
    switch (level) {
    case XD_LOG_ERROR:
        return "error";
    case XD_LOG_WARN:
        return "warning";
    case XD_LOG_INFO:
        return "info";
    case XD_LOG_DEBUG:
        return "debug";
    case XD_LOG_STATUS:
        return "status";
    }
    return "other";
}

void trace_log(void *user, enum xd_log_level level, const char *line)
{
    struct trace *t = user;

    if (t == NULL)
        return;
    struct json *j =
        begin_event(t, line, "log", "i", usec(now_s(t)), t->n_runs, 0);
    json_string(j, "s", "p");
    json_open_object(j, "args");
    json_string(j, "level", level_name(level));
    json_close_object(j);
    end_event(t);
}

/* ---- lanes ---- */

static const char *trace_reason(enum xd_fetch_reason reason)
{
    switch (reason) {
    case XD_FETCH_NEXT:
        return "next";
    case XD_FETCH_PROBE:
        return "probe";
    case XD_FETCH_AGAIN:
        return "again";
    case XD_FETCH_SPLIT:
        return "split";
    case XD_FETCH_HEDGE:
        return "hedge";
    case XD_FETCH_SAMPLE:
        return "sample";
    }
    return "other"; /* a reason that only a newer library knows */
}

static struct seen *seen_of(struct trace_run *r, unsigned depot)
{
    if (depot < r->n_seen)
        return &r->seen[depot];
    const size_t n = 2 * (size_t)depot + 16;
    struct seen *seen = realloc(r->seen, n * sizeof *seen);
    if (seen == NULL)
        return NULL;
    memset(seen + r->n_seen, 0, (n - r->n_seen) * sizeof *seen);
    r->seen = seen;
    r->n_seen = n;
    return &seen[depot];
}

static const char *host_of(const struct trace_run *r, unsigned depot,
                           struct xd_error *out_error)
{
    struct xd_depot_stats live = {.struct_size = sizeof live};
    struct xd_simulated_depot virtual;

    out_error->code = XD_OK;
    if (r->simulation != NULL)
        return xd_simulation_depot(r->simulation, depot, &virtual) == 0
                   ? virtual.name
                   : "?";
    if (xd_download_depot(r->download, depot, &live) < 0)
        return "?";
    *out_error = live.last_error;
    return live.host;
}

static void name_lane(struct trace_run *r, unsigned depot, unsigned lane,
                      unsigned tid, const char *host)
{
    struct seen *seen = seen_of(r, depot);
    char name[400];

    if (seen == NULL || (seen->named >> lane & 1) != 0)
        return;
    seen->named |= UINT64_C(1) << lane;
    if (lane == TRACE_SAMPLES)
        snprintf(name, sizeof name, "%.300s, samples", host);
    else
        snprintf(name, sizeof name, "%.300s, %u", host, lane + 1);
    put_name(r->trace, "thread_name", r->pid, tid, name);
}

void trace_record(struct trace_run *r, const struct xd_fetch_record *record)
{
    char outcome[OUTCOME_SIZE];
    struct xd_error error;

    if (r == NULL)
        return;
    const unsigned lane = record->reason == XD_FETCH_SAMPLE ? TRACE_SAMPLES
                          : record->lane < TRACE_SAMPLES    ? record->lane
                                                            : TRACE_SAMPLES - 1;
    const unsigned tid = 1 + record->depot * TRACE_LANES + lane;
    const char *host = host_of(r, record->depot, &error);
    name_lane(r, record->depot, lane, tid, host);
    const uint64_t start = at(r, record->start_s);
    struct json *j = begin_event(r->trace, outcome_name(outcome, record),
                                 "request", "X", start, r->pid, tid);
    json_count(j, "dur", at(r, record->end_s) - start);
    json_open_object(j, "args");
    json_count(j, "depot", record->depot);
    json_string(j, "host", host);
    json_count(j, "lane", lane);
    json_string(j, "reason", trace_reason(record->reason));
    json_count(j, "begin", record->begin);
    json_size(j, "end", record->end);
    json_count(j, "received", record->received);
    json_count(j, "duplicate", record->redundant);
    json_count(j, "queued", usec(record->start_s - record->queued_s));
    if (record->first_byte_s < 0)
        json_null(j, "first_byte");
    else
        json_count(j, "first_byte",
                   usec(record->first_byte_s - record->start_s));
    json_count(j, "name_lookup", usec(record->name_s));
    json_count(j, "connect", usec(record->connect_s));
    if (record->code < 0 && record->code != XD_E_CANCELED &&
        error.code != XD_OK)
        json_string(j, "error", error.msg);
    json_close_object(j);
    end_event(r->trace);
}

/* ---- runs ---- */

struct trace_run *trace_run_new(struct trace *t, const char *name)
{
    struct trace_run *r = t != NULL ? calloc(1, sizeof *r) : NULL;

    if (r == NULL)
        return NULL;
    r->trace = t;
    r->base_s = -1;
    r->in_order = r->received = UINT64_MAX;
    pthread_mutex_lock(&t->lock);
    r->pid = ++t->n_runs;
    pthread_mutex_unlock(&t->lock);
    put_name(t, "process_name", r->pid, 0, name);
    return r;
}

void trace_run_free(struct trace_run *r)
{
    free(r->seen);
    free(r);
}

void trace_run_begin(const struct trace_run *r, const char *algorithm)
{
    struct json *j =
        begin_event(r->trace, "begin", "run", "i", at(r, 0), r->pid, 0);

    json_string(j, "s", "p");
    json_open_object(j, "args");
    json_string(j, "algorithm", algorithm);
    json_bool(j, "virtual", r->simulation != NULL);
    json_close_object(j);
    end_event(r->trace);
}

struct trace_run *trace_begin(struct trace *t, const char *name,
                              struct xd_download *d)
{
    struct xd_progress p = {.struct_size = sizeof p};
    struct trace_run *r = trace_run_new(t, name);

    if (r == NULL)
        return NULL;
    r->download = d;
    r->base_s = now_s(t);
    xd_download_progress(d, &p);
    trace_run_begin(r, p.algorithm);
    r->base_s = -1;
    return r;
}

void trace_viewer(struct trace_run *r, struct xd_reader *viewer)
{
    if (r != NULL)
        r->viewer = viewer;
}

void trace_leave_records(struct trace_run *r, bool yes)
{
    if (r != NULL)
        r->leaves_records = yes;
}

void trace_run_bytes(struct trace_run *r, double s, uint64_t in_order,
                     uint64_t stored, uint64_t received, unsigned requests)
{
    if (r->in_order == in_order && r->received == received)
        return;
    r->in_order = in_order;
    r->received = received;
    struct json *j =
        begin_event(r->trace, "bytes", "bytes", "C", at(r, s), r->pid, 0);
    json_open_object(j, "args");
    json_count(j, "in_order", in_order);
    json_count(j, "stored", stored);
    json_count(j, "received", received);
    json_count(j, "requests", requests);
    json_close_object(j);
    end_event(r->trace);
}

void trace_run_player(const struct trace_run *r, double s, uint64_t byte,
                      bool is_stalled)
{
    struct json *j =
        begin_event(r->trace, "player", "player", "C", at(r, s), r->pid, 0);

    json_open_object(j, "args");
    json_count(j, "position", byte);
    json_count(j, "stalled", is_stalled);
    json_close_object(j);
    end_event(r->trace);
}

static void put_viewer(const struct trace_run *r)
{
    struct xd_playback p = {.struct_size = sizeof p};

    if (r->viewer == NULL)
        return;
    xd_reader_playback(r->viewer, &p);
    trace_run_player(r, now_s(r->trace) - (r->base_s > 0 ? r->base_s : 0),
                     p.byte, p.is_stalled);
}

static void put_depot(struct trace_run *r, unsigned depot,
                      const struct xd_depot_stats *d, double s)
{
    const uint64_t bytes = d->bytes_received;
    struct seen *seen = bytes > 0 ? seen_of(r, depot) : NULL;
    char name[400];

    if (seen == NULL || seen->bytes == bytes)
        return;
    seen->bytes = bytes;
    snprintf(name, sizeof name, "%.300s, received", d->host);
    struct json *j =
        begin_event(r->trace, name, "depot", "C", at(r, s), r->pid, 0);
    json_count(j, "id", depot);
    json_open_object(j, "args");
    json_count(j, "bytes", bytes);
    json_close_object(j);
    end_event(r->trace);
}

/* Records the counters of all depots.  If that takes long, it is done less
 * often. */
static void put_depots(struct trace_run *r, double s, bool is_end)
{
    struct xd_depot_stats d = {.struct_size = sizeof d};
    const double began = moment_s();

    if (!is_end && began - r->depots_at < r->depots_cost * IDLE_SHARE)
        return;
    for (unsigned i = 0; xd_download_depot(r->download, i, &d) == 0; i++)
        put_depot(r, i, &d, s);
    r->depots_at = began;
    r->depots_cost = moment_s() - began;
}

static void look(struct trace_run *r, bool is_end)
{
    struct xd_progress p = {.struct_size = sizeof p};
    struct xd_fetch_record record = {.struct_size = sizeof record};

    xd_download_progress(r->download, &p);
    if (r->base_s < 0 && p.seconds > 0)
        r->base_s = now_s(r->trace) - p.seconds;
    while (!r->leaves_records &&
           xd_download_next_record(r->download, &record, NULL))
        trace_record(r, &record);
    trace_run_bytes(r, p.seconds, p.bytes_in_order, p.bytes_done,
                    p.bytes_received, p.lanes_busy);
    put_depots(r, p.seconds, is_end);
    put_viewer(r);
}

void trace_look(struct trace_run *r)
{
    if (r == NULL)
        return;
    look(r, false);
    flush(r->trace);
}

static const char *end_name(int rc)
{
    if (rc == 0)
        return "complete";
    return rc == XD_E_AGAIN || rc == XD_E_CANCELED || rc == XD_E_STATE
               ? "interrupted"
               : "failed";
}

void trace_run_end(const struct trace_run *r, double s, int rc,
                   const char *error, uint64_t size, uint64_t lost)
{
    struct json *j =
        begin_event(r->trace, "end", "run", "i", at(r, s), r->pid, 0);

    json_string(j, "s", "p");
    json_open_object(j, "args");
    json_string(j, "outcome", end_name(rc));
    json_string(j, "error", strcmp(end_name(rc), "failed") == 0 ? error : NULL);
    json_size(j, "size", size);
    json_count(j, "lost", lost);
    json_close_object(j);
    end_event(r->trace);
}

void trace_end(struct trace_run *r, int rc, const struct xd_error *err)
{
    struct xd_progress p = {.struct_size = sizeof p};
    struct xd_fetch_record record = {.struct_size = sizeof record};
    uint64_t lost = 0;

    if (r == NULL)
        return;
    look(r, true);
    xd_download_progress(r->download, &p);
    (void)xd_download_next_record(r->download, &record, &lost);
    trace_run_end(r, p.seconds, rc, err != NULL ? err->msg : NULL,
                  p.bytes_total, lost);
    flush(r->trace);
    trace_run_free(r);
}

/* ---- readers of a served file ---- */

static void put_reader(struct trace_run *r, const char *phase, unsigned reader,
                       uint64_t byte)
{
    struct json *j = begin_event(r->trace, "read", "reader", phase,
                                 usec(now_s(r->trace)), r->pid, reader);

    json_open_object(j, "args");
    json_count(j, "at", byte);
    json_close_object(j);
    end_event(r->trace);
}

unsigned trace_reader_begin(struct trace_run *r, uint64_t byte)
{
    char name[40];

    if (r == NULL)
        return 0;
    pthread_mutex_lock(&r->trace->lock);
    const unsigned number = ++r->trace->n_readers;
    pthread_mutex_unlock(&r->trace->lock);
    const unsigned reader = TRACE_READERS + number % TRACE_READERS;
    snprintf(name, sizeof name, "reader %u", number);
    put_name(r->trace, "thread_name", r->pid, reader, name);
    put_reader(r, "B", reader, byte);
    return reader;
}

void trace_reader_at(struct trace_run *r, unsigned reader, uint64_t byte)
{
    char name[40];

    if (r == NULL)
        return;
    snprintf(name, sizeof name, "reader %u", reader - TRACE_READERS);
    struct json *j = begin_event(r->trace, name, "reader", "C",
                                 usec(now_s(r->trace)), r->pid, reader);
    json_open_object(j, "args");
    json_count(j, "position", byte);
    json_close_object(j);
    end_event(r->trace);
}

void trace_reader_end(struct trace_run *r, unsigned reader, uint64_t byte)
{
    if (r != NULL)
        put_reader(r, "E", reader, byte);
}
