/* SPDX-License-Identifier: MIT */
#include "engine/trust/sampler_ask.h"

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/url.h"
#include "command/records.h"
#include "engine/depot.h"
#include "engine/engine.h"
#include "engine/source.h"
#include "os/descriptors.h"

/* ---- one request ---- */

static int on_head(void *user, unsigned slot, const struct xd_head *head)
{
    struct xd_sampler *s = user;

    (void)slot;
    if (head->validator)
        snprintf(s->validator, sizeof s->validator, "%s", head->validator);
    xd_free(s->final_url);
    s->final_url = xd_url_copy(head->final_url);
    s->object_size = head->object_size;
    return 0;
}

static int on_bytes(void *user, unsigned slot, const void *data, size_t len)
{
    struct xd_sampler *s = user;

    (void)slot;
    if (len > sizeof s->buffer - s->filled)
        return XD_E_BUG; /* more than was requested */
    memcpy(s->buffer + s->filled, data, len);
    s->filled += len;
    return 0;
}

static void on_end(void *user, unsigned slot, const struct xd_outcome *outcome)
{
    struct xd_sampler *s = user;

    (void)slot;
    s->verdict = outcome->verdict;
}

struct xd_request xd_sampler_request(const struct xd_depot_source *source,
                                     struct xd_range range)
{
    return (struct xd_request){.url = xd_source_request_url(source),
                               .origin = xd_source_url(source),
                               .reach = xd_source_request_reach(source),
                               .takes_encoded =
                                   true, /* a content encoding does no harm:
                                            encoded bytes differ from the
                                            sample */
                               .offset = xd_source_offset(source) +
                                         (range.begin - source->range.begin),
                               .length = xd_range_length(range),
                               .object_size = xd_source_object_size(source),
                               .grows = source->growth == XD_GROWTH_SAME,
                               .framing = xd_source_framing(source)};
}

/* Returns true if the download has ended, or if the complete file need not wait
 * any longer. */
static bool is_unwanted(struct xd_engine *e)
{
    const struct xd_sampler *s = &e->sampler;
    bool result;

    xd_engine_lock(e);
    result = xd_engine_is_over_locked(e) ||
             (s->wait_until > 0 && xd_now() >= s->wait_until);
    xd_engine_unlock(e);
    return result;
}

/* Sends the request without the lock.  Stops it if it takes longer than the
 * option silence allows. */
static void carry_out(struct xd_engine *e, const struct xd_request *request)
{
    struct xd_sampler *s = &e->sampler;
    xd_usec until = xd_now() + e->options.silence, now;
    bool is_stopped = false;

    s->filled = 0;
    s->validator[0] = '\0';
    xd_free(s->final_url);
    s->final_url = NULL;
    if (xd_runner_start(s->runner, 0, request, NULL) < 0) {
        s->verdict = XD_VERDICT_STOPPED;
        return;
    }
    while (xd_runner_is_busy(s->runner, 0)) {
        now = xd_now();
        if (xd_runner_is_held(s->runner, 0))
            until = now + e->options.silence;
        if (!is_stopped && (now >= until || is_unwanted(e))) {
            xd_runner_stop(s->runner, 0);
            is_stopped = true;
        }
        xd_runner_poll(s->runner, is_stopped ? now : until);
    }
}

/* Adds the request to the statistics.  Samples count as duplicate bytes. */
static void account_locked(struct xd_engine *e,
                           const struct xd_sampler_question *q)
{
    const struct xd_sampler *s = &e->sampler;
    struct xd_fetch_record record = {
        .depot = q->depot->number,
        .begin = q->range.begin,
        .end = q->range.end,
        .received = s->filled,
        .redundant = s->filled,
        .start_s = xd_seconds(q->asked_at - e->times.started),
        .first_byte_s = -1,
        .end_s = xd_seconds(xd_now() - e->times.started),
        .code = s->verdict == XD_VERDICT_OK ? XD_OK : XD_E_NET,
        .reason = XD_FETCH_SAMPLE,
        .queued_s = xd_seconds(q->asked_at - e->times.started)};

    xd_records_put(&e->records, &record);
    e->tally.bytes_received += s->filled;
    e->tally.bytes_redundant += s->filled;
    q->depot->bytes_redundant += s->filled;
    q->depot->bytes_received += s->filled;
}

/* Waits until other threads may have closed descriptors.  Returns false when
 * the download is over. */
static bool wait_for_descriptors(struct xd_engine *e)
{
    xd_usec until = xd_now() + XD_LOCAL_PAUSE;
    bool may_continue;

    xd_engine_lock(e);
    while (!xd_engine_is_over_locked(e) &&
           xd_engine_wait_locked(e, &e->sampler.changed, until))
        ;
    may_continue = !xd_engine_is_over_locked(e);
    xd_engine_unlock(e);
    return may_continue;
}

static void open_transport(struct xd_engine *e,
                           const struct xd_transport_kind *kind)
{
    struct xd_error error = {0};
    int rc;

    while ((rc = xd_runner_open(e->sampler.runner, kind, &error)) < 0 &&
           xd_descriptors_ran_out(error.os_errno) && wait_for_descriptors(e))
        ;
    if (rc == 0)
        return;
    xd_engine_lock(e);
    xd_engine_fail_locked(e, &error);
    xd_engine_unlock(e);
}

void xd_sampler_take_locked(struct xd_engine *e, struct xd_sampler_question *q)
{
    q->asked_at = xd_now();
    q->depot->requests++;
    e->sampler.is_busy = true;
}

void xd_sampler_ask(struct xd_engine *e, const struct xd_sampler_question *q)
{
    if (q->is_anew)
        xd_runner_close(e->sampler.runner);
    open_transport(e, q->depot->kind);
    carry_out(e, &q->request);
}

bool xd_sampler_give_locked(struct xd_engine *e,
                            const struct xd_sampler_question *q)
{
    struct xd_sampler *s = &e->sampler;

    s->is_busy = false;
    if (xd_engine_is_over_locked(e))
        return false;
    account_locked(e, q);
    return s->verdict == XD_VERDICT_OK &&
           s->filled == xd_range_length(q->range);
}

/* ---- thread ---- */

/* The sampler runs one request at a time, so it uses only the first slot.  The
 * transport keeps two idle connections for each slot, so with four slots the
 * connections to the last eight depots stay open. */
#define SLOTS 4

static int new_runner(struct xd_engine *e)
{
    struct xd_sampler *s = &e->sampler;
    struct xd_runner_config config = {.n_slots = SLOTS,
                                      .silence = e->options.silence,
                                      .patience = e->options.patience,
                                      .net = &e->options.net,
                                      .context = e->context,
                                      .budget = &e->budget};

    s->handler = (struct xd_runner_handler){
        .user = s, .head = on_head, .bytes = on_bytes, .end = on_end};
    return xd_runner_new(&s->runner, &config, &s->handler, NULL);
}

void xd_sampler_run_locked(struct xd_engine *e)
{
    struct xd_sampler *s = &e->sampler;

    if (s->has_thread) {
        xd_cond_signal(&s->changed);
    } else if (!xd_engine_is_over_locked(e)) {
        if ((!s->runner && new_runner(e) < 0) ||
            xd_thread_start(&s->thread, e->hooks->sampler_main, e) < 0)
            xd_engine_fail_nomem_locked(e);
        else
            s->has_thread = true;
    }
}

void xd_sampler_wake_locked(struct xd_engine *e)
{
    xd_cond_signal(&e->sampler.changed);
    if (e->sampler.runner)
        xd_runner_wakeup(e->sampler.runner);
}

void xd_sampler_join(struct xd_engine *e)
{
    if (e->sampler.has_thread)
        xd_thread_join(&e->sampler.thread);
}
