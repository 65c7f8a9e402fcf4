/* SPDX-License-Identifier: MIT */
#include "engine/lane.h"

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/url.h"
#include "engine/addresses.h"
#include "engine/coded.h"
#include "engine/depot.h"
#include "engine/engine.h"
#include "engine/head.h"
#include "engine/sched_events.h"
#include "engine/source.h"
#include "engine/trust/copies.h"
#include "engine/trust/discard.h"
#include "engine/trust/pages.h"
#include "engine/trust/validators.h"
#include "manifest/parse.h"

/* Ends a request that the runner has not started. */
static void end_unasked(struct xd_lane *lane, enum xd_verdict verdict,
                        const struct xd_error *error)
{
    lane->is_over = true;
    lane->outcome = (struct xd_outcome){
        .verdict = verdict, .error = *error, .object_size = XD_SIZE_UNKNOWN};
}

/* Returns true if a content encoding of the response may be ignored, because
 * the file itself is compressed or hashes find wrong bytes.  A size found by
 * the size probe is compared with the bytes later. */
static bool takes_encoded_locked(const struct xd_engine *e,
                                 const struct xd_depot_source *s)
{
    struct xd_file file = {.struct_size = sizeof file};
    struct xd_hash hash = {.struct_size = sizeof hash};

    if (!s || xd_manifest_file(e->depots.manifest, e->depots.file, &file) < 0)
        return false;
    return xd_url_names_compressed(xd_source_url(s)) ||
           (file.name && xd_name_is_compressed(file.name)) ||
           xd_verify_decides(e, s->range) ||
           (e->session.size_probe &&
            xd_manifest_hash(e->depots.manifest, e->depots.file, 0, &hash) ==
                0);
}

/* Chooses the header fields for a mesh node. */
static void choose_fields_locked(const struct xd_engine *e,
                                 struct xd_lane *lane)
{
    lane->fields[0] = '\0';
    if (lane->source && lane->source->is_of_node)
        xd_via_fields(&e->depots, xd_source_via(lane->source),
                      lane->range.begin, lane->fields);
}

static unsigned lead_locked(const struct xd_engine *e,
                            const struct xd_lane *lane)
{
    if (!lane->source || lane->is_coded || lane->asks_whole ||
        e->session.size_probe || lane->range.end == XD_SIZE_UNKNOWN)
        return 0;
    return xd_junctions_lead_locked(e, lane->source, lane->range);
}

/* Starts a request, which belongs to the worker's thread from here on. */
static void begin_locked(struct xd_worker *w, struct xd_lane *lane)
{
    lane->state = LANE_RUNNING;
    lane->source = lane->is_coded ? xd_coded_source_locked(w->served, lane)
                                  : xd_depot_source(w->served, lane->range);
    lane->url = xd_source_request_url(lane->source);
    lane->reach = xd_source_request_reach(lane->source);
    lane->if_range =
        xd_validators_if_range_locked(w->engine, lane->source, lane->url);
    choose_fields_locked(w->engine, lane);
    lane->media_type =
        lane->source ? xd_source_known(lane->source)->media_type : NULL;
    lane->odd_validator = 0;
    lane->takes_encoded = takes_encoded_locked(w->engine, lane->source);
    lane->wants_size = w->engine->session.size_probe != NULL;
    lane->asks_whole = w->served->knows_no_ranges;
    lane->is_known = lane->source && lane->source->has_answered;
    lane->grows = lane->source && lane->source->growth == XD_GROWTH_SAME;
    lane->lead = lead_locked(w->engine, lane);
    lane->lead_got = 0;
    lane->is_unsized =
        lane->source && xd_set_is_unsized_locked(w->engine, lane->range.begin);
    xd_addresses_begin_locked(w->served, lane);
    xd_intake_begin(&lane->in, lane->range.begin);
    lane->redundant = 0;
    lane->started = xd_now();
    lane->first_byte = XD_NEVER;
    lane->knows_way = false;
    lane->way = (struct xd_way){.n_disordered = 0};
    lane->ahead = 0;
    lane->is_over = lane->waits = false;
    lane->is_refused = false;
    lane->may_be_page = false;
    lane->longer = 0;
    lane->object_size = XD_SIZE_UNKNOWN;
}

void xd_lane_take_locked(struct xd_worker *w, struct xd_lane *lane)
{
    lane->range.end = lane->end;
    lane->start_now = !lane->stop && lane->state == LANE_ASKED;
    lane->stop_now = lane->state == LANE_RUNNING &&
                     (lane->stop || xd_lane_end(lane) >= lane->range.end);
    if (lane->state != LANE_ASKED)
        return;
    begin_locked(w, lane);
    if (lane->stop)
        end_unasked(lane, XD_VERDICT_STOPPED, &(struct xd_error){0});
}

void xd_lane_fail_locally_locked(struct xd_worker *w, struct xd_lane *lane,
                                 const struct xd_error *error)
{
    begin_locked(w, lane);
    end_unasked(lane, lane->stop ? XD_VERDICT_STOPPED : XD_VERDICT_LOCAL,
                error);
}

/* Returns true if the size becomes known only when the response ends. */
static bool is_to_end(const struct xd_lane *lane)
{
    return lane->range.end == XD_SIZE_UNKNOWN ||
           (lane->is_unsized && lane->asks_whole);
}

/* Returns true if the slot has the response that inspection started, and no
 * lane has taken it over yet. */
static bool has_begun(const struct xd_worker *w, unsigned slot)
{
    return w->begun && slot == w->begun_lane;
}

/* Takes over the response that inspection started.  Returns false if there is
 * none.  If the response belongs to another request, stops it, and the lane
 * ends as if the scheduler had cancelled it, so that its range is assigned
 * again at once. */
static bool continue_begun(struct xd_worker *w, unsigned slot,
                           const struct xd_request *request)
{
    struct xd_lane *lane = &w->lanes[slot];
    const struct xd_url *begun = w->begun;

    if (!has_begun(w, slot))
        return false;
    w->begun = NULL;
    if (!xd_runner_is_busy(w->runner, slot))
        return false;
    if (request->offset > 0 || request->if_range || request->framing ||
        xd_url_compare(request->url, begun) != 0) {
        xd_runner_stop(w->runner, slot);
        return true;
    }
    lane->ahead = xd_runner_waited(w->runner, slot);
    xd_runner_go_on(w->runner, slot, request);
    return true;
}

static void start(struct xd_worker *w, unsigned slot)
{
    struct xd_lane *lane = &w->lanes[slot];
    struct xd_depot_source *source = lane->source;
    struct xd_error error = {0};
    struct xd_request request;

    if (!lane->buffer)
        lane->buffer = xd_alloc(w->buffer_bytes, 1);
    if (!lane->buffer) {
        xd_fail_nomem(&error);
        end_unasked(lane, XD_VERDICT_AGAIN, &error);
        return;
    }
    if (!source) {
        xd_fail(&error, XD_E_NET, "%s: none of its replicas is left",
                w->served->host);
        end_unasked(lane, XD_VERDICT_AGAIN, &error);
        return;
    }
    request = (struct xd_request){
        .url = lane->url,
        .origin = xd_source_url(source),
        .reach = lane->reach,
        .offset = xd_source_at(source, lane->range.begin) - lane->lead,
        .length = is_to_end(lane) ? XD_TO_END
                                  : xd_range_length(lane->range) + lane->lead,
        .object_size = xd_source_object_size(source),
        .grows = lane->grows,
        .if_range = lane->if_range,
        .media_type = lane->media_type,
        .outages = lane->outages,
        .whole = lane->asks_whole,
        .is_known = lane->is_known,
        .owns_connection = lane->owns_connection,
        .wants_size = lane->wants_size,
        .wants_time = w->engine->options.remote_time,
        .passes_over = &lane->passes_over,
        .framing = xd_source_framing(source),
        .fields = source->is_of_node ? lane->fields : NULL,
        .is_plain = source->is_of_node,
        .takes_encoded = lane->takes_encoded};
    if (!continue_begun(w, slot, &request) &&
        xd_runner_start(w->runner, slot, &request, &error) < 0)
        end_unasked(lane, XD_VERDICT_AGAIN, &error);
}

/* Returns true if the lane may receive the bytes up to `end` of the file
 * now. */
static bool fits_window(struct xd_engine *e, const struct xd_lane *lane,
                        uint64_t end)
{
    /* if the request is stopped, a later one can fetch the rest */
    const bool can_go_on_later =
        !lane->asks_whole && lane->range.end != XD_SIZE_UNKNOWN;

    if (!can_go_on_later && atomic_load(&e->pause.is_on))
        return false;
    return !e->dest.output->has_readers || can_go_on_later ||
           xd_readers_allow(e, xd_lane_end(lane), end);
}

/* Applies a shorter end if the scheduler has set one.  The thread must not
 * touch a lane that is free. */
static void shorten(struct xd_worker *w, unsigned slot)
{
    const struct xd_lane *lane = &w->lanes[slot];

    if (xd_runner_is_busy(w->runner, slot) && !has_begun(w, slot) &&
        lane->range.end != XD_SIZE_UNKNOWN)
        xd_runner_shorten(w->runner, slot,
                          xd_source_at(lane->source, lane->range.begin) +
                              xd_range_length(lane->range));
}

void xd_lane_carry_out(struct xd_worker *w, unsigned slot)
{
    struct xd_lane *lane = &w->lanes[slot];

    if (lane->start_now)
        start(w, slot);
    else
        shorten(w, slot);
    if (lane->stop_now)
        xd_runner_stop(w->runner, slot);
}

static void count_received_locked(struct xd_worker *w, uint64_t received)
{
    w->engine->tally.bytes_received += received;
    xd_rate_add(&w->served->rate, xd_now(), received);
    if (received > 0)
        w->served->last_byte_at = xd_now();
}

static void count_redundant_locked(struct xd_worker *w, struct xd_lane *lane,
                                   uint64_t redundant)
{
    lane->redundant += redundant;
    w->served->bytes_redundant += redundant;
    w->engine->tally.bytes_redundant += redundant;
}

/* Returns true if received bytes may be used.  A byte requested by the size
 * probe may belong to another file. */
static bool counts_locked(const struct xd_engine *e, const struct xd_lane *lane)
{
    if (e->session.size_probe || lane->is_distrusted)
        return false;
    /* bytes received before a failure are kept for the next run */
    return !xd_engine_is_over_locked(e) ||
           (e->session.phase == XD_PHASE_FAIL &&
            (e->resume.notes_bytes || xd_set_keeps(e, lane->range.begin)));
}

/* Returns true if packets arrived out of order on the connection since the last
 * call. */
static bool is_disordered_locked(struct xd_worker *w, struct xd_lane *lane)
{
    const unsigned slot = (unsigned)(lane - w->lanes);
    const struct xd_way before = lane->way;
    bool is_known = lane->knows_way;

    if (!w->engine->session.sched ||
        !xd_sched_heeds_path(w->engine->session.sched))
        return false;
    lane->knows_way = xd_runner_way(w->runner, slot, &lane->way);
    return is_known && lane->knows_way &&
           lane->way.n_disordered > before.n_disordered;
}

void xd_lane_report_locked(struct xd_worker *w, struct xd_lane *lane)
{
    const uint64_t unreported = lane->in.received - lane->in.reported;

    if (!xd_intake_report(&lane->in, xd_now()))
        return;
    w->served->bytes_received += unreported;
    if (!lane->is_distrusted)
        xd_report_bytes_locked(w->engine, lane, lane->in.received,
                               is_disordered_locked(w, lane));
}

/* A write, done without the lock, and its result. */
struct write {
    struct xd_range range;
    struct xd_sink *target;
    uint64_t era;
    struct xd_pieces pieces; /* the pieces that are known now */
    int rc;                  /* negative on failure, with `error` */
    struct xd_error error;
};

/* Takes the next bytes to write from the buffer.  Returns false if there are
 * none. */
static bool take_write_locked(struct xd_worker *w, struct xd_lane *lane,
                              struct write *out)
{
    struct xd_engine *e = w->engine;
    struct xd_intake_action a;

    while (a = xd_intake_next(&lane->in, &e->ledger, counts_locked(e, lane)),
           a.kind == XD_INTAKE_COUNT_DUPLICATE)
        count_redundant_locked(w, lane, xd_range_length(a.range));
    if (a.kind == XD_INTAKE_NO_MEMORY)
        xd_engine_fail_nomem_locked(e);
    if (a.kind != XD_INTAKE_WRITE)
        return false;
    if (a.is_missing)
        xd_report_held_locked(e, a.range);
    *out = (struct write){.range = a.range,
                          .target = e->dest.target,
                          .era = e->verify.era,
                          .pieces = e->verify.pieces};
    return true;
}

/* Writes `data`, the bytes of write->range. */
static void carry_out_write(struct xd_engine *e, struct xd_lane *lane,
                            struct write *write, const unsigned char *data)
{
    write->rc =
        xd_sink_write(write->target, write->range.begin - e->wanted.begin, data,
                      (size_t)xd_range_length(write->range), &write->error);
    if (write->rc < 0 || write->target != e->dest.sink || lane->is_coded)
        return;
    write->rc = xd_resume_written(e, write->range, &write->error);
    xd_piece_hash_add(&lane->piece_hash, &write->pieces, write->era,
                      write->range, lane->range.end, data);
}

/* Accounts for written bytes.  Bytes that a repair has fetched are not in the
 * file yet. */
static void accept_written_locked(struct xd_worker *w, struct xd_lane *lane,
                                  const struct write *write)
{
    struct xd_engine *e = w->engine;
    const uint64_t length = xd_range_length(write->range);
    const bool is_in_file = write->target == e->dest.sink;

    w->served->bytes += length;
    xd_rate_add(&e->tally.rate, xd_now(), length);
    xd_verify_written_locked(e, write->range,
                             is_in_file ? &lane->piece_hash : NULL);
    if (is_in_file)
        xd_resume_written_locked(e, length);
    xd_set_written_locked(e, write->range);
}

/* Accounts for written parity, which stays claimed until its stripe is
 * decoded. */
static void accept_parity_locked(struct xd_worker *w, struct xd_lane *lane,
                                 const struct write *write)
{
    const uint64_t length = xd_range_length(write->range);

    xd_intake_passed_on(&lane->in);
    w->served->bytes += length;
    xd_rate_add(&w->engine->tally.rate, xd_now(), length);
    xd_coded_stored_locked(w->engine, lane, write->range);
}

/* Discards bytes that were not written, or whose request is not trusted any
 * more.  They must be fetched again, because other requests may have skipped
 * them. */
static void forget_written_locked(struct xd_worker *w,
                                  const struct write *write)
{
    enum xd_discard_reason why = XD_DISCARD_BAD_PIECE;

    if (write->rc < 0)
        why = XD_DISCARD_DROPPED;
    else if (w->served->is_banned)
        why = XD_DISCARD_BANNED;
    xd_discard_locked(w->engine, write->range, why);
}

static void give_written_locked(struct xd_worker *w, struct xd_lane *lane,
                                const struct write *write)
{
    struct xd_engine *e = w->engine;
    const unsigned depot =
        write->target == e->dest.sink ? w->served->number : XD_NO_DEPOT;

    if (write->rc < 0 &&
        (!xd_set_bears(e, &write->error) ||
         !xd_set_fail_locked(e, write->range, &write->error))) {
        xd_intake_drop(&lane->in);
        xd_engine_fail_locked(e, &write->error);
    } else if (write->rc == 0 && lane->is_coded && !lane->is_distrusted) {
        accept_parity_locked(w, lane, write);
    } else if (xd_intake_written(&lane->in, &e->ledger, depot) < 0) {
        xd_engine_fail_nomem_locked(e);
    } else if (write->rc < 0 || lane->is_distrusted) {
        count_redundant_locked(w, lane, xd_range_length(write->range));
        forget_written_locked(w, write);
    } else {
        accept_written_locked(w, lane, write);
    }
}

/* Compares received bytes with those that other depots have already
 * delivered. */
static void compare_locked(struct xd_worker *w, const struct xd_lane *lane)
{
    struct xd_engine *e = w->engine;
    struct xd_copies copies;

    if (!xd_copies_begin_locked(e, &copies, w->served->number,
                                xd_intake_buffered(&lane->in), lane->buffer))
        return;
    while (xd_copies_take_locked(e, &copies)) {
        xd_engine_unlock(e);
        xd_copies_read(e, &copies);
        xd_engine_lock(e);
        xd_copies_give_locked(e, &copies);
    }
    xd_copies_end_locked(e, &copies);
}

void xd_lane_flush_locked(struct xd_worker *w, struct xd_lane *lane)
{
    const struct xd_range buffered = xd_intake_buffered(&lane->in);
    struct xd_engine *e = w->engine;
    struct write write;

    count_received_locked(w, xd_range_length(buffered));
    xd_lane_report_locked(w, lane);
    if (counts_locked(e, lane) && !lane->is_coded)
        compare_locked(w, lane);
    while (take_write_locked(w, lane, &write)) {
        xd_engine_unlock(e);
        carry_out_write(e, lane, &write,
                        lane->buffer + (write.range.begin - buffered.begin));
        xd_engine_lock(e);
        give_written_locked(w, lane, &write);
    }
    xd_junctions_check_locked(e);
}

void xd_lane_abandon_locked(struct xd_worker *w, struct xd_lane *lane)
{
    if (lane->state == LANE_ASKED)
        begin_locked(w, lane);
    if (!lane->is_over)
        end_unasked(lane,
                    lane->in.flushed >= lane->range.end ? XD_VERDICT_OK
                                                        : XD_VERDICT_STOPPED,
                    &(struct xd_error){0});
}

static void note_address(struct xd_lane *lane, const char *address)
{
    if (address)
        snprintf(lane->address, sizeof lane->address, "%s", address);
}

static int on_head(void *user, unsigned slot, const struct xd_head *head)
{
    struct xd_worker *w = user;
    struct xd_lane *lane = &w->lanes[slot];

    note_address(lane, head->address);
    return xd_head_learned(w, lane, head);
}

static bool has_room(void *user, unsigned slot, size_t len)
{
    struct xd_worker *w = user;
    const struct xd_lane *lane = &w->lanes[slot];

    return fits_window(w->engine, lane, xd_lane_end(lane) + len);
}

/* Called when xdownload holds a request back or releases it.  This must not
 * look like a network outage. */
static void on_hold(void *user, unsigned slot, bool is_held)
{
    struct xd_worker *w = user;
    struct xd_engine *e = w->engine;
    const struct xd_lane *lane = &w->lanes[slot];

    xd_engine_lock(e);
    if (e->session.line && is_held)
        xd_line_held(e->session.line, lane->fetch, xd_now());
    else if (e->session.line)
        xd_line_released(e->session.line, lane->fetch, xd_now());
    xd_engine_unlock(e);
}

/* Called when a request begins or stops waiting for the governor of its host.
 * This must not look like a network outage. */
static void on_wait(void *user, unsigned slot, bool waits)
{
    struct xd_worker *w = user;
    struct xd_engine *e = w->engine;
    struct xd_lane *lane = &w->lanes[slot];

    xd_engine_lock(e);
    if (e->session.line && waits)
        xd_line_ended(e->session.line, lane->fetch);
    else if (e->session.line)
        xd_line_begun(e->session.line, lane->fetch, w->served->number,
                      xd_now());
    if (!waits)
        lane->started = xd_now();
    xd_engine_unlock(e);
}

/* Flushes the buffer while the transport continues to receive. */
static void flush(struct xd_worker *w, struct xd_lane *lane)
{
    xd_engine_lock(w->engine);
    xd_lane_flush_locked(w, lane);
    xd_engine_decide_later_locked(w->engine);
    xd_engine_unlock(w->engine);
}

/* Refuses a file of unknown size that cannot be downloaded as part of the
 * set. */
static int refuse_unsized(struct xd_lane *lane, const char *why)
{
    lane->is_refused = true;
    lane->outcome = (struct xd_outcome){.verdict = XD_VERDICT_DIFFERENT,
                                        .object_size = XD_SIZE_UNKNOWN};
    return xd_fail(&lane->outcome.error, XD_E_DIFFERENT, "%s: %s",
                   xd_url_name(xd_source_url(lane->source)).s, why);
}

/* Checks bytes of a file of unknown size.  If it fills its place in the set, it
 * may be longer, unless the response stated its size. */
static int look_at_unsized(struct xd_lane *lane, const void *data, size_t len)
{
    const struct xd_range place = lane->source->range;

    if (xd_lane_end(lane) == place.begin && xd_manifest_may_begin(data, len)) {
        lane->longer = 0;
        return refuse_unsized(lane, "may be a manifest");
    }
    if (lane->longer > 0 || (len >= place.end - xd_lane_end(lane) &&
                             lane->object_size != xd_range_length(place)))
        return refuse_unsized(lane, "is longer than its place among others");
    return 0;
}

/* Takes the bytes before the range, which serve only for comparison.  Returns
 * how many it took. */
static size_t take_lead(struct xd_worker *w, struct xd_lane *lane,
                        const void *data, size_t len)
{
    struct xd_engine *e = w->engine;
    const size_t left = lane->lead - lane->lead_got;
    const size_t n = len < left ? len : left;

    if (n == 0)
        return 0;
    memcpy(lane->lead_bytes + lane->lead_got, data, n);
    lane->lead_got += (unsigned)n;
    if (lane->lead_got < lane->lead)
        return n;
    xd_engine_lock(e);
    if (!lane->is_distrusted && !xd_engine_is_over_locked(e)) {
        xd_junctions_add_locked(e, w->served->number, lane->range.begin,
                                lane->lead_bytes);
        xd_junctions_check_locked(e);
    }
    xd_engine_unlock(e);
    return n;
}

static int on_bytes(void *user, unsigned slot, const void *data, size_t len)
{
    struct xd_worker *w = user;
    struct xd_lane *lane = &w->lanes[slot];
    const size_t n_lead = take_lead(w, lane, data, len);
    const unsigned char *from = (const unsigned char *)data + n_lead;
    int rc;

    len -= n_lead;
    if (len == 0)
        return 0;
    rc = xd_pages_look(lane, from, len);
    if (rc == 0 && lane->is_unsized)
        rc = look_at_unsized(lane, from, len);
    if (rc < 0)
        return rc;
    while (len > 0) {
        size_t buffered =
            (size_t)xd_range_length(xd_intake_buffered(&lane->in));
        size_t room = w->buffer_bytes - buffered;
        size_t n = len < room ? len : room;

        memcpy(lane->buffer + buffered, from, n);
        xd_intake_add(&lane->in, n, xd_now());
        from += n;
        len -= n;
        if (n == room)
            flush(w, lane);
    }
    return 0;
}

/* Called when the runner has ended the request.  For the transport, an object
 * may end before the range does.  Here that means that the depot has less than
 * the manifest says.  There are two exceptions: files of unknown size, and the
 * size probe, which requests a byte that an empty file does not have.  While a
 * request of the size probe runs, session.size_probe does not change, so it is
 * read without the lock. */
static void on_end(void *user, unsigned slot, const struct xd_outcome *outcome)
{
    struct xd_worker *w = user;
    struct xd_lane *lane = &w->lanes[slot];
    uint64_t end = xd_lane_end(lane);
    struct xd_error error = {0};

    lane->is_over = true;
    note_address(lane, outcome->address);
    if (lane->is_refused)
        return;
    lane->outcome = *outcome;
    lane->outcome.media_type = lane->outcome.address = NULL;
    if (outcome->verdict == XD_VERDICT_NO_RANGES) {
        xd_pages_learned(w->engine, lane, outcome->media_type);
        xd_head_type_learned(w->engine, lane, outcome->media_type);
    }
    if (outcome->verdict != XD_VERDICT_OK || end >= lane->range.end ||
        lane->range.end == XD_SIZE_UNKNOWN || w->engine->session.size_probe ||
        lane->is_unsized)
        return;
    xd_fail(&error, XD_E_DIFFERENT,
            "%s: its copy ends %llu bytes before the range that was asked for",
            w->served->host, (unsigned long long)(lane->range.end - end));
    end_unasked(lane, XD_VERDICT_DIFFERENT, &error);
    lane->outcome.object_size = lane->object_size;
}

struct xd_runner_handler xd_lane_handler(struct xd_worker *w)
{
    return (struct xd_runner_handler){.user = w,
                                      .head = on_head,
                                      .bytes = on_bytes,
                                      .has_room = has_room,
                                      .hold = on_hold,
                                      .wait = on_wait,
                                      .end = on_end};
}
