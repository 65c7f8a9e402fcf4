/* SPDX-License-Identifier: MIT */
#include "sim/request.h"

#include <string.h>

#include "base/alloc.h"
#include "sim/coded.h"
#include "sim/governed.h"

/* Longest time for a thread to wake and remove the request from libcurl. */
#define CANCEL_TIME (0.3 * (double)XD_NSEC_MS)

static unsigned number_of(const struct xd_run *r,
                          const struct xd_sim_request *q)
{
    return (unsigned)(q - r->requests);
}

static void set_timer(struct xd_run *r, const struct xd_sim_request *q,
                      enum xd_sim_kind kind, xd_nsec at)
{
    xd_net_timer(&r->net, kind, at, number_of(r, q), q->life);
}

static xd_nsec silent_at(const struct xd_run *r, const struct xd_sim_request *q)
{
    xd_usec now = xd_run_usec(r->net.now);

    return q->last_byte +
           (xd_nsec)xd_session_silence(&r->driver.session, now) * 1000;
}

/* Returns whether packets arrived out of order since the last call. */
static bool is_disordered(struct xd_sim_request *q)
{
    bool is_so = q->connection && q->connection->is_disordered;

    if (is_so)
        q->connection->is_disordered = false;
    return is_so;
}

static xd_usec round_trip(const struct xd_sim_request *q)
{
    return q->connection ? xd_run_usec(q->connection->sender.srtt) : 0;
}

static void report_bytes(struct xd_run *r, struct xd_sim_request *q)
{
    if (xd_intake_report(&q->in, xd_run_usec(r->net.now)) && !q->is_distrusted)
        xd_run_take_event(r, (struct xd_sched_event){
                                 .kind = XD_EV_BYTES,
                                 .fetch = number_of(r, q),
                                 .is_disordered = is_disordered(q),
                                 .round_trip = round_trip(q),
                                 .range = {q->range.begin, q->in.received}});
}

static void write_new(struct xd_run *r, struct xd_sim_request *q,
                      const struct xd_intake_action *a)
{
    if (a->is_missing)
        xd_run_take_event(
            r, (struct xd_sched_event){.kind = XD_EV_HELD, .range = a->range});
    r->out->depots[q->depot].bytes += xd_range_length(a->range);
    if (q->is_parity) {
        xd_intake_passed_on(&q->in);
        r->out->depots[q->depot].parity += xd_range_length(a->range);
        xd_sim_coded_stored(r, number_of(r, q), a->range);
        return;
    }
    if (xd_intake_written(&q->in, &r->driver.ledger,
                          xd_repair_is_fetching(&r->repair.core)
                              ? XD_NO_DEPOT
                              : q->depot) < 0) {
        xd_run_out_of_memory(r);
        return;
    }
    if (r->o->has_whole_hash)
        xd_sim_repair_written(r, a->range, q->depot);
    xd_trust_written(r, a->range);
}

static void count_duplicate(struct xd_run *r, struct xd_sim_request *q,
                            uint64_t bytes)
{
    r->out->depots[q->depot].redundant += bytes;
    if (q->is_parity)
        r->out->depots[q->depot].parity += bytes;
    q->redundant += bytes;
}

static void flush(struct xd_run *r, struct xd_sim_request *q)
{
    struct xd_intake_action a;

    report_bytes(r, q);
    while (a = xd_intake_next(&q->in, &r->driver.ledger, !q->is_distrusted),
           a.kind != XD_INTAKE_NOTHING) {
        if (a.kind == XD_INTAKE_WRITE)
            write_new(r, q, &a);
        else if (a.kind == XD_INTAKE_COUNT_DUPLICATE)
            count_duplicate(r, q, xd_range_length(a.range));
        else
            xd_run_out_of_memory(r);
    }
}

/* Returns how long the request had to wait for its connection. */
static xd_nsec connecting(const struct xd_sim_request *q)
{
    const struct xd_connection *c = q->connection;

    return c && c->ready_at > q->began ? c->ready_at - q->began : 0;
}

void xd_sim_request_record(struct xd_run *r, const struct xd_sim_request *q,
                           enum xd_sched_event_kind kind)
{
    struct xd_sim_record record = {
        .depot = q->depot,
        .lane = q->lane,
        .range = q->range,
        .reason = q->reason,
        .received = q->in.received - q->range.begin,
        .redundant = q->redundant,
        .began = xd_run_usec(q->began),
        .first_byte = q->first_byte < 0 ? XD_NEVER : xd_run_usec(q->first_byte),
        .ended = xd_run_usec(r->net.now),
        .connect = xd_run_usec(connecting(q)),
        .how = kind == XD_EV_DONE     ? XD_SIM_DONE
               : kind == XD_EV_FAILED ? XD_SIM_FAILED
                                      : XD_SIM_STOPPED};

    if (r->o->record)
        r->o->record(r->o->record_user, &record);
}

/* Drops the rest of a response.  Closes the connection, unless other requests
 * can use it. */
static void hang_up(struct xd_run *r, const struct xd_sim_request *q,
                    bool has_failed)
{
    struct xd_connection *c = q->connection;

    if (!c)
        return;
    if (r->o->has_http2 &&
        (xd_tcp_load(c) > 1 ||
         (!has_failed && !q->owns_connection && c->state == XD_CONN_READY)))
        xd_tcp_stop(&r->tcp, c, q->stream);
    else
        xd_tcp_close(&r->tcp, c);
}

static bool is_busy(const struct xd_run *r, unsigned depot)
{
    for (unsigned i = 0; i < r->n_requests; i++)
        if (r->requests[i].is_live && r->requests[i].depot == depot)
            return true;
    return false;
}

/* Starts to count busy time.  It is the sum of all end times minus the sum of
 * all start times. */
static void begin_busy(struct xd_run *r, unsigned depot)
{
    if (!is_busy(r, depot))
        r->out->depots[depot].busy -= xd_run_usec(r->net.now);
}

void xd_sim_request_leave(struct xd_run *r, struct xd_sim_request *q)
{
    q->is_live = false;
    if (!is_busy(r, q->depot))
        r->out->depots[q->depot].busy += xd_run_usec(r->net.now);
}

void xd_sim_request_end(struct xd_run *r, struct xd_sim_request *q,
                        enum xd_sched_event_kind kind)
{
    if (!q->is_live)
        return;
    if (kind != XD_EV_DONE || q->range.end < q->asked_end)
        hang_up(r, q, kind == XD_EV_FAILED || q->retry_at > 0);
    flush(r, q);
    if (!q->is_live) /* the last bytes of the request revealed a bad depot */
        return;
    xd_sim_request_leave(r, q);
    xd_line_ended(r->driver.session.line, number_of(r, q));
    r->out->depots[q->depot].failures += kind == XD_EV_FAILED;
    xd_sim_governed_end(r, q, kind);
    xd_sim_request_record(r, q, kind);
    /* do not trust the bytes if the depot was banned, or if only another depot
     * may deliver them now */
    const uint64_t counted_to =
        q->is_distrusted ? q->range.begin : q->in.flushed;
    xd_run_take_event(
        r, (struct xd_sched_event){.kind = kind,
                                   .fetch = number_of(r, q),
                                   .range = {q->range.begin, counted_to},
                                   .is_refusal = q->is_refused,
                                   .is_unanswered = q->is_unanswered,
                                   .retry_at = q->retry_at});
    xd_sim_coded_ended(r, number_of(r, q), q->range.begin);
}

void xd_sim_request_cut_off(struct xd_run *r, struct xd_sim_request *q)
{
    const struct xd_range unwritten = {q->in.flushed, q->in.reported};

    q->is_distrusted = true;
    xd_sim_request_end(r, q, XD_EV_CANCELED);
    xd_trust_reject(r, unwritten);
}

/* Ends a request whose depot or network has failed. */
static void fail(struct xd_run *r, struct xd_sim_request *q, bool is_unanswered)
{
    q->is_refused = q->first_byte < 0;
    q->is_unanswered =
        is_unanswered || (q->connection && q->connection->ready_at == 0);
    struct xd_line_failure failure = {
        .is_unanswered = is_unanswered,
        .is_only = !xd_sched_has_choice(r->driver.session.sched),
        .is_depots_own = true};
    bool was_line =
        xd_line_failed(r->driver.session.line, number_of(r, q), &failure,
                       xd_run_usec(r->net.now), &q->retry_at);

    r->standings[q->depot].fails |= !was_line;
    xd_sim_request_end(r, q, was_line ? XD_EV_CANCELED : XD_EV_FAILED);
}

static void take_in(struct xd_run *r, struct xd_sim_request *q, uint64_t n)
{
    bool was_empty = q->in.received == q->in.flushed;
    bool was_reported = q->in.received == q->in.reported;

    if (n > q->range.end - q->in.received)
        n = q->range.end - q->in.received;
    if (n == 0)
        return;
    xd_intake_add(&q->in, n, xd_run_usec(r->net.now));
    if (was_empty)
        set_timer(r, q, XD_SIM_FLUSH_TIMER,
                  xd_run_at(r, xd_intake_flush_at(&q->in)));
    if (was_reported)
        set_timer(r, q, XD_SIM_REPORT_TIMER,
                  xd_run_at(r, xd_intake_report_at(&q->in)));
}

/* Reports what the response header says, before its bytes. */
static void begin_answer(struct xd_run *r, const struct xd_sim_request *q)
{
    if (r->o->hint)
        xd_run_take_event(
            r, (struct xd_sched_event){
                   .kind = XD_EV_HINT,
                   .depot = q->depot,
                   .range = r->o->hint(r->o->hint_user, q->depot, q->range)});
    if (r->o->has_http2)
        xd_run_take_event(r, (struct xd_sched_event){.kind = XD_EV_SHARES,
                                                     .depot = q->depot});
}

void xd_sim_request_bytes(void *user, unsigned tag, uint64_t n)
{
    struct xd_run *r = user;
    struct xd_sim_request *q = &r->requests[tag];

    q->last_byte = r->net.now;
    r->standings[q->depot] = (struct xd_sim_standing){.fails = false};
    xd_line_received(r->driver.session.line, tag, xd_run_usec(r->net.now));
    if (q->first_byte < 0) {
        q->first_byte = r->net.now;
        if (xd_run_usec(q->first_byte - q->began) <
            r->out->depots[q->depot].first_byte)
            r->out->depots[q->depot].first_byte =
                xd_run_usec(q->first_byte - q->began);
        begin_answer(r, q);
        xd_run_take_event(r, (struct xd_sched_event){
                                 .kind = XD_EV_STARTED,
                                 .fetch = tag,
                                 .range = {q->range.begin, q->in.received}});
    }
    take_in(r, q, n);
    xd_sim_governed_bytes(r, q);
    if (q->in.received == q->range.end)
        xd_sim_request_end(r, q, XD_EV_DONE);
    else if (xd_range_length(xd_intake_buffered(&q->in)) >= r->buffer_bytes ||
             xd_intake_must_flush(&q->in, r->o->sched.window_bytes > 0,
                                  xd_run_usec(r->net.now)))
        flush(r, q);
}

void xd_sim_request_broken(void *user, unsigned tag, xd_nsec retry)
{
    struct xd_run *r = user;

    if (retry > 0)
        r->requests[tag].retry_at = xd_run_usec(r->net.now + retry);
    fail(r, &r->requests[tag], false);
}

void xd_sim_request_cancel(struct xd_run *r, const struct xd_sim_request *q)
{
    uint64_t *random = &xd_net_wire(&r->net, q->depot)->random;
    double wait = xd_sim_uniform(random) * CANCEL_TIME;

    set_timer(r, q, XD_SIM_CANCEL_TIMER, r->net.now + (xd_nsec)wait);
}

/* Returns an idle connection; with HTTP/2 the first one. */
static struct xd_connection *find_connection(struct xd_run *r, unsigned depot,
                                             bool shares)
{
    for (unsigned i = 0; i < r->tcp.n_connections; i++) {
        struct xd_connection *c = r->tcp.connections[i];

        if (c->depot == depot && c->state != XD_CONN_CLOSED &&
            (shares || xd_tcp_load(c) == 0))
            return c;
    }
    r->out->depots[depot].connections++;
    return xd_tcp_connect(&r->tcp, depot);
}

static struct xd_sim_request *request_of(struct xd_run *r, unsigned fetch)
{
    unsigned n = fetch + 16;
    struct xd_sim_request *grown;

    if (fetch < r->n_requests)
        return &r->requests[fetch];
    grown = xd_realloc(r->requests, n, sizeof *grown);
    if (!grown)
        return NULL;
    memset(grown + r->n_requests, 0, (n - r->n_requests) * sizeof *grown);
    r->requests = grown;
    r->n_requests = n;
    return &grown[fetch];
}

/* Sends the request, or waits until the depot's governor allows it. */
static void ask(struct xd_run *r, struct xd_sim_request *q)
{
    const bool shares = r->o->has_http2 && !q->owns_connection;
    const xd_usec at = xd_sim_governed_ask(r, q);

    if (at > 0) {
        set_timer(r, q, XD_SIM_ASK_TIMER, xd_run_at(r, at));
        return;
    }
    q->last_byte = r->net.now;
    q->connection = find_connection(r, q->depot, shares);
    if (!q->connection) {
        xd_run_out_of_memory(r);
        return;
    }
    q->stream = xd_tcp_request(&r->tcp, q->connection, number_of(r, q),
                               xd_range_length(q->range));
    if (r->tcp.failed)
        xd_run_out_of_memory(r);
    r->out->depots[q->depot].requests++;
    set_timer(r, q, XD_SIM_SILENCE_TIMER, silent_at(r, q));
}

void xd_sim_request_timer(struct xd_run *r, struct xd_sim_request *q,
                          enum xd_sim_kind kind)
{
    if (kind == XD_SIM_FLUSH_TIMER) {
        if (xd_intake_must_flush(&q->in, false, xd_run_usec(r->net.now)))
            flush(r, q);
    } else if (kind == XD_SIM_CANCEL_TIMER) {
        xd_sim_request_end(r, q, XD_EV_CANCELED);
    } else if (kind == XD_SIM_REPORT_TIMER) {
        report_bytes(r, q);
    } else if (kind == XD_SIM_ASK_TIMER) {
        ask(r, q);
    } else if (r->net.now >= silent_at(r, q)) {
        fail(r, q, true);
    } else {
        set_timer(r, q, kind, silent_at(r, q));
    }
}

void xd_sim_request_begin(struct xd_run *r, const struct xd_sched_action *a)
{
    struct xd_sim_request *q = request_of(r, a->fetch);
    enum xd_sim_coded_kind kind;

    if (!q) {
        xd_run_out_of_memory(r);
        return;
    }
    begin_busy(r, a->depot);
    *q = (struct xd_sim_request){.is_live = true,
                                 .owns_connection = a->owns_connection,
                                 .life = ++r->n_begun,
                                 .depot = a->depot,
                                 .lane = a->lane,
                                 .range = a->range,
                                 .reason = a->reason,
                                 .asked_end = a->range.end,
                                 .began = r->net.now,
                                 .first_byte = -1,
                                 .last_byte = r->net.now};
    xd_intake_begin(&q->in, a->range.begin);
    xd_line_begun(r->driver.session.line, a->fetch, a->depot,
                  xd_run_usec(r->net.now));
    kind = xd_sim_coded_begin(r, a);
    q->is_parity = kind == XD_SIM_IS_PARITY;
    if (kind == XD_SIM_IS_KEPT)
        set_timer(r, q, XD_SIM_CANCEL_TIMER, r->net.now);
    else
        ask(r, q);
}

void xd_sim_request_shorten(struct xd_run *r, struct xd_sim_request *q,
                            uint64_t end)
{
    q->range.end = end > q->in.received ? end : q->in.received;
    if (q->in.received >= end)
        xd_sim_request_end(r, q, XD_EV_DONE);
}
