/* SPDX-License-Identifier: MIT */
#include "transfer/tasks.h"

#include <string.h>

#include "base/alloc.h"
#include "base/check.h"
#include "base/error.h"
#include "base/text.h"
#include "os/clock.h"

/* poll() always returns after this time, because tasks also wait for wall-clock
 * times. */
#define LONGEST_POLL XD_SECOND

/* A call in flight, in the runner's slot of the same number. */
struct call {
    bool is_busy;
    unsigned task;
    struct xd_call call;
    struct xd_sending sending;
    struct xd_request request;
    /* the response */
    bool has_reply;
    struct xd_reply reply;
    char *etag, *location, *words; /* strings of `reply`; owned */
    struct xd_text body;
    bool has_enough;         /* stopped because the server sent more than was
                                requested */
    struct xd_error failure; /* error of read(), or code XD_OK */
};

struct running {
    struct xd_task *task; /* NULL: this number is free */
    int64_t clock_off_s;  /* clock offset known when the task began */
    /* error of read(); the store is not to blame for it */
    struct xd_error failure;
    struct xd_call held; /* a call that must wait until may_send() allows it */
    bool holds;          /* `held` is set */
};

struct xd_tasks {
    /* constant after xd_tasks_new() */
    struct xd_tasks_config config;
    const struct xd_tasks_handler *handler;
    struct xd_runner_handler callbacks;
    struct xd_runner *runner;
    unsigned n_calls;

    /* seconds by which the local clock is behind the store's */
    int64_t clock_off_s;
    struct running *running; /* one element for each task */
    struct call *calls;      /* one element for each slot of the runner */
};

/* ---- one call ---- */

/* Reads a body that the task itself supplies, such as XML. */
static int64_t read_text(const struct xd_call *c, uint64_t at, void *to,
                         size_t len)
{
    const size_t left = c->text_len - (size_t)at;

    len = left < len ? left : len;
    memcpy(to, c->text + at, len);
    return (int64_t)len;
}

static int64_t on_read(void *user, unsigned slot, uint64_t at, void *to,
                       size_t len)
{
    struct xd_tasks *t = user;
    struct call *c = &t->calls[slot];
    int64_t n;

    if (xd_range_is_empty(c->call.body))
        return read_text(&c->call, at, to, len);
    n = t->handler->read(t->handler->user, c->task, c->call.body.begin + at, to,
                         len, &c->failure);
    if (n < 0 && n != XD_E_AGAIN)
        t->running[c->task].failure = c->failure;
    return n;
}

static int on_head(void *user, unsigned slot, const struct xd_head *head)
{
    struct call *c = &((struct xd_tasks *)user)->calls[slot];
    bool failed = false;

    c->has_reply = true;
    c->reply = *head->reply;
    c->reply.etag = c->etag = xd_strdup_maybe(head->reply->etag, &failed);
    c->reply.location = c->location =
        xd_strdup_maybe(head->reply->location, &failed);
    c->reply.words = c->words = xd_strdup_maybe(head->reply->words, &failed);
    return failed ? XD_E_NOMEM : 0;
}

/* Returns whether the response is an object.  A server without ranges sends all
 * of it, and the bytes after the requested ones are not needed. */
static bool is_download(const struct call *c)
{
    return strcmp(c->call.method, "GET") == 0 && c->reply.code / 100 == 2;
}

static int on_bytes(void *user, unsigned slot, const void *data, size_t len)
{
    struct call *c = &((struct xd_tasks *)user)->calls[slot];
    const size_t room = c->call.most_answer - c->body.len;

    xd_text_add(&c->body, data, len < room ? len : room);
    if (c->body.failed)
        return XD_E_NOMEM;
    c->has_enough = len > room && is_download(c);
    return c->has_enough ? XD_E_CANCELED : 0;
}

/* Reports the response to the task. */
static void on_end(void *user, unsigned slot, const struct xd_outcome *outcome)
{
    struct xd_tasks *t = user;
    struct call *c = &t->calls[slot];
    const struct xd_outcome ok = {.verdict = XD_VERDICT_OK};
    struct xd_answer answer = {.outcome = c->has_enough ? &ok : outcome,
                               .reply = &c->reply,
                               .body = c->body.len > 0 ? c->body.s : "",
                               .body_len = c->body.len};

    if (c->reply.retry_after < outcome->retry_after)
        c->reply.retry_after = outcome->retry_after;
    xd_task_answered(t->running[c->task].task, c->call.id, &answer);
    xd_free(c->etag);
    xd_free(c->location);
    xd_free(c->words);
    xd_text_fini(&c->body);
    *c = (struct call){.is_busy = false};
}

static int start_call(struct xd_tasks *t, unsigned slot, unsigned task,
                      const struct xd_call *call, struct xd_error *err)
{
    struct call *c = &t->calls[slot];
    const uint64_t length = xd_range_is_empty(call->body)
                                ? call->text_len
                                : xd_range_length(call->body);
    int rc;

    *c = (struct call){.is_busy = true, .task = task, .call = *call};
    c->sending = (struct xd_sending){.method = call->method,
                                     .fields = call->fields,
                                     .length = length,
                                     .logs_in = call->logs_in,
                                     .patience = call->patience,
                                     .read = on_read,
                                     .user = t};
    c->request = (struct xd_request){.url = call->url,
                                     .length = 1,
                                     .object_size = XD_SIZE_UNKNOWN,
                                     .sends = &c->sending};
    rc = xd_runner_start(t->runner, slot, &c->request, err);
    c->is_busy = rc == 0;
    return rc;
}

/* ---- tasks ---- */

/* Returns a free slot for a call of the task; n_calls if it has none left. */
static unsigned free_slot(const struct xd_tasks *t, unsigned task)
{
    const unsigned per_task = t->n_calls / t->config.n_tasks;

    for (unsigned i = task * per_task; i < (task + 1) * per_task; i++)
        if (!t->calls[i].is_busy)
            return i;
    return t->n_calls;
}

static bool has_calls(const struct xd_tasks *t, unsigned task)
{
    for (unsigned i = 0; i < t->n_calls; i++)
        if (t->calls[i].is_busy && t->calls[i].task == task)
            return true;
    return false;
}

/* Reports to the task that a call could not be started. */
static void fail_call(struct running *r, unsigned id,
                      const struct xd_error *error)
{
    const struct xd_outcome outcome = {.verdict = XD_VERDICT_AGAIN,
                                       .error = *error};
    const struct xd_answer answer = {.outcome = &outcome};

    xd_task_answered(r->task, id, &answer);
}

/* Returns whether the task has a call that may start now. */
static bool next_call(struct xd_tasks *t, unsigned task, struct xd_call *out)
{
    struct running *r = &t->running[task];

    if (r->holds)
        *out = r->held;
    else if (!xd_task_next(r->task, (int64_t)xd_unix_time() + r->clock_off_s,
                           out))
        return false;
    r->holds = !xd_range_is_empty(out->body) &&
               !t->handler->may_send(t->handler->user, task);
    r->held = *out;
    return !r->holds;
}

/* Starts all calls that the task wants now.  Returns whether there were any. */
static bool make_calls(struct xd_tasks *t, unsigned task)
{
    struct running *r = &t->running[task];
    bool made = false;
    struct xd_call call;
    struct xd_error error;

    for (;;) {
        const unsigned slot = free_slot(t, task);

        if (slot == t->n_calls || !next_call(t, task, &call))
            return made;
        made = true;
        if (start_call(t, slot, task, &call, &error) < 0)
            fail_call(r, call.id, &error);
    }
}

/* Returns whether read() has failed.  This ends the task, whatever the store
 * answers. */
static bool was_ended(const struct running *r)
{
    return r->failure.code != XD_OK;
}

static void finish(struct xd_tasks *t, unsigned task)
{
    struct running *r = &t->running[task];
    struct xd_task_result result;
    struct xd_task *ended = r->task;

    xd_task_result(ended, &result);
    result.clock_off_s += r->clock_off_s;
    t->clock_off_s = result.clock_off_s;
    if (result.state != XD_TASK_DONE && was_ended(r)) {
        result.state = XD_TASK_FAILED;
        result.failure = XD_TASK_BAD;
        result.error = r->failure;
    }
    r->task = NULL;
    t->handler->end(t->handler->user, task, &result);
    xd_task_free(ended);
}

/* Returns whether the task has ended and no call is in flight. */
static bool is_over(const struct xd_tasks *t, unsigned task)
{
    const struct running *r = &t->running[task];
    struct xd_task_result result;

    xd_task_result(r->task, &result);
    return (result.state != XD_TASK_RUNS || was_ended(r)) &&
           !has_calls(t, task);
}

int xd_tasks_start(struct xd_tasks *t, unsigned task,
                   const struct xd_task_order *order, struct xd_error *err)
{
    struct running *r = &t->running[task];
    struct xd_task_order patient = *order;

    XD_ASSERT(task < t->config.n_tasks && !r->task);
    *r = (struct running){.clock_off_s = t->clock_off_s};
    patient.patience = t->config.patience;
    return xd_task_new(&r->task, t->config.store, &patient, err);
}

static void stop_calls(struct xd_tasks *t, unsigned task)
{
    for (unsigned i = 0; i < t->n_calls; i++)
        if (t->calls[i].is_busy && t->calls[i].task == task)
            xd_runner_stop(t->runner, i);
}

void xd_tasks_resume(struct xd_tasks *t, unsigned task)
{
    for (unsigned i = 0; i < t->n_calls; i++)
        if (t->calls[i].is_busy && t->calls[i].task == task)
            xd_runner_resume(t->runner, i);
}

const struct xd_object *xd_tasks_object(const struct xd_tasks *t, unsigned task)
{
    struct xd_task_result result;

    if (!t->running[task].task)
        return NULL;
    xd_task_result(t->running[task].task, &result);
    return result.object;
}

/* Advances each task as far as possible without waiting. */
static bool step(struct xd_tasks *t)
{
    bool happened = false;

    for (unsigned i = 0; i < t->config.n_tasks; i++) {
        struct running *r = &t->running[i];

        if (!r->task)
            continue;
        if (was_ended(r))
            stop_calls(t, i);
        else
            happened |= make_calls(t, i);
        if (is_over(t, i)) {
            finish(t, i);
            happened = true;
        }
    }
    return happened;
}

void xd_tasks_poll(struct xd_tasks *t, xd_usec until)
{
    const xd_usec now = xd_now();

    if (step(t))
        until = now;
    xd_runner_poll(t->runner, xd_earlier(until, now + LONGEST_POLL));
    step(t);
}

void xd_tasks_wakeup(struct xd_tasks *t)
{
    xd_runner_wakeup(t->runner);
}

/* ---- creating and freeing ---- */

int xd_tasks_new(struct xd_tasks **out, const struct xd_tasks_config *config,
                 const struct xd_tasks_handler *handler, struct xd_error *err)
{
    struct xd_tasks *t = xd_alloc(1, sizeof *t);
    int rc = 0;

    *out = NULL;
    if (!t)
        return xd_fail_nomem(err);
    t->config = *config;
    t->handler = handler;
    t->n_calls = config->n_tasks * xd_store_most_calls(config->store);
    t->callbacks = (struct xd_runner_handler){
        .user = t, .head = on_head, .bytes = on_bytes, .end = on_end};
    t->running = xd_alloc(config->n_tasks, sizeof *t->running);
    t->calls = xd_alloc(t->n_calls, sizeof *t->calls);
    if (!t->running || !t->calls)
        rc = xd_fail_nomem(err);
    if (rc == 0)
        rc = xd_runner_new(
            &t->runner,
            &(struct xd_runner_config){.n_slots = t->n_calls,
                                       .silence = config->silence,
                                       .patience = config->patience,
                                       .net = config->net,
                                       .context = config->context,
                                       .budget = config->budget},
            &t->callbacks, err);
    if (rc < 0) {
        xd_tasks_free(t);
        return rc;
    }
    *out = t;
    return 0;
}

void xd_tasks_free(struct xd_tasks *t)
{
    if (!t)
        return;
    xd_runner_free(t->runner);
    for (unsigned i = 0; t->calls && i < t->n_calls; i++) {
        xd_free(t->calls[i].etag);
        xd_free(t->calls[i].location);
        xd_free(t->calls[i].words);
        xd_text_fini(&t->calls[i].body);
    }
    for (unsigned i = 0; t->running && i < t->config.n_tasks; i++)
        xd_task_free(t->running[i].task);
    xd_free(t->running);
    xd_free(t->calls);
    xd_free(t);
}
