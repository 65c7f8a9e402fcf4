#include "transfer/batch.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/hosts.h"
#include "base/url.h"
#include "io/commons.h"
#include "os/clock.h"
#include "os/thread.h"
#include "transfer/runner.h"

/* No poll is without a bound, even if nothing is due. */
#define LONGEST_POLL XD_SECOND

/* A person wonders after a second. */
#define REPORT_EVERY XD_SECOND

enum item_state { ITEM_WAITS, ITEM_IS_ASKED, ITEM_HAS_ENDED };

/* One request of a run. */
struct item {
    enum item_state state;
    unsigned slot;      /* while it is asked */
    xd_usec not_before; /* while it waits */
    xd_usec asked_at;
    unsigned failures;
    bool has_answered;
    struct xd_outcome why; /* how it ends if it is stopped */
};

/* What a run is about. */
struct run {
    const struct xd_request *requests;
    struct item *items;
    size_t n, n_ended;
    struct xd_batch_times times;
    const struct xd_batch_handler *handler;
    xd_usec started;
    xd_usec answered_at; /* by the first request; XD_NEVER: by none yet */
    xd_usec grace;       /* of each request, from then on */
    bool has_begun;      /* until then what ends is of an earlier run */
    xd_usec report_at;   /* when the next waits() is due */
};

#define NO_ITEM SIZE_MAX

struct xd_batch {
    /* Constant after new(). */
    struct xd_batch_config config;
    unsigned n_slots;
    struct xd_commons *commons;
    struct xd_runner_handler handler;
    struct xd_runner *runner;

    /* The run's thread's own. */
    struct run *run;
    size_t *slots; /* the item in each, or NO_ITEM */

    /* Atomic: set by any thread. */
    atomic_bool is_canceled;
};

static xd_usec earlier(xd_usec a, xd_usec b)
{
    return a < b ? a : b;
}

/* ---- what the runner reports ---- */

static int on_head(void *user, unsigned slot, const struct xd_head *head)
{
    const struct xd_batch *b = user;
    struct run *run = b->run;
    size_t i = b->slots[slot];
    xd_usec now = xd_now(), twice = 2 * (now - run->started);

    run->items[i].has_answered = true;
    if (run->answered_at == XD_NEVER) {
        run->answered_at = now;
        run->grace = twice > run->times.grace ? twice : run->times.grace;
    }
    return run->handler->head(run->handler->user, i, head);
}

static int on_bytes(void *user, unsigned slot, const void *data, size_t len)
{
    const struct xd_batch *b = user;
    const struct run *run = b->run;

    return run->handler->bytes(run->handler->user, b->slots[slot], data, len);
}

static void end_item(struct run *run, size_t i,
                     const struct xd_outcome *outcome)
{
    run->items[i].state = ITEM_HAS_ENDED;
    run->n_ended++;
    run->handler->end(run->handler->user, i, outcome);
}

/* It may answer after a pause, which doubles, unless others have told enough
 * by then. */
static bool try_again(const struct xd_batch *b, size_t i,
                      const struct xd_outcome *outcome)
{
    struct run *run = b->run;
    struct item *item = &run->items[i];

    if (++item->failures >= b->config.max_failures ||
        (run->answered_at != XD_NEVER && run->times.grace != XD_NEVER))
        return false;
    item->not_before = xd_now() + xd_runner_pause(outcome, item->failures);
    item->state = ITEM_WAITS;
    return true;
}

static void on_end(void *user, unsigned slot, const struct xd_outcome *outcome)
{
    struct xd_batch *b = user;
    struct run *run = b->run;
    size_t i = b->slots[slot];

    b->slots[slot] = NO_ITEM;
    if (!run->has_begun)
        return;
    if (xd_verdict_may_pass(outcome->verdict) && try_again(b, i, outcome))
        return;
    if (outcome->verdict == XD_VERDICT_STOPPED)
        outcome = &run->items[i].why;
    end_item(run, i, outcome);
}

/* ---- asking ---- */

/* Why no request may be made to this URL, or NULL. */
static const char *find_objection(const struct xd_batch *b,
                                  const struct xd_url *url, bool *out_no_memory)
{
    const struct xd_transport_kind *kind =
        xd_registry_find(xd_registry(), url->scheme);
    int is_excluded = xd_hosts_have(b->config.exclude, url);

    *out_no_memory = is_excluded < 0;
    if (is_excluded != 0)
        return "its host is excluded";
    if (!kind)
        return "its scheme is not supported: use " XD_SCHEMES_FETCHED;
    if (kind->reads_machine && !b->config.allow_file)
        return "files of this machine are read with allow-file only";
    return NULL;
}

/* Why a request may not be made, or 0. */
static int check(const struct xd_batch *b, const struct xd_request *request,
                 struct xd_error *err)
{
    const char *objection;
    struct xd_url url;
    bool no_memory;
    char *name;

    if (!xd_url_split(request->url, &url))
        return 0; /* the transport says it */
    objection = find_objection(b, &url, &no_memory);
    if (!objection)
        return 0;
    name = xd_url_public(request->url);
    if (no_memory || !name)
        xd_fail_nomem(err);
    else
        xd_fail(err, XD_E_NOREPLICA, "%s: %s", name, objection);
    xd_free(name);
    return no_memory || !name ? XD_E_NOMEM : XD_E_NOREPLICA;
}

static void start(struct xd_batch *b, size_t i, unsigned slot)
{
    struct run *run = b->run;
    struct item *item = &run->items[i];
    struct xd_outcome outcome = {.verdict = XD_VERDICT_GONE,
                                 .object_size = XD_SIZE_UNKNOWN};

    item->has_answered = false;
    item->asked_at = xd_now();
    item->why = (struct xd_outcome){.verdict = XD_VERDICT_STOPPED,
                                    .object_size = XD_SIZE_UNKNOWN};
    if (check(b, &run->requests[i], &outcome.error) < 0 ||
        xd_runner_start(b->runner, slot, &run->requests[i], &outcome.error) <
            0) {
        end_item(run, i, &outcome);
        return;
    }
    item->state = ITEM_IS_ASKED;
    item->slot = slot;
    b->slots[slot] = i;
}

static unsigned free_slot(const struct xd_batch *b)
{
    unsigned slot = 0;

    while (slot < b->n_slots && b->slots[slot] != NO_ITEM)
        slot++;
    return slot;
}

/* Start those whose turn it is.  Returns when the next one's will be. */
static xd_usec start_waiting(struct xd_batch *b, xd_usec now)
{
    struct run *run = b->run;
    xd_usec next = XD_NEVER;

    for (size_t i = 0; i < run->n; i++) {
        struct item *item = &run->items[i];
        unsigned slot;

        if (item->state != ITEM_WAITS)
            continue;
        slot = free_slot(b);
        if (slot == b->n_slots)
            break;
        if (item->not_before <= now)
            start(b, i, slot);
        else if (item->not_before < next)
            next = item->not_before;
    }
    return next;
}

/* ---- ending early ---- */

/* Why request `i` ends. */
static void explain(struct xd_batch *b, size_t i, enum xd_code code,
                    const char *sentence)
{
    struct item *item = &b->run->items[i];
    char *name = xd_url_public(b->run->requests[i].url);

    item->why.verdict = XD_VERDICT_STOPPED;
    item->why.object_size = XD_SIZE_UNKNOWN;
    xd_fail(&item->why.error, code, "%s: %s", name ? name : "a depot",
            sentence);
    xd_free(name);
}

/* When the request is late; XD_NEVER: it is not waited for in vain. */
static xd_usec late_at(const struct run *run, const struct item *item)
{
    xd_usec from = run->answered_at;

    if (from == XD_NEVER && run->times.first != XD_NEVER)
        return item->state == ITEM_HAS_ENDED ? XD_NEVER
                                             : run->started + run->times.first;
    if (from == XD_NEVER || run->times.grace == XD_NEVER)
        return XD_NEVER;
    switch (item->state) {
    case ITEM_WAITS:
        if (item->failures > 0)
            return from + run->grace;
        return run->times.turn == XD_NEVER ? XD_NEVER : from + run->times.turn;
    case ITEM_IS_ASKED:
        if (item->has_answered)
            return XD_NEVER;
        return (item->asked_at > from ? item->asked_at : from) + run->grace;
    case ITEM_HAS_ENDED:
        break;
    }
    return XD_NEVER;
}

/* End those that are late.  Returns when the next one will be. */
static xd_usec stop_late(struct xd_batch *b, xd_usec now)
{
    struct run *run = b->run;
    xd_usec next = XD_NEVER;

    for (size_t i = 0; i < run->n; i++) {
        const struct item *item = &run->items[i];
        xd_usec at = late_at(run, item);

        if (at > now) {
            next = earlier(next, at);
            continue;
        }
        explain(b, i, XD_E_AGAIN, "has not answered yet");
        if (item->state == ITEM_WAITS)
            end_item(run, i, &item->why);
        else
            xd_runner_stop(b->runner, item->slot);
    }
    return next;
}

/*
 * End all at once.  The runner is not told, for to stop a request may take
 * as long as a name server: what they still carry ends before the next run, or
 * when they are freed.
 */
static void abandon_all(struct xd_batch *b)
{
    struct run *run = b->run;
    bool is_canceled = atomic_load(&b->is_canceled);

    for (size_t i = 0; i < run->n; i++) {
        if (run->items[i].state == ITEM_HAS_ENDED)
            continue;
        if (is_canceled)
            explain(b, i, XD_E_CANCELED, "was not waited for");
        else
            explain(b, i, XD_E_TIMEOUT,
                    "has not answered in the time allowed (max-time)");
        end_item(run, i, &run->items[i].why);
    }
}

/* ---- the thread ---- */

static void report_item(const struct xd_batch *b, size_t i, xd_usec waited)
{
    b->config.waits(b->config.user, b->run->requests[i].url,
                    xd_runner_is_connected(b->runner, b->run->items[i].slot),
                    waited);
}

/* The first that is asked speaks for all. */
static void report_wait(struct xd_batch *b, xd_usec now)
{
    struct run *run = b->run;
    size_t first = run->n;
    xd_usec waited;

    run->report_at = now + REPORT_EVERY;
    for (size_t i = run->n; i-- > 0;) {
        if (run->items[i].has_answered)
            return;
        if (run->items[i].state == ITEM_IS_ASKED)
            first = i;
    }
    if (first == run->n)
        return;
    waited = now - run->items[first].asked_at;
    if (waited >= REPORT_EVERY)
        report_item(b, first, waited);
    run->report_at = now + REPORT_EVERY - waited % REPORT_EVERY;
}

static void *batch_main(void *arg)
{
    struct xd_batch *b = arg;
    struct run *run = b->run;

    if (!atomic_load(&b->is_canceled))
        xd_runner_settle(b->runner); /* what a run before it has left */
    run->has_begun = true;
    while (run->n_ended < run->n) {
        xd_usec now = xd_now(), next = now + LONGEST_POLL;

        if (now >= run->times.until || atomic_load(&b->is_canceled)) {
            abandon_all(b);
            break;
        }
        if (b->config.waits && now >= run->report_at)
            report_wait(b, now);
        next = earlier(next, stop_late(b, now));
        next = earlier(next, start_waiting(b, now));
        next = earlier(next, run->times.until);
        if (b->config.waits)
            next = earlier(next, run->report_at);
        if (run->n_ended < run->n)
            xd_runner_poll(b->runner, next);
    }
    return NULL;
}

int xd_batch_run(struct xd_batch *b, const struct xd_request *requests,
                 size_t n, const struct xd_batch_times *times,
                 const struct xd_batch_handler *handler, struct xd_error *err)
{
    struct run run = {.requests = requests,
                      .n = n,
                      .times = *times,
                      .handler = handler,
                      .started = xd_now(),
                      .report_at = xd_now() + REPORT_EVERY,
                      .answered_at = XD_NEVER};
    struct xd_thread thread;
    int rc = 0;

    run.items = xd_alloc(n, sizeof *run.items);
    if (!run.items)
        return xd_fail_nomem(err);
    b->run = &run;
    /* A thread of its own has no SIGPIPE, which a TLS write may raise. */
    if (xd_thread_start(&thread, batch_main, b) < 0)
        rc = xd_fail_nomem(err);
    else
        xd_thread_join(&thread);
    b->run = NULL;
    xd_free(run.items);
    return rc;
}

void xd_batch_cancel(struct xd_batch *b)
{
    atomic_store(&b->is_canceled, true);
    xd_commons_hurry(b->commons);
    xd_runner_wakeup(b->runner);
}

/* ---- life ---- */

/* All transports at once, so that what is wrong with the options is said
 * before anything is asked. */
static int open_transports(struct xd_batch *b, struct xd_error *err)
{
    const struct xd_registry *r = xd_registry();
    struct xd_runner_config config = {.n_slots = b->n_slots,
                                      .silence = b->config.silence,
                                      .net = b->config.net,
                                      .commons = b->commons};
    int rc;

    b->handler = (struct xd_runner_handler){
        .user = b, .head = on_head, .bytes = on_bytes, .end = on_end};
    rc = xd_runner_new(&b->runner, &config, &b->handler, err);
    for (size_t i = r->n; rc == 0 && i-- > 0;)
        rc = xd_runner_open(b->runner, &r->kinds[i], err);
    return rc;
}

int xd_batch_new(struct xd_batch **out, const struct xd_batch_config *config,
                 unsigned n_slots, struct xd_error *err)
{
    struct xd_batch *b = xd_alloc(1, sizeof *b);
    int rc = 0;

    *out = NULL;
    if (!b)
        return xd_fail_nomem(err);
    b->config = *config;
    b->n_slots = n_slots;
    atomic_init(&b->is_canceled, false);
    b->slots = xd_alloc(n_slots, sizeof *b->slots);
    for (unsigned i = 0; b->slots && i < n_slots; i++)
        b->slots[i] = NO_ITEM;
    rc = b->slots ? xd_commons_new(&b->commons, err) : xd_fail_nomem(err);
    if (rc == 0)
        rc = open_transports(b, err);
    if (rc < 0)
        xd_batch_free(b);
    else
        *out = b;
    return rc;
}

void xd_batch_free(struct xd_batch *b)
{
    if (!b)
        return;
    xd_runner_free(b->runner);
    xd_free(b->slots);
    xd_commons_free(b->commons);
    xd_free(b);
}
