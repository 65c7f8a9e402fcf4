/* SPDX-License-Identifier: MIT */
#include "engine/request_end.h"

#include <errno.h>
#include <string.h>

#include "base/alloc.h"
#include "base/defence.h"
#include "base/error.h"
#include "base/ping.h"
#include "engine/coded.h"
#include "engine/depot.h"
#include "engine/depots.h"
#include "engine/lane.h"
#include "engine/sched_events.h"
#include "engine/outage.h"
#include "engine/pings.h"
#include "engine/source.h"
#include "engine/trust/blame.h"
#include "engine/trust/relayed.h"
#include "engine/trust/validators.h"

static void record_locked(struct xd_engine *e, const struct xd_depot *depot,
                          const struct xd_lane *lane, xd_usec now)
{
    struct xd_fetch_record record = {
        .depot = depot->number,
        .begin = lane->range.begin,
        .end = lane->range.end,
        .received = lane->in.flushed - lane->range.begin,
        .redundant = lane->redundant,
        .start_s = xd_seconds(lane->started - e->times.started),
        .first_byte_s = -1,
        .end_s = xd_seconds(now - e->times.started),
        .code = lane->outcome.error.code,
        .reason = lane->reason,
        .lane = lane->number,
        .queued_s = xd_seconds(lane->queued - e->times.started),
        .name_s = xd_seconds(lane->outcome.name_time),
        .connect_s = xd_seconds(lane->outcome.connect_time)};

    if (lane->first_byte != XD_NEVER)
        record.first_byte_s = xd_seconds(lane->first_byte - e->times.started);
    if (lane->outcome.verdict == XD_VERDICT_STOPPED ||
        lane->outcome.verdict == XD_VERDICT_LOCAL)
        record.code = XD_E_CANCELED;
    xd_records_put(&e->records, &record);
    if (e->options.records)
        xd_engine_raise_locked(e, &e->notifier);
}

static void free_lane_locked(struct xd_depot *depot, struct xd_lane *lane,
                             xd_usec now)
{
    lane->state = LANE_FREE;
    if (lane->first_byte != XD_NEVER &&
        lane->first_byte - lane->started + lane->ahead < depot->first_byte)
        depot->first_byte = lane->first_byte - lane->started + lane->ahead;
    if (--depot->lanes_busy > 0)
        return;
    depot->busy_time += now - depot->busy_since;
    if (depot->state == XD_DEPOT_BUSY)
        depot->state = XD_DEPOT_IDLE;
}

/* The depot does not hold what `source` holds, unless another of its sources
 * does. */
static void lose_locked(struct xd_engine *e, struct xd_depot *depot,
                        struct xd_depot_source *source,
                        const struct xd_error *why)
{
    unsigned number = depot->number;
    struct xd_range rest = source->range;
    struct xd_rangeset held;

    if (source->is_gone)
        return; /* another lane has said so */
    xd_depot_lose_source(depot, source, why);
    if (xd_depot_holds(depot, rest, &held) < 0) {
        xd_engine_fail_nomem_locked(e);
        return;
    }
    if (depot->n_left == 0) {
        xd_depots_set_state(&e->depots, depot, XD_DEPOT_FAILED);
        xd_report_banned_locked(e, number);
        rest.begin = rest.end;
    }
    while (!xd_range_is_empty(rest)) {
        struct xd_range gap = xd_rangeset_next_gap(&held, rest);

        if (!xd_range_is_empty(gap))
            xd_report_lost_locked(e, number, gap);
        rest.begin = gap.end;
    }
    xd_rangeset_fini(&held);
    xd_coded_source_lost_locked(e, depot, source);
}

/* Whether another attempt would be in vain. */
static bool is_final(enum xd_verdict verdict)
{
    return verdict == XD_VERDICT_AGAIN ? !XD_DEFENDS("another-attempt")
                                       : XD_DEFENDS("refusals");
}

/* A depot that refuses a range, and never sent one, may send the whole
 * object. */
static bool may_give_whole_locked(const struct xd_lane *lane)
{
    return lane->outcome.verdict == XD_VERDICT_REFUSED_RANGE && lane->source &&
           !lane->source->has_answered;
}

/* A cache that does not send the range that was asked for sends nothing that is of
 * use. */
static bool is_of_node(const struct xd_lane *lane)
{
    return lane->source && lane->source->is_of_node;
}

/* A list of URLs gives no size: depots have stated it. */
static bool has_stated_another_size(const struct xd_engine *e,
                                    const struct xd_lane *lane)
{
    return !is_of_node(lane) && lane->outcome.verdict == XD_VERDICT_DIFFERENT &&
           lane->outcome.object_size != XD_SIZE_UNKNOWN &&
           !xd_verify_decides(e, lane->range) &&
           strcmp(xd_manifest_format(e->depots.manifest), "urls") == 0;
}

/* One object of several is not there, which says nothing of the others. */
static bool lacks_one_locked(const struct xd_depot *depot,
                             const struct xd_lane *lane)
{
    return lane->outcome.verdict == XD_VERDICT_GONE && lane->source &&
           depot->n_left > (lane->source->is_gone ? 0 : 1);
}

/* An answer that does not fit a provisional place says nothing against the file,
 * nor against its depot. */
static bool leaves_set_locked(struct xd_engine *e, const struct xd_lane *lane)
{
    const enum xd_verdict verdict = lane->outcome.verdict;

    if (!lane->is_unsized ||
        (verdict != XD_VERDICT_DIFFERENT && verdict != XD_VERDICT_CHANGED))
        return false;
    xd_set_leave_locked(e, lane->range.begin, lane->longer);
    return true;
}

/* A node has another version of the file. */
static bool is_other_version(const struct xd_lane *lane)
{
    const enum xd_verdict verdict = lane->outcome.verdict;

    return is_of_node(lane) &&
           (verdict == XD_VERDICT_DIFFERENT || verdict == XD_VERDICT_CHANGED);
}

static void report_failed_locked(struct xd_engine *e, struct xd_depot *depot,
                                 struct xd_lane *lane, xd_usec now)
{
    const struct xd_outcome *outcome = &lane->outcome;
    struct xd_sched_event event = {
        .kind = XD_EV_FAILED,
        .fetch = lane->fetch,
        .is_refusal = outcome->is_refusal || outcome->is_unanswered,
        .is_unanswered =
            outcome->is_unanswered || outcome->error.os_errno == ECONNREFUSED,
        .range = {lane->range.begin, lane->in.flushed}};

    if (outcome->retry_after > 0)
        event.retry_at = now + outcome->retry_after;
    if (lacks_one_locked(depot, lane) || leaves_set_locked(e, lane))
        event.kind = XD_EV_CANCELED;
    xd_report_event_locked(e, event);
    if (is_other_version(lane))
        xd_relayed_distrust_locked(e, depot->node);
    if (xd_validators_have_changed_locked(lane) &&
        e->dest.output->has_many_files && lane->source) {
        lose_locked(e, depot, lane->source, &outcome->error);
        xd_depot_note_failure(depot, &outcome->error);
    } else if (xd_validators_have_changed_locked(lane)) {
        xd_blame_ban_locked(e, depot->number, &outcome->error);
        depot->answers_differ = depot->is_banned;
    } else if (!is_of_node(lane) && (outcome->verdict == XD_VERDICT_NO_RANGES ||
                                     may_give_whole_locked(lane))) {
        depot->knows_no_ranges = true;
        depot->sends_wrong_ranges = outcome->is_wrong_range;
        xd_report_event_locked(
            e,
            (struct xd_sched_event){.kind = XD_EV_NORANGES,
                                    .depot = depot->number,
                                    .is_last_resort = outcome->is_wrong_range});
    } else if (is_final(outcome->verdict) && lane->source) {
        lose_locked(e, depot, lane->source, &outcome->error);
        depot->answers_differ = has_stated_another_size(e, lane);
    }
}

/* Bytes were reported when they were received; those that were not written are
 * missing. */
static void reject_unwritten_locked(struct xd_engine *e,
                                    const struct xd_lane *lane)
{
    struct xd_range rest = {lane->range.begin, lane->in.reported};

    while (!xd_range_is_empty(rest)) {
        struct xd_range gap =
            xd_ledger_next_gap(&e->ledger, XD_BYTES_STORED, rest);

        if (!xd_range_is_empty(gap))
            xd_report_rejected_locked(e, gap);
        rest.begin = gap.end;
    }
}

/* What came of a file of unknown size ends where that does, unless the request
 * was for less. */
static void end_unsized_locked(struct xd_engine *e, const struct xd_lane *lane)
{
    const uint64_t end = lane->in.flushed;
    struct xd_sched_event event = {.kind = XD_EV_DONE,
                                   .fetch = lane->fetch,
                                   .range = {lane->range.begin, end}};
    struct xd_range rest;

    if (end < lane->range.end) {
        event.kind = XD_EV_CANCELED;
        rest = xd_set_sized_locked(e, lane->range.begin, end);
        if (!xd_range_is_empty(rest))
            xd_verify_held_locked(e, rest);
    }
    xd_report_event_locked(e, event);
}

/* When a depot is asked again that could not be asked for want of
 * descriptors; others give theirs back within moments, or not for long. */
#define LOCAL_RETRY XD_SECOND

/* The line was down, or another node is to blame: it is as if it had not been asked,
 * until *out_retry_at. */
static bool is_excused_locked(struct xd_engine *e, struct xd_depot *depot,
                              struct xd_lane *lane, xd_usec now,
                              xd_usec *out_retry_at)
{
    const bool has_untried = xd_sched_has_untried(e->session.sched);

    return xd_outage_was_it_locked(e, lane, !has_untried, now, out_retry_at) ||
           (is_other_version(lane) &&
            xd_relayed_excuses_locked(e, depot, lane->range,
                                      &lane->outcome.error));
}

static void end_failed_locked(struct xd_engine *e, struct xd_depot *depot,
                              struct xd_lane *lane, xd_usec now)
{
    struct xd_sched_event event = {
        .kind = XD_EV_CANCELED,
        .fetch = lane->fetch,
        .range = {lane->range.begin, lane->in.flushed}};

    if (is_excused_locked(e, depot, lane, now, &event.retry_at)) {
        xd_engine_log_locked(e, XD_LOG_DEBUG, "%s", lane->outcome.error.msg);
        xd_report_event_locked(e, event);
        return;
    }
    /* Without a source, another lane has said why. */
    if (lane->source && !xd_validators_have_changed_locked(lane) &&
        !leaves_set_locked(e, lane))
        xd_report_failure_locked(e, depot, &lane->outcome);
    report_failed_locked(e, depot, lane, now);
}

static void report_end_locked(struct xd_engine *e, struct xd_depot *depot,
                              struct xd_lane *lane, xd_usec now)
{
    struct xd_sched_event event = {
        .kind = XD_EV_DONE,
        .fetch = lane->fetch,
        .range = {lane->range.begin, lane->in.flushed}};

    if (e->session.line)
        xd_line_ended(e->session.line, lane->fetch);
    if (lane->is_distrusted) {
        event.kind = XD_EV_CANCELED;
        event.range.end = lane->range.begin;
        xd_report_event_locked(e, event);
        reject_unwritten_locked(e, lane);
        return;
    }
    switch (lane->outcome.verdict) {
    case XD_VERDICT_OK:
        if (lane->range.end == XD_SIZE_UNKNOWN)
            e->wanted.end = lane->in.flushed;
        if (lane->is_cut)
            event.kind = XD_EV_CANCELED;
        if (lane->is_unsized)
            end_unsized_locked(e, lane);
        else
            xd_report_event_locked(e, event);
        break;
    case XD_VERDICT_STOPPED:
        event.kind = XD_EV_CANCELED;
        xd_report_event_locked(e, event);
        break;
    case XD_VERDICT_LOCAL:
        event.kind = XD_EV_CANCELED;
        event.retry_at = now + LOCAL_RETRY;
        xd_engine_log_locked(e, XD_LOG_DEBUG, "%s", lane->outcome.error.msg);
        xd_report_event_locked(e, event);
        break;
    case XD_VERDICT_AGAIN:
    case XD_VERDICT_GONE:
    case XD_VERDICT_NO_RANGES:
    case XD_VERDICT_REFUSED_RANGE:
    case XD_VERDICT_DIFFERENT:
    case XD_VERDICT_CHANGED:
        end_failed_locked(e, depot, lane, now);
        break;
    }
}

/* It did not tell the size; it may later, or under another of its URLs. */
static void report_probe_failed_locked(struct xd_engine *e,
                                       struct xd_depot *depot,
                                       struct xd_lane *lane, xd_usec now)
{
    unsigned number = depot->number;
    const struct xd_outcome *outcome = &lane->outcome;
    xd_usec retry_at = 0;

    xd_report_failure_locked(e, depot, outcome);
    if (outcome->is_refusal && outcome->error.os_errno == ECONNREFUSED)
        xd_pings_note_locked(depot, XD_PING_REFUSED, 0);
    if (may_give_whole_locked(lane))
        depot->knows_no_ranges = true;
    else if (outcome->verdict != XD_VERDICT_AGAIN &&
             outcome->verdict != XD_VERDICT_LOCAL && lane->source)
        xd_depot_drop_source(depot, lane->source);
    if (outcome->retry_after > 0)
        retry_at = now + outcome->retry_after;
    if (xd_depot_source(depot, lane->range))
        xd_size_probe_retry(e->session.size_probe, number, now, retry_at);
    else
        xd_size_probe_failed(e->session.size_probe, number);
}

/* As in a scheduler, it counts as a failure when patience is at its end. */
static void report_probe_postponed_locked(struct xd_engine *e,
                                          struct xd_depot *depot,
                                          struct xd_lane *lane, xd_usec now)
{
    if (now >= e->times.started + e->options.patience)
        report_probe_failed_locked(e, depot, lane, now);
    else
        xd_size_probe_postponed(e->session.size_probe, depot->number,
                                now + LOCAL_RETRY);
}

/* Whether the line has failed, or stopped the request: the depot is asked
 * again. */
static bool is_of_line_locked(struct xd_engine *e, const struct xd_depot *depot,
                              const struct xd_lane *lane, xd_usec now)
{
    enum xd_verdict verdict = lane->outcome.verdict;
    bool is_stopped = verdict == XD_VERDICT_STOPPED;
    xd_usec retry_at = now;

    xd_line_ended(e->session.line, lane->fetch);
    if (verdict == XD_VERDICT_LOCAL)
        return false;
    if (verdict == XD_VERDICT_AGAIN &&
        !xd_outage_was_it_locked(
            e, lane, !xd_size_probe_has_reserve(e->session.size_probe),
            xd_now(), &retry_at))
        return false;
    if (verdict != XD_VERDICT_AGAIN && !is_stopped)
        xd_line_answered(e->session.line, xd_now());
    if (verdict != XD_VERDICT_AGAIN &&
        !(is_stopped && xd_line_is_down(e->session.line)))
        return false;
    xd_size_probe_postponed(e->session.size_probe, depot->number,
                            xd_report_time_locked(e, retry_at));
    return true;
}

/* What a depot's answer to the first byte says of the size. */
static void report_probe_locked(struct xd_engine *e, struct xd_depot *depot,
                                struct xd_lane *lane, xd_usec now)
{
    const struct xd_outcome *outcome = &lane->outcome;
    uint64_t size = outcome->object_size;

    if (is_of_line_locked(e, depot, lane, now))
        return;
    switch (outcome->verdict) {
    case XD_VERDICT_OK:
        size = lane->object_size;
        break;
    case XD_VERDICT_NO_RANGES:
        depot->knows_no_ranges = true;
        depot->sends_wrong_ranges = outcome->is_wrong_range;
        if (!lane->may_be_page)
            break;
        /* The size of a page is not that of the file: asked for the whole it
         * sends the bytes that tell. */
        xd_size_probe_postponed(e->session.size_probe, depot->number, now);
        return;
    case XD_VERDICT_DIFFERENT: /* an empty object has no first byte */
        if (size != XD_SIZE_UNKNOWN)
            break;
        report_probe_failed_locked(e, depot, lane, now);
        return;
    case XD_VERDICT_STOPPED: /* the others' answers suffice */
        return;
    case XD_VERDICT_LOCAL:
        report_probe_postponed_locked(e, depot, lane, now);
        return;
    case XD_VERDICT_AGAIN:
    case XD_VERDICT_GONE:
    case XD_VERDICT_REFUSED_RANGE:
    case XD_VERDICT_CHANGED:
        report_probe_failed_locked(e, depot, lane, now);
        return;
    }
    depot->has_stated_size = true;
    depot->stated_size = size;
    /* A new connection takes as long as the answer does. */
    if (depot->first_byte != XD_NEVER)
        xd_pings_note_locked(depot, XD_PING_ANSWERED, depot->first_byte / 2);
    xd_size_probe_answered(e->session.size_probe, depot->number, now, size);
}

/* Where one request has had all of a file, none follows: of 100 000 short files the
 * URLs would be 20 MB. */
static bool leads_on(const struct xd_lane *lane)
{
    return lane->source && lane->final_url &&
           lane->outcome.verdict == XD_VERDICT_OK &&
           (lane->range.begin > lane->source->range.begin ||
            lane->range.end < lane->source->range.end);
}

static void keep_final_url_locked(struct xd_lane *lane)
{
    struct xd_source_facts *facts = xd_source_facts(lane->source);

    if (!facts || facts->final_url)
        return;
    facts->final_url = lane->final_url;
    facts->reach = lane->reach;
    lane->final_url = NULL;
}

/* A redirect costs a round trip, so it is followed once; but where it led to
 * may be good for a while only (a signed URL), and then the manifest's URL is
 * asked again: the depot has not failed for that. */
static void learn_url_locked(struct xd_lane *lane)
{
    struct xd_depot_source *source = lane->source;
    enum xd_verdict *verdict = &lane->outcome.verdict;

    if (source && lane->url != xd_source_url(source) && XD_DEFENDS("expiry") &&
        (*verdict == XD_VERDICT_GONE || *verdict == XD_VERDICT_AGAIN ||
         *verdict == XD_VERDICT_REFUSED_RANGE)) {
        source->final_url_fails = true;
        if (*verdict != XD_VERDICT_AGAIN)
            *verdict = XD_VERDICT_STOPPED;
    }
    if (leads_on(lane))
        keep_final_url_locked(lane);
    xd_free(lane->final_url);
    lane->final_url = NULL;
}

/* Of 100 000 files of a set what answers said of each would be 15 MB. */
static void forget_answers_locked(const struct xd_engine *e,
                                  const struct xd_worker *w,
                                  const struct xd_lane *lane)
{
    struct xd_depot_source *s = lane->source;

    if (!e->dest.output->has_many_files || !s || !s->facts ||
        !xd_ledger_has(&e->ledger, XD_BYTES_DONE, s->range))
        return;
    for (unsigned i = 0; i < w->n_lanes; i++)
        if (w->lanes[i].state == LANE_RUNNING && w->lanes[i].source == s)
            return;
    xd_source_forget(s);
}

void xd_request_ended_locked(struct xd_engine *e, struct xd_depot *depot,
                             struct xd_lane *lane)
{
    xd_usec now = xd_now();

    learn_url_locked(lane);
    record_locked(e, depot, lane, now);
    if (lane->outcome.verdict == XD_VERDICT_OK && !e->session.size_probe)
        depot->blocks++;
    free_lane_locked(depot, lane, now);
    if (lane->outcome.error.code == XD_E_NOMEM) /* no depot's failure */
        xd_engine_fail_locked(e, &lane->outcome.error);
    if (xd_engine_is_over_locked(e))
        return;
    if (e->session.size_probe)
        report_probe_locked(e, depot, lane, xd_engine_clock_locked(e));
    else
        report_end_locked(e, depot, lane, now);
    xd_coded_ended_locked(e, lane);
    forget_answers_locked(e, depot->worker, lane);
}
