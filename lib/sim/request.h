/* SPDX-License-Identifier: MIT */
/*
 * What the engine does between the scheduler and the depots, in virtual time:
 * lanes, buffers, silence, pieces.
 */
#ifndef XD_SIM_REQUEST_H
#define XD_SIM_REQUEST_H

#include "session/intake.h"
#include "session/stripes.h"
#include "sim/driver.h"
#include "sim/reader.h"
#include "sim/repair.h"
#include "sim/run.h"
#include "sim/tcp.h"
#include "sim/trust.h"

/* A request in flight. */
struct xd_sim_request {
    bool is_live;
    bool is_refused;
    bool is_parity;
    bool is_distrusted;   /* what is in its buffer must not count */
    bool owns_connection; /* no other request shares it */
    uint64_t life; /* tells its timers from those of requests before it */
    unsigned depot, lane;
    struct xd_range range;
    enum xd_fetch_reason reason;
    uint64_t asked_end; /* before it was shortened */
    struct xd_intake in;
    uint64_t redundant;
    struct xd_connection *connection; /* NULL: it was not made */
    unsigned stream;
    xd_nsec began, first_byte, last_byte;
    xd_usec retry_at; /* of its depot, when it was the line that failed */
};

/* Of the last request of a depot. */
struct xd_sim_standing {
    bool fails;
    bool is_given_up; /* and the depot was parked */
};

struct xd_run {
    const struct xd_sim_options *o;
    struct xd_sim_result *out;
    struct xd_range whole; /* the file */
    struct xd_driver driver;
    struct xd_trust trust;
    struct xd_sim_repair repair;
    struct xd_stripes stripes;         /* coded.h */
    struct xd_sim_standing *standings; /* of each depot */
    struct xd_guess *guesses; /* since the first round of a repair, or NULL */
    struct xd_net net;
    struct xd_tcp tcp;
    struct xd_sim_request *requests;
    unsigned n_requests;
    uint64_t buffer_bytes; /* of each */
    uint64_t n_begun;
    bool is_decision_due; /* the scheduler has something to think about */
    const struct xd_scenario *scenario;
    size_t n_joined; /* depots that it knows */
    struct xd_sim_reader reader;
};

void xd_sim_request_begin(struct xd_run *r, const struct xd_sched_action *a);
void xd_sim_request_shorten(struct xd_run *r, struct xd_sim_request *q,
                            uint64_t end);
void xd_sim_request_end(struct xd_run *r, struct xd_sim_request *q,
                        enum xd_sched_event_kind kind);
/* Not even what it has in its buffer counts. */
void xd_sim_request_cut_off(struct xd_run *r, struct xd_sim_request *q);
void xd_sim_request_cancel(struct xd_run *r, const struct xd_sim_request *q);
/* It asks its depot for nothing any more. */
void xd_sim_request_leave(struct xd_run *r, struct xd_sim_request *q);
void xd_sim_request_record(struct xd_run *r, const struct xd_sim_request *q,
                           enum xd_sched_event_kind kind);

/* What connections and timers tell of the request `number`. */
void xd_sim_request_bytes(void *run, unsigned number, uint64_t n);
void xd_sim_request_broken(void *run, unsigned number);
void xd_sim_request_timer(struct xd_run *r, struct xd_sim_request *q,
                          enum xd_sim_kind kind);

void xd_run_take_event(struct xd_run *r, struct xd_sched_event ev);
void xd_run_out_of_memory(struct xd_run *r);

/* Make the first scheduler, or the next, which knows what the last has learned
 * of depots.  0 or NOMEM. */
int xd_run_begin(struct xd_run *r);

static inline xd_usec xd_run_usec(xd_nsec t)
{
    return (xd_usec)(t / 1000);
}

/* The moment of the simulator's clock when that is `at`; now, if it is past. */
static inline xd_nsec xd_run_at(const struct xd_run *r, xd_usec at)
{
    xd_usec now = xd_run_usec(r->net.now);

    return at > now ? r->net.now + (xd_nsec)(at - now) * 1000 : r->net.now;
}

#endif
