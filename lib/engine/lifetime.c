/* SPDX-License-Identifier: MIT */
#include "engine/lifetime.h"

#include <errno.h>

#include "base/alloc.h"
#include "base/choice.h"
#include "base/error.h"
#include "command/settings.h"
#include "engine/begun.h"
#include "engine/decide.h"
#include "engine/depot.h"
#include "engine/depot_cache.h"
#include "engine/depots.h"
#include "engine/engine.h"
#include "engine/keeper.h"
#include "engine/outage.h"
#include "engine/trust/blame.h"
#include "engine/trust/sampler_ask.h"
#include "engine/trust/sampler_thread.h"
#include "engine/via.h"
#include "engine/via_ask.h"
#include "engine/worker.h"
#include "io/net_context.h"
#include "io/pinger.h"
#include "manifest/model.h"
#include "os/descriptors.h"
#include "os/exit.h"
#include "transfer/runner.h"

static int init_threads(struct xd_engine *e)
{
    if (xd_log_init(&e->log, e->options.log, e->options.log_user) < 0)
        goto fail;
    if (xd_budget_init(&e->budget, e->options.net.limit_rate) < 0)
        goto fini_log;
    if (xd_mutex_init(&e->lock) < 0)
        goto fini_budget;
    if (xd_cond_init(&e->work_ready) < 0)
        goto fini_lock;
    if (xd_cond_init(&e->bytes_ready) < 0)
        goto fini_work_ready;
    if (xd_cond_init(&e->ended) < 0)
        goto fini_bytes_ready;
    if (xd_sampler_init(&e->sampler) < 0)
        goto fini_ended;
    if (xd_readers_init(&e->readers) < 0)
        goto fini_sampler;
    if (xd_notifiers_init(&e->notifiers) < 0)
        goto fini_readers;
    xd_notifier_init(&e->notifier);
    return 0;

fini_readers:
    xd_readers_fini(&e->readers);
fini_sampler:
    xd_sampler_fini(&e->sampler);
fini_ended:
    xd_cond_fini(&e->ended);
fini_bytes_ready:
    xd_cond_fini(&e->bytes_ready);
fini_work_ready:
    xd_cond_fini(&e->work_ready);
fini_lock:
    xd_mutex_fini(&e->lock);
fini_budget:
    xd_budget_fini(&e->budget);
fini_log:
    xd_log_fini(&e->log);
fail:
    return XD_E_NOMEM;
}

static void fini_threads(struct xd_engine *e)
{
    xd_notifier_fini(&e->notifiers, &e->notifier);
    xd_notifiers_fini(&e->notifiers);
    xd_readers_fini(&e->readers);
    xd_sampler_fini(&e->sampler);
    xd_cond_fini(&e->ended);
    xd_cond_fini(&e->bytes_ready);
    xd_cond_fini(&e->work_ready);
    xd_mutex_fini(&e->lock);
    xd_budget_fini(&e->budget);
    xd_log_fini(&e->log);
}

/* Respects the manifest's limit on parallel requests.  One request at each of
 * many depots is better than many at one depot. */
static void obey_max_connections(struct xd_engine *e)
{
    struct xd_options *o = &e->options;
    uint64_t most = e->depots.max_connections, n = e->depots.n;
    uint64_t open = xd_options_most_depots(o), lanes = xd_options_lanes(o);
    bool asked = o->threads_per_depot > 0;

    if (open > n)
        open = n;
    if (most == 0)
        return;
    if (open * lanes <= most) {
        if (xd_options_most_depots(o) * lanes > most)
            o->max_depots = most / lanes; /* also limits depots that join
                                             later */
        return;
    }
    o->max_depots = open < most ? open : most;
    if (lanes > most / o->max_depots)
        o->most_lanes = (unsigned)(most / o->max_depots);
    if (open <= most && !asked)
        return; /* only the default is reduced, so say nothing */
    xd_engine_log_locked(e, XD_LOG_WARN,
                         "the manifest allows no more connections at a time "
                         "than %llu",
                         (unsigned long long)most);
}

/* Descriptors that the thread of a depot needs: two for wakeups and two for
 * each lane.  A lane needs one for its connection, and one for an idle
 * connection or for setting up the next one. */
#define WAKEUP_DESCRIPTORS 2U
#define LANE_DESCRIPTORS 2U

/* Descriptors for everything else: the file, its journal and folder, the depot
 * cache and the sampler's connections, and some to spare. */
#define OTHER_DESCRIPTORS 18U
#define LEAST_DESCRIPTORS 8U

static unsigned most_open(const struct xd_engine *e)
{
    unsigned most = xd_options_most_depots(&e->options);
    size_t n = e->depots.n + (e->depots.via ? e->depots.via->n_depots : 0);

    return most < n ? most : (unsigned)n;
}

static unsigned descriptors_of(unsigned lanes)
{
    return WAKEUP_DESCRIPTORS + lanes * LANE_DESCRIPTORS;
}

/* Divides `n` descriptors among depots.  First lets as many depots as possible
 * be open, each with its first requests.  Then gives each as many more requests
 * as fit. */
static void share_descriptors(struct xd_options *o, unsigned n, unsigned open)
{
    unsigned first = xd_options_first_lanes(o), lanes = xd_options_lanes(o);
    unsigned n_depots =
        n / descriptors_of(first > 0 && first < lanes ? first : lanes);

    if (n_depots > open)
        n_depots = open;
    if (n_depots == 0)
        n_depots = 1;
    lanes = n / n_depots > WAKEUP_DESCRIPTORS
                ? (n / n_depots - WAKEUP_DESCRIPTORS) / LANE_DESCRIPTORS
                : 0;
    o->max_depots = n_depots;
    o->most_lanes = lanes > 0 ? lanes : 1;
}

/* Limits of the number of pings in flight.  Each needs a socket, and a few more
 * descriptors while its name is resolved.  Fewer than LEAST_PINGS are not worth
 * it. */
#define MOST_PINGS 128U
#define LEAST_PINGS 8U
#define PING_DESCRIPTORS 4U

static unsigned pings_for(unsigned n_descriptors)
{
    unsigned n = n_descriptors / PING_DESCRIPTORS;

    if (n < LEAST_PINGS)
        return 0;
    return n < MOST_PINGS ? n : MOST_PINGS;
}

/* Reduces the number of depots, and of requests at each, if too few descriptors
 * are free.  If the output needs descriptors, it gets half of the free ones, or
 * a quarter for the open files of a set. */
static int obey_descriptors(struct xd_engine *e, struct xd_error *err)
{
    struct xd_options *o = &e->options;
    unsigned open = most_open(e), each = descriptors_of(xd_options_lanes(o));
    unsigned for_depots = OTHER_DESCRIPTORS + open * each;
    unsigned own = e->dest.output->descriptors
                       ? e->dest.output->descriptors(for_depots)
                       : 0;
    unsigned most = for_depots + own;
    unsigned n_free = xd_descriptors_free(most + MOST_PINGS * PING_DESCRIPTORS);
    unsigned n;

    e->set.most_open = XD_SET_MOST_OPEN;
    if (n_free >= most) {
        e->pings.max = pings_for(n_free - most);
        return 0;
    }
    if (n_free < LEAST_DESCRIPTORS)
        return xd_fail_errno(err, XD_E_IO, EMFILE,
                             "only %u more files can be opened: raise their "
                             "number (ulimit -n)",
                             n_free);
    e->set.most_open = n_free / 4 / XD_SET_FILE_DESCRIPTORS;
    n = own > 0 ? n_free / 2 : n_free;
    share_descriptors(o, n > OTHER_DESCRIPTORS ? n - OTHER_DESCRIPTORS : 0,
                      open);
    xd_engine_log_locked(e, XD_LOG_INFO,
                         "%llu depots at a time, for want of descriptors: only "
                         "%u more files can be opened (ulimit -n)",
                         (unsigned long long)o->max_depots, n_free);
    return 0;
}

/* Allocates tables.  Workers are created later, when depots are opened. */
static int init_tables(struct xd_engine *e, const char *path)
{
    e->workers.max = most_open(e);
    e->workers.n_lanes = e->dest.output->has_many_files
                             ? xd_options_streams(&e->options, e->workers.max)
                             : xd_options_lanes(&e->options);
    e->workers.list = xd_alloc(e->workers.max + 1u, sizeof *e->workers.list);
    if (path)
        e->dest.path = xd_strdup(path);
    if (!e->workers.list || (path && !e->dest.path))
        return XD_E_NOMEM;
    return xd_records_init(&e->records, e->options.records);
}

static void fini_tables(struct xd_engine *e)
{
    struct xd_via *via;

    xd_session_fini(&e->session);
    xd_routes_close(&e->outage.routes);
    xd_ledger_fini(&e->ledger);
    xd_verify_fini(&e->verify);
    xd_coded_fini(&e->coded);
    xd_junctions_fini(&e->junctions);
    xd_resume_fini(&e->resume);
    xd_repair_fini(&e->repair);
    xd_records_fini(&e->records);
    xd_free(e->decisions.lanes);
    xd_free(e->workers.list);
    xd_free(e->dest.path);
    xd_set_fini(&e->set);
    if (!e->begun)
        xd_net_context_free(e->context);
    xd_begun_free(e->begun);
    via = e->depots.via;
    xd_depots_fini(&e->depots);
    xd_via_free(via);
}

/* Returns true if the download can take over the response that inspection
 * started.  It must be recent, come from one of the depots, have the same
 * network options and enough slots in its runner. */
static bool can_take_over(const struct xd_engine *e, const struct xd_begun *b)
{
    return xd_depots_find(&e->depots, b->url) &&
           !e->dest.output->has_many_files &&
           e->workers.n_lanes <= b->n_slots &&
           xd_now() < b->at + XD_BEGUN_LASTS &&
           xd_options_have_same_net(&e->options, b->options);
}

/* Sets up the mesh of the option `via`.  Files of a set use it if hashes prove
 * their bytes.  A single file uses it after its own server was asked for the
 * version. */
static int init_via(struct xd_engine *e, struct xd_error *err)
{
    int rc = xd_via_new(&e->depots.via, &e->options, err);

    if (rc == 0 && e->dest.output->has_many_files)
        rc = xd_via_add_set_locked(e) < 0 ? xd_fail_nomem(err) : 0;
    return rc;
}

/* Creates the context that all transports share, or takes the one of the
 * response that inspection started. */
static int init_context(struct xd_engine *e, struct xd_error *err)
{
    struct xd_begun *b = xd_begun_take(e->options.begun);

    if (b && can_take_over(e, b)) {
        struct xd_depot *depot = xd_depots_find(&e->depots, b->url);

        depot->knows_no_ranges = xd_runner_knows_no_ranges(b->runner, b->slot);
        depot->guess.begun_to = xd_runner_carries(b->runner, b->slot);
        depot->guess.begun_for = xd_runner_waited(b->runner, b->slot);
        e->begun = b;
        e->context = b->context;
        return 0;
    }
    xd_begun_free(b);
    return xd_net_context_new(&e->context, err);
}

/* Creates the scheduler, or the size probe if the size is unknown. */
static int init_decisions(struct xd_engine *e, struct xd_error *err)
{
    if (e->depots.n == 0 && e->depots.size == XD_SIZE_UNKNOWN)
        return xd_fail(err, XD_E_NOREPLICA,
                       "no replica lies on a depot that can be fetched from");
    if (e->depots.size != XD_SIZE_UNKNOWN)
        return xd_decide_start_locked(e, err);
    e->session.size_probe = xd_size_probe_new(
        e->depots.n, e->workers.max, (unsigned)e->options.retry, e->pings.max);
    if (!e->session.size_probe || xd_outage_start_locked(e) < 0)
        return xd_fail_nomem(err);
    return 0;
}

static void wake_threads_locked(struct xd_engine *e)
{
    if (e->session.phase == XD_PHASE_FAIL) {
        xd_pipe_stop_locked(e);
        xd_verify_stop_locked(e);
    }
    if (e->pings.pinger && xd_engine_is_over_locked(e))
        xd_pinger_stop(e->pings.pinger);
    xd_sampler_wake_locked(e);
    xd_resume_wake_locked(e);
}

static const struct xd_engine_hooks hooks = {
    .decide_locked = xd_decide_locked,
    .renew_locked = xd_decide_renew_locked,
    .wake_readers_locked = xd_readers_wake_locked,
    .wake_threads_locked = wake_threads_locked,
    .sampler_main = xd_sampler_main};

int xd_engine_new(struct xd_engine **out, struct xd_manifest *m, size_t file,
                  const struct xd_output_traits *output, const char *path,
                  int fd, const struct xd_options *o, struct xd_error *err)
{
    struct xd_choice choice;
    struct xd_engine *e;
    int rc;

    *out = NULL;
    e = xd_alloc(1, sizeof *e);
    if (!e)
        return xd_fail_nomem(err);
    if (xd_options_copy(&e->options, o) < 0) {
        rc = xd_fail_nomem(err);
        goto free_engine;
    }
    atomic_init(&e->references, 1);
    e->process = xd_exit_process();
    e->hooks = &hooks;
    e->dest.output = output;
    e->dest.path_given = SIZE_MAX;
    e->session.is_pipe = output->is_read_once;
    e->pipe.fd = fd;
    e->outage.routes.fd = -1;
    e->decisions.until = XD_NEVER;
    e->times.deadline = XD_NEVER;
    atomic_init(&e->pause.is_on, false);
    xd_resume_init(&e->resume);
    xd_blame_begin(e);
    xd_repair_begin(e);
    e->pending.lines_end = &e->pending.lines;
    rc = xd_options_check(&e->options, err);
    if (rc == 0 && output->check)
        rc = output->check(&e->options, err);
    if (rc == 0 && !output->has_many_files) /* api/set.c checks the files of a
                                               set */
        rc = xd_signed_check(m, file, &e->options, err);
    if (rc < 0)
        goto fini_options;
    if (init_threads(e) < 0) {
        rc = xd_fail_nomem(err);
        goto fini_options;
    }
    choice = xd_options_choice(&e->options);
    rc = xd_depots_init(&e->depots, m, file, &choice, err);
    if (rc < 0)
        goto fini_threads;
    if (output->bound)
        output->bound(e);
    e->readers.window = e->options.lookahead;
    rc = init_via(e, err);
    if (rc < 0)
        goto fini_tables;
    e->session.has_file = path || (e->depots.via && !output->has_many_files);
    if (e->depots.n_files_refused > 0)
        xd_engine_log_locked(e, XD_LOG_WARN,
                             "%zu sources are not used: they are files of this "
                             "machine, and allow-file is not set",
                             e->depots.n_files_refused);
    xd_depot_cache_load(e);
    if (xd_depots_note_failures(&e->depots) < 0) {
        rc = xd_fail_nomem(err);
        goto fini_tables;
    }
    rc = obey_descriptors(e, err);
    if (rc < 0)
        goto fini_tables;
    obey_max_connections(e);
    e->session.silence = e->options.silence;
    e->session.is_silence_exact = xd_options_is_set(&e->options, "silence");
    e->session.can_ping = e->pings.max > 0;
    rc = init_tables(e, path);
    if (rc < 0) {
        xd_fail_nomem(err);
        goto fini_tables;
    }
    rc = init_context(e, err);
    if (rc == 0)
        rc = init_decisions(e, err);
    if (rc < 0)
        goto fini_tables;
    *out = e;
    return 0;

fini_tables:
    fini_tables(e);
fini_threads:
    fini_threads(e);
fini_options:
    xd_options_fini(&e->options);
free_engine:
    xd_free(e);
    return rc;
}

/* Makes the sink available to all threads and starts the keeper. */
static int begin_locked(struct xd_engine *e, struct xd_sink *sink,
                        struct xd_error *err)
{
    int rc = 0;

    e->dest.sink = e->dest.target = sink;
    if (e->dest.output->begin_locked)
        rc = e->dest.output->begin_locked(e, err);
    if (rc == 0 && e->session.sched)
        xd_readers_begin_locked(e);
    /* The download may have failed or been cancelled already. */
    return rc < 0 || xd_engine_is_over_locked(e)
               ? rc
               : xd_keeper_start_locked(e, err);
}

static void cancel(void *user)
{
    xd_engine_cancel(user);
}

/* Tells the user that torrents in the manifest are not used. */
static void log_torrents_locked(struct xd_engine *e)
{
    const size_t n = e->depots.manifest->files[e->depots.file].rare->n_torrents;

    if (n > 0)
        xd_engine_log_locked(e, XD_LOG_INFO,
                             "the manifest names %zu %s of the file, which %s "
                             "not used",
                             n, n == 1 ? "torrent" : "torrents",
                             n == 1 ? "is" : "are");
}

int xd_engine_start(struct xd_engine *e, struct xd_error *err)
{
    struct xd_sink *sink = NULL;
    struct xd_error error = {0};
    int rc;

    xd_engine_lock(e);
    if (e->session.phase != XD_PHASE_NEW) {
        xd_engine_unlock(e);
        return xd_fail(err, XD_E_STATE, "the download was started before");
    }
    log_torrents_locked(e);
    e->times.started = xd_now();
    if (e->options.max_time > 0)
        e->times.deadline = e->times.started + e->options.max_time;
    xd_engine_step_locked(
        e, (struct xd_session_event){.kind = XD_SESSION_STARTED,
                                     .is_size_known = !e->session.size_probe});
    xd_engine_unlock(e);

    rc = e->dest.output->open(e, &sink, &error);
    xd_engine_lock(e);
    if (rc == 0)
        rc = begin_locked(e, sink, &error);
    if (rc < 0)
        xd_engine_fail_locked(e, &error);
    else
        xd_engine_decide_later_locked(e);
    xd_engine_unlock(e);
    if (rc < 0 && err)
        *err = error;
    if (rc == 0)
        xd_cancel_attach(e->options.cancel, &e->cancel_hook, cancel, e);
    return rc;
}

struct xd_engine *xd_engine_ref(struct xd_engine *e)
{
    atomic_fetch_add(&e->references, 1);
    return e;
}

static void free_engine(struct xd_engine *e)
{
    if (e->process != xd_exit_process())
        return;
    xd_cancel_detach(e->options.cancel, &e->cancel_hook);
    xd_engine_lock(e);
    xd_engine_fail_locked(e, &(struct xd_error){.code = XD_E_CANCELED});
    xd_engine_unlock(e);
    /* No worker starts after the end, so workers.n is constant.  A running
     * thread may wake any worker, so all are joined before the first is
     * freed. */
    for (unsigned i = 0; i < e->workers.n; i++)
        xd_worker_join(e->workers.list[i]);
    xd_pinger_free(e->pings.pinger);
    xd_sampler_join(e);
    if (e->keeper.has_thread)
        xd_thread_join(&e->keeper.thread);
    xd_pipe_free(e);
    for (unsigned i = 0; i < e->workers.n; i++)
        xd_worker_free(e->workers.list[i]);
    xd_sink_free(e->dest.scratch);
    xd_sink_free(e->dest.sink);
    fini_tables(e);
    fini_threads(e);
    xd_options_fini(&e->options);
    xd_free(e);
}

/* Does nothing in a wakeup function, because that runs on a thread that
 * free_engine() would join. */
void xd_engine_unref(struct xd_engine *e)
{
    if (e && xd_engine_may_wait(e, NULL) == 0 &&
        atomic_fetch_sub(&e->references, 1) == 1)
        free_engine(e);
}
