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

/* End a request of which the runner reports nothing. */
static void end_unasked(struct xd_lane *lane, enum xd_verdict verdict,
                        const struct xd_error *error)
{
    lane->is_over = true;
    lane->outcome = (struct xd_outcome){
        .verdict = verdict, .error = *error, .object_size = XD_SIZE_UNKNOWN};
}

/* Whether what a depot says of an encoding says nothing of the bytes: the file
 * is a compressed one, or hashes find out.  What a size probe learns is checked
 * against the bytes later. */
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

/* What a request to a node of a mesh says beside its range. */
static void choose_fields_locked(const struct xd_engine *e,
                                 struct xd_lane *lane)
{
    lane->fields[0] = '\0';
    if (lane->source && lane->source->is_of_node)
        xd_via_fields(&e->depots, xd_source_via(lane->source),
                      lane->range.begin, lane->fields);
}

/* The request is the thread's own from here on. */
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
    lane->odd_validator = 0;
    lane->takes_encoded = takes_encoded_locked(w->engine, lane->source);
    lane->wants_size = w->engine->session.size_probe != NULL;
    lane->asks_whole = w->served->knows_no_ranges;
    lane->is_unsized =
        lane->source && xd_set_is_unsized_locked(w->engine, lane->range.begin);
    xd_addresses_begin_locked(w->served, lane);
    xd_intake_begin(&lane->in, lane->range.begin);
    lane->redundant = 0;
    lane->started = xd_now();
    lane->first_byte = XD_NEVER;
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

/* Where only the end of what comes tells the size. */
static bool is_to_end(const struct xd_lane *lane)
{
    return lane->range.end == XD_SIZE_UNKNOWN ||
           (lane->is_unsized && lane->asks_whole);
}

/* Whether its slot has an answer that the lane has not been asked for yet. */
static bool has_begun(const struct xd_worker *w, unsigned slot)
{
    return w->begun && slot == w->begun_lane;
}

/* True: the lane has an answer already, of inspection.  If that is not to this
 * request, it ends as if it was taken back: it is asked for again at once. */
static bool goes_on(struct xd_worker *w, unsigned slot,
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
        .offset = xd_source_at(source, lane->range.begin),
        .length = is_to_end(lane) ? XD_TO_END : xd_range_length(lane->range),
        .object_size = xd_source_object_size(source),
        .if_range = lane->if_range,
        .outages = lane->outages,
        .whole = lane->asks_whole,
        .owns_connection = lane->owns_connection,
        .wants_size = lane->wants_size,
        .passes_over = &lane->passes_over,
        .framing = xd_source_framing(source),
        .fields = source->is_of_node ? lane->fields : NULL,
        .is_plain = source->is_of_node,
        .takes_encoded = lane->takes_encoded};
    if (!goes_on(w, slot, &request) &&
        xd_runner_start(w->runner, slot, &request, &error) < 0)
        end_unasked(lane, XD_VERDICT_AGAIN, &error);
}

/* Whether bytes up to `end` of the file may be taken now. */
static bool fits_window(struct xd_engine *e, const struct xd_lane *lane,
                        uint64_t end)
{
    /* Whether what is missing when it is stopped can be asked for by itself. */
    const bool can_go_on_later =
        !lane->asks_whole && lane->range.end != XD_SIZE_UNKNOWN;

    if (!can_go_on_later && atomic_load(&e->pause.is_on))
        return false;
    return !e->dest.output->has_readers || can_go_on_later ||
           xd_readers_allow(e, xd_lane_end(lane), end);
}

/* The scheduler may have shortened it.  A lane that carries nothing is not the
 * thread's own. */
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

/* The byte that the size probe asks for may be of another file. */
static bool counts_locked(const struct xd_engine *e, const struct xd_lane *lane)
{
    if (e->session.size_probe || lane->is_distrusted)
        return false;
    /* What came before a failure is kept for the next run. */
    return !xd_engine_is_over_locked(e) ||
           (e->session.phase == XD_PHASE_FAIL &&
            (e->resume.notes_bytes || xd_set_keeps(e, lane->range.begin)));
}

void xd_lane_report_locked(struct xd_worker *w, struct xd_lane *lane)
{
    const uint64_t unreported = lane->in.received - lane->in.reported;

    if (!xd_intake_report(&lane->in, xd_now()))
        return;
    w->served->bytes_received += unreported;
    if (!lane->is_distrusted)
        xd_report_bytes_locked(w->engine, lane, lane->in.received);
}

/* What is written without the lock, and what came of it. */
struct write {
    struct xd_range range;
    struct xd_sink *target;
    uint64_t era;
    struct xd_pieces pieces; /* those that there are by now */
    int rc;                  /* negative: as `error` says */
    struct xd_error error;
};

/* False: there is nothing more to write. */
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

/* `data` is that of the range. */
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

/* What a repair fetches is not in the file yet. */
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

/* It stays claimed until its stripe is decoded. */
static void accept_parity_locked(struct xd_worker *w, struct xd_lane *lane,
                                 const struct write *write)
{
    const uint64_t length = xd_range_length(write->range);

    xd_intake_passed_on(&lane->in);
    w->served->bytes += length;
    xd_rate_add(&w->engine->tally.rate, xd_now(), length);
    xd_coded_stored_locked(w->engine, lane, write->range);
}

/* They were not written, or the request was distrusted meanwhile: they do not
 * count, and others may have left them out. */
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

/* What other depots have delivered of it already is compared. */
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

/* While it is held back, its silence says nothing of the line. */
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

/* The transport goes on meanwhile. */
static void flush(struct xd_worker *w, struct xd_lane *lane)
{
    xd_engine_lock(w->engine);
    xd_lane_flush_locked(w, lane);
    xd_engine_decide_later_locked(w->engine);
    xd_engine_unlock(w->engine);
}

/* The file of a set, of which the size was unknown, is not for its place. */
static int refuse_unsized(struct xd_lane *lane, const char *why)
{
    lane->is_refused = true;
    lane->outcome = (struct xd_outcome){.verdict = XD_VERDICT_DIFFERENT,
                                        .object_size = XD_SIZE_UNKNOWN};
    return xd_fail(&lane->outcome.error, XD_E_DIFFERENT, "%s: %s",
                   xd_url_name(xd_source_url(lane->source)).s, why);
}

/* What fills the place may be longer, unless the answer said that it is not. */
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

static int on_bytes(void *user, unsigned slot, const void *data, size_t len)
{
    struct xd_worker *w = user;
    struct xd_lane *lane = &w->lanes[slot];
    const unsigned char *from = data;
    int rc = xd_pages_look(lane, data, len);

    if (rc == 0 && lane->is_unsized)
        rc = look_at_unsized(lane, data, len);
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

/* The transport is content when an object ends before the range does; here it
 * means that the depot holds less than the manifest says.  Not so in a size probe,
 * which asks for a byte that an empty file does not have; it stays while any of
 * its requests runs, so that no lock is needed to see it. */
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
    if (outcome->verdict == XD_VERDICT_NO_RANGES)
        xd_pages_learned(w->engine, lane, outcome->media_type);
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
                                      .end = on_end};
}
