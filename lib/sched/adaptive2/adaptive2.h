/* SPDX-License-Identifier: MIT */
/*
 * The records of the adaptive2 policy, and the functions that its files share:
 *
 *     told.c       turns events into records
 *     forecast.c   computes throughputs, waits and ends from the records
 *     planner.c    names the next action; changes nothing
 *     readers.c    computes the limits that deadlines set for requests
 *     control.c    decides how many connections each depot gets
 *     slow_line.c  limits the requests on a slow line of the client
 *     adaptive2.c  carries out the actions: the functions of policy.h
 */
#ifndef XD_SCHED_ADAPTIVE2_H
#define XD_SCHED_ADAPTIVE2_H

#include "sched/adaptive2/tunables.h"
#include "sched/policy.h"

/* A connection and the request on it.  There is one record for each fetch
 * number of the scheduler.  The next connection with the same number reuses
 * it. */
struct xd_conn {
    unsigned depot;

    /* The connection, from its first request on. */
    bool is_open;
    xd_usec opened_at;
    bool is_renewed; /* replaces a slow connection, and is not yet judged */
    unsigned n_requests;
    double bytes;        /* received on this connection */
    double rate;         /* bytes per second, smoothed; 0: unknown */
    double deviation;    /* mean deviation of the samples from `rate` */
    double jump;         /* last sample minus `rate`; 0: no outlier */
    double best;         /* highest mean since opened_at, so far */
    unsigned n_samples;  /* complete samples */
    bool is_rising;      /* in slow start */
    unsigned n_flat;     /* consecutive samples without growth, while rising */
    double sample_bytes; /* received since sample_at */
    xd_usec sample_at;   /* when the current sample began */
    double rtt_now;      /* seconds, including queues; 0: unknown */
    xd_usec disordered_at; /* last packets out of order; 0: never */

    /* The request. */
    bool is_running;
    bool has_begun;        /* its first byte has arrived */
    bool is_sampled;       /* a sample of its throughput is complete */
    bool is_leaving;       /* canceled, but still running */
    struct xd_range range; /* ends earlier once it was shortened */
    uint64_t asked_end;    /* the end of `range` before that */
    uint64_t got;          /* everything before this offset has arrived */
    /* when the request was sent, and when its last byte arrived; equal before
     * the first byte */
    xd_usec asked_at, heard_at;
};

/* Maximum number of connections in a forecast of the end.  More are ignored. */
#define XD_MOST_WORKS 512

/* Number of bins in a profile. */
#define XD_BINS 24

#define XD_FIRST_BIN \
    92682.0 /* end of the first bin in bytes: half an octave above 64 KiB */

/* Ratio between the ends of neighboring bins: the square root of 2. */
#define XD_HALF_OCTAVE 1.4142135623730951

/* How fast a depot sends the parts of a response.  The bins divide the response
 * by the offset from its first byte. */
struct xd_profile {
    double s_per_byte[XD_BINS]; /* seconds per byte, smoothed; 0: unknown */
};

/* Measures the throughput over the current span and the one before.  Its owner
 * counts the bytes. */
struct xd_rate_meter {
    xd_usec at[2];   /* when the current span began, and the one before */
    double bytes[2]; /* the count at these times */
};

/* A trial that gives a depot more connections and measures whether they
 * help. */
struct xd_width_trial {
    bool is_on;
    unsigned before; /* connections before the trial */
    /* bytes per second before the trial, of this depot and of all */
    double own, all;
    double hoped; /* expected increase in bytes per second */
    /* the time of the measurement, after the new connections have settled */
    xd_usec from, until;
    /* bytes that this depot and all depots had delivered when the measurement
     * began; 0: it has not begun */
    double from_own, from_all;
};

struct xd_depot_record {
    xd_usec asked_at; /* first request; XD_NEVER: none */
    double
        rtt; /* shortest round-trip time or a guess, in seconds; 0: unknown */
    /* seconds to the first byte of a response on an open connection: mean and
     * mean deviation */
    double wait;
    double wait_deviation;
    unsigned n_answers;
    double bytes; /* received from this depot */
    double rate;  /* mean of its connections; 0: unknown */
    unsigned n_running;
    unsigned n_owning;   /* running requests with their own connection */
    unsigned n_renewing; /* slow connections closed and not replaced yet */
    /* seconds without replacements if all connections are slow; 0: the last
     * replacement was fast enough */
    double renew_pause;
    xd_usec renew_at; /* end of that pause */
    double back_off;  /* seconds, after the last refusal; 0: no refusal */
    unsigned allowed; /* requests at a time since a refusal; 0: no limit */
    xd_usec more_at;  /* when `allowed` may grow by one; or XD_NEVER */
    unsigned width;   /* maximum number of connections */
    /* The bytes that the depot suggests for its next request; may be empty.  It
     * may be wrong, so it affects only the order of requests. */
    struct xd_range hint;
    bool has_hints; /* its last suggestion was not empty */
    /* its last closed connections, in a ring */
    unsigned n_past, next_past;
    struct {
        xd_usec opened_at;
        double best;
    } past[XD_PAST];
    /* of first requests on a connection, and of later ones */
    struct xd_profile first, later;
    struct xd_rate_meter meter;
    struct xd_width_trial trial;
    /* actual increase in trials divided by the expected one, smoothed */
    double gain;
    xd_usec next_trial; /* no trial before this time */
    double pause; /* after the next failed trial, in durations of a trial */
};

enum xd_line_use {
    XD_LINE_USES_ALL,         /* each depot gets requests */
    XD_LINE_USES_ONE,         /* one depot gets them, and must prove enough */
    XD_LINE_USES_ALL_FOR_GOOD /* it was not enough */
};

/* What is known about the line of the client (slow_line.c). */
struct xd_slow_line {
    bool is_slow;
    bool is_busy; /* bytes arrived a short time ago */
    enum xd_line_use use;
    unsigned depot;    /* the only one that gets requests */
    double before;     /* bytes per second of all depots before the trial */
    unsigned n_others; /* running requests of other depots */
    xd_usec from;      /* when counting began; 0: not yet */
    double from_bytes; /* bytes received by then */
};

enum xd_sched_plan_kind {
    XD_PLAN_WAIT,
    XD_PLAN_ASK, /* request `range` on the connection `fetch` */
    /* end `fetch` at range.begin; the same depot delivers `range` in another
     * request */
    XD_PLAN_SHORTEN,
    /* let other requests ask for `range`; `fetch` runs on */
    XD_PLAN_OFFER,
    XD_PLAN_RENEW, /* cancel `fetch`, and open a new connection in its place */
    XD_PLAN_CANCEL /* cancel `fetch` and close its connection */
};

struct xd_sched_plan {
    enum xd_sched_plan_kind kind;
    unsigned fetch; /* its index in xd_adaptive2.conns */
    struct xd_range range;
};

struct xd_adaptive2 {
    const struct xd_book *book;
    struct xd_conn *conns;          /* one per fetch */
    struct xd_depot_record *depots; /* one per depot */
    struct xd_rate_meter meter;     /* of all depots together */
    double bytes;                   /* received from all depots */
    bool is_stale;   /* something has happened since the last plan */
    xd_usec next_at; /* when the next plan is due */
    struct xd_slow_line line;
    struct xd_sched_plan plan;
    struct xd_window seen; /* the most urgent window at the last plan */
    unsigned n_running;    /* requests */
    xd_usec began_at;      /* first request; XD_NEVER: none */

    /* Computed before each plan. */
    xd_usec now;
    double setup;     /* mean of the depots that have answered; 0: unknown */
    double price;     /* minimum gain of an action, in seconds */
    unsigned n_open;  /* depots with a slot */
    double rate;      /* mean of all connections; 0: unknown */
    double object;    /* mean length of the next objects, or HUGE_VAL */
    double total;     /* bytes per second of all usable connections */
    double left;      /* bytes still missing */
    bool is_limited;  /* the user's limit is reached: nothing makes it faster */
    double time_left; /* seconds until all bytes have arrived, or HUGE_VAL */
};

/* ---- told.c: records what happened ---- */

/* A request was sent.  If the connection is not open, this opens it. */
void xd_told_asked(struct xd_adaptive2 *p, unsigned fetch, unsigned depot,
                   struct xd_range r);

/* The request has received everything before `to`. */
void xd_told_received(struct xd_adaptive2 *p, unsigned fetch, uint64_t to,
                      xd_usec now);

/* The request has ended.  A connection without a complete response is
 * closed. */
void xd_told_ended(struct xd_adaptive2 *p, unsigned fetch, bool failed);

/* The depot got a slot.  Resets the records of the connections there. */
void xd_told_opened(struct xd_adaptive2 *p, unsigned depot);

/* The depot lost its slot, and its connections are closed. */
void xd_told_parked(struct xd_adaptive2 *p, unsigned depot, unsigned slot);

/* ---- forecast.c: seconds from now, or bytes per second ---- */

/* Returns the expected throughput of a connection.  If it
 * has no sample, returns the mean of its depot, or else of all depots. */
double xd_rate_of(const struct xd_adaptive2 *p, const struct xd_conn *c);

/* Returns the relative uncertainty of xd_rate_of(). */
double xd_doubt_of(const struct xd_conn *c);

/* Returns when the connection will receive its next byte.  For an idle
 * connection, it is the first byte of a request made now.  If the connection
 * has been silent for longer than usual, it is expected to stay silent for as
 * long again. */
double xd_byte_in(const struct xd_adaptive2 *p, const struct xd_conn *c);

/* Returns when the request on the connection will be complete; 0 if it is
 * idle. */
double xd_end_in(const struct xd_adaptive2 *p, const struct xd_conn *c);

/* Returns the time to the first byte on a new connection, which includes
 * connecting. */
double xd_setup_of(const struct xd_adaptive2 *p, unsigned depot);

/* Returns the time to the first byte on an open connection. */
double xd_wait_of(const struct xd_adaptive2 *p, unsigned depot);

/* Returns the expected mean throughput of a new connection of the depot until
 * the end of the download, including its set-up; 0 if it is unknown.  This is
 * the mean of its last connections plus one deviation, because a slow one can
 * be replaced again. */
double xd_fresh_rate(const struct xd_adaptive2 *p, unsigned depot);

/* Returns the length with the highest throughput for the next request, at most
 * `most` bytes.  The wait for the first byte counts.  Returns `most` unless a
 * shorter request is faster by XD_RENEW.  *out_rate: throughput at that length;
 * 0: unknown. */
double xd_best_length(const struct xd_adaptive2 *p, const struct xd_conn *c,
                      double most, double *out_rate);

/* Returns when `bytes` more have arrived if every usable connection works until
 * then.  *total: sum of their throughputs. */
double xd_horizon(const struct xd_adaptive2 *p, double bytes, double *total);

/* Returns the throughput over the last spans.  `bytes` is the count now. */
double xd_rate_meter_of(const struct xd_rate_meter *m, double bytes,
                        xd_usec now);

/* Begins the next span of the meter if the current one has lasted for
 * `span`. */
void xd_rate_meter_turn(struct xd_rate_meter *m, double bytes, xd_usec span,
                        xd_usec now);

/* ---- planner.c ---- */

/* Returns how many more requests the depot may be asked for now. */
unsigned xd_room_of(const struct xd_adaptive2 *p, unsigned depot);

/* Returns whether the throughput of the connection is still unknown: it has too
 * few samples, is in slow start, or waits for the first byte of a response. */
bool xd_is_young(const struct xd_conn *c);

/* Returns the best action now.  Changes nothing. */
struct xd_sched_plan xd_next_action(const struct xd_adaptive2 *p);

/* ---- readers.c ---- */

/* Returns whether a reader needs the bytes of the window by a deadline. */
bool xd_is_read(const struct xd_adaptive2 *p, const struct xd_window *w);

/* Returns the seconds until the reader needs the byte; 0 if it needs it
 * already. */
double xd_shown_in(const struct xd_adaptive2 *p, const struct xd_window *w,
                   uint64_t byte);

/* Returns how many seconds a request may take if it begins at this byte.  While
 * the first block is missing, all requests are short, so that every connection
 * can soon help with it. */
double xd_time_allowed(const struct xd_adaptive2 *p, const struct xd_window *w,
                       uint64_t byte);

/* Returns whether the window may take time from the others.  While a player
 * might have to wait, only windows that are played may: the head and the tail
 * of a film are only a guess. */
bool xd_may_ask_for(const struct xd_adaptive2 *p, const struct xd_window *w);

/* Returns the first byte at or after `from` that a slow connection can deliver
 * in time, if its next request takes `takes` seconds.  Returns the end of the
 * window if there is none, and `from` if no other connection is much faster. */
uint64_t xd_skip_to(const struct xd_adaptive2 *p, const struct xd_conn *c,
                    const struct xd_window *w, uint64_t from, double takes);

/* ---- slow_line.c ---- */

/* Updates p->line. */
void xd_watch_line(struct xd_adaptive2 *p);

/* Returns whether the depot gets no requests because another one fills the slow
 * line of the client. */
bool xd_is_surplus(const struct xd_adaptive2 *p, unsigned depot);

/* ---- adaptive2.c ---- */

/* Returns whether the range is all of an object that is at most one block long.
 * The size of such an object may be unknown; then this is the place that is
 * reserved for it. */
bool xd_is_place(const struct xd_book *b, struct xd_range r);

/* Returns how many bytes a request for the range is expected to deliver.  This
 * is less than its length if it is the place of an object of unknown size: it
 * is expected to be as long as those before it. */
double xd_expected(const struct xd_adaptive2 *p, struct xd_range r);

/* Returns how many bytes of xd_conn_rest() are expected. */
double xd_conn_left(const struct xd_adaptive2 *p, const struct xd_conn *c);

/* Returns how many requests the depot may be asked for at a time.  This is its
 * number of connections, or more if short objects can share one. */
unsigned xd_most_requests(const struct xd_adaptive2 *p, unsigned depot);

/* ---- control.c ---- */

/* Returns how many connections a depot may have at the start. */
unsigned xd_first_width(const struct xd_adaptive2 *p);

/* Begins and ends trials of more connections, and judges connections that
 * replaced slow ones. */
void xd_control(struct xd_adaptive2 *p);

/* Returns the seconds until a new connection has probably left slow start. */
double xd_settles_in(const struct xd_adaptive2 *p, unsigned depot);

static inline double xd_greater(double a, double b)
{
    return a > b ? a : b;
}

static inline double xd_size_of(double a)
{
    return a < 0 ? -a : a;
}

static inline double xd_lesser(double a, double b)
{
    return a < b ? a : b;
}

/* Returns the connections of a depot that has a slot: an array of
 * lanes_per_depot records. */
static inline struct xd_conn *xd_conns_of(const struct xd_adaptive2 *p,
                                          unsigned depot)
{
    return &p->conns[p->book->depots[depot].slot * p->book->o.lanes_per_depot];
}

/* Returns whether the depot was asked and has not answered yet. */
static inline bool xd_is_unheard(const struct xd_adaptive2 *p, unsigned depot)
{
    const struct xd_depot_record *d = &p->depots[depot];

    return d->n_answers == 0 && d->asked_at <= p->now;
}

/* Returns whether the packets of the connection wait in a long queue. */
static inline bool xd_is_queued(const struct xd_adaptive2 *p,
                                const struct xd_conn *c)
{
    return c->rtt_now > 2 * p->depots[c->depot].rtt + XD_LONG_QUEUE_S;
}

/* Returns whether the connection is limited by a queue that it shares, rather
 * than by its depot.  Long round trips or packets out of order show it.  This
 * is believed for XD_CALM_S and XD_CALM_RTT round trips after the last sign. */
static inline bool xd_is_contended(const struct xd_adaptive2 *p,
                                   const struct xd_conn *c)
{
    const double calm = XD_CALM_S + XD_CALM_RTT * p->depots[c->depot].rtt;

    return (xd_is_queued(p, c) && xd_seconds(p->now - c->heard_at) < calm) ||
           (c->disordered_at > 0 &&
            xd_seconds(p->now - c->disordered_at) < calm);
}

/* Returns the bytes that the request still has to deliver.  Bytes that were
 * offered to others do not count. */
static inline struct xd_range xd_conn_rest(const struct xd_adaptive2 *p,
                                           const struct xd_conn *c)
{
    return (struct xd_range){c->got, p->book->assigned[c - p->conns].end};
}

#endif
