/* SPDX-License-Identifier: MIT */
#include "publish/jobs.h"

#include "base/alloc.h"
#include "io/net_context.h"
#include "os/cancel.h"
#include "os/thread.h"
#include "transfer/tasks.h"

#define MOST_STORES 8u /* limit on simultaneous stores */
#define TASKS 4u       /* limit on simultaneous tasks of one store */

#define TICK (XD_SECOND / 10)

struct crew;

/* A thread that runs the jobs of one store after another. */
struct worker {
    struct crew *crew;
    struct xd_thread thread;
    bool is_started;

    /* used by the worker only */
    const struct xd_store *store;
    struct xd_job *running[TASKS];
    /* index of the first job that may still have to run; all jobs before it
     * have ended or belong to other stores */
    size_t first;
    unsigned failures;     /* number of failures in a row */
    xd_usec failing_since; /* time of the first of these failures */
    struct xd_error last_error;

    /* Guarded by lock. */
    /* tasks of the current store; NULL between two stores */
    struct xd_tasks *tasks;
};

struct crew {
    /* constant while the workers run */
    struct xd_job *list;
    size_t n;
    const struct xd_options *options;
    struct xd_net_context *context;
    xd_usec until;

    struct xd_mutex lock;
    /* Guarded by lock. */
    bool is_canceled, is_late;
    /* error of a worker that could not start; code XD_OK: none */
    struct xd_error error;
    struct worker workers[MOST_STORES];
};

/* ---- one job ---- */

static void end_job(struct xd_job *c, bool is_done,
                    const struct xd_error *error)
{
    c->has_ended = true;
    c->is_done = is_done;
    if (error->code != XD_OK)
        c->error = xd_error_keep(error);
}

/* Returns whether to keep trying a store that refuses requests only for now:
 * the time of the option patience has not elapsed. */
static bool is_patient(const struct worker *w)
{
    return w->last_error.http_status != 0 &&
           xd_now() - w->failing_since < w->crew->options->patience;
}

static void on_end(void *user, unsigned task,
                   const struct xd_task_result *result)
{
    struct worker *w = user;
    struct xd_job *c = w->running[task];
    const bool is_done = result->state == XD_TASK_DONE;

    w->running[task] = NULL;
    c->is_running = false;
    c->failure = result->failure;
    c->limit = result->limit;
    if (is_done && result->object)
        c->expires_at = result->object->expires_at;
    if (!is_done)
        w->last_error = result->error;
    if (is_done || c->failure != XD_TASK_MAY_PASS)
        w->failures = 0;
    else if (w->failures++ == 0)
        w->failing_since = xd_now();
    if (!is_done && c->failure == XD_TASK_MAY_PASS &&
        (++c->attempts < w->crew->options->retry || is_patient(w)))
        c->retry_at = xd_now() + result->retry_after;
    else
        end_job(c, is_done, &result->error);
}

/* Fails.  It is never called, because jobs send no object. */
static int64_t on_read(void *user, unsigned task, uint64_t at, void *to,
                       size_t len, struct xd_error *err)
{
    (void)user, (void)task, (void)at, (void)to, (void)len;
    return xd_fail(err, XD_E_BUG, "there is nothing to be sent");
}

/* ---- the jobs of one store ---- */

static bool is_left(const struct worker *w, const struct xd_job *c)
{
    return c->store == w->store && !c->has_ended;
}

static struct xd_job *next_job(struct worker *w, bool *out_has_more)
{
    const xd_usec now = xd_now();

    *out_has_more = false;
    while (w->first < w->crew->n && !is_left(w, &w->crew->list[w->first]))
        w->first++;
    for (size_t i = w->first; i < w->crew->n; i++) {
        struct xd_job *c = &w->crew->list[i];

        if (!is_left(w, c))
            continue;
        *out_has_more = true;
        if (!c->is_running && c->retry_at <= now)
            return c;
    }
    return NULL;
}

static void begin_job(struct worker *w, unsigned task, struct xd_job *c)
{
    const struct xd_task_order order = {
        .kind = c->kind, .object = c->object, .until = c->until};
    struct xd_error error;

    w->running[task] = c;
    c->is_running = true;
    if (xd_tasks_start(w->tasks, task, &order, &error) == 0)
        return;
    w->running[task] = NULL;
    c->is_running = false;
    c->failure = XD_TASK_BAD;
    end_job(c, false, &error);
}

/* Starts jobs until all tasks are busy.  Returns whether the store has jobs
 * left. */
static bool begin_jobs(struct worker *w)
{
    bool has_more = true;

    for (unsigned i = 0; i < TASKS && has_more; i++) {
        struct xd_job *c = w->running[i] ? NULL : next_job(w, &has_more);

        if (c)
            begin_job(w, i, c);
    }
    return has_more;
}

/* Gives up the store: ends all jobs that are not running. */
static void give_up(struct worker *w)
{
    for (size_t i = w->first; i < w->crew->n; i++) {
        struct xd_job *c = &w->crew->list[i];

        if (is_left(w, c) && !c->is_running) {
            c->failure = XD_TASK_MAY_PASS;
            end_job(c, false, &w->last_error);
        }
    }
}

static bool is_ending(struct crew *crew)
{
    bool ends;

    xd_mutex_lock(&crew->lock);
    crew->is_late |= xd_now() >= crew->until;
    ends = crew->is_canceled || crew->is_late || crew->error.code != XD_OK;
    xd_mutex_unlock(&crew->lock);
    return ends;
}

static int open_tasks(struct worker *w, const struct xd_tasks_handler *handler,
                      struct xd_error *err)
{
    const struct xd_options *o = w->crew->options;
    struct xd_tasks *tasks;
    int rc =
        xd_tasks_new(&tasks,
                     &(struct xd_tasks_config){.store = w->store,
                                               .n_tasks = TASKS,
                                               .silence = o->silence,
                                               .patience = o->patience,
                                               .net = &o->net,
                                               .context = w->crew->context},
                     handler, err);

    if (rc < 0)
        return rc;
    xd_mutex_lock(&w->crew->lock);
    w->tasks = tasks;
    xd_mutex_unlock(&w->crew->lock);
    return 0;
}

static void close_tasks(struct worker *w)
{
    struct xd_tasks *tasks = w->tasks;

    xd_mutex_lock(&w->crew->lock);
    w->tasks = NULL;
    xd_mutex_unlock(&w->crew->lock);
    xd_tasks_free(tasks);
    for (unsigned i = 0; i < TASKS; i++) {
        if (w->running[i])
            w->running[i]->is_running = false;
        w->running[i] = NULL;
    }
}

static int work_at_store(struct worker *w, struct xd_error *err)
{
    const struct xd_tasks_handler handler = {
        .user = w, .read = on_read, .end = on_end};
    int rc = open_tasks(w, &handler, err);

    if (rc < 0)
        return rc;
    w->failures = 0;
    w->first = 0;
    while (!is_ending(w->crew) && begin_jobs(w)) {
        xd_tasks_poll(w->tasks, xd_now() + TICK);
        if (w->failures >= 2 * w->crew->options->retry && !is_patient(w))
            give_up(w);
    }
    close_tasks(w);
    return 0;
}

/* ---- all stores ---- */

/* Returns the first store that no worker has taken, and takes it.  Returns NULL
 * if there is none. */
static const struct xd_store *next_store(struct crew *crew)
{
    const struct xd_store *store = NULL;

    xd_mutex_lock(&crew->lock);
    for (size_t i = 0; i < crew->n; i++) {
        struct xd_job *c = &crew->list[i];

        if (!store && !c->is_taken)
            store = c->store;
        c->is_taken |= c->store == store;
    }
    xd_mutex_unlock(&crew->lock);
    return store;
}

static void *worker_main(void *arg)
{
    struct worker *w = arg;
    struct xd_error error;

    while (!is_ending(w->crew) && (w->store = next_store(w->crew)) != NULL) {
        if (work_at_store(w, &error) == 0)
            continue;
        xd_mutex_lock(&w->crew->lock);
        w->crew->error = error;
        xd_mutex_unlock(&w->crew->lock);
    }
    return NULL;
}

static void cancel(void *user)
{
    struct crew *crew = user;

    xd_mutex_lock(&crew->lock);
    crew->is_canceled = true;
    for (unsigned i = 0; i < MOST_STORES; i++)
        if (crew->workers[i].tasks)
            xd_tasks_wakeup(crew->workers[i].tasks);
    xd_mutex_unlock(&crew->lock);
}

/* Succeeds if at least one thread could be started. */
static int start_workers(struct crew *crew, struct xd_error *err)
{
    bool has_one = false;

    for (unsigned i = 0; i < MOST_STORES; i++) {
        struct worker *w = &crew->workers[i];

        w->crew = crew;
        w->is_started = xd_thread_start(&w->thread, worker_main, w) == 0;
        has_one |= w->is_started;
    }
    return has_one ? 0 : xd_fail_nomem(err);
}

static void join_workers(struct crew *crew)
{
    for (unsigned i = 0; i < MOST_STORES; i++)
        if (crew->workers[i].is_started)
            xd_thread_join(&crew->workers[i].thread);
}

static int conclude(const struct crew *crew, struct xd_error *err)
{
    if (crew->error.code != XD_OK) {
        if (err)
            *err = crew->error;
        return crew->error.code;
    }
    if (crew->is_canceled)
        return xd_fail(err, XD_E_CANCELED, "the caller has canceled it");
    if (crew->is_late)
        return xd_fail(err, XD_E_TIMEOUT,
                       "the stores have not done all within the time allowed "
                       "(--max-time)");
    return 0;
}

int xd_jobs_run(struct xd_job *list, size_t n, const struct xd_options *o,
                struct xd_error *err)
{
    struct xd_cancel_hook hook;
    struct crew *crew = n > 0 ? xd_alloc(1, sizeof *crew) : NULL;
    int rc;

    if (n == 0)
        return 0;
    if (!crew)
        return xd_fail_nomem(err);
    crew->list = list;
    crew->n = n;
    crew->options = o;
    crew->until = o->max_time > 0 ? xd_now() + o->max_time : XD_NEVER;
    rc = xd_net_context_new(&crew->context, err);
    if (rc == 0 && xd_mutex_init(&crew->lock) < 0)
        rc = xd_fail_nomem(err);
    if (rc < 0) {
        xd_net_context_free(crew->context);
        xd_free(crew);
        return rc;
    }
    xd_cancel_attach(o->cancel, &hook, cancel, crew);
    rc = start_workers(crew, err);
    join_workers(crew);
    xd_cancel_detach(o->cancel, &hook);
    if (rc == 0)
        rc = conclude(crew, err);
    xd_net_context_free(crew->context);
    xd_mutex_fini(&crew->lock);
    xd_free(crew);
    return rc;
}

void xd_jobs_fini(struct xd_job *list, size_t n)
{
    for (size_t i = 0; list && i < n; i++)
        xd_kept_error_free(list[i].error);
}
