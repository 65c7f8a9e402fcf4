/* SPDX-License-Identifier: MIT */
#include "put/put_report.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/json.h"
#include "common/text.h"
#include "common/units.h"

static enum xd_depot_state depot_state(enum xd_store_state state)
{
    switch (state) {
    case XD_STORE_IDLE:
        return XD_DEPOT_IDLE;
    case XD_STORE_BUSY:
        return XD_DEPOT_BUSY;
    case XD_STORE_PAUSED:
        return XD_DEPOT_PAUSED;
    case XD_STORE_FAILED:
        return XD_DEPOT_FAILED;
    }
    return XD_DEPOT_IDLE;
}

/* Returns the name of a store for the display.  The scheme is left out, unless
 * the store is a bucket. */
static const char *short_name(const char *url)
{
    const char *name = strstr(url, "://");

    return name != NULL && strncmp(url, "s3:", 3) != 0 ? name + 3 : url;
}

static void take_store(struct snapshot_depot *d, const struct xd_store_stats *s,
                       double seconds)
{
    free(d->error);
    *d = (struct snapshot_depot){
        .host = short_name(s->url),
        .url = s->url,
        .state = depot_state(s->state),
        .bytes = s->bytes + s->bytes_under_way,
        .requests = (unsigned)s->extents + s->failures,
        .failures = s->failures,
        .connections = s->state == XD_STORE_BUSY,
        .bytes_per_s = s->bytes_per_s,
        .mean_bytes_per_s = seconds > 0 ? (double)s->bytes_sent / seconds : 0,
        .is_connected = true,
        .error =
            s->last_error.code != XD_OK ? strdup(s->last_error.msg) : NULL};
}

void put_snapshot(struct snapshot *s, struct xd_upload *u)
{
    struct xd_upload_progress p = {.struct_size = sizeof p};
    struct xd_store_stats store = {.struct_size = sizeof store};
    uint64_t new_bytes;

    xd_upload_progress(u, &p);
    new_bytes = p.bytes_done - p.bytes_resumed;
    s->progress = (struct xd_progress){
        .struct_size = sizeof s->progress,
        .bytes_done = p.bytes_done + p.bytes_under_way,
        .bytes_total = p.bytes_total,
        .bytes_received = p.bytes_sent,
        .bytes_redundant = p.bytes_sent > new_bytes && p.n_missing == 0
                               ? p.bytes_sent - new_bytes
                               : 0,
        .seconds = p.seconds,
        .bytes_per_s = p.bytes_per_s,
        .bytes_resumed = p.bytes_resumed,
        .verified = "a sample of each object"};
    for (size_t i = 0;
         xd_upload_store(u, i, &store) == 0 && snapshot_reserve(s, i + 1);
         i++) {
        take_store(&s->depots[i], &store, p.seconds);
        s->progress.depots_open += store.state == XD_STORE_BUSY;
        s->n_depots = i + 1;
    }
}

void put_records(FILE *to, struct xd_upload *u)
{
    struct xd_upload_record r = {.struct_size = sizeof r};
    struct xd_store_stats store = {.struct_size = sizeof store};
    char seconds[UNITS_SIZE];

    while (xd_upload_next_record(u, &r)) {
        if (xd_upload_store(u, r.store, &store) < 0)
            continue;
        text_put(to, short_name(store.url));
        fprintf(to, "  bytes %" PRIu64 "-%" PRIu64, r.begin, r.end - 1);
        if (r.shard > 0)
            fprintf(to, ", parity %u", r.shard);
        fprintf(to, "  %s %s\n", r.code == XD_OK ? "in" : "failed after",
                units_seconds(seconds, r.end_s - r.start_s));
    }
}

static const char *state_word(enum xd_store_state state)
{
    return snapshot_state(depot_state(state));
}

static void put_stores(struct json *j, struct xd_upload *u)
{
    struct xd_store_stats s = {.struct_size = sizeof s};

    json_open_array(j, "stores");
    for (size_t i = 0; xd_upload_store(u, i, &s) == 0; i++) {
        json_open_object(j, NULL);
        json_string(j, "url", s.url);
        json_string(j, "state", state_word(s.state));
        json_count(j, "bytes", s.bytes);
        json_count(j, "bytes_sent", s.bytes_sent);
        json_count(j, "extents", s.extents);
        json_count(j, "failures", s.failures);
        json_string(j, "error",
                    s.last_error.code != XD_OK ? s.last_error.msg : NULL);
        json_close_object(j);
    }
    json_close_array(j);
}

void put_report(struct json *j, struct xd_upload *u, const char *manifest,
                const char *outcome, const char *error)
{
    struct xd_upload_progress p = {.struct_size = sizeof p};
    char code[24];

    xd_upload_progress(u, &p);
    json_string(j, "manifest", manifest);
    json_string(j, "private_manifest", xd_upload_private_path(u));
    json_string(j, "outcome", outcome);
    json_string(j, "error", error);
    json_count(j, "size", p.file_bytes);
    json_count(j, "copies", p.copies);
    if (p.code_k > 0) {
        snprintf(code, sizeof code, "%u+%u", p.code_k, p.code_m);
        json_string(j, "code", code);
        json_count(j, "parity_bytes", p.parity_bytes);
    }
    json_count(j, "extents", p.n_extents);
    json_count(j, "copies_missing", p.n_missing);
    json_count(j, "bytes_total", p.bytes_total);
    json_count(j, "bytes_done", p.bytes_done);
    json_count(j, "bytes_resumed", p.bytes_resumed);
    json_count(j, "bytes_sent", p.bytes_sent);
    json_number(j, "seconds", p.seconds);
    put_stores(j, u);
}
