/* SPDX-License-Identifier: MIT */
#include "engine/decide.h"

#include <stdio.h>

#include "base/array.h"
#include "base/error.h"
#include "engine/coded.h"
#include "engine/depot.h"
#include "engine/depot_cache.h"
#include "engine/depots.h"
#include "engine/engine.h"
#include "engine/via_watch.h"
#include "engine/lane.h"
#include "engine/lanes.h"
#include "engine/layout.h"
#include "engine/outage.h"
#include "engine/sched_events.h"
#include "engine/set.h"
#include "engine/pings.h"
#include "engine/trust/blame.h"
#include "engine/trust/discard.h"
#include "engine/trust/single_answer.h"
#include "engine/worker.h"
#include "manifest/model.h"
#include "transfer/hosts.h"

typedef unsigned long long ull;

/* Returns a free worker, preferably one that still has connections to the
 * depot. */
static struct xd_worker *free_worker_locked(struct xd_engine *e,
                                            const struct xd_depot *depot)
{
    struct xd_worker *found = NULL;

    for (unsigned i = 0; i < e->workers.n; i++) {
        struct xd_worker *w = e->workers.list[i];

        if (!w->depot && (!found || w->served == depot))
            found = w;
    }
    if (found || e->workers.n == e->workers.max)
        return found;
    if (xd_worker_new(&found, e, depot) < 0)
        return NULL;
    e->workers.list[e->workers.n++] = found;
    e->workers.n_serving++;
    return found;
}

/* Tells the scheduler what the governor of the depot's host allows.  If the
 * host is paused for longer than `patience`, the runner refuses new
 * requests. */
static void govern_locked(struct xd_engine *e, struct xd_depot *depot)
{
    const xd_usec now = xd_now();
    struct xd_governor_terms terms = xd_host_terms(depot->at_host, now);

    if (terms.not_before > now + e->options.patience)
        terms.not_before = 0;
    if (terms.most_open == depot->terms.most_open &&
        terms.has_refused == depot->terms.has_refused &&
        (terms.not_before <= now ||
         terms.not_before == depot->terms.not_before))
        return;
    depot->terms = terms;
    xd_report_event_locked(
        e, (struct xd_sched_event){.kind = XD_EV_GOVERNED,
                                   .depot = depot->number,
                                   .max_lanes = terms.most_open,
                                   .is_sparing = terms.has_refused,
                                   .retry_at = terms.not_before});
}

static void open_locked(struct xd_engine *e, struct xd_depot *depot)
{
    struct xd_worker *w = free_worker_locked(e, depot);

    if (!w) {
        xd_engine_fail_nomem_locked(e);
        return;
    }
    w->depot = depot;
    depot->worker = w;
    if (!depot->at_host)
        depot->at_host = xd_host_take(&depot->url);
    govern_locked(e, depot);
    xd_depots_set_state(&e->depots, depot, XD_DEPOT_IDLE);
    xd_engine_raise_locked(e, &e->notifier);
    xd_cond_broadcast(&e->work_ready);
    xd_runner_wakeup(w->runner);
    xd_engine_log_locked(e, XD_LOG_DEBUG, "%s: opened", depot->host);
}

static void park_locked(struct xd_engine *e, struct xd_depot *depot)
{
    depot->worker->depot = NULL;
    depot->worker = NULL;
    if (depot->state == XD_DEPOT_PAUSED)
        xd_depots_set_state(&e->depots, depot, XD_DEPOT_FAILED);
    if (depot->state != XD_DEPOT_FAILED)
        xd_depots_set_state(&e->depots, depot, XD_DEPOT_RESERVE);
    xd_engine_raise_locked(e, &e->notifier);
    xd_engine_log_locked(e, XD_LOG_DEBUG, "%s: %s", depot->host,
                         depot->state == XD_DEPOT_FAILED ? "given up"
                                                         : "let go");
}

static int remember_fetch_locked(struct xd_engine *e, unsigned fetch,
                                 struct xd_lane *lane)
{
    struct xd_decisions *d = &e->decisions;

    if (fetch >= d->n_lanes) {
        size_t n = fetch + 16u;

        if (xd_lengthen(&d->lanes, d->n_lanes, n, sizeof lane) < 0)
            return XD_E_NOMEM;
        d->n_lanes = n;
    }
    d->lanes[fetch] = lane;
    return 0;
}

/* Starts again from the beginning after a response with a file of unknown size
 * broke off.  Bytes from another depot may belong to another file. */
static void restart_locked(struct xd_engine *e)
{
    struct xd_error error = {0};

    if (xd_ledger_bytes(&e->ledger, XD_BYTES_STORED) > 0)
        xd_discard_locked(e, (struct xd_range){0, XD_SIZE_UNKNOWN},
                          XD_DISCARD_RESTARTED);
    if (e->readers.handed_out > 0) {
        xd_fail(&error, XD_E_NOREPLICA,
                "the depot broke off after %llu bytes of a file of unknown "
                "size, which were written out already",
                (ull)e->readers.handed_out);
        xd_engine_fail_locked(e, &error);
    }
}

static void fetch_locked(struct xd_engine *e,
                         const struct xd_sched_action *action)
{
    struct xd_depot *depot = e->depots.list[action->depot];
    struct xd_lane *lane = &depot->worker->lanes[action->lane];

    if (remember_fetch_locked(e, action->fetch, lane) < 0) {
        xd_engine_fail_nomem_locked(e);
        return;
    }
    if (action->range.end == XD_SIZE_UNKNOWN)
        restart_locked(e);
    lane->state = LANE_ASKED;
    lane->fetch = action->fetch;
    lane->range = action->range;
    lane->end = action->range.end;
    lane->owns_connection = action->owns_connection;
    lane->stop = false;
    lane->is_distrusted = false;
    lane->is_coded = lane->is_cut = false;
    lane->reason = action->reason;
    lane->number = action->lane;
    lane->queued = xd_now();
    if (e->session.line) {
        xd_line_begun(e->session.line, action->fetch, action->depot, xd_now());
        lane->outages = xd_line_outages(e->session.line);
    }
    if (depot->lanes_busy++ == 0) {
        depot->busy_since = xd_now();
        depot->is_connected = false;
    }
    xd_depots_set_state(&e->depots, depot, XD_DEPOT_BUSY);
    depot->requests++;
    /* a reader inside the stripe needs all of it now */
    if (xd_coded_fetch_locked(e, depot, lane))
        xd_readers_widen_locked(e);
    xd_lanes_wake_locked(e, lane);
}

static void shorten_locked(struct xd_engine *e,
                           const struct xd_sched_action *action)
{
    struct xd_lane *lane = e->decisions.lanes[action->fetch];

    if (action->range.end >= lane->end)
        return;
    lane->end = action->range.end;
    lane->is_cut = false;
    xd_lanes_wake_locked(e, lane);
}

/* Returns why the depot does not deliver the byte, or NULL.  In a set, the last
 * error of the depot may belong to another file. */
static const struct xd_kept_error *why_not(const struct xd_engine *e,
                                           const struct xd_depot *d,
                                           uint64_t byte)
{
    return e->dest.output->has_many_files ? xd_depot_why_not(d, byte)
                                          : d->last_error;
}

/* Ranks failures by how much they explain: wrong bytes explain most, then a
 * missing login, then a missing object. */
static int weight(const struct xd_depot *depot, const struct xd_kept_error *why)
{
    if (why->code == XD_E_CORRUPT)
        return 2;
    return depot->needs_login && why == depot->last_error;
}

/* Returns the failure that explains most.  Among equals, returns the last
 * one. */
static struct xd_error worst_failure(const struct xd_engine *e, uint64_t byte,
                                     unsigned *out_n_failed)
{
    const struct xd_kept_error *worst = NULL;
    int most = 0;

    *out_n_failed = 0;
    for (size_t i = 0; i < e->depots.n; i++) {
        const struct xd_depot *d = e->depots.list[i];
        const struct xd_kept_error *why = why_not(e, d, byte);

        if (!why)
            continue;
        ++*out_n_failed;
        if (weight(d, why) < most)
            continue;
        worst = why;
        most = weight(d, why);
    }
    return xd_kept_error_get(worst);
}

/* Describes what happened earlier to the byte, or to its stripe.  Writes "" if
 * nothing did. */
static void describe_past_locked(const struct xd_engine *e, uint64_t at,
                                 char *out, size_t size)
{
    const struct xd_model_stripe *stripe;
    const unsigned n = xd_coded_n_left_locked(e, at, &stripe);
    enum xd_discard_reason reason;

    *out = '\0';
    if (stripe)
        snprintf(out, size,
                 " (stripe %llu takes %u shards to be decoded, and %u %s left)",
                 (ull)stripe->number, stripe->k, n, n == 1 ? "is" : "are");
    else if (xd_ledger_was_discarded(&e->ledger, at, &reason))
        snprintf(out, size, " (bytes that came were discarded: %s)",
                 xd_discard_reason_text(reason));
}

/* Describes why no depot can deliver the bytes from `at` on. */
static void describe_gap_locked(const struct xd_engine *e, uint64_t at,
                                struct xd_error *out)
{
    unsigned n_failed;
    const struct xd_error why = worst_failure(e, at, &n_failed);
    const uint64_t in_file = at - xd_set_begin_of(e, at);
    char past[128];

    describe_past_locked(e, at, past, sizeof past);
    if (n_failed == 0)
        xd_fail(out, XD_E_NOREPLICA, "no depot is left that holds byte %llu%s",
                (ull)in_file, past);
    else if (n_failed == 1)
        xd_fail_because(out, XD_E_NOREPLICA, &why,
                        "no depot is left that holds byte %llu%s: %s",
                        (ull)in_file, past, why.msg);
    else
        xd_fail_because(out, XD_E_NOREPLICA, &why,
                        "no depot is left that holds byte %llu%s: %u failed, "
                        "one with: %s",
                        (ull)in_file, past, n_failed, why.msg);
    if (why.code == XD_E_CORRUPT)
        out->code = XD_E_CORRUPT;
}

/* Returns true if the download continues, because only files of a set or
 * readers at the gap fail. */
static bool give_up_locked(struct xd_engine *e, struct xd_range gap)
{
    struct xd_error error = {0};

    describe_gap_locked(e, gap.begin, &error);
    if (xd_set_fail_locked(e, gap, &error))
        return true;
    if (e->readers.by_demand)
        xd_readers_gap_locked(e, gap, &error);
    else
        xd_engine_fail_locked(e, &error);
    return e->readers.by_demand;
}

/* Logs options that the scheduler lowered because blocks must fit into the
 * lookahead. */
static void log_lowered_locked(struct xd_engine *e,
                               const struct xd_sched_options *asked)
{
    const struct xd_sched_options *used = xd_sched_options(e->session.sched);

    if (used->block_bytes < asked->block_bytes &&
        xd_options_is_set(&e->options, "block-size"))
        xd_engine_log_locked(e, XD_LOG_WARN,
                             "block-size is lowered from %llu to %llu, so that "
                             "four blocks fit in "
                             "the lookahead",
                             (ull)asked->block_bytes, (ull)used->block_bytes);
    if (asked->progress != XD_AUTO && used->progress < asked->progress)
        xd_engine_log_locked(
            e, XD_LOG_WARN,
            "progress-number is lowered from %llu to %llu: it is at most the "
            "blocks of the lookahead less two",
            (ull)asked->progress, (ull)used->progress);
}

static int wanted_locked(struct xd_engine *e, struct xd_error *err)
{
    uint64_t size = e->depots.size;

    if (size == XD_SIZE_UNKNOWN && !xd_options_want_all(&e->options))
        return xd_fail(err, XD_E_INVAL,
                       "range: no depot states the size of the file");
    return xd_options_wanted(&e->options, size, &e->wanted, err);
}

/* Reports to a new scheduler what is known about the depots. */
static int report_known_locked(struct xd_engine *e)
{
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < e->depots.n; i++) {
        const struct xd_depot *d = e->depots.list[i];
        struct xd_sched_event event = {.now = xd_engine_clock_locked(e),
                                       .depot = (unsigned)i};

        event.kind = XD_EV_NORANGES;
        event.is_last_resort = d->sends_wrong_ranges;
        if (d->knows_no_ranges)
            rc = xd_sched_event(e->session.sched, &event);
        event.kind = XD_EV_SHARES;
        if (rc == 0 && d->shares)
            rc = xd_sched_event(e->session.sched, &event);
    }
    return rc;
}

struct xd_sched_options xd_decide_options(const struct xd_options *o,
                                          uint64_t window)
{
    return (struct xd_sched_options){
        .policy = xd_policy_find(xd_options_algorithm(o)),
        .redundancy = (unsigned)o->redundancy,
        .progress = o->progress_number,
        .lanes_per_depot = xd_options_lanes(o),
        .first_lanes = xd_options_first_lanes(o),
        .max_open = xd_options_most_depots(o),
        .block_bytes = o->block_bytes,
        .window_bytes = window,
        .max_failures = (unsigned)o->retry,
        .patience = o->patience,
        .run_losers = o->no_cancel || o->whole_blocks,
        .whole_blocks = o->whole_blocks};
}

static int make_sched_locked(struct xd_engine *e, struct xd_error *err)
{
    const struct xd_options *o = &e->options;
    struct xd_sched_options options =
        xd_decide_options(o, xd_readers_window_locked(e));
    struct xd_layout layout;
    int rc;

    options.has_gaps = e->readers.by_demand || e->dest.output->has_many_files;
    options.most_objects = xd_set_most_begun(e);
    options.max_pings = e->pings.max;
    options.connections_per_depot = options.lanes_per_depot;
    options.lanes_per_depot = e->workers.n_lanes;
    options.runs_on = !xd_engine_is_bounded(e);
    if (xd_options_have_blocks(o) && e->wanted.end != XD_SIZE_UNKNOWN &&
        xd_range_length(e->wanted) / o->block_bytes >= XD_DECIDE_MOST_BLOCKS)
        return xd_fail(err, XD_E_INVAL,
                       "block-size: %llu bytes in blocks of %llu are too many "
                       "blocks",
                       (ull)xd_range_length(e->wanted), (ull)o->block_bytes);
    rc = xd_depots_layout(&e->depots, e->wanted, &layout, err);
    if (rc < 0)
        return rc;
    e->session.sched = xd_sched_new(&layout, &options, e->wanted, &e->ledger);
    xd_layout_fini(&layout);
    if (!e->session.sched || xd_outage_start_locked(e) < 0 ||
        report_known_locked(e) < 0 || xd_pings_report_known_locked(e) < 0)
        return xd_fail_nomem(err);
    xd_set_report_unsized_locked(e);
    log_lowered_locked(e, &options);
    xd_readers_begin_locked(e);
    return 0;
}

int xd_decide_start_locked(struct xd_engine *e, struct xd_error *err)
{
    int rc = wanted_locked(e, err);

    if (rc < 0 || xd_range_is_empty(e->wanted))
        return rc;
    e->readers.handed_out = e->wanted.begin;
    rc = xd_coded_start_locked(e, err);
    if (rc == 0)
        rc = xd_verify_start_locked(e, err);
    if (rc < 0)
        return rc;
    xd_sampler_start_locked(e);
    return make_sched_locked(e, err);
}

/* Replaces the scheduler.  All lanes must be free; every depot is put in
 * reserve. */
static int replace_sched_locked(struct xd_engine *e, struct xd_error *err)
{
    for (size_t i = 0; i < e->depots.n; i++) {
        struct xd_depot *depot = e->depots.list[i];

        depot->terms = (struct xd_governor_terms){.most_open = 0};
        depot->guess.learned = xd_depot_cache_learned_locked(e, depot);
        depot->guess.begun_to = 0;
        if (depot->worker)
            park_locked(e, depot);
    }
    xd_sched_free(e->session.sched);
    e->session.sched = NULL;
    return make_sched_locked(e, err);
}

void xd_decide_renew_locked(struct xd_engine *e)
{
    struct xd_error error = {0};

    if (!e->sampler.is_on)
        xd_sampler_start_locked(e);
    if (replace_sched_locked(e, &error) < 0)
        xd_engine_fail_locked(e, &error);
}

void xd_decide_anew_locked(struct xd_engine *e)
{
    const struct xd_session_event idle = {.kind = XD_SESSION_IDLE};
    const struct xd_session_round round =
        xd_session_step(&e->session, &idle).round;
    struct xd_error error = {0};

    xd_coded_stop_locked(e);
    switch (round.kind) {
    case XD_ROUND_SINGLE_ANSWER:
        xd_single_answer_prepare_locked(e, round.depot);
        break;
    case XD_ROUND_REPAIR:
        xd_repair_prepare_locked(e);
        break;
    }
    if (xd_engine_is_over_locked(e))
        return;
    if (replace_sched_locked(e, &error) < 0)
        xd_engine_fail_locked(e, &error);
    else if (round.kind == XD_ROUND_REPAIR)
        xd_repair_fetch_locked(e);
    else
        xd_single_answer_begin_locked(e, round.depot);
}

/* Ends the size probe.  The scheduler takes over when no request is running any
 * more.  Returns true if further decisions may be due. */
static bool end_size_probe_locked(struct xd_engine *e)
{
    uint64_t size = xd_size_probe_size(e->session.size_probe);
    struct xd_error error = {0};

    if (!xd_lanes_end_locked(e))
        return false;
    xd_size_probe_free(e->session.size_probe);
    e->session.size_probe = NULL;
    for (size_t i = 0; i < e->depots.n; i++) {
        struct xd_depot *d = e->depots.list[i];
        struct xd_error why;

        if (d->worker)
            park_locked(e, d);
        if (!d->has_stated_size || d->stated_size == size)
            continue;
        xd_depot_drop_sources(d);
        xd_depots_set_state(&e->depots, d, XD_DEPOT_FAILED);
        xd_fail(&why, XD_E_DIFFERENT, "%s: has %llu bytes where most have %llu",
                d->shown_url, (ull)d->stated_size, (ull)size);
        xd_depot_set_error(d, &why);
        xd_engine_log_locked(e, XD_LOG_WARN, "%s", why.msg);
    }
    if (size != XD_SIZE_UNKNOWN)
        xd_depots_set_size(&e->depots, size);
    xd_engine_raise_locked(e, &e->notifier);
    xd_engine_step_locked(e,
                          (struct xd_session_event){.kind = XD_SESSION_SIZED});
    if (xd_decide_start_locked(e, &error) < 0)
        xd_engine_fail_locked(e, &error);
    return true;
}

static void wait_locked(struct xd_engine *e, xd_usec until)
{
    e->decisions.until = xd_outage_until_locked(
        e, xd_now(), xd_earlier(until, e->times.deadline));
}

/* Ends the fetching, because all bytes that depots can deliver have arrived. */
static bool complete_locked(struct xd_engine *e)
{
    if (!xd_junctions_hold_locked(e) &&
        (!e->session.sched || !xd_sampler_holds_locked(e)))
        xd_repair_complete_locked(e);
    return false;
}

/* Returns true if decisions must be made again, because parity or another depot
 * can be used, or because the file is fetched in a single response. */
static bool recovers_locked(struct xd_engine *e, uint64_t byte)
{
    return xd_coded_spares_locked(e, byte) ||
           xd_blame_ask_another_locked(e, byte) ||
           xd_blame_pardon_locked(e, byte) || xd_repair_gives_up_locked(e) ||
           xd_single_answer_begins_locked(e);
}

/* Handles a range that no depot can deliver.  Judges each stripe separately,
 * because a lost stripe does not affect the next.  Returns true if further
 * decisions may be due. */
static bool fail_locked(struct xd_engine *e, struct xd_range range)
{
    struct xd_range part;

    do { /* needed once even for the empty range of the size probe */
        part = xd_stripes_part(&e->coded.stripes, range);
        range.begin = part.end;
        if (xd_coded_may_come_locked(e, part))
            continue;
        if (recovers_locked(e, part.begin))
            return true;
        /* a reader may be waiting for another byte of the stripe */
        if (e->readers.by_demand && xd_coded_fail_locked(e, part.begin))
            continue;
        if (!give_up_locked(e, part))
            return false;
    } while (!xd_range_is_empty(range));
    return true;
}

/* Carries out an order of the scheduler or the size probe.  Returns true if
 * further decisions may be due. */
static bool obey_locked(struct xd_engine *e,
                        const struct xd_sched_action *action)
{
    switch (action->kind) {
    case XD_DO_WAIT:
        if (xd_set_is_over_locked(e))
            return complete_locked(e);
        wait_locked(e, action->until);
        return xd_readers_end_locked(e);
    case XD_DO_OPEN:
        open_locked(e, e->depots.list[action->depot]);
        return true;
    case XD_DO_PING:
        xd_pings_ask_locked(e, e->depots.list[action->depot]);
        return true;
    case XD_DO_PARK:
        park_locked(e, e->depots.list[action->depot]);
        return true;
    case XD_DO_FETCH:
        fetch_locked(e, action);
        return true;
    case XD_DO_SHORTEN:
        shorten_locked(e, action);
        return true;
    case XD_DO_CANCEL:
        xd_lanes_stop_locked(e, e->decisions.lanes[action->fetch]);
        return true;
    case XD_DO_FINISH:
        e->decisions.until = XD_NEVER;
        if (e->session.size_probe)
            return end_size_probe_locked(e);
        return !e->set.is_open && complete_locked(e);
    case XD_DO_FAIL:
        return fail_locked(e, action->range);
    }
    return false;
}

static void run_out_locked(struct xd_engine *e)
{
    struct xd_error error = {0};

    xd_fail(&error, XD_E_TIMEOUT, "stopped after %g s (--max-time)",
            xd_seconds(e->options.max_time));
    xd_engine_fail_locked(e, &error);
}

/* Returns true if decisions can be made.  Returns false while another thread
 * still opens the sink, and during a pause. */
static bool is_ready_locked(struct xd_engine *e)
{
    if (!e->dest.target)
        return false;
    if (e->pause.since != 0) {
        e->decisions.until = XD_NEVER;
        xd_lanes_hold_locked(e);
        return false;
    }
    return true;
}

static const char *reason_text(enum xd_lanes_reason why)
{
    switch (why) {
    case XD_LANES_USUAL:
        break;
    case XD_LANES_FAR:
        return "the depots are far, so that more are at full speed sooner";
    case XD_LANES_SHORT:
        return "objects are short, and each waits for the next one for much of "
               "its time";
    case XD_LANES_PROBE:
        return "all deliver the same rate, trying one more";
    case XD_LANES_SPREAD:
        return "more on one connection do not increase the rate, trying "
               "another one";
    case XD_LANES_TRIAL:
        return "one more was answered without delay, trying all";
    case XD_LANES_USEFUL:
        return "so many increase the rate";
    case XD_LANES_USELESS:
        return "more did not increase the rate";
    case XD_LANES_NO_WORK:
        return "there was nothing to request over another one";
    case XD_LANES_REFUSED:
        return "the depot refused another one";
    case XD_LANES_KNOWN:
        return "so many increased the rate in an earlier run";
    case XD_LANES_OUTDATED:
        return "they do not deliver what they did in an earlier run";
    }
    return "as at the start";
}

/* Logs how many connections to the depot may be used, or how many requests may
 * share one, if that number has changed. */
static void report_lanes_locked(struct xd_engine *e, struct xd_depot *depot)
{
    enum xd_lanes_reason why;
    unsigned n = xd_sched_lanes(e->session.sched, depot->number, &why);
    bool shares = xd_sched_shares(e->session.sched, depot->number);
    bool was_shared = depot->lanes_share;

    if (depot->n_lanes == n &&
        (shares == was_shared || why == XD_LANES_USUAL)) {
        depot->lanes_share = shares;
        return;
    }
    if (depot->n_lanes > 0)
        xd_engine_log_locked(
            e, XD_LOG_INFO, "%s: up to %u %s, %u%s before: %s", depot->host, n,
            shares ? "requests at a time" : "connections", depot->n_lanes,
            shares == was_shared ? ""
            : was_shared         ? " requests at a time"
                                 : " connections",
            reason_text(why));
    depot->n_lanes = n;
    depot->lanes_share = shares;
}

static struct xd_session_action next_locked(struct xd_engine *e, xd_usec now)
{
    struct xd_session *s = &e->session;
    struct xd_session_action action;

    if (s->sched)
        xd_sched_set_limit(s->sched, xd_budget_rate(&e->budget));
    for (unsigned i = 0; s->sched && i < e->workers.n; i++)
        if (e->workers.list[i]->depot)
            govern_locked(e, e->workers.list[i]->depot);
    action = xd_session_next(s, now, xd_engine_clock_locked(e));
    for (unsigned i = 0; s->sched && i < e->workers.n; i++)
        if (e->workers.list[i]->depot)
            report_lanes_locked(e, e->workers.list[i]->depot);
    return action;
}

/* Carries out an action of the session.  Returns true if further decisions may
 * be due. */
static bool act_locked(struct xd_engine *e,
                       const struct xd_session_action *action)
{
    switch (action->kind) {
    case XD_SESSION_OBEY:
    case XD_SESSION_STOP:
        return obey_locked(e, &action->order);
    case XD_SESSION_STOP_ALL:
        e->decisions.until = XD_NEVER;
        if (!xd_lanes_end_locked(e))
            return false;
        xd_decide_anew_locked(e);
        return true;
    case XD_SESSION_DOUBT:
        xd_outage_doubt_locked(e);
        return true;
    case XD_SESSION_LOSE:
        xd_outage_lose_locked(e, action->silent);
        return false;
    case XD_SESSION_REST:
        wait_locked(e, action->until);
        return false;
    case XD_SESSION_NOTHING:
        e->decisions.until = XD_NEVER;
        return false;
    case XD_SESSION_DECIDE: /* carried out by engine.c */
    case XD_SESSION_BEGIN:
    case XD_SESSION_KEEP:
    case XD_SESSION_LEAVE:
        break;
    }
    return false;
}

static void decide_locked(struct xd_engine *e)
{
    xd_usec now = xd_now();
    struct xd_session_action action;

    do {
        if (now >= e->times.deadline && !xd_engine_is_over_locked(e))
            run_out_locked(e);
        if (xd_engine_is_over_locked(e) || !is_ready_locked(e))
            return;
        xd_outage_begin_locked(e, now);
        action = next_locked(e, now);
    } while (act_locked(e, &action));
}

void xd_decide_locked(struct xd_engine *e)
{
    xd_usec late;

    xd_readers_end_waits_locked(e);
    xd_via_watch_locked(e, xd_now());
    late = xd_coded_watch_locked(e);
    decide_locked(e);
    e->decisions.until =
        xd_earlier(late, xd_readers_until_locked(e, e->decisions.until));
}
