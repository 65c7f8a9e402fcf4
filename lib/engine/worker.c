/* SPDX-License-Identifier: MIT */
#include "engine/worker.h"

#include "base/alloc.h"
#include "base/error.h"
#include "engine/addresses.h"
#include "engine/begun.h"
#include "engine/depot.h"
#include "engine/depots.h"
#include "engine/engine.h"
#include "engine/lane.h"
#include "engine/outage.h"
#include "engine/request_end.h"
#include "engine/sched_events.h"
#include "engine/trust/validators.h"
#include "os/descriptors.h"

/* Called when no descriptors are left for a transport.  Ends the requests to
 * the depot, which the scheduler then assigns again.  Waits until other threads
 * may have closed some descriptors. */
static void fail_locally_locked(struct xd_worker *w,
                                const struct xd_error *error)
{
    struct xd_engine *e = w->engine;

    if (xd_engine_is_over_locked(e) || !w->depot)
        return;
    w->served = w->depot;
    for (unsigned i = 0; i < w->n_lanes; i++) {
        if (w->lanes[i].state != LANE_ASKED)
            continue;
        xd_lane_fail_locally_locked(w, &w->lanes[i], error);
        xd_addresses_end_locked(w->served, &w->lanes[i]);
        xd_request_ended_locked(e, w->served, &w->lanes[i]);
        w->lanes[i].is_over = false;
    }
    xd_engine_decide_later_locked(e);
    xd_engine_settle_locked(e);
    if (!xd_engine_is_over_locked(e))
        xd_engine_wait_locked(e, &e->work_ready, xd_now() + XD_LOCAL_PAUSE);
}

/*
 * Selects the transport for `depot`.  Returns false if the transport had to be
 * created, which releases the lock, so that everything may have changed.  The
 * worker takes requests only afterwards.  So a thread that assigns a request
 * finds a transport to wake.
 */
static bool choose_transport_locked(struct xd_worker *w)
{
    struct xd_engine *e = w->engine;
    const struct xd_transport_kind *kind = w->depot->kind;
    struct xd_error error = {0};
    int rc;

    if (xd_runner_use(w->runner, kind))
        return true;
    xd_engine_unlock(e);
    rc = xd_runner_open(w->runner, kind, &error);
    xd_engine_lock(e);
    if (rc < 0 && xd_descriptors_ran_out(error.os_errno))
        fail_locally_locked(w, &error);
    else if (rc < 0)
        xd_engine_fail_locked(e, &error);
    return false;
}

/* Waits for a depot to serve.  Returns false when the download is over.  It may
 * end while a transport is created, and then nothing wakes this thread any
 * more. */
static bool take_locked(struct xd_worker *w)
{
    struct xd_engine *e = w->engine;

    xd_engine_settle_locked(e);
    while (!xd_engine_is_over_locked(e)) {
        if (w->depot) {
            if (choose_transport_locked(w))
                break;
        } else if (!xd_engine_wait_locked(e, &e->work_ready,
                                          e->decisions.until)) {
            xd_engine_decide_later_locked(e);
        }
    }
    if (xd_engine_is_over_locked(e))
        return false;
    w->served = w->depot;
    for (unsigned i = 0; i < w->n_lanes; i++)
        xd_lane_take_locked(w, &w->lanes[i]);
    w->must_wake = true;
    return true;
}

/* Returns when poll() must return even if nothing arrives. */
static xd_usec until_locked(const struct xd_worker *w)
{
    xd_usec until = w->engine->decisions.until;

    for (unsigned i = 0; i < w->n_lanes; i++) {
        const struct xd_lane *lane = &w->lanes[i];

        until = xd_earlier(until, xd_intake_flush_at(&lane->in));
        if (lane->state == LANE_RUNNING)
            until = xd_earlier(until, xd_intake_report_at(&lane->in));
    }
    return until;
}

static void carry_out(struct xd_worker *w, xd_usec until, xd_usec silence,
                      xd_usec first_byte)
{
    xd_runner_set_silence(w->runner, silence, first_byte);
    for (unsigned i = 0; i < w->n_lanes; i++) {
        xd_lane_carry_out(w, i);
        if (w->lanes[i].is_over && !w->lanes[i].waits)
            until = 0; /* a request failed to start, so its result is known */
    }
    xd_runner_poll(w->runner, until);
}

/* Returns true if a response has begun.  The first one shows whether the
 * depot's requests share a connection. */
static bool has_answered(const struct xd_worker *w)
{
    bool has_answered = w->served->first_byte != XD_NEVER;

    for (unsigned i = 0; i < w->n_lanes; i++)
        has_answered |= w->lanes[i].state == LANE_RUNNING &&
                        w->lanes[i].first_byte != XD_NEVER;
    return has_answered;
}

static bool uses_connection(struct xd_worker *w, unsigned slot)
{
    const struct xd_lane *lane = &w->lanes[slot];

    return lane->state == LANE_RUNNING &&
           (xd_lane_end(lane) > lane->range.begin ||
            xd_runner_is_connected(w->runner, slot));
}

/* Counts the connections with running requests to the depot. */
static void count_connections_locked(struct xd_worker *w)
{
    struct xd_depot *depot = w->served;
    bool shares = depot->shares || !has_answered(w);
    bool is_shared = false, is_shared_now = false;
    unsigned used = 0, in_use = 0;

    for (unsigned i = 0; i < w->n_lanes; i++) {
        const struct xd_lane *lane = &w->lanes[i];

        if (!uses_connection(w, i))
            continue;
        if (shares && !lane->owns_connection) {
            is_shared = true;
            is_shared_now |= !lane->is_over;
        } else {
            used++;
            in_use += !lane->is_over;
        }
    }
    used += is_shared;
    if (used > 0)
        xd_report_connected_locked(w->engine, depot);
    depot->connections = in_use + is_shared_now;
    if (used > depot->most_connections)
        depot->most_connections = used;
}

/* Returns true if there was something to flush. */
static bool flush_locked(struct xd_worker *w)
{
    const bool has_readers = w->engine->dest.output->has_readers;
    bool has_flushed = false;
    xd_usec now = xd_now();

    for (unsigned i = 0; i < w->n_lanes; i++) {
        struct xd_lane *lane = &w->lanes[i];

        if (!xd_intake_must_flush(&lane->in, has_readers || lane->is_over, now))
            continue;
        xd_lane_flush_locked(w, lane);
        has_flushed = true;
    }
    return has_flushed;
}

static void give_locked(struct xd_worker *w)
{
    struct xd_engine *e = w->engine;
    bool has_flushed = flush_locked(w);
    xd_usec now = xd_now();
    bool is_due = xd_outage_look_locked(e) || has_flushed ||
                  (e->decisions.until != XD_NEVER && now >= e->decisions.until);

    count_connections_locked(w);
    for (unsigned i = 0; i < w->n_lanes; i++) {
        struct xd_lane *lane = &w->lanes[i];

        if (lane->state != LANE_RUNNING)
            continue;
        if (!lane->is_over)
            xd_addresses_look_locked(e, w->served, lane);
        else if (!lane->waits && !e->session.size_probe)
            xd_addresses_end_locked(w->served, lane);
        lane->waits =
            lane->is_over && xd_validators_wait_locked(e, w->served, lane);
        if (lane->waits)
            continue;
        if (lane->is_over) {
            xd_request_ended_locked(e, w->served, lane);
            lane->is_over = false;
            is_due = true;
        } else if (xd_intake_report_at(&lane->in) <= now) {
            xd_lane_report_locked(w, lane);
            is_due = true;
        }
    }
    if (is_due)
        xd_engine_decide_later_locked(e);
}

/* Ends the requests of all lanes when the download is over.  Bytes received
 * before a failure are kept for the next run. */
static void leave_locked(struct xd_worker *w)
{
    struct xd_engine *e = w->engine;

    if (w->depot)
        w->served = w->depot;
    if (w->served)
        w->served->connections = 0;
    for (unsigned i = 0; i < w->n_lanes; i++) {
        if (w->lanes[i].state == LANE_FREE)
            continue;
        if (w->lanes[i].state == LANE_RUNNING)
            xd_lane_flush_locked(w, &w->lanes[i]);
        xd_lane_abandon_locked(w, &w->lanes[i]);
        xd_request_ended_locked(e, w->served, &w->lanes[i]);
    }
    e->workers.n_serving--;
    xd_cond_signal(&e->bytes_ready);
}

/* A mesh node sends nothing while it waits for others to fill a chunk, so its
 * timeout is this many times longer.  The scheduler requests the delayed bytes
 * from other depots earlier (sched/tiers.c). */
#define FILLS 6

/* Returns how long a depot may send nothing before its request fails. */
static xd_usec silence_locked(const struct xd_worker *w)
{
    xd_usec silence = xd_session_silence(&w->engine->session, xd_now());

    return w->served && w->served->node_id ? FILLS * silence : silence;
}

/* Returns how long a server may take to answer a request, if that is longer
 * than the limit of silence: the option patience, unless another depot can
 * deliver the bytes.  Otherwise returns 0. */
static xd_usec first_byte_locked(const struct xd_worker *w, xd_usec silence)
{
    const struct xd_engine *e = w->engine;
    const struct xd_sched *sched = e->session.sched;
    bool waits = false;

    for (unsigned i = 0; i < w->n_lanes; i++)
        waits |= w->lanes[i].state == LANE_RUNNING &&
                 w->lanes[i].first_byte == XD_NEVER;
    if (!waits || !w->served || w->served->node_id)
        return 0;
    return !sched || xd_sched_is_last_hope(sched, w->served->number, silence,
                                           xd_engine_clock_locked(e))
               ? xd_options_first_byte(&e->options)
               : 0;
}

static void *worker_main(void *arg)
{
    struct xd_worker *w = arg;
    struct xd_engine *e = w->engine;

    xd_engine_lock(e);
    while (take_locked(w)) {
        xd_usec until = until_locked(w), silence = silence_locked(w);
        xd_usec first_byte = first_byte_locked(w, silence);

        xd_engine_unlock(e);
        carry_out(w, until, silence, first_byte);
        xd_engine_lock(e);
        w->must_wake = false;
        give_locked(w);
    }
    leave_locked(w);
    xd_engine_unlock(e);
    xd_runner_close(w->runner);
    return NULL;
}

/* Takes over the request that inspection started for this depot. */
static bool take_begun(struct xd_worker *w, const struct xd_depot *depot,
                       const struct xd_runner_config *config)
{
    struct xd_begun *b = w->engine->begun;

    if (!b || !b->runner || xd_depots_find(&w->engine->depots, b->url) != depot)
        return false;
    w->runner = b->runner;
    b->runner = NULL;
    w->begun = b->url;
    w->begun_lane = b->slot;
    xd_runner_take_over(w->runner, config, &w->handler);
    return true;
}

static int new_runner(struct xd_worker *w, const struct xd_depot *depot)
{
    struct xd_engine *e = w->engine;
    struct xd_runner_config config = {.n_slots = w->n_lanes,
                                      .n_connections =
                                          xd_options_lanes(&e->options),
                                      .silence = e->options.silence,
                                      .patience = e->options.patience,
                                      .net = &e->options.net,
                                      .context = e->context,
                                      .budget = &e->budget,
                                      .asks_for_rest = true};

    w->handler = xd_lane_handler(w);
    if (take_begun(w, depot, &config))
        return 0;
    return xd_runner_new(&w->runner, &config, &w->handler, NULL);
}

int xd_worker_new(struct xd_worker **out, struct xd_engine *e,
                  const struct xd_depot *depot)
{
    struct xd_worker *w = xd_alloc(1, sizeof *w);

    if (!w)
        return XD_E_NOMEM;
    w->engine = e;
    w->n_lanes = e->workers.n_lanes;
    w->buffer_bytes = xd_intake_buffer((size_t)e->workers.max * w->n_lanes);
    w->lanes = xd_alloc(w->n_lanes, sizeof *w->lanes);
    if (!w->lanes || new_runner(w, depot) < 0 ||
        xd_thread_start(&w->thread, worker_main, w) < 0) {
        xd_runner_free(w->runner);
        xd_free(w->lanes);
        xd_free(w);
        return XD_E_NOMEM;
    }
    *out = w;
    return 0;
}

void xd_worker_join(struct xd_worker *w)
{
    xd_thread_join(&w->thread);
}

void xd_worker_free(struct xd_worker *w)
{
    for (unsigned i = 0; i < w->n_lanes; i++) {
        xd_piece_hash_fini(&w->lanes[i].piece_hash);
        xd_free(w->lanes[i].buffer);
    }
    xd_runner_free(w->runner);
    xd_free(w->lanes);
    xd_free(w);
}
