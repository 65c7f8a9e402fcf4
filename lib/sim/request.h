/* SPDX-License-Identifier: MIT */
/*
 * The simulated engine: requests, buffers, silence and pieces in virtual time.
 */
#ifndef XD_SIM_REQUEST_H
#define XD_SIM_REQUEST_H

#include "base/governor.h"
#include "session/intake.h"
#include "session/stripes.h"
#include "sim/driver.h"
#include "sim/reader.h"
#include "sim/repair.h"
#include "sim/run.h"
#include "sim/tcp.h"
#include "sim/trust.h"

/* A running request. */
struct xd_sim_request {
    bool is_live;
    bool is_refused;
    bool is_unanswered; /* the depot is silent, or no connection was made */
    bool is_parity;
    bool is_distrusted;   /* do not use the bytes in its buffer */
    bool owns_connection; /* no other request shares the connection */
    uint64_t life;        /* number that the timers of this request carry */
    unsigned depot, lane;
    struct xd_range range;
    enum xd_fetch_reason reason;
    uint64_t asked_end; /* end of the range as originally requested */
    struct xd_intake in;
    uint64_t redundant;
    struct xd_connection *connection; /* NULL: not connected */
    unsigned stream;
    xd_nsec began, first_byte, last_byte;
    /* not open while the request waits for the depot's governor */
    struct xd_governed governed;
    /* when the depot may be asked again, after a Retry-After or an outage */
    xd_usec retry_at;
};

/* Result of a depot's last request. */
struct xd_sim_standing {
    bool fails;
    /* the scheduler closed the depot after this request */
    bool is_given_up;
};

struct xd_run {
    const struct xd_sim_options *o;
    struct xd_sim_result *out;
    struct xd_range whole; /* range of the whole file */
    struct xd_driver driver;
    struct xd_trust trust;
    struct xd_sim_repair repair;
    struct xd_stripes stripes;         /* state of the parity (coded.h) */
    struct xd_sim_standing *standings; /* one for each depot */
    struct xd_sim_governed *governed;  /* one for each depot */
    /* facts about the depots that the scheduler of the previous round has
     * learned; NULL in the first round */
    struct xd_guess *guesses;
    struct xd_net net;
    struct xd_tcp tcp;
    struct xd_sim_request *requests;
    unsigned n_requests;
    uint64_t buffer_bytes; /* size of each buffer */
    uint64_t n_begun;
    bool is_decision_due; /* the scheduler must be called */
    const struct xd_scenario *scenario;
    size_t n_joined; /* number of depots that the scheduler knows */
    struct xd_sim_reader readers[XD_SIM_READERS];
};

void xd_sim_request_begin(struct xd_run *r, const struct xd_sched_action *a);
void xd_sim_request_shorten(struct xd_run *r, struct xd_sim_request *q,
                            uint64_t end);
void xd_sim_request_end(struct xd_run *r, struct xd_sim_request *q,
                        enum xd_sched_event_kind kind);
/* Ends a request and drops its buffer. */
void xd_sim_request_cut_off(struct xd_run *r, struct xd_sim_request *q);
void xd_sim_request_cancel(struct xd_run *r, const struct xd_sim_request *q);
/* Frees the request's connection. */
void xd_sim_request_leave(struct xd_run *r, struct xd_sim_request *q);
void xd_sim_request_record(struct xd_run *r, const struct xd_sim_request *q,
                           enum xd_sched_event_kind kind);

/* Called by connections and timers for request `number`. */
void xd_sim_request_bytes(void *run, unsigned number, uint64_t n);
void xd_sim_request_broken(void *run, unsigned number, xd_nsec retry);
void xd_sim_request_timer(struct xd_run *r, struct xd_sim_request *q,
                          enum xd_sim_kind kind);

void xd_run_take_event(struct xd_run *r, struct xd_sched_event ev);
void xd_run_out_of_memory(struct xd_run *r);

/* Creates the first scheduler, or the next one, which inherits what the last
 * one learned about depots.  Returns 0 or NOMEM. */
int xd_run_begin(struct xd_run *r);

static inline xd_usec xd_run_usec(xd_nsec t)
{
    return (xd_usec)(t / 1000);
}

/* Converts a time to nanoseconds; a time in the past becomes now. */
static inline xd_nsec xd_run_at(const struct xd_run *r, xd_usec at)
{
    xd_usec now = xd_run_usec(r->net.now);

    return at > now ? r->net.now + (xd_nsec)(at - now) * 1000 : r->net.now;
}

#endif
