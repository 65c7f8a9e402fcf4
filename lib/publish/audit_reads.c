/* SPDX-License-Identifier: MIT */
#include "publish/audit_reads.h"

#include <stdatomic.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/text.h"
#include "io/net_context.h"
#include "os/cancel.h"
#include "os/clock.h"
#include "os/thread.h"
#include "transfer/budget.h"
#include "transfer/runner.h"
#include "transfer/sample.h"

typedef unsigned long long ull;

/* Largest number of depots read at a time, as in a download. */
#define MAX_SLOTS 16u

/* Longest time of one poll, even if nothing is due. */
#define LONGEST_POLL XD_SECOND

/* Interval of progress reports. */
#define REPORT_EVERY XD_SECOND

/* Number of attempts with a depot that has never answered. */
#define STRANGER_ATTEMPTS 2u

/* A depot that has answered before is given up after this many failed reads in
 * a row.  A single read may fail because its object is missing. */
#define FAILED_MOST 2u

struct run {
    struct xd_audit_read *list;
    size_t n, n_ended;
    struct xd_audit_line *lines;
    size_t n_lines, n_done; /* all lines before n_done have no reads left */
    const struct xd_audit_handler *handler;
    /* number of bytes expected, and of bytes received or given up */
    uint64_t bytes, bytes_done;
    /* a slot or a depot has become free since the last call of start_ready() */
    bool is_stale;
    xd_usec look_at; /* time at which a waiting read may start */
    xd_usec report_at;
    bool is_over; /* true if the time of the option max-time has elapsed */
};

/* A read that delivers fewer bytes than this within TRICKLE_TIME is given up,
 * and its depot too.  At that rate, a whole file would take days. */
#define TRICKLE_BYTES ((uint64_t)10 << 10)
#define TRICKLE_TIME (10 * XD_SECOND)

/* The struct may outlive the call that made it, if a request takes long to
 * end. */
struct xd_audit_reads {
    /* Constant after new(). */
    struct xd_options options;
    xd_usec until;
    unsigned n_slots;
    struct xd_net_context *context;
    struct xd_runner_handler handler;
    struct xd_runner *runner;
    struct xd_budget budget;
    bool has_budget;
    struct xd_cancel_hook hook, cleanup;

    /* Owned by the thread of the run. */
    struct run *run;
    size_t *slots; /* the read in each slot, or XD_NO_READ */

    /* Atomic: set by any thread. */
    atomic_bool is_canceled;
};

static struct xd_audit_read *read_of(const struct xd_audit_reads *a,
                                     unsigned slot)
{
    return &a->run->list[a->slots[slot]];
}

static struct xd_audit_line *line_of(const struct run *run,
                                     const struct xd_audit_read *r)
{
    return &run->lines[r->depot];
}

/* ---- callbacks of the runner ---- */

static void note_answer(struct xd_audit_line *line, xd_usec after)
{
    line->has_answered = true;
    line->answered_after = xd_earlier(line->answered_after, after);
}

/* The runner may call this several times in an attempt: if a depot sends only a
 * part of the range, the runner requests the rest and gets another header. */
static int on_head(void *user, unsigned slot, const struct xd_head *head)
{
    const struct xd_audit_reads *a = user;
    struct xd_audit_read *r = read_of(a, slot);
    xd_usec now = xd_now();

    if (r->received == 0)
        note_answer(line_of(a->run, r), now - r->head_at);
    if (r->received == 0)
        r->head_at = r->marked_at = now;
    if (!r->validator && head->validator) {
        r->validator = xd_strdup(head->validator);
        if (!r->validator)
            return XD_E_NOMEM;
    }
    return a->run->handler->head(a->run->handler->user, r, head);
}

static int on_bytes(void *user, unsigned slot, const void *data, size_t len)
{
    const struct xd_audit_reads *a = user;
    struct xd_audit_read *r = read_of(a, slot);

    r->received += len;
    /* Without this condition, a depot that sends only a few bytes per request
     * would get requests forever. */
    if (r->received >= TRICKLE_BYTES ||
        r->received >= r->request.length - r->received)
        r->failures = 0;
    a->run->bytes_done += len;
    line_of(a->run, r)->bytes += len;
    return a->run->handler->bytes(a->run->handler->user, r, data, len);
}

static void end_read(struct run *run, struct xd_audit_read *r,
                     const struct xd_outcome *outcome)
{
    run->n_ended++;
    if (r->request.length != XD_TO_END)
        run->bytes_done += r->request.length;
    xd_free(r->validator);
    r->validator = NULL;
    run->handler->end(run->handler->user, r, outcome);
}

/* Makes the next attempt continue after the bytes already received. */
static void go_on(struct xd_audit_read *r)
{
    r->request.offset += r->received;
    if (r->request.length != XD_TO_END)
        r->request.length -=
            r->received < r->request.length ? r->received : r->request.length;
    if (r->received > 0)
        r->request.if_range = r->validator;
    r->received = 0;
}

/* Returns whether to read the whole object because the depot does not support
 * ranges. */
static bool can_read_whole(const struct xd_audit_read *r,
                           const struct xd_outcome *outcome)
{
    const struct xd_request *q = &r->request;

    return (outcome->verdict == XD_VERDICT_NO_RANGES ||
            outcome->verdict == XD_VERDICT_REFUSED_RANGE) &&
           !q->whole &&
           (r->reads_whole || (q->offset <= XD_SAMPLE_SKIP_MAX &&
                               q->length <= XD_SAMPLE_SKIP_MAX - q->offset));
}

static bool tries_again(const struct xd_audit_reads *a, struct xd_audit_read *r,
                        const struct xd_outcome *outcome)
{
    unsigned most = (unsigned)a->options.retry;

    if (!line_of(a->run, r)->has_answered && most > STRANGER_ATTEMPTS)
        most = STRANGER_ATTEMPTS;
    if (!xd_verdict_may_pass(outcome->verdict) || ++r->failures >= most)
        return false;
    r->retry_at = xd_now() + outcome->retry_after;
    return true;
}

/* Ends all reads of a depot that cannot be reached. */
static void end_all(struct run *run, struct xd_audit_line *line,
                    const struct xd_outcome *outcome)
{
    while (line->first != XD_NO_READ) {
        struct xd_audit_read *r = &run->list[line->first];

        line->first = r->next;
        end_read(run, r, outcome);
    }
}

/* Ends all reads of an object that did not exist for two reads in a row. */
static void end_same_object(struct run *run, struct xd_audit_line *line,
                            const struct xd_audit_read *read,
                            const struct xd_outcome *outcome)
{
    const struct xd_url *url = read->request.url;
    size_t *next = &line->first;

    if (outcome->verdict != XD_VERDICT_GONE) {
        line->gone = NULL;
        return;
    }
    if (!line->gone || xd_url_compare(line->gone, url) != 0) {
        line->gone = url;
        return;
    }
    while (*next != XD_NO_READ) {
        struct xd_audit_read *r = &run->list[*next];

        if (xd_url_compare(r->request.url, url) != 0) {
            next = &r->next;
            continue;
        }
        *next = r->next;
        end_read(run, r, outcome);
    }
}

/* Returns the outcome of a read that was given up. */
static struct xd_outcome too_slow(const struct xd_audit_read *r)
{
    struct xd_outcome outcome = {.verdict = XD_VERDICT_STOPPED,
                                 .object_size = XD_SIZE_UNKNOWN};

    xd_fail(&outcome.error, XD_E_NET, "%s: sent %llu bytes in the last %.0f s",
            xd_url_name(r->request.url).s, (ull)(r->received - r->marked),
            xd_seconds(TRICKLE_TIME));
    return outcome;
}

static void on_end(void *user, unsigned slot, const struct xd_outcome *outcome)
{
    struct xd_audit_reads *a = user;
    struct run *run = a->run;
    struct xd_audit_read *r = read_of(a, slot);
    struct xd_audit_line *line = line_of(run, r);
    struct xd_outcome given_up;

    if (r->is_given_up && outcome->verdict == XD_VERDICT_STOPPED) {
        given_up = too_slow(r);
        outcome = &given_up;
        line->n_failed = FAILED_MOST;
    }
    a->slots[slot] = XD_NO_READ;
    run->is_stale = true;
    line->is_busy = false;
    if (r->received > 0)
        line->received_in += xd_now() - r->head_at;
    if (outcome->verdict == XD_VERDICT_NO_RANGES ||
        outcome->verdict == XD_VERDICT_DIFFERENT)
        note_answer(line, xd_now() - r->head_at);
    go_on(r);
    if (can_read_whole(r, outcome)) {
        r->request.whole = true;
        return;
    }
    if (outcome->verdict != XD_VERDICT_OK && tries_again(a, r, outcome))
        return;
    line->first = r->next;
    end_read(run, r, outcome);
    end_same_object(run, line, r, outcome);
    if (xd_verdict_may_pass(outcome->verdict))
        line->n_failed++;
    else if (!r->is_given_up)
        line->n_failed = 0;
    line->is_dead = line->n_failed >= (line->has_answered ? FAILED_MOST : 1);
    if (line->is_dead)
        end_all(run, line, outcome);
}

/* ---- starting reads ---- */

static unsigned free_slot(const struct xd_audit_reads *a)
{
    unsigned slot = 0;

    while (slot < a->n_slots && a->slots[slot] != XD_NO_READ)
        slot++;
    return slot;
}

static void start(struct xd_audit_reads *a, struct xd_audit_line *line,
                  unsigned slot)
{
    struct run *run = a->run;
    struct xd_audit_read *r = &run->list[line->first];
    struct xd_outcome outcome = {.verdict = XD_VERDICT_GONE,
                                 .object_size = XD_SIZE_UNKNOWN};

    r->head_at = xd_now();
    r->marked = 0;
    a->slots[slot] = line->first;
    line->is_busy = true;
    if (r->request.length > 0 &&
        xd_runner_start(a->runner, slot, &r->request, &outcome.error) == 0)
        return;
    /* the depot had sent the whole range before the connection broke */
    if (r->request.length == 0)
        outcome.verdict = XD_VERDICT_OK;
    on_end(a, slot, &outcome);
}

/* Starts all reads that may start now.  Each depot has one read in progress at
 * a time. */
static void start_ready(struct xd_audit_reads *a, xd_usec now)
{
    struct run *run = a->run;

    run->is_stale = false;
    run->look_at = XD_NEVER;
    while (run->n_done < run->n_lines &&
           run->lines[run->n_done].first == XD_NO_READ)
        run->n_done++;
    for (size_t i = run->n_done; i < run->n_lines; i++) {
        struct xd_audit_line *line = &run->lines[i];
        unsigned slot = free_slot(a);

        if (slot == a->n_slots)
            return; /* no slot is free */
        if (line->is_busy || line->first == XD_NO_READ)
            continue;
        if (run->list[line->first].retry_at > now)
            run->look_at =
                xd_earlier(run->look_at, run->list[line->first].retry_at);
        else
            start(a, line, slot);
    }
}

/* ---- depots that are too slow ---- */

/* Returns whether to give up a read in progress.  *out_at is when to check
 * again. */
static bool trickles(const struct xd_audit_reads *a, unsigned slot, xd_usec now,
                     xd_usec *out_at)
{
    struct xd_audit_read *r = read_of(a, slot);

    *out_at = r->marked_at + TRICKLE_TIME;
    if (now < *out_at)
        return false;
    if (r->received - r->marked < TRICKLE_BYTES &&
        xd_budget_rate(&a->budget) == 0)
        return true;
    r->marked = r->received;
    r->marked_at = now;
    *out_at = now + TRICKLE_TIME;
    return false;
}

/* Returns when to call it again. */
static xd_usec stop_trickling(struct xd_audit_reads *a, xd_usec now)
{
    xd_usec next = XD_NEVER, at;

    for (unsigned slot = 0; slot < a->n_slots; slot++) {
        if (a->slots[slot] == XD_NO_READ || read_of(a, slot)->received == 0)
            continue;
        if (trickles(a, slot, now, &at)) {
            read_of(a, slot)->is_given_up = true;
            xd_runner_stop(a->runner, slot);
        }
        next = xd_earlier(next, at);
    }
    return next;
}

/* ---- the thread ---- */

static void report(const struct xd_audit_reads *a, xd_usec now)
{
    struct run *run = a->run;
    const struct xd_options *o = &a->options;
    struct xd_text line = {0};

    run->report_at = now + REPORT_EVERY;
    if (!o->log || run->bytes == 0)
        return;
    xd_text_addf(&line, "checking: %llu %% of %llu KiB",
                 (ull)(100 * ((double)run->bytes_done / (double)run->bytes)),
                 (ull)((run->bytes + 1023) / 1024));
    if (!line.failed)
        o->log(o->log_user, XD_LOG_STATUS, line.s);
    xd_text_fini(&line);
}

static void *reads_main(void *arg)
{
    struct xd_audit_reads *a = arg;
    struct run *run = a->run;

    while (run->n_ended < run->n && !atomic_load(&a->is_canceled)) {
        xd_usec now = xd_now(), next;

        run->is_over = now >= a->until;
        if (run->is_over)
            break;
        if (now >= run->report_at)
            report(a, now);
        if (run->is_stale || now >= run->look_at)
            start_ready(a, now);
        if (run->is_stale)
            continue; /* some reads ended at once, so slots are free again */
        next = xd_earlier(now + LONGEST_POLL, run->look_at);
        next = xd_earlier(next, xd_earlier(a->until, run->report_at));
        next = xd_earlier(next, stop_trickling(a, now));
        if (run->n_ended < run->n)
            xd_runner_poll(a->runner, next);
    }
    return NULL;
}

/* Queues the reads of each depot in order. */
static void line_up(struct run *run)
{
    for (size_t i = 0; i < run->n_lines; i++) {
        run->lines[i].first = XD_NO_READ;
        run->lines[i].is_busy = false;
        run->lines[i].gone = NULL;
    }
    for (size_t i = run->n; i-- > 0;) {
        struct xd_audit_read *r = &run->list[i];

        r->next = line_of(run, r)->first;
        line_of(run, r)->first = i;
        if (r->request.length != XD_TO_END)
            run->bytes += r->request.length;
    }
}

/* Ends the reads of depots that an earlier run has found dead. */
static void end_dead(struct run *run)
{
    struct xd_outcome outcome = {.verdict = XD_VERDICT_AGAIN,
                                 .is_unanswered = true,
                                 .object_size = XD_SIZE_UNKNOWN};

    for (size_t i = 0; i < run->n_lines; i++) {
        if (run->lines[i].is_dead)
            end_all(run, &run->lines[i], &outcome);
    }
}

int xd_audit_reads_run(struct xd_audit_reads *a, struct xd_audit_read *list,
                       size_t n, struct xd_audit_line *lines, size_t n_lines,
                       const struct xd_audit_handler *handler,
                       struct xd_error *err)
{
    struct run run = {.list = list,
                      .n = n,
                      .lines = lines,
                      .n_lines = n_lines,
                      .handler = handler,
                      .is_stale = true,
                      .look_at = XD_NEVER,
                      .report_at = xd_now() + REPORT_EVERY};
    struct xd_thread thread;
    int rc = 0;

    a->run = &run;
    line_up(&run);
    end_dead(&run);
    /* SIGPIPE, which a TLS write may raise, is blocked in a thread of its
     * own. */
    if (xd_thread_start(&thread, reads_main, a) < 0)
        rc = xd_fail_nomem(err);
    else
        xd_thread_join(&thread);
    a->run = NULL;
    for (size_t i = 0; i < n; i++)
        xd_free(list[i].validator);
    if (rc == 0 && run.is_over)
        rc = xd_fail(
            err, XD_E_TIMEOUT,
            "the depots were not read in the time allowed (--max-time)");
    return rc;
}

/* ---- creating and releasing ---- */

static void release(void *user)
{
    struct xd_audit_reads *a = user;

    xd_runner_free(a->runner);
    xd_net_context_free(a->context);
    if (a->has_budget)
        xd_budget_fini(&a->budget);
    xd_options_fini(&a->options);
    xd_free(a->slots);
    xd_free(a);
}

static void cancel_reads(void *user)
{
    struct xd_audit_reads *a = user;

    atomic_store(&a->is_canceled, true);
    xd_net_context_shorten_waits(a->context);
    xd_runner_wakeup(a->runner);
}

static int open_runner(struct xd_audit_reads *a, struct xd_error *err)
{
    const struct xd_registry *r = xd_registry();
    const struct xd_options *o = &a->options;
    struct xd_runner_config config = {.n_slots = a->n_slots,
                                      .silence = o->silence,
                                      .patience = o->patience,
                                      .net = &o->net,
                                      .asks_for_rest = true};
    int rc;

    if (xd_budget_init(&a->budget, o->net.limit_rate) < 0)
        return xd_fail_nomem(err);
    a->has_budget = true;
    config.budget = &a->budget;
    rc = xd_net_context_new(&a->context, err);
    config.context = a->context;
    a->handler = (struct xd_runner_handler){
        .user = a, .head = on_head, .bytes = on_bytes, .end = on_end};
    if (rc == 0)
        rc = xd_runner_new(&a->runner, &config, &a->handler, err);
    /* Opens the kinds of transport now, so that errors in the options are
     * reported first. */
    for (size_t i = r->n; rc == 0 && i-- > 0;)
        rc = xd_runner_open(a->runner, &r->kinds[i], err);
    return rc;
}

int xd_audit_reads_new(struct xd_audit_reads **out, const struct xd_options *o,
                       size_t n_depots, struct xd_error *err)
{
    struct xd_audit_reads *a = xd_alloc(1, sizeof *a);
    size_t most = o->max_depots > 0 ? (size_t)o->max_depots : MAX_SLOTS;
    int rc;

    if (!a || xd_options_copy(&a->options, o) < 0) {
        xd_free(a);
        return xd_fail_nomem(err);
    }
    atomic_init(&a->is_canceled, false);
    a->until = o->max_time > 0 ? xd_now() + o->max_time : XD_NEVER;
    a->n_slots = (unsigned)(n_depots < most ? n_depots : most);
    a->slots = xd_alloc(a->n_slots, sizeof *a->slots);
    for (unsigned i = 0; a->slots && i < a->n_slots; i++)
        a->slots[i] = XD_NO_READ;
    rc = a->slots ? open_runner(a, err) : xd_fail_nomem(err);
    if (rc < 0) {
        release(a);
        return rc;
    }
    xd_cancel_attach(o->cancel, &a->hook, cancel_reads, a);
    *out = a;
    return 0;
}

int xd_audit_reads_end(struct xd_audit_reads *a, int rc, struct xd_error *err)
{
    struct xd_cancel *cancel = xd_cancel_ref(a->options.cancel);

    xd_cancel_detach(cancel, &a->hook);
    xd_cancel_dispose(cancel, &a->cleanup, release, a);
    if (cancel && xd_cancel_is_triggered(cancel))
        rc = xd_fail(err, XD_E_CANCELED, "the caller has canceled it");
    xd_cancel_unref(cancel);
    return rc;
}
