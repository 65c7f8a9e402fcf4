/* SPDX-License-Identifier: MIT */
#include "engine/request_end.h"

#include <errno.h>
#include <string.h>

#include "base/alloc.h"
#include "base/defence.h"
#include "base/error.h"
#include "base/ping.h"
#include "command/manifests.h"
#include "command/records.h"
#include "engine/coded.h"
#include "engine/depot.h"
#include "engine/depots.h"
#include "engine/lane.h"
#include "engine/sched_events.h"
#include "engine/outage.h"
#include "engine/pings.h"
#include "engine/source.h"
#include "engine/worker.h"
#include "engine/trust/fetched_version.h"
#include "engine/trust/blame.h"
#include "engine/trust/growing.h"
#include "engine/trust/relayed.h"
#include "engine/trust/validators.h"
#include "manifest/format.h"

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

/* Returns true if repeating the request would be useless. */
static bool is_final(enum xd_verdict verdict)
{
    return verdict == XD_VERDICT_AGAIN ? !XD_DEFENDS("another-attempt")
                                       : XD_DEFENDS("refusals");
}

/* Returns true if the source is a mesh node.  A cache that does not send the
 * requested range is useless. */
static bool is_of_node(const struct xd_lane *lane)
{
    return lane->source && lane->source->is_of_node;
}

/* Returns true if the server refused with a status that seems to be about the
 * object or its range. */
static bool is_refused_by_status(const struct xd_outcome *outcome)
{
    return outcome->is_denied && (outcome->verdict == XD_VERDICT_GONE ||
                                  outcome->verdict == XD_VERDICT_REFUSED_RANGE);
}

/* Returns true if another request for the object is in flight. */
static bool has_company_locked(const struct xd_depot *depot,
                               const struct xd_lane *lane)
{
    const struct xd_worker *w = depot->worker;

    for (unsigned i = 0; w && i < w->n_lanes; i++)
        if (&w->lanes[i] != lane && w->lanes[i].source == lane->source &&
            w->lanes[i].state == LANE_RUNNING)
            return true;
    return false;
}

/* Returns true if the depot has sent no byte of the object, and answers each
 * request with an error of the server. */
static bool fails_always(const struct xd_depot *depot,
                         const struct xd_lane *lane)
{
    return lane->outcome.verdict == XD_VERDICT_AGAIN &&
           lane->outcome.is_denied && depot->failures > 2 &&
           !lane->source->has_answered && !has_company_locked(depot, lane);
}

/* Returns true if no other depot has the bytes and this depot has no other
 * object. */
static bool is_alone_locked(const struct xd_engine *e,
                            const struct xd_depot *depot)
{
    return depot->n_left == 1 &&
           (e->session.sched
                ? xd_sched_is_only_holder(e->session.sched, depot->number)
                : e->depots.n == 1);
}

/* Returns true if a depot that refused a range may send the whole object.  A
 * depot that is needed is asked for the whole object before it is given up,
 * whatever its status was. */
static bool may_give_whole_locked(const struct xd_engine *e,
                                  const struct xd_depot *depot,
                                  const struct xd_lane *lane)
{
    const struct xd_outcome *outcome = &lane->outcome;

    if (!lane->source || lane->asks_whole || is_of_node(lane))
        return false;
    if (outcome->verdict == XD_VERDICT_REFUSED_RANGE &&
        !lane->source->has_answered)
        return true;
    if (depot->first_byte == XD_NEVER
            ? !is_refused_by_status(outcome) && !fails_always(depot, lane)
            : !is_refused_by_status(outcome) || !lane->source->has_answered)
        return false;
    return is_alone_locked(e, depot);
}

/* Returns true if the size in the response differs from the size that depots
 * stated, for a list of URLs.  Other manifests state the size themselves. */
static bool has_stated_another_size(const struct xd_engine *e,
                                    const struct xd_lane *lane)
{
    return !is_of_node(lane) && lane->outcome.verdict == XD_VERDICT_DIFFERENT &&
           lane->outcome.object_size != XD_SIZE_UNKNOWN &&
           !xd_verify_decides(e, lane->range) &&
           strcmp(xd_manifest_format(e->depots.manifest), XD_FORMAT_URLS) == 0;
}

/* Returns true if one of several objects is missing, which says nothing about
 * the others. */
static bool lacks_one_locked(const struct xd_depot *depot,
                             const struct xd_lane *lane)
{
    return lane->outcome.verdict == XD_VERDICT_GONE && lane->source &&
           depot->n_left > (lane->source->is_gone ? 0 : 1);
}

/* Returns true if the file leaves the set: the response does not fit its
 * provisional place, or the file has grown before its download began.  This is
 * neither an error of the file nor of the depot. */
static bool leaves_set_locked(struct xd_engine *e, const struct xd_depot *depot,
                              const struct xd_lane *lane)
{
    const enum xd_verdict verdict = lane->outcome.verdict;
    const bool does_not_fit =
        lane->is_unsized &&
        (verdict == XD_VERDICT_DIFFERENT || verdict == XD_VERDICT_CHANGED);

    if (!does_not_fit && !(e->dest.output->has_many_files &&
                           xd_growing_has_none_locked(e, depot, lane)))
        return false;
    xd_set_leave_locked(e, lane->range.begin, lane->longer);
    return true;
}

/* Returns true if a mesh node has another version of the file. */
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
    const bool gives_whole = may_give_whole_locked(e, depot, lane);

    if (outcome->retry_after > 0)
        event.retry_at = now + outcome->retry_after;
    /* a failure could end the download before the whole object is requested */
    if ((gives_whole && outcome->verdict == XD_VERDICT_GONE) ||
        lacks_one_locked(depot, lane) || leaves_set_locked(e, depot, lane))
        event.kind = XD_EV_CANCELED;
    xd_report_event_locked(e, event);
    if (is_other_version(lane))
        xd_relayed_distrust_locked(e, depot->node);
    if (xd_validators_have_changed_locked(lane) &&
        e->dest.output->has_many_files && lane->source) {
        xd_coded_lose_source_locked(e, depot, lane->source, &outcome->error);
        xd_depot_note_failure(depot, &outcome->error);
    } else if (xd_validators_have_changed_locked(lane)) {
        xd_blame_ban_locked(e, depot->number, &outcome->error);
        depot->answers_differ = depot->is_banned;
    } else if (!is_of_node(lane) &&
               (outcome->verdict == XD_VERDICT_NO_RANGES || gives_whole)) {
        depot->knows_no_ranges = true;
        depot->sends_wrong_ranges = outcome->is_wrong_range;
        xd_report_event_locked(
            e,
            (struct xd_sched_event){.kind = XD_EV_NORANGES,
                                    .depot = depot->number,
                                    .is_last_resort = outcome->is_wrong_range});
    } else if (is_final(outcome->verdict) && lane->source) {
        xd_coded_lose_source_locked(e, depot, lane->source, &outcome->error);
        depot->answers_differ = has_stated_another_size(e, lane);
    }
}

/* Reports bytes as missing if they were reported as received but not
 * written. */
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

/* Sets the size of a file of unknown size to the number of bytes received,
 * unless only a part was requested. */
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

/* Delay before another attempt if no descriptors are left.  Other threads
 * usually close some within moments. */
#define LOCAL_RETRY XD_SECOND

/* Returns true if the network was down, or if another mesh node is to blame.
 * The request then counts as never made, and the depot can be used again at
 * *out_retry_at. */
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
    /* if the source is gone, another lane has reported the reason */
    if (lane->source && !xd_validators_have_changed_locked(lane) &&
        !leaves_set_locked(e, depot, lane))
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

/* Returns when a depot that failed is asked for the size again: after the pause
 * of its governor.  A pause that goes beyond the user's patience ends with
 * it. */
static xd_usec probe_again_at(const struct xd_engine *e, xd_usec pause,
                              xd_usec now)
{
    const xd_usec last = e->times.started + e->options.patience;

    return now < last ? xd_earlier(now + pause, last) : now + pause;
}

/* Reports that the depot did not state the size.  It may do so later, or at
 * another of its URLs. */
static void report_probe_failed_locked(struct xd_engine *e,
                                       struct xd_depot *depot,
                                       struct xd_lane *lane, xd_usec now)
{
    unsigned number = depot->number;
    const struct xd_outcome *outcome = &lane->outcome;

    xd_report_failure_locked(e, depot, outcome);
    if (outcome->is_refusal && outcome->error.os_errno == ECONNREFUSED)
        xd_pings_note_locked(depot, XD_PING_REFUSED, 0);
    if (may_give_whole_locked(e, depot, lane))
        depot->knows_no_ranges = true;
    else if (outcome->verdict != XD_VERDICT_AGAIN &&
             outcome->verdict != XD_VERDICT_LOCAL && lane->source)
        xd_depot_drop_source(depot, lane->source);
    if (xd_depot_source(depot, lane->range))
        xd_size_probe_retry(e->session.size_probe, number,
                            probe_again_at(e, outcome->retry_after, now));
    else
        xd_size_probe_failed(e->session.size_probe, number);
}

/* Reports that the size is not known yet.  As in the scheduler, this counts as
 * a failure once `patience` has elapsed. */
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

/* Returns true if the network, not the depot, ended the request.  The depot is
 * then asked again. */
static bool is_network_failure_locked(struct xd_engine *e,
                                      const struct xd_depot *depot,
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

/* Reports to the size probe what the response to a request for the first byte
 * says about the size. */
static void report_probe_locked(struct xd_engine *e, struct xd_depot *depot,
                                struct xd_lane *lane, xd_usec now)
{
    const struct xd_outcome *outcome = &lane->outcome;
    uint64_t size = outcome->object_size;

    if (is_network_failure_locked(e, depot, lane, now))
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
        /* The size of a web page is not the size of the file.  A request for
         * the whole object will show the bytes. */
        xd_size_probe_postponed(e->session.size_probe, depot->number, now);
        return;
    case XD_VERDICT_DIFFERENT: /* for example an empty object, which has no
                                  first byte */
        if (size != XD_SIZE_UNKNOWN)
            break;
        report_probe_failed_locked(e, depot, lane, now);
        return;
    case XD_VERDICT_STOPPED: /* the size has become known */
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
    /* A new connection takes about as long as a response. */
    if (depot->first_byte != XD_NEVER)
        xd_pings_note_locked(depot, XD_PING_ANSWERED, depot->first_byte / 2);
    xd_size_probe_answered(e->session.size_probe, depot->number, now, size);
}

/* Returns true if later requests need the redirect target.  A file that one
 * request has fetched needs none.  For 100,000 short files the URLs would take
 * 20 MB. */
static bool needs_final_url(const struct xd_lane *lane)
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

/* Remembers the target of a redirect, which saves a round trip for each later
 * request.  A target may expire, as signed URLs do.  Then the URL of the
 * manifest is requested again, and the depot has not failed. */
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
    if (needs_final_url(lane))
        keep_final_url_locked(lane);
    xd_free(lane->final_url);
    lane->final_url = NULL;
}

void xd_request_forget_answers_locked(const struct xd_depot *depot,
                                      struct xd_depot_source *source)
{
    const struct xd_worker *w = depot->worker;

    for (unsigned i = 0; w && i < w->n_lanes; i++)
        if (w->lanes[i].state == LANE_RUNNING && w->lanes[i].source == source)
            return;
    xd_source_forget(source);
}

/* Releases the facts from responses about a complete file of a set.  For
 * 100,000 files they would take 15 MB. */
static void forget_answers_locked(const struct xd_engine *e,
                                  const struct xd_depot *depot,
                                  const struct xd_lane *lane)
{
    struct xd_depot_source *s = lane->source;

    if (e->dest.output->has_many_files && s && s->facts &&
        xd_ledger_has(&e->ledger, XD_BYTES_DONE, s->range) &&
        !xd_fetched_version_needs(e, s))
        xd_request_forget_answers_locked(depot, s);
}

/* Records the failure of a depot after all bytes have arrived, which happens in
 * short downloads.  It only lets the user see which mirrors are useless. */
static void note_late_failure_locked(struct xd_engine *e,
                                     struct xd_depot *depot,
                                     const struct xd_lane *lane)
{
    const struct xd_outcome *outcome = &lane->outcome;
    const bool is_gone = outcome->verdict == XD_VERDICT_GONE;
    const bool has_refused = outcome->verdict == XD_VERDICT_AGAIN &&
                             !outcome->is_unanswered &&
                             outcome->error.code == XD_E_NET;

    if (!is_gone && !has_refused)
        return;
    xd_report_failure_locked(e, depot, outcome);
    if (is_gone && !lacks_one_locked(depot, lane))
        xd_depots_set_state(&e->depots, depot, XD_DEPOT_FAILED);
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
    if (lane->outcome.error.code == XD_E_NOMEM) /* not a failure of the depot */
        xd_engine_fail_locked(e, &lane->outcome.error);
    if (xd_engine_is_over_locked(e)) {
        note_late_failure_locked(e, depot, lane);
        return;
    }
    if (e->session.size_probe)
        report_probe_locked(e, depot, lane, xd_engine_clock_locked(e));
    else
        report_end_locked(e, depot, lane, now);
    xd_coded_ended_locked(e, lane);
    forget_answers_locked(e, depot, lane);
}
