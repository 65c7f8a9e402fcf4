/* SPDX-License-Identifier: MIT */
#include "bench/live.h"

#include <stdio.h>
#include <stdlib.h>

#include <xdownload/download.h>
#include <xdownload/stream.h>

#include "bench/measures.h"
#include "bench/settings.h"
#include "command/records.h"
#include "common/signals.h"
#include "play/play_simulated.h"
#include "trace/trace.h"

#define TICK_MS 100

static int exclude(struct xd_options *o, const struct subject *s,
                   const struct run *r, struct xd_error *err)
{
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < s->n_depots; i++)
        if (i >= SUBSET_DEPOTS_MAX || !(r->depots >> i & 1))
            rc = xd_options_set(o, "exclude", s->depots[i], err);
    return rc;
}

/* Makes the options of a run.  Nothing that earlier runs have learned about the
 * depots may affect it. */
static int make_options(struct xd_options **out, const struct live *l,
                        const struct subject *s, const struct run *r,
                        struct xd_error *err)
{
    int rc = settings_options(out, l->args, r, err);

    if (rc < 0)
        return rc;
    rc = exclude(*out, s, r, err);
    if (rc == 0)
        rc = xd_options_set(*out, "depot-cache", "", err);
    if (rc == 0)
        rc = xd_options_set(*out, "records", "yes", err);
    if (rc == 0 && l->args->tracer != NULL)
        xd_options_set_log(*out, trace_log, l->args->tracer);
    if (rc == 0)
        return 0;
    xd_options_free(*out);
    *out = NULL;
    return rc;
}

/* ---- results of a run ---- */

/* Takes the records of new requests.  Returns false if memory runs out, or if
 * records were lost. */
static bool take_records(struct records *records, struct xd_download *d,
                         struct trace_run *trace)
{
    bool good = true;
    struct xd_fetch_record record = {.struct_size = sizeof record};
    uint64_t n_lost = 0;

    while (xd_download_next_record(d, &record, &n_lost)) {
        trace_record(trace, &record);
        good = good && records_add(records, &record);
    }
    trace_look(trace);
    return good && n_lost == 0;
}

static void note_depots(struct row *row, struct xd_download *d)
{
    struct xd_depot_stats stats = {.struct_size = sizeof stats};
    unsigned requests = 0;
    struct measures m;

    measures_init(&m);
    for (size_t i = 0; xd_download_depot(d, i, &stats) == 0; i++) {
        measures_depot(&m, stats.host, stats.bytes, stats.bytes_redundant,
                       stats.failures);
        requests += stats.requests;
    }
    measures_end(&m, row);
    row_set_count(row, COL_REQUESTS, requests);
}

static void note_first_byte(struct row *row, const struct records *records)
{
    double first_s = -1;

    for (size_t i = 0; i < records->n; i++) {
        const double s = records->items[i].first_byte_s;
        if (s >= 0 && (first_s < 0 || s < first_s))
            first_s = s;
    }
    if (first_s >= 0)
        row_set_number(row, COL_FIRST_BYTE, first_s);
}

static void note_outcome(struct row *row, const struct xd_progress *p, int rc,
                         const struct xd_error *err)
{
    if (rc < 0) {
        row_set(row, COL_ERROR, "%s", err->msg);
        row_set(row, COL_OUTCOME, OUTCOME_FAILED);
        return;
    }
    row_set_number(row, COL_SECONDS, p->seconds);
    row_set_number(row, COL_BYTES_PER_S, (double)p->bytes_total / p->seconds);
    row_set_count(row, COL_FILE_BYTES, p->bytes_total);
    row_set(row, COL_OUTCOME, OUTCOME_COMPLETE);
}

/* Fills in the results of the download, which ended with `rc`. */
static void note(struct row *row, const struct live *l, struct xd_download *d,
                 const struct records *records, int rc,
                 const struct xd_error *err)
{
    struct xd_progress p = {.struct_size = sizeof p};

    xd_download_progress(d, &p);
    row_set_count(row, COL_RECEIVED, p.bytes_received);
    note_depots(row, d);
    note_first_byte(row, records);
    measures_congestion_control(row);
    note_outcome(row, &p, rc, err);
    measures_delays(row, l->args, p.bytes_total, records);
}

/* ---- runs that download to a file ---- */

static int follow(const struct live *l, struct xd_download *d,
                  struct records *records, struct trace_run *trace,
                  struct xd_error *err)
{
    int rc = xd_download_start(d, err);

    if (rc < 0)
        return rc;
    do {
        rc = xd_download_wait(d, TICK_MS, err);
        records->is_torn = !take_records(records, d, trace) || records->is_torn;
        l->tick(l->user);
        if (signals_came())
            xd_download_cancel(d);
    } while (rc == XD_E_AGAIN);
    return rc;
}

static int run_file(struct live *l, const char *name, const struct subject *s,
                    const struct xd_options *o, struct row *row,
                    struct xd_error *err)
{
    struct records records = {NULL, 0, false};
    struct xd_download *d;
    struct trace_run *trace;
    char path[LIVE_FOLDER_SIZE + 10];

    snprintf(path, sizeof path, "%s/file", l->folder);
    int rc = xd_download_new(&d, s->manifest, s->file, NULL, path, o, err);
    if (rc < 0)
        return rc;
    trace = trace_begin(l->args->tracer, name, d);
    rc = follow(l, d, &records, trace, err);
    trace_end(trace, rc, err);
    l->drain_s = records_drain_s(&records);
    note(row, l, d, &records, rc, err);
    free(records.items);
    xd_download_unref(d);
    live_empty(l->folder);
    return signals_came() ? XD_E_CANCELED : 0;
}

/* ---- runs with a player ---- */

static void note_stalls(struct row *row, struct xd_reader *reader)
{
    struct xd_playback p = {.struct_size = sizeof p};

    xd_reader_playback(reader, &p);
    row_set_count(row, COL_STALLS, p.n_stalls);
    row_set_number(row, COL_STALL, p.stall_s);
    row_set_number(row, COL_STALL_LONGEST, p.stall_longest_s);
}

static int play(struct live *l, const struct run *r, struct xd_source *source,
                struct xd_reader *reader, struct trace_run *trace,
                struct row *row)
{
    struct xd_download *d = xd_source_download(source);
    struct records records = {NULL, 0, false};
    struct args once = *l->args;
    struct xd_error err;

    once.rate = r->reader_rate;
    const int status = play_simulated(&once, reader, trace);
    if (signals_came())
        return XD_E_CANCELED;
    records.is_torn = !take_records(&records, d, trace);
    l->drain_s = records_drain_s(&records);
    int rc = xd_download_wait(d, 0, &err);
    if (rc == XD_E_AGAIN && status == 0)
        rc = 0; /* everything was read, and the download is about to end */
    if (rc == 0)
        note_stalls(row, reader);
    note(row, l, d, &records, rc, &err);
    free(records.items);
    return 0;
}

static int run_player(struct live *l, const char *name, const struct subject *s,
                      const struct run *r, const struct xd_options *o,
                      struct row *row, struct xd_error *err)
{
    struct xd_source *source;
    struct xd_reader *reader;
    struct trace_run *trace;
    int rc = xd_source_new(&source, s->manifest, s->file, o, err);

    if (rc < 0)
        return rc;
    rc = xd_reader_new(&reader, source, err);
    if (rc == 0) {
        trace = trace_begin(l->args->tracer, name, xd_source_download(source));
        trace_viewer(trace, reader);
        trace_leave_records(trace, true);
        rc = play(l, r, source, reader, trace, row);
        trace_end(trace, rc, NULL);
        xd_reader_free(reader);
    }
    xd_source_unref(source);
    return rc;
}

int live_run(struct live *l, const char *name, const struct subject *s,
             const struct run *r, struct row *row, struct xd_error *err)
{
    struct xd_options *o;
    int rc = make_options(&o, l, s, r, err);

    if (rc < 0)
        return rc;
    rc = r->reader_rate > 0 ? run_player(l, name, s, r, o, row, err)
                            : run_file(l, name, s, o, row, err);
    xd_options_free(o);
    return rc;
}
