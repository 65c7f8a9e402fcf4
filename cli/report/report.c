/* SPDX-License-Identifier: MIT */
#include "report/report.h"

#include <stdlib.h>
#include <string.h>

#include "command/manifests.h"
#include "command/settings.h"
#include "common/json.h"

static void put_depot(struct json *j, const struct snapshot_depot *d)
{
    json_open_object(j, NULL);
    json_string(j, "url", d->url);
    json_string(j, "host", d->host);
    json_bool(j, "is_node", d->is_node);
    json_count(j, "bytes", d->bytes);
    json_count(j, "bytes_redundant", d->bytes_redundant);
    json_count(j, "requests", d->requests);
    json_count(j, "failures", d->failures);
    json_count(j, "connections", d->most_connections);
    json_number(j, "mean_rate", d->mean_bytes_per_s);
    json_time(j, "time_to_first_byte", d->first_byte_s);
    json_string(j, "state", snapshot_state(d->state));
    json_string(j, "error", d->error);
    json_close_object(j);
}

static void put_discarded(struct json *j, const struct xd_progress *p)
{
    json_open_object(j, "bytes_discarded");
    json_count(j, "bad_pieces", p->discarded_bad_pieces);
    json_count(j, "bad_file", p->discarded_bad_file);
    json_count(j, "banned", p->discarded_banned);
    json_count(j, "changed", p->discarded_changed);
    json_count(j, "restarted", p->discarded_restarted);
    json_close_object(j);
}

static void put_proof(struct json *j, const char *algorithm, bool is_servers)
{
    json_string(j, "verified", algorithm);
    if (algorithm == NULL) {
        json_null(j, "verified_is_weak");
        json_null(j, "verified_is_servers");
    } else {
        json_bool(j, "verified_is_weak", xd_hash_is_weak(algorithm));
        json_bool(j, "verified_is_servers", is_servers);
    }
}

/* Writes the report of a file, or of a set if n_files > 0. */
static void put(FILE *to, const struct snapshot *s, const char *file,
                size_t n_files, const char *outcome, const char *error)
{
    const struct xd_progress *p = &s->progress;
    struct json j;

    json_begin(&j, to);
    json_string(&j, "file", file);
    if (n_files > 0)
        json_count(&j, "files", n_files);
    json_size(&j, "size", p->bytes_total);
    json_number(&j, "seconds", p->seconds);
    json_count(&j, "bytes_received", p->bytes_received);
    json_count(&j, "bytes_redundant", p->bytes_redundant);
    json_count(&j, "bytes_resumed", p->bytes_resumed);
    json_count(&j, "bytes_compared", p->bytes_compared);
    json_count(&j, "bytes_via", p->bytes_via);
    json_string(&j, "not_via", p->not_via);
    put_discarded(&j, p);
    json_string(&j, "outcome", outcome);
    json_string(&j, "error", error);
    put_proof(&j, p->verified, p->is_servers_digest);
    json_string(&j, "signed_by", p->signed_by);
    json_string(&j, "algorithm", p->algorithm);
    json_count(&j, "redundancy", p->redundancy);
    json_count(&j, "progress_number", p->progress_number);
    json_count(&j, "block_size", p->block_bytes);
    json_count(&j, "threads_per_depot", p->threads_per_depot);
    json_string(&j, "library", xd_version());
    json_string(&j, "libcurl", xd_version_libcurl());
    json_open_array(&j, "depots");
    for (size_t i = 0; i < s->n_depots; i++)
        put_depot(&j, &s->depots[i]);
    json_close_array(&j);
    json_finish(&j);
    fflush(to);
}

void report_put(FILE *to, const struct snapshot *s, const char *file,
                const char *outcome, const char *error)
{
    put(to, s, file, 0, outcome, error);
}

void report_put_set(FILE *to, const struct snapshot *s, size_t n_files,
                    const char *outcome, const char *error)
{
    put(to, s, NULL, n_files, outcome, error);
}

/* Writes the path of a file.  Leaves out the folder if memory runs out. */
static void put_path(struct json *j, const char *directory, const char *path)
{
    const size_t size =
        strlen(path) + (directory != NULL ? strlen(directory) : 0) + 2;
    char *const whole = directory != NULL ? malloc(size) : NULL;

    if (whole != NULL)
        snprintf(whole, size, "%s/%s", directory, path);
    json_string(j, "file", whole != NULL ? whole : path);
    free(whole);
}

void report_put_file(FILE *to, const struct xd_file_progress *p,
                     const char *directory, const char *outcome,
                     const char *error)
{
    static const char *const of_set[] = {
        "seconds",           "bytes_received",  "bytes_redundant",
        "bytes_resumed",     "bytes_compared",  "bytes_discarded",
        "bytes_via",         "not_via",         "algorithm",
        "redundancy",        "progress_number", "block_size",
        "threads_per_depot", "library",         "libcurl"};
    struct json j;

    json_begin(&j, to);
    put_path(&j, directory, p->path);
    json_size(&j, "size", p->bytes_total);
    json_string(&j, "outcome", outcome);
    json_string(&j, "error", error);
    put_proof(&j, p->verified, false);
    json_string(&j, "signed_by", p->signed_by);
    for (size_t i = 0; i < sizeof of_set / sizeof *of_set; i++)
        json_null(&j, of_set[i]);
    json_open_array(&j, "depots");
    json_close_array(&j);
    json_finish(&j);
    fflush(to);
}

void report_put_progress(FILE *to, const struct snapshot *s, const char *file,
                         const char *outcome, const char *error)
{
    const struct xd_progress *p = &s->progress;
    uint64_t connections = 0;
    struct json j;

    for (size_t i = 0; i < s->n_depots; i++)
        connections += s->depots[i].connections;

    json_begin(&j, to);
    json_string(&j, "file", file);
    json_size(&j, "size", p->bytes_total);
    json_number(&j, "seconds", p->seconds);
    json_count(&j, "bytes_done", p->bytes_done);
    json_count(&j, "bytes_received", p->bytes_received);
    json_count(&j, "bytes_redundant", p->bytes_redundant);
    json_number(&j, "rate", p->bytes_per_s);
    json_count(&j, "requests_running", p->lanes_busy);
    json_count(&j, "connections", connections);
    json_count(&j, "depots_open", p->depots_open);
    json_count(&j, "depots_reserve", p->depots_reserve);
    json_count(&j, "depots_failed", p->depots_failed);
    json_string(&j, "outcome", outcome);
    json_string(&j, "error", error);
    json_finish(&j);
}
