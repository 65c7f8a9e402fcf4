#include "sim/flight.h"

#include <string.h>

#include "base/alloc.h"

/* A thread wakes, and takes the request from libcurl: so long at most. */
#define CANCEL_TIME (0.3 * (double)XD_NSEC_MS)

static unsigned number_of(const struct xd_run *r, const struct xd_flight *f)
{
    return (unsigned)(f - r->flights);
}

static void set_timer(struct xd_run *r, const struct xd_flight *f,
                      enum xd_sim_kind kind, xd_nsec at)
{
    xd_net_timer(&r->net, kind, at, number_of(r, f), f->life);
}

static xd_nsec silent_at(const struct xd_run *r, const struct xd_flight *f)
{
    xd_usec now = xd_run_usec(r->net.now);

    return f->last_byte +
           (xd_nsec)xd_session_silence(&r->driver.session, now) * 1000;
}

static void report_bytes(struct xd_run *r, struct xd_flight *f)
{
    if (xd_intake_report(&f->in, xd_run_usec(r->net.now)) && !f->is_distrusted)
        xd_run_take_event(r, (struct xd_sched_event){
                                 .kind = XD_EV_BYTES,
                                 .fetch = number_of(r, f),
                                 .range = {f->range.begin, f->in.received}});
}

static void write_new(struct xd_run *r, struct xd_flight *f,
                      const struct xd_intake_action *a)
{
    if (a->is_missing)
        xd_run_take_event(
            r, (struct xd_sched_event){.kind = XD_EV_HELD, .range = a->range});
    if (xd_intake_written(&f->in, &r->driver.ledger, f->depot) < 0)
        xd_run_out_of_memory(r);
    r->out->depots[f->depot].bytes += xd_range_length(a->range);
    xd_trust_written(r, a->range);
}

static void count_duplicate(struct xd_run *r, struct xd_flight *f,
                            uint64_t bytes)
{
    r->out->depots[f->depot].redundant += bytes;
    f->redundant += bytes;
}

static void flush(struct xd_run *r, struct xd_flight *f)
{
    struct xd_intake_action a;

    report_bytes(r, f);
    while (a = xd_intake_next(&f->in, &r->driver.ledger, !f->is_distrusted),
           a.kind != XD_INTAKE_NOTHING) {
        if (a.kind == XD_INTAKE_WRITE)
            write_new(r, f, &a);
        else if (a.kind == XD_INTAKE_COUNT_DUPLICATE)
            count_duplicate(r, f, xd_range_length(a.range));
        else
            xd_run_out_of_memory(r);
    }
}

/* For how long it has waited for its connection. */
static xd_nsec connecting(const struct xd_flight *f)
{
    const struct xd_connection *c = f->connection;

    return c->ready_at > f->began ? c->ready_at - f->began : 0;
}

void xd_flight_record(struct xd_run *r, const struct xd_flight *f,
                      enum xd_sched_event_kind kind)
{
    struct xd_sim_record record = {
        .depot = f->depot,
        .lane = f->lane,
        .range = f->range,
        .reason = f->reason,
        .received = f->in.received - f->range.begin,
        .redundant = f->redundant,
        .began = xd_run_usec(f->began),
        .first_byte = f->first_byte < 0 ? XD_NEVER : xd_run_usec(f->first_byte),
        .ended = xd_run_usec(r->net.now),
        .connect = xd_run_usec(connecting(f)),
        .how = kind == XD_EV_DONE     ? XD_SIM_DONE
               : kind == XD_EV_FAILED ? XD_SIM_FAILED
                                      : XD_SIM_STOPPED};

    if (r->o->record)
        r->o->record(r->o->record_user, &record);
}

/* The rest of an answer is dropped with its connection, unless that is good for
 * others. */
static void hang_up(struct xd_run *r, const struct xd_flight *f,
                    bool has_failed)
{
    struct xd_connection *c = f->connection;

    if (r->o->has_http2 &&
        (xd_tcp_load(c) > 1 ||
         (!has_failed && !f->owns_connection && c->state == XD_CONN_READY)))
        xd_tcp_stop(&r->tcp, c, f->stream);
    else
        xd_tcp_close(&r->tcp, c);
}

static bool is_busy(const struct xd_run *r, unsigned depot)
{
    for (unsigned i = 0; i < r->n_flights; i++)
        if (r->flights[i].is_live && r->flights[i].depot == depot)
            return true;
    return false;
}

/* The moments at which it began to be busy are taken from those at which it
 * ended. */
static void begin_busy(struct xd_run *r, unsigned depot)
{
    if (!is_busy(r, depot))
        r->out->depots[depot].busy -= xd_run_usec(r->net.now);
}

void xd_flight_land(struct xd_run *r, struct xd_flight *f)
{
    f->is_live = false;
    if (!is_busy(r, f->depot))
        r->out->depots[f->depot].busy += xd_run_usec(r->net.now);
}

void xd_flight_end(struct xd_run *r, struct xd_flight *f,
                   enum xd_sched_event_kind kind)
{
    if (!f->is_live)
        return;
    if (kind != XD_EV_DONE || f->range.end < f->asked_end)
        hang_up(r, f, kind == XD_EV_FAILED || f->retry_at > 0);
    flush(r, f);
    if (!f->is_live) /* a bad depot that its last bytes revealed */
        return;
    xd_flight_land(r, f);
    xd_line_ended(r->driver.session.line, number_of(r, f));
    r->out->depots[f->depot].failures += kind == XD_EV_FAILED;
    xd_flight_record(r, f, kind);
    /* Its depot is banned, or others are asked alone. */
    const uint64_t counted_to =
        f->is_distrusted ? f->range.begin : f->in.flushed;
    xd_run_take_event(
        r, (struct xd_sched_event){.kind = kind,
                                   .fetch = number_of(r, f),
                                   .range = {f->range.begin, counted_to},
                                   .is_refusal = f->is_refused,
                                   .retry_at = f->retry_at});
}

void xd_flight_cut_off(struct xd_run *r, struct xd_flight *f)
{
    const struct xd_range unwritten = {f->in.flushed, f->in.reported};

    f->is_distrusted = true;
    xd_flight_end(r, f, XD_EV_CANCELED);
    xd_trust_reject(r, unwritten);
}

/* Its depot has failed, or the line to all of them. */
static void fail(struct xd_run *r, struct xd_flight *f, bool is_unanswered)
{
    f->is_refused = f->first_byte < 0;
    struct xd_line_failure failure = {
        .is_unanswered = is_unanswered,
        .is_only = !xd_sched_has_choice(r->driver.session.sched),
        .is_depots_own = true};
    bool was_line =
        xd_line_failed(r->driver.session.line, number_of(r, f), &failure,
                       xd_run_usec(r->net.now), &f->retry_at);

    xd_flight_end(r, f, was_line ? XD_EV_CANCELED : XD_EV_FAILED);
}

static void take_in(struct xd_run *r, struct xd_flight *f, uint64_t n)
{
    bool was_empty = f->in.received == f->in.flushed;
    bool was_reported = f->in.received == f->in.reported;

    if (n > f->range.end - f->in.received)
        n = f->range.end - f->in.received;
    if (n == 0)
        return;
    xd_intake_add(&f->in, n, xd_run_usec(r->net.now));
    if (was_empty)
        set_timer(r, f, XD_SIM_FLUSH_TIMER,
                  xd_run_at(r, xd_intake_flush_at(&f->in)));
    if (was_reported)
        set_timer(r, f, XD_SIM_REPORT_TIMER,
                  xd_run_at(r, xd_intake_report_at(&f->in)));
}

void xd_flight_bytes(void *user, unsigned tag, uint64_t n)
{
    struct xd_run *r = user;
    struct xd_flight *f = &r->flights[tag];

    f->last_byte = r->net.now;
    xd_line_received(r->driver.session.line, tag, xd_run_usec(r->net.now));
    if (f->first_byte < 0) {
        f->first_byte = r->net.now;
        if (xd_run_usec(f->first_byte - f->began) <
            r->out->depots[f->depot].first_byte)
            r->out->depots[f->depot].first_byte =
                xd_run_usec(f->first_byte - f->began);
        if (r->o->has_http2)
            xd_run_take_event(r, (struct xd_sched_event){.kind = XD_EV_SHARES,
                                                         .depot = f->depot});
        xd_run_take_event(r, (struct xd_sched_event){
                                 .kind = XD_EV_STARTED,
                                 .fetch = tag,
                                 .range = {f->range.begin, f->in.received}});
    }
    take_in(r, f, n);
    if (f->in.received == f->range.end)
        xd_flight_end(r, f, XD_EV_DONE);
    else if (xd_range_length(xd_intake_buffered(&f->in)) >= r->buffer_bytes ||
             (r->o->sched.window_bytes > 0 && n > 0))
        flush(r, f);
}

void xd_flight_broken(void *user, unsigned tag)
{
    struct xd_run *r = user;

    fail(r, &r->flights[tag], false);
}

void xd_flight_timer(struct xd_run *r, struct xd_flight *f,
                     enum xd_sim_kind kind)
{
    if (kind == XD_SIM_FLUSH_TIMER) {
        if (xd_intake_must_flush(&f->in, false, xd_run_usec(r->net.now)))
            flush(r, f);
    } else if (kind == XD_SIM_CANCEL_TIMER) {
        xd_flight_end(r, f, XD_EV_CANCELED);
    } else if (kind == XD_SIM_REPORT_TIMER) {
        report_bytes(r, f);
    } else if (r->net.now >= silent_at(r, f)) {
        fail(r, f, true);
    } else {
        set_timer(r, f, kind, silent_at(r, f));
    }
}

void xd_flight_cancel(struct xd_run *r, const struct xd_flight *f)
{
    uint64_t *random = &xd_net_wire(&r->net, f->depot)->random;
    double wait = xd_sim_uniform(random) * CANCEL_TIME;

    set_timer(r, f, XD_SIM_CANCEL_TIMER, r->net.now + (xd_nsec)wait);
}

/* One that is idle, or where requests share a connection the first. */
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

static struct xd_flight *flight_of(struct xd_run *r, unsigned fetch)
{
    unsigned n = fetch + 16;
    struct xd_flight *grown;

    if (fetch < r->n_flights)
        return &r->flights[fetch];
    grown = xd_realloc(r->flights, n, sizeof *grown);
    if (!grown)
        return NULL;
    memset(grown + r->n_flights, 0, (n - r->n_flights) * sizeof *grown);
    r->flights = grown;
    r->n_flights = n;
    return &grown[fetch];
}

void xd_flight_take_off(struct xd_run *r, const struct xd_sched_action *a)
{
    struct xd_flight *f = flight_of(r, a->fetch);
    bool shares = r->o->has_http2 && !a->owns_connection;
    struct xd_connection *c = f ? find_connection(r, a->depot, shares) : NULL;

    if (!c) {
        xd_run_out_of_memory(r);
        return;
    }
    begin_busy(r, a->depot);
    *f = (struct xd_flight){.is_live = true,
                            .owns_connection = a->owns_connection,
                            .life = ++r->n_begun,
                            .depot = a->depot,
                            .lane = a->lane,
                            .range = a->range,
                            .reason = a->reason,
                            .asked_end = a->range.end,
                            .connection = c,
                            .began = r->net.now,
                            .first_byte = -1,
                            .last_byte = r->net.now};
    xd_intake_begin(&f->in, a->range.begin);
    xd_line_begun(r->driver.session.line, a->fetch, a->depot,
                  xd_run_usec(r->net.now));
    f->stream = xd_tcp_request(&r->tcp, c, a->fetch, xd_range_length(a->range));
    if (r->tcp.failed)
        xd_run_out_of_memory(r);
    r->out->depots[a->depot].requests++;
    set_timer(r, f, XD_SIM_SILENCE_TIMER, silent_at(r, f));
}

void xd_flight_shorten(struct xd_run *r, struct xd_flight *f, uint64_t end)
{
    f->range.end = end > f->in.received ? end : f->in.received;
    if (f->in.received >= end)
        xd_flight_end(r, f, XD_EV_DONE);
}
