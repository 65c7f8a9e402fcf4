/* SPDX-License-Identifier: MIT */
#include "transfer/batch.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/choice.h"
#include "base/line.h"
#include "base/string_hash.h"
#include "base/url.h"
#include "io/net_context.h"
#include "os/clock.h"
#include "os/routes.h"
#include "os/thread.h"
#include "transfer/runner.h"
#include "transfer/turns.h"

/* Every poll ends after at most this time, even if nothing is due. */
#define LONGEST_POLL XD_SECOND

/* Interval between calls of waits(): users begin to wonder after a second. */
#define REPORT_EVERY XD_SECOND

enum item_state { ITEM_WAITS, ITEM_IS_ASKED, ITEM_HAS_ENDED };

/* One request of a run. */
struct item {
    enum item_state state;
    xd_usec asked_at;
    unsigned failures;
    bool was_asked, has_answered;
    /* the next attempt requests the whole object without a range */
    bool asks_whole;
    struct xd_outcome why;   /* why the request was stopped, if it was */
    struct xd_error failure; /* error of the last failed attempt */
};

/* The state of a run. */
struct run {
    const struct xd_request *requests;
    struct item *items;
    size_t n, n_ended, n_asked;
    size_t n_answered; /* requests whose last attempt got a response header */
    struct xd_turns turns; /* order of the waiting requests */
    struct xd_batch_times times;
    const struct xd_batch_handler *handler;
    xd_usec started;
    xd_usec answered_at; /* when the first answer arrived, or XD_NEVER */
    xd_usec grace; /* how long other requests may take after the first answer */
    bool is_enough; /* there are enough answers; all other requests are late */
    /* while this is false, requests that end belong to an earlier run */
    bool has_begun;
    xd_usec report_at; /* time of the next waits() */
};

#define NO_ITEM SIZE_MAX

struct xd_batch {
    /* Constant after new(). */
    struct xd_batch_config config;
    unsigned n_slots;
    struct xd_net_context *context;
    struct xd_runner_handler handler;
    struct xd_runner *runner;

    /* Owned by the thread of the run. */
    struct run *run;
    size_t *slots; /* the item in each slot, or NO_ITEM */
    /* Slot of the request that a download will continue, or n_slots. */
    unsigned kept;
    struct xd_line *line;
    struct xd_routes routes;

    /* Atomic: set by any thread. */
    atomic_bool is_canceled;
};

/* ---- what the runner reports ---- */

/* Notes the first answer, which determines how long to wait for the others. */
static void note_answer(struct run *run, xd_usec now)
{
    xd_usec twice = 2 * (now - run->started);

    if (run->answered_at != XD_NEVER)
        return;
    run->answered_at = now;
    run->grace = twice > run->times.grace ? twice : run->times.grace;
}

static int on_head(void *user, unsigned slot, const struct xd_head *head)
{
    const struct xd_batch *b = user;
    struct run *run = b->run;
    size_t i = b->slots[slot];
    xd_usec now = xd_now();

    xd_line_received(b->line, slot, now);
    run->n_answered += !run->items[i].has_answered;
    run->items[i].has_answered = true;
    note_answer(run, now);
    return run->handler->head(run->handler->user, i, head);
}

/* Returns a number for the depot, for the outage detector: requests to one host
 * fail together. */
static unsigned number_of_depot(const struct xd_url *url)
{
    struct xd_span host = xd_url_host(url);

    return (unsigned)xd_string_hash(host.s, host.len) ^ url->port;
}

static void on_wait(void *user, unsigned slot, bool waits)
{
    struct xd_batch *b = user;
    const size_t i = b->slots[slot];

    if (i == NO_ITEM)
        return;
    if (waits)
        xd_line_ended(b->line, slot);
    else
        xd_line_begun(b->line, slot, number_of_depot(b->run->requests[i].url),
                      xd_now());
}

static void end_item(struct run *run, size_t i,
                     const struct xd_outcome *outcome)
{
    run->items[i].state = ITEM_HAS_ENDED;
    run->n_ended++;
    run->handler->end(run->handler->user, i, outcome);
    if (run->handler->is_enough && run->handler->is_enough(run->handler->user))
        run->is_enough = true;
}

/* Keeps the request in its slot until another thread takes it. */
static int keep(struct xd_batch *b, unsigned slot)
{
    const struct xd_outcome outcome = {.verdict = XD_VERDICT_OK,
                                       .object_size = XD_SIZE_UNKNOWN};
    const size_t i = b->slots[slot];

    if (!xd_runner_can_change_hands(b->runner, slot))
        return XD_E_CANCELED;
    b->slots[slot] = NO_ITEM;
    b->kept = slot;
    xd_line_ended(b->line, slot);
    end_item(b->run, i, &outcome);
    return XD_E_AGAIN;
}

static int on_bytes(void *user, unsigned slot, const void *data, size_t len)
{
    struct xd_batch *b = user;
    const struct run *run = b->run;
    int rc;

    xd_line_received(b->line, slot, xd_now());
    rc = run->handler->bytes(run->handler->user, b->slots[slot], data, len);
    return rc == XD_E_AGAIN ? keep(b, slot) : rc;
}

/* Returns whether the server has sent nothing within the time that it has for
 * its first byte. */
static bool has_waited(const struct xd_batch *b, const struct item *item,
                       const struct xd_outcome *outcome)
{
    return outcome->is_unanswered && b->config.first_byte > 0 &&
           xd_now() - item->asked_at >= b->config.first_byte;
}

/* Returns whether to repeat the request without a range.  Some servers refuse
 * every range with a status that does not say so.  After a status that may just
 * mean that the server is busy, the request is first repeated once with the
 * range. */
static bool is_due_whole(const struct run *run, size_t i,
                         const struct xd_outcome *outcome)
{
    const struct item *item = &run->items[i];

    if (!run->requests[i].takes_whole || item->asks_whole ||
        !outcome->is_denied)
        return false;
    return outcome->verdict == XD_VERDICT_GONE ||
           outcome->verdict == XD_VERDICT_REFUSED_RANGE ||
           (outcome->verdict == XD_VERDICT_AGAIN && item->failures > 1);
}

/* Schedules another attempt, after the pause that the governor of the host
 * demands.  Returns false if there is no other attempt: all were used, the
 * server has had all the time for its first byte, or another request was
 * answered and this run does not wait for slow depots. */
static bool try_again(const struct xd_batch *b, size_t i,
                      const struct xd_outcome *outcome)
{
    struct run *run = b->run;
    struct item *item = &run->items[i];

    if (++item->failures >= b->config.max_failures ||
        has_waited(b, item, outcome) ||
        (run->answered_at != XD_NEVER && run->times.grace != XD_NEVER))
        return false;
    item->asks_whole = is_due_whole(run, i, outcome);
    item->state = ITEM_WAITS;
    item->failure = outcome->error;
    xd_turns_again(&run->turns, i, xd_now() + outcome->retry_after);
    return true;
}

/* Returns when to repeat a request that failed because the network is down.
 * Returns XD_NEVER if the request has ended for another reason. */
static xd_usec outlasts_line(struct xd_batch *b, unsigned slot,
                             const struct xd_outcome *outcome)
{
    const struct run *run = b->run;
    struct xd_line_failure failure = {
        .is_unanswered = outcome->is_unanswered,
        .is_only = run->n == 1,
        .is_depots_own = run->n_asked < run->n ||
                         (outcome->lacks_address && xd_routes_lead_out())};
    xd_usec retry_at, now = xd_now();

    if (outcome->verdict == XD_VERDICT_STOPPED) {
        xd_line_ended(b->line, slot);
        /* An outage stopped the request, so repeat it, unless it ended for
         * another reason. */
        return xd_line_is_down(b->line) &&
                       run->items[b->slots[slot]].why.error.code == XD_OK
                   ? now
                   : XD_NEVER;
    }
    if (outcome->verdict != XD_VERDICT_AGAIN) {
        xd_line_ended(b->line, slot);
        return XD_NEVER;
    }
    return xd_line_failed(b->line, slot, &failure, now, &retry_at) ? retry_at
                                                                   : XD_NEVER;
}

static void on_end(void *user, unsigned slot, const struct xd_outcome *outcome)
{
    struct xd_batch *b = user;
    struct run *run = b->run;
    size_t i = b->slots[slot];
    bool is_kept = slot == b->kept;
    xd_usec retry_at =
        run->has_begun && !is_kept ? outlasts_line(b, slot, outcome) : XD_NEVER;

    b->slots[slot] = NO_ITEM;
    if (is_kept)
        b->kept = b->n_slots;
    if (!run->has_begun || is_kept)
        return;
    if (retry_at != XD_NEVER) {
        run->items[i].why = *outcome;
        run->items[i].why.media_type = NULL;
        run->items[i].state = ITEM_WAITS;
        xd_turns_again(&run->turns, i, retry_at);
        return;
    }
    if ((xd_verdict_may_pass(outcome->verdict) ||
         is_due_whole(run, i, outcome)) &&
        try_again(b, i, outcome))
        return;
    if (outcome->verdict == XD_VERDICT_NO_RANGES)
        note_answer(run, xd_now()); /* the depot has the object */
    if (outcome->verdict == XD_VERDICT_STOPPED)
        outcome = &run->items[i].why;
    end_item(run, i, outcome);
}

/* ---- asking ---- */

/* Checks whether a request may be made.  Errors: NOREPLICA, NOMEM. */
static int check(const struct xd_batch *b, const struct xd_url *url,
                 struct xd_error *err)
{
    const struct xd_transport_kind *kind = xd_transport_kind_of(url);
    const struct xd_choice choice = {.exclude = b->config.exclude,
                                     .https_only = b->config.https_only};
    const char *objection = NULL;
    int is_refused = xd_choice_refuses(&choice, url, &objection);

    if (is_refused < 0)
        return xd_fail_nomem(err);
    if (!url->is_valid)
        return 0; /* the transport reports an invalid URL */
    if (is_refused == 0)
        objection = NULL;
    if (is_refused == 0 && !kind)
        objection = "its scheme is not supported: use " XD_SCHEMES_FETCHED;
    else if (is_refused == 0 && kind->reads_machine && !b->config.allow_file)
        objection = "files of this machine are read with allow-file only";
    return objection ? xd_fail(err, XD_E_NOREPLICA, "%s: %s",
                               xd_url_name(url).s, objection)
                     : 0;
}

static void start(struct xd_batch *b, size_t i, unsigned slot)
{
    struct run *run = b->run;
    struct item *item = &run->items[i];
    struct xd_request request = run->requests[i];
    struct xd_outcome outcome = {.verdict = XD_VERDICT_GONE,
                                 .object_size = XD_SIZE_UNKNOWN};

    run->n_asked += !item->was_asked;
    item->was_asked = true;
    run->n_answered -= item->has_answered;
    item->has_answered = false;
    item->asked_at = xd_now();
    request.outages = xd_line_outages(b->line);
    request.whole = request.whole || item->asks_whole;
    item->why = (struct xd_outcome){.verdict = XD_VERDICT_STOPPED,
                                    .object_size = XD_SIZE_UNKNOWN};
    b->slots[slot] = i;
    xd_line_begun(b->line, slot, number_of_depot(request.url), item->asked_at);
    item->state = ITEM_IS_ASKED;
    if (check(b, request.url, &outcome.error) == 0 &&
        xd_runner_start(b->runner, slot, &request, &outcome.error) == 0)
        return;
    b->slots[slot] = NO_ITEM;
    xd_line_ended(b->line, slot);
    end_item(run, i, &outcome);
}

static unsigned free_slot(const struct xd_batch *b)
{
    unsigned slot = 0;

    while (slot < b->n_slots && b->slots[slot] != NO_ITEM)
        slot++;
    return slot;
}

/* Starts the requests whose turn it is.  Returns the time at which the next one
 * is due; XD_NEVER if it must wait for a free slot. */
static xd_usec start_waiting(struct xd_batch *b, xd_usec now)
{
    struct xd_turns *turns = &b->run->turns;
    unsigned slot;
    size_t i;

    if (xd_line_pause(b->line, now) > now)
        return xd_line_pause(b->line, now);
    while ((slot = free_slot(b)) < b->n_slots) {
        if (!xd_turns_take_fresh(turns, &i) &&
            !xd_turns_take_retry(turns, now, &i))
            return xd_turns_next_at(turns);
        start(b, i, slot);
    }
    return XD_NEVER;
}

/* ---- ending early ---- */

/* Sets the reason why request `i` ends. */
static void explain(struct xd_batch *b, size_t i, enum xd_code code,
                    const char *sentence)
{
    struct item *item = &b->run->items[i];

    item->why.verdict = XD_VERDICT_STOPPED;
    item->why.object_size = XD_SIZE_UNKNOWN;
    xd_fail(&item->why.error, code, "%s: %s",
            xd_url_name(b->run->requests[i].url).s, sentence);
}

/* Returns the time at which all open requests are late if none has answered. */
static xd_usec all_late_at(const struct run *run)
{
    return run->answered_at == XD_NEVER && run->times.first != XD_NEVER
               ? run->started + run->times.first
               : XD_NEVER;
}

/* Returns the time after which a request is late, if it may take `wait` longer
 * than the first answer. */
static xd_usec waiting_late_at(const struct run *run, xd_usec wait)
{
    if (run->is_enough)
        return 0;
    if (run->answered_at == XD_NEVER)
        return all_late_at(run);
    if (run->times.grace == XD_NEVER || wait == XD_NEVER)
        return XD_NEVER;
    return run->answered_at + wait;
}

/* Returns the time after which a started request is late. */
static xd_usec asked_late_at(const struct run *run, const struct item *item)
{
    xd_usec from = run->answered_at;

    if (run->is_enough)
        return 0;
    if (from == XD_NEVER)
        return all_late_at(run);
    if (run->times.grace == XD_NEVER || item->has_answered)
        return XD_NEVER;
    return (item->asked_at > from ? item->asked_at : from) + run->grace;
}

/* Records why a request is late.  If it was to be repeated, its last failure is
 * the reason. */
static void explain_late(struct xd_batch *b, size_t i)
{
    struct item *item = &b->run->items[i];

    explain(b, i, XD_E_AGAIN, "has not answered yet");
    if (item->failure.code < 0) {
        item->why.error = item->failure;
        item->why.error.code = XD_E_AGAIN;
    }
}

static void end_late(struct xd_batch *b, size_t i)
{
    explain_late(b, i);
    end_item(b->run, i, &b->run->items[i].why);
}

/* Ends requests that are late and were not started.  Returns the time at which
 * the next of them will be late. */
static xd_usec end_late_waiting(struct xd_batch *b, xd_usec now)
{
    struct run *run = b->run;
    xd_usec fresh = waiting_late_at(run, run->times.turn);
    xd_usec retries = waiting_late_at(run, run->grace);
    size_t i;

    while (fresh <= now && xd_turns_take_fresh(&run->turns, &i))
        end_late(b, i);
    while (retries <= now && xd_turns_take_retry(&run->turns, XD_NEVER, &i))
        end_late(b, i);
    return xd_earlier(fresh > now ? fresh : XD_NEVER,
                      retries > now ? retries : XD_NEVER);
}

/* Stops requests that are late and were started.  Returns the time at which the
 * next of them will be late. */
static xd_usec stop_late(struct xd_batch *b, xd_usec now)
{
    xd_usec next = XD_NEVER;

    for (unsigned slot = 0; slot < b->n_slots; slot++) {
        size_t i = b->slots[slot];
        xd_usec at;

        if (i == NO_ITEM)
            continue;
        at = asked_late_at(b->run, &b->run->items[i]);
        if (at > now) {
            next = xd_earlier(next, at);
            continue;
        }
        explain_late(b, i);
        xd_runner_stop(b->runner, slot);
    }
    return next;
}

/* Ends everything at once without stopping the runner, because a stop may have
 * to wait for a name server.  Open requests end before the next run, or when
 * the batch is freed. */
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
                    "has not answered in the time allowed (--max-time)");
        end_item(run, i, &run->items[i].why);
    }
}

/* ---- network outages ---- */

/* Ends a request because the network is down.  If an attempt has already
 * failed, that failure is reported as the reason. */
static void fail_by_line(struct xd_batch *b, size_t i)
{
    if (b->run->items[i].why.error.code == XD_OK)
        explain(b, i, XD_E_NET, "has not answered: the network is down");
}

/* Gives up because no depot has answered for too long. */
static void give_up(struct xd_batch *b)
{
    struct run *run = b->run;
    size_t i;

    for (unsigned slot = 0; slot < b->n_slots; slot++) {
        if (b->slots[slot] == NO_ITEM)
            continue;
        fail_by_line(b, b->slots[slot]);
        xd_runner_stop(b->runner, slot);
    }
    while (xd_turns_take_fresh(&run->turns, &i) ||
           xd_turns_take_retry(&run->turns, XD_NEVER, &i)) {
        fail_by_line(b, i);
        end_item(run, i, &run->items[i].why);
    }
}

/* Carries out what the outage detector decides.  Returns when to call this
 * function again. */
static xd_usec look_at_line(struct xd_batch *b, xd_usec now)
{
    xd_usec silent;
    unsigned slot;

    if (xd_routes_have_appeared(&b->routes, now))
        xd_line_changed(b->line, now);
    if (xd_line_is_lost(b->line, now, &silent)) {
        give_up(b);
        return XD_NEVER;
    }
    while (xd_line_next_stop(b->line, now, &slot))
        xd_runner_stop(b->runner, slot);
    return xd_line_is_down(b->line)
               ? xd_earlier(xd_line_wake(b->line), now + XD_ROUTES_LOOK_EVERY)
               : XD_NEVER;
}

/* ---- the thread ---- */

/* Returns the slot of the first request that was started, or n_slots. */
static unsigned first_asked(const struct xd_batch *b)
{
    unsigned first = b->n_slots;

    for (unsigned slot = 0; slot < b->n_slots; slot++)
        if (b->slots[slot] != NO_ITEM &&
            (first == b->n_slots || b->slots[slot] < b->slots[first]))
            first = slot;
    return first;
}

/* Until the first request is answered, reports how long the oldest open request
 * has waited. */
static void report_wait(struct xd_batch *b, xd_usec now)
{
    struct run *run = b->run;
    unsigned slot = first_asked(b);
    xd_usec waited;

    run->report_at = now + REPORT_EVERY;
    if (run->n_answered > 0 || slot == b->n_slots)
        return;
    waited = now - run->items[b->slots[slot]].asked_at;
    if (waited >= REPORT_EVERY)
        b->config.waits(b->config.user, run->requests[b->slots[slot]].url,
                        xd_runner_is_connected(b->runner, slot), waited);
    run->report_at = now + REPORT_EVERY - waited % REPORT_EVERY;
}

static void *batch_main(void *arg)
{
    struct xd_batch *b = arg;
    struct run *run = b->run;

    if (!atomic_load(&b->is_canceled))
        /* first ends the requests that an earlier run has left open */
        xd_runner_settle(b->runner);
    run->has_begun = true;
    while (run->n_ended < run->n) {
        xd_usec now = xd_now(), next = now + LONGEST_POLL;

        if (now >= run->times.until || atomic_load(&b->is_canceled)) {
            abandon_all(b);
            break;
        }
        if (b->config.waits && now >= run->report_at)
            report_wait(b, now);
        next = xd_earlier(next, end_late_waiting(b, now));
        next = xd_earlier(next, stop_late(b, now));
        next = xd_earlier(next, look_at_line(b, now));
        next = xd_earlier(next, start_waiting(b, now));
        next = xd_earlier(next, run->times.until);
        if (b->config.waits)
            next = xd_earlier(next, run->report_at);
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
    if (!run.items || xd_turns_init(&run.turns, n) < 0) {
        xd_free(run.items);
        return xd_fail_nomem(err);
    }
    b->run = &run;
    /* Runs in a thread of its own, in which SIGPIPE is blocked: a TLS write may
     * raise it. */
    if (xd_thread_start(&thread, batch_main, b) < 0)
        rc = xd_fail_nomem(err);
    else
        xd_thread_join(&thread);
    b->run = NULL;
    xd_turns_fini(&run.turns);
    xd_free(run.items);
    return rc;
}

void xd_batch_cancel(struct xd_batch *b)
{
    atomic_store(&b->is_canceled, true);
    xd_net_context_shorten_waits(b->context);
    xd_runner_wakeup(b->runner);
}

struct xd_runner *xd_batch_take_runner(struct xd_batch *b, unsigned *out_slot)
{
    struct xd_runner *runner = b->runner;

    *out_slot = b->kept;
    if (b->kept == b->n_slots)
        return NULL;
    b->runner = NULL;
    return runner;
}

struct xd_net_context *xd_batch_context(struct xd_batch *b)
{
    return b->context;
}

/* ---- creating and freeing ---- */

/* Opens all transports at once, to report errors in the options before any
 * request. */
static int open_transports(struct xd_batch *b, struct xd_error *err)
{
    const struct xd_registry *r = xd_registry();
    struct xd_runner_config config = {.n_slots = b->n_slots,
                                      .silence = b->config.silence,
                                      .first_byte = b->config.first_byte,
                                      .patience = b->config.patience,
                                      .net = b->config.net,
                                      .context = b->context};
    int rc;

    b->handler = (struct xd_runner_handler){.user = b,
                                            .head = on_head,
                                            .bytes = on_bytes,
                                            .wait = on_wait,
                                            .end = on_end};
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
    b->n_slots = b->kept = n_slots;
    atomic_init(&b->is_canceled, false);
    xd_routes_open(&b->routes);
    b->line = xd_line_new(n_slots, config->silence, config->patience);
    b->slots = xd_alloc(n_slots, sizeof *b->slots);
    for (unsigned i = 0; b->slots && i < n_slots; i++)
        b->slots[i] = NO_ITEM;
    rc = b->slots && b->line ? xd_net_context_new(&b->context, err)
                             : xd_fail_nomem(err);
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
    xd_line_free(b->line);
    xd_routes_close(&b->routes);
    xd_free(b->slots);
    xd_net_context_free(b->context);
    xd_free(b);
}
