/* SPDX-License-Identifier: MIT */
/*
 * Implements downloads of the public interface.
 */
#include <xdownload/download.h>
#include <xdownload/manifest.h>

#include <string.h>

#include "base/alloc.h"
#include "base/copy_out.h"
#include "base/error.h"
#include "base/text.h"
#include "command/downloads.h"
#include "command/records.h"
#include "engine/depot.h"
#include "engine/engine.h"
#include "engine/join.h"
#include "engine/lane.h"
#include "engine/lifetime.h"
#include "engine/via.h"
#include "os/file.h"

/* Converts the public handle of a download, which is an engine that writes to a
 * file or a descriptor. */
static struct xd_engine *engine_of(struct xd_download *d)
{
    return (struct xd_engine *)d;
}

static int new_at(struct xd_download **out, struct xd_manifest *m, size_t file,
                  const char *path, const struct xd_options *o,
                  struct xd_error *err)
{
    struct xd_engine *e;
    int rc;

    if (!path)
        return xd_fail(err, XD_E_INVAL, "no path was given");
    rc = xd_engine_new(&e, m, file, &xd_output_file, path, -1, o, err);
    if (rc == 0)
        *out = (struct xd_download *)e;
    return rc;
}

/* Returns true if the path stays inside a folder: no component is empty, "." or
 * "..". */
static bool leads_inside(const char *path)
{
    while (*path) {
        size_t len = strcspn(path, "/");

        if (len == 0 ||
            (path[0] == '.' && (len == 1 || (len == 2 && path[1] == '.'))))
            return false;
        if (path[len] == '/' && path[len + 1] == '\0')
            return false;
        path += len + (path[len] == '/');
    }
    return true;
}

/* Creates a download to a path that stays inside of a folder.  `path` NULL: the
 * path in the manifest. */
static int new_in(struct xd_download **out, struct xd_manifest *m, size_t file,
                  const char *directory, const char *path,
                  const struct xd_options *o, struct xd_error *err)
{
    struct xd_file info = {.struct_size = sizeof info};
    char *whole;
    size_t given;
    int rc;

    if (!path && xd_manifest_file(m, file, &info) == 0)
        path = info.path;
    if (!path || *path == '\0')
        return xd_fail(err, XD_E_INVAL,
                       "the manifest gives no usable name: a path is needed");
    if (!leads_inside(path))
        return xd_fail(err, XD_E_INVAL, "%s: is no path within a folder", path);
    /* messages then name "f" rather than "./f" */
    if (strcmp(directory, ".") == 0)
        directory = NULL;
    whole = xd_path_in(directory, path, &given);
    rc = whole ? new_at(out, m, file, whole, o, err) : xd_fail_nomem(err);
    if (rc == 0)
        engine_of(*out)->dest.path_given = given;
    xd_free(whole);
    return rc;
}

int xd_download_new(struct xd_download **out, struct xd_manifest *m,
                    size_t file, const char *directory, const char *path,
                    const struct xd_options *o, struct xd_error *err)
{
    *out = NULL;
    return directory ? new_in(out, m, file, directory, path, o, err)
                     : new_at(out, m, file, path, o, err);
}

int xd_download_new_fd(struct xd_download **out, struct xd_manifest *m,
                       size_t file, int fd, const struct xd_options *o,
                       struct xd_error *err)
{
    struct xd_engine *e;
    int rc;

    *out = NULL;
    if (!xd_file_is_writable(fd))
        return xd_fail(err, XD_E_INVAL, "descriptor %d is not open for writing",
                       fd);
    rc = xd_engine_new(&e, m, file, &xd_output_pipe, NULL, fd, o, err);
    if (rc == 0)
        *out = (struct xd_download *)e;
    return rc;
}

int xd_download_start(struct xd_download *d, struct xd_error *err)
{
    return xd_engine_start(engine_of(d), err);
}

int xd_download_wait(struct xd_download *d, int timeout_ms,
                     struct xd_error *err)
{
    struct xd_engine *e = engine_of(d);
    xd_usec until = XD_NEVER;
    int rc = xd_engine_may_wait(e, err);

    if (rc < 0)
        return rc;
    if (timeout_ms >= 0)
        until = xd_now() + (xd_usec)timeout_ms * XD_MS;
    xd_engine_lock(e);
    if (e->session.phase == XD_PHASE_NEW)
        rc = xd_fail(err, XD_E_STATE, "the download was not started");
    if (e->session.phase != XD_PHASE_END)
        xd_notifier_clear(&e->notifier);
    while (rc == 0 && e->session.phase != XD_PHASE_END) {
        if (!xd_engine_wait_locked(e, &e->ended, until))
            rc = XD_E_AGAIN;
    }
    if (e->session.phase == XD_PHASE_END) {
        rc = e->error.code;
        if (rc < 0 && err)
            *err = e->error;
    } else if (rc == XD_E_AGAIN) {
        xd_fail(err, XD_E_AGAIN, "the download is still running");
    }
    xd_engine_unlock(e);
    return rc;
}

static void count_discarded_locked(const struct xd_engine *e,
                                   struct xd_progress *p)
{
    const uint64_t *discarded = e->ledger.discarded;

    p->discarded_bad_pieces = discarded[XD_DISCARD_BAD_PIECE];
    p->discarded_bad_file = discarded[XD_DISCARD_BAD_FILE];
    p->discarded_banned = discarded[XD_DISCARD_BANNED];
    p->discarded_changed = discarded[XD_DISCARD_CHANGED];
    p->discarded_restarted = discarded[XD_DISCARD_RESTARTED];
    p->discarded_dropped = discarded[XD_DISCARD_DROPPED];
}

static void count_via_locked(const struct xd_engine *e, struct xd_progress *p)
{
    const struct xd_via *v = e->depots.via;

    for (size_t i = 0; v && i < v->n_depots; i++)
        p->bytes_via += v->depots[i] ? v->depots[i]->bytes : 0;
    p->not_via = v ? v->refusal : NULL;
}

static void count_depots_locked(const struct xd_engine *e,
                                struct xd_progress *p)
{
    for (unsigned i = 0; i < e->workers.n; i++) {
        const struct xd_depot *d = e->workers.list[i]->depot;

        p->depots_open += d != NULL;
        p->lanes_busy += d ? d->lanes_busy : 0;
    }
    p->depots_failed = (unsigned)e->depots.n_failed;
    p->depots_reserve = (unsigned)e->depots.n_in_reserve;
}

/* Returns true if some hash comes from the server and the user gave none. */
static bool has_servers_digest(const struct xd_engine *e)
{
    struct xd_hash hash = {.struct_size = sizeof hash};
    bool is_offered = false;

    for (size_t i = 0;
         xd_manifest_hash(e->depots.manifest, e->depots.file, i, &hash) == 0;
         i++) {
        if (hash.is_given)
            return false;
        is_offered |= hash.is_offered;
    }
    return is_offered;
}

void xd_download_progress(struct xd_download *d, struct xd_progress *out)
{
    struct xd_engine *e = engine_of(d);
    struct xd_progress p = {.bytes_total = XD_SIZE_UNKNOWN};
    unsigned done = XD_BYTES_STORED | 1 << XD_BYTE_EVICTED;
    xd_usec now;

    xd_engine_lock(e);
    now = e->session.phase == XD_PHASE_END ? e->times.ended : xd_now();
    p.bytes_done = xd_ledger_bytes(&e->ledger, done);
    p.bytes_in_order =
        xd_ledger_first_gap(&e->ledger, done, e->wanted) - e->wanted.begin;
    p.bytes_compared = e->sampler.bytes_compared;
    p.bytes_resumed = e->ledger.held;
    if (e->wanted.end != XD_SIZE_UNKNOWN && !e->session.size_probe)
        p.bytes_total =
            xd_range_length(e->wanted) - e->set.unused - e->set.lost;
    p.bytes_done -= e->set.unused;
    p.bytes_resumed -= e->set.unused;
    if (e->set.n_unsized > 0)
        p.bytes_total = XD_SIZE_UNKNOWN;
    p.bytes_received = e->tally.bytes_received;
    p.bytes_redundant = e->tally.bytes_redundant;
    if (e->session.phase != XD_PHASE_NEW)
        p.seconds = xd_seconds(now - e->times.started);
    p.bytes_per_s = xd_rate_get(&e->tally.rate, now);
    p.is_paused = e->pause.since != 0;
    count_depots_locked(e, &p);
    count_discarded_locked(e, &p);
    count_via_locked(e, &p);
    p.algorithm = xd_options_algorithm(&e->options);
    p.threads_per_depot = xd_options_lanes(&e->options);
    p.block_bytes = e->options.block_bytes;
    p.verified = xd_verify_algorithm_locked(e);
    p.signed_by = xd_verify_signer_locked(e);
    p.is_servers_digest = p.verified && has_servers_digest(e);
    if (e->session.sched) {
        const struct xd_sched_options *o = xd_sched_options(e->session.sched);

        p.redundancy = o->redundancy;
        p.progress_number = (unsigned)o->progress;
        p.block_bytes = o->block_bytes;
    }
    xd_engine_unlock(e);
    xd_copy_out(out, &p, sizeof p);
}

int xd_download_depot(struct xd_download *d, size_t i,
                      struct xd_depot_stats *out)
{
    struct xd_engine *e = engine_of(d);
    struct xd_depot_stats s = {.first_byte_s = -1};
    struct xd_depot *depot;
    xd_usec now, busy;

    xd_engine_lock(e);
    if (i >= e->depots.n) {
        xd_engine_unlock(e);
        return XD_E_INVAL;
    }
    depot = e->depots.list[i];
    now = e->session.phase == XD_PHASE_END ? e->times.ended : xd_now();
    s.host = depot->host;
    s.url = depot->shown_url;
    s.node = depot->node_id;
    s.state = depot->state;
    s.bytes_held = depot->bytes_held;
    s.bytes = depot->bytes;
    s.bytes_redundant = depot->bytes_redundant;
    s.bytes_received = depot->bytes_received;
    s.blocks = depot->blocks;
    s.requests = depot->requests;
    s.failures = depot->failures;
    s.bytes_per_s = xd_rate_get(&depot->rate, now);
    busy = depot->busy_time;
    if (depot->lanes_busy > 0 && now > depot->busy_since)
        busy += now - depot->busy_since;
    if (busy > 0)
        s.mean_bytes_per_s = (double)(depot->bytes + depot->bytes_redundant) *
                             (double)XD_SECOND / (double)busy;
    if (depot->first_byte != XD_NEVER)
        s.first_byte_s = xd_seconds(depot->first_byte);
    if (depot->last_error)
        s.last_error = xd_kept_error_get(depot->last_error);
    else if (depot->avoided_why)
        s.last_error = xd_kept_error_get(depot->avoided_why);
    if (depot->lanes_busy > 0) {
        xd_usec since = depot->last_byte_at > depot->busy_since
                            ? depot->last_byte_at
                            : depot->busy_since;

        s.waited_s = xd_seconds(now - since);
        s.is_connected = depot->is_connected;
    }
    s.connections = depot->connections;
    s.most_connections = depot->most_connections;
    xd_engine_unlock(e);
    xd_copy_out(out, &s, sizeof s);
    return 0;
}

bool xd_download_next_record(struct xd_download *d, struct xd_fetch_record *out,
                             uint64_t *out_lost)
{
    struct xd_engine *e = engine_of(d);
    struct xd_fetch_record record;
    bool taken;

    xd_engine_lock(e);
    taken = xd_records_take(&e->records, &record);
    if (out_lost)
        *out_lost = e->records.lost;
    xd_engine_unlock(e);
    if (taken)
        xd_copy_out(out, &record, sizeof record);
    return taken;
}

static struct xd_fetch_record request_locked(const struct xd_worker *w,
                                             const struct xd_lane *lane)
{
    const struct xd_depot *depot = w->depot ? w->depot : w->served;
    const bool has_started = lane->state == LANE_RUNNING;
    const xd_usec start = has_started ? lane->started : lane->queued;

    return (struct xd_fetch_record){
        .depot = depot->number,
        .begin = lane->range.begin,
        .end = lane->end,
        .received = has_started ? lane->in.reported - lane->range.begin : 0,
        .start_s = xd_seconds(start - w->engine->times.started),
        .first_byte_s = -1,
        .end_s = -1,
        .code = XD_E_AGAIN,
        .reason = lane->reason,
        .lane = lane->number,
        .queued_s = xd_seconds(lane->queued - w->engine->times.started)};
}

size_t xd_download_requests(struct xd_download *d, struct xd_fetch_record *out,
                            size_t n)
{
    struct xd_engine *e = engine_of(d);
    size_t all = 0;

    xd_engine_lock(e);
    for (unsigned i = 0; i < e->workers.n; i++) {
        const struct xd_worker *w = e->workers.list[i];

        for (unsigned k = 0; k < w->n_lanes; k++) {
            if (w->lanes[k].state == LANE_FREE || (!w->depot && !w->served))
                continue;
            if (all < n) {
                struct xd_fetch_record r = request_locked(w, &w->lanes[k]);

                xd_copy_out_nth(out, all, &r, sizeof r);
            }
            all++;
        }
    }
    xd_engine_unlock(e);
    return all;
}

/* Returns where part `i` of `n` begins. */
static uint64_t cut(struct xd_range file, size_t i, size_t n)
{
    const uint64_t length = xd_range_length(file);

    return file.begin + length / n * i + length % n * i / n;
}

size_t xd_download_parts(struct xd_download *d, struct xd_part *out, size_t n)
{
    struct xd_engine *e = engine_of(d);
    const unsigned requested =
        1 << XD_BYTE_ASSIGNED | 1 << XD_BYTE_RECEIVED | 1 << XD_BYTE_WRITING;
    struct xd_range file;

    xd_engine_lock(e);
    file = e->wanted;
    if (file.end == XD_SIZE_UNKNOWN || e->session.size_probe)
        file.end = file.begin;
    if (n > xd_range_length(file))
        n = (size_t)xd_range_length(file);
    for (size_t i = 0; i < n; i++) {
        const struct xd_range r = {cut(file, i, n), cut(file, i + 1, n)};
        const struct xd_part p = {
            .begin = r.begin - file.begin,
            .end = r.end - file.begin,
            .bytes_stored = xd_ledger_count(&e->ledger, XD_BYTES_STORED, r),
            .bytes_readable = xd_ledger_count(&e->ledger, XD_BYTES_READABLE, r),
            .bytes_requested = xd_ledger_count(&e->ledger, requested, r)};

        xd_copy_out_nth(out, i, &p, sizeof p);
    }
    xd_engine_unlock(e);
    return n;
}

void xd_download_set_wakeup(struct xd_download *d, xd_wakeup_fn *function,
                            void *user)
{
    struct xd_engine *e = engine_of(d);

    xd_engine_set_wakeup(e, &e->notifier, function, user);
}

int xd_download_descriptor(struct xd_download *d, struct xd_error *err)
{
    struct xd_engine *e = engine_of(d);
    int fd;

    xd_engine_lock(e);
    fd = xd_notifier_descriptor(&e->notifier, err);
    xd_engine_unlock(e);
    return fd;
}

static void pause_locked(struct xd_engine *e)
{
    if (e->pause.since == 0)
        e->pause.since = xd_now();
    atomic_store(&e->pause.is_on, true);
    xd_engine_decide_later_locked(e);
}

static void end_pause_locked(struct xd_engine *e)
{
    xd_usec paused;

    if (e->pause.since == 0)
        return;
    paused = xd_now() - e->pause.since;
    e->pause.since = 0;
    e->pause.former += paused;
    if (e->times.deadline != XD_NEVER)
        e->times.deadline += paused;
    atomic_store(&e->pause.is_on, false);
    xd_engine_decide_later_locked(e);
    xd_engine_wake_all_locked(e);
}

void xd_download_pause(struct xd_download *d, bool pauses)
{
    struct xd_engine *e = engine_of(d);

    xd_engine_lock(e);
    if (pauses)
        pause_locked(e);
    else
        end_pause_locked(e);
    xd_engine_unlock(e);
}

void xd_download_limit_rate(struct xd_download *d, uint64_t bytes_per_s)
{
    struct xd_engine *e = engine_of(d);

    xd_engine_lock(e);
    xd_budget_set_rate(&e->budget, bytes_per_s);
    xd_engine_wake_all_locked(e);
    xd_engine_unlock(e);
}

int xd_download_add_replica(struct xd_download *d,
                            const struct xd_replica *replica,
                            const struct xd_extent *extent,
                            struct xd_error *err)
{
    return xd_engine_join(engine_of(d), replica, extent, err);
}

void xd_download_cancel(struct xd_download *d)
{
    xd_engine_cancel(engine_of(d));
}

struct xd_download *xd_download_ref(struct xd_download *d)
{
    return (struct xd_download *)xd_engine_ref(engine_of(d));
}

void xd_download_unref(struct xd_download *d)
{
    xd_engine_unref(engine_of(d));
}

static void release(void *user)
{
    xd_download_unref(user);
}

/* Downloads the file.  A cancelled download may take long to end, so the thread
 * of the xd_cancel releases it. */
static int fetch_file(struct xd_manifest *m, const char *path,
                      const struct xd_options *o, struct xd_error *err)
{
    struct xd_download *d;
    int rc = xd_download_new(&d, m, 0, path ? NULL : ".", path, o, err);

    if (rc < 0)
        return rc;
    rc = xd_download_start(d, err);
    if (rc == 0)
        rc = xd_download_wait(d, -1, err);
    if (rc == XD_E_CANCELED || rc == XD_E_TIMEOUT)
        xd_cancel_dispose(o ? o->cancel : NULL, &engine_of(d)->cleanup, release,
                          d);
    else
        xd_download_unref(d);
    return rc;
}

int xd_fetch(const char *source, const char *path, const struct xd_options *o,
             struct xd_error *err)
{
    struct xd_options *defaults = NULL;
    struct xd_manifest *m;
    int rc = 0;

    /* options hold the request that xd_manifest_open() starts */
    if (!o)
        rc = xd_options_new(&defaults, err);
    if (rc < 0)
        return rc;
    if (!o)
        o = defaults;
    rc = xd_manifest_open(&m, &source, 1, o, err);
    if (rc == 0) {
        rc = fetch_file(m, path, o, err);
        xd_manifest_unref(m);
    }
    xd_options_free(defaults);
    return rc;
}
