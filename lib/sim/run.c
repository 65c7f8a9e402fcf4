/* SPDX-License-Identifier: MIT */
/*
 * The main loop: the scheduler decides, packets move, readers read.
 */
#include "sim/run.h"

#include "base/alloc.h"
#include "sim/coded.h"
#include "sim/governed.h"
#include "sim/holdings.h"
#include "sim/reader.h"
#include "sim/request.h"

#define MOST_TIME (3600 * XD_NSEC_SECOND)

/* Packets in flight at the end still cross the network. */
#define AFTERMATH (XD_NSEC_SECOND / 10)

/* Timeout of a ping, as in io/http/pinger.c. */
#define PING_TIME (2 * XD_NSEC_SECOND)

void xd_run_take_event(struct xd_run *r, struct xd_sched_event ev)
{
    r->driver.now = xd_run_usec(r->net.now);
    xd_driver_take_event(&r->driver, ev);
    r->is_decision_due = true;
}

void xd_run_out_of_memory(struct xd_run *r)
{
    r->driver.failed = r->driver.is_over = true;
}

static void ping(struct xd_run *r, unsigned depot)
{
    const struct xd_path *path = &xd_net_wire(&r->net, depot)->path;

    r->out->depots[depot].pings++;
    xd_net_timer(&r->net, XD_SIM_PING_TIMER,
                 r->net.now + (path->is_down ? PING_TIME : 2 * path->delay),
                 depot, (uint64_t)r->net.now);
}

static void pinged(struct xd_run *r, const struct xd_sim_event *e)
{
    const struct xd_path *path = &xd_net_wire(&r->net, e->number)->path;
    enum xd_ping_result result = XD_PING_ANSWERED;

    if (path->is_down)
        result = XD_PING_SILENT;
    else if (path->refuses)
        result = XD_PING_REFUSED;
    xd_run_take_event(r,
                      (struct xd_sched_event){
                          .kind = XD_EV_PINGED,
                          .depot = e->number,
                          .ping = result,
                          .round_trip = xd_run_usec(e->at - (xd_nsec)e->life)});
}

static void carry_out(void *world, const struct xd_sched_action *a)
{
    struct xd_run *r = world;

    if (a->kind == XD_DO_FETCH)
        xd_sim_request_begin(r, a);
    else if (a->kind == XD_DO_SHORTEN)
        xd_sim_request_shorten(r, &r->requests[a->fetch], a->range.end);
    else if (a->kind == XD_DO_CANCEL)
        xd_sim_request_cancel(r, &r->requests[a->fetch]);
    else if (a->kind == XD_DO_PING)
        ping(r, a->depot);
    else if (a->kind == XD_DO_PARK)
        r->standings[a->depot].is_given_up = r->standings[a->depot].fails;
    else if (a->kind == XD_DO_OPEN)
        r->standings[a->depot].is_given_up = false;
}

/* ---- the main loop ---- */

static bool is_of_request(const struct xd_sim_event *e)
{
    return e->kind == XD_SIM_FLUSH_TIMER || e->kind == XD_SIM_REPORT_TIMER ||
           e->kind == XD_SIM_SILENCE_TIMER || e->kind == XD_SIM_CANCEL_TIMER ||
           e->kind == XD_SIM_ASK_TIMER;
}

static void happen(struct xd_run *r, const struct xd_sim_event *e)
{
    if (e->kind == XD_SIM_PING_TIMER)
        pinged(r, e);
    else if (!is_of_request(e))
        xd_tcp_event(&r->tcp, e);
    else if (r->requests[e->number].is_live &&
             r->requests[e->number].life == e->life)
        xd_sim_request_timer(r, &r->requests[e->number], e->kind);
    if (r->tcp.failed || r->net.events.failed)
        xd_run_out_of_memory(r);
}

/* Returns the time at which the next depot joins, or MOST_TIME. */
static xd_nsec joins_at(const struct xd_run *r)
{
    const struct xd_scenario *s = r->scenario;

    return r->n_joined < s->n_depots
               ? xd_scenario_depot(s, r->n_joined)->joins_at
               : MOST_TIME;
}

static void join_with(struct xd_run *r, unsigned depot)
{
    struct xd_holding h;

    if (xd_sim_holding(r->scenario, r->o, depot, &h) < 0)
        xd_run_out_of_memory(r);
    for (size_t i = 0; i < h.n_held && !r->driver.failed; i++)
        xd_run_take_event(r, (struct xd_sched_event){.kind = XD_EV_JOINED,
                                                     .depot = depot,
                                                     .range = h.held[i],
                                                     .tier = h.tiers[i]});
    xd_sim_holding_fini(&h);
}

static void join(struct xd_run *r)
{
    while (joins_at(r) <= r->net.now) {
        unsigned depot = (unsigned)r->n_joined++;

        join_with(r, depot);
        xd_trust_joined(r, depot);
        xd_sim_repair_joined(r, depot);
    }
}

/* Lets the scheduler decide.  Returns the time until which only an event can
 * change anything. */
static xd_nsec decide(struct xd_run *r)
{
    xd_nsec until = MOST_TIME;
    xd_usec wait = XD_NEVER, late = XD_NEVER;

    join(r);
    r->driver.now = xd_run_usec(r->net.now);
    do {
        r->is_decision_due = false;
        xd_sim_coded_decode(r);
        late = xd_sim_coded_watch(r);
        xd_sim_readers_look(r);
        xd_sim_governed_tell(r);
        wait = xd_driver_act(&r->driver);
    } while (r->is_decision_due && !r->driver.is_over);
    wait = xd_earlier(wait, late);
    if (wait < (xd_usec)(until / 1000))
        until = (xd_nsec)wait * 1000;
    for (unsigned i = 0; i < XD_SIM_READERS; i++)
        if (r->readers[i].next_at > r->net.now && r->readers[i].next_at < until)
            until = r->readers[i].next_at;
    return joins_at(r) < until ? joins_at(r) : until;
}

static void go_on(struct xd_run *r)
{
    struct xd_sim_event e;

    while (!r->driver.is_over) {
        xd_nsec until = decide(r);

        while (!r->is_decision_due && !r->driver.is_over) {
            if (xd_net_next(&r->net, until, &e)) {
                happen(r, &e);
            } else {
                r->net.now = until;
                r->is_decision_due = true;
            }
        }
        if (r->net.now >= MOST_TIME)
            r->driver.is_over = r->driver.is_endless = true;
    }
}

static void settle(struct xd_run *r)
{
    xd_nsec until = r->net.now + AFTERMATH;
    struct xd_sim_event e;

    r->out->took = xd_run_usec(r->net.now);
    for (unsigned i = 0; i < r->n_requests; i++)
        if (r->requests[i].is_live) {
            xd_sim_request_record(r, &r->requests[i], XD_EV_CANCELED);
            xd_sim_request_leave(r, &r->requests[i]);
        }
    for (unsigned i = 0; i < r->tcp.n_connections; i++)
        xd_tcp_close(&r->tcp, r->tcp.connections[i]);
    while (xd_net_next(&r->net, until, &e))
        if (!is_of_request(&e))
            xd_tcp_event(&r->tcp, &e);
    for (size_t i = 0; i < r->out->n_depots; i++) {
        r->out->depots[i].wire = xd_net_wire(&r->net, i)->delivered;
        r->out->depots[i].bans = xd_net_wire(&r->net, i)->n_bans;
        r->out->wire += xd_net_wire(&r->net, i)->delivered;
    }
    r->out->is_complete = r->driver.is_complete;
    r->out->is_endless = r->driver.is_endless;
    r->out->broken = r->driver.broken;
}

/* Sets the size of the buffers, like xd_worker_new(). */
static void share_buffers(struct xd_run *r)
{
    const struct xd_sched_options *o =
        xd_sched_options(r->driver.session.sched);
    size_t open = o->max_open;

    if (open > r->scenario->n_depots)
        open = r->scenario->n_depots;
    r->buffer_bytes = xd_intake_buffer(open * o->lanes_per_depot);
}

static int start_line(struct xd_run *r)
{
    const struct xd_sched_options *o =
        xd_sched_options(r->driver.session.sched);

    struct xd_session *session = &r->driver.session;

    session->silence = r->o->silence;
    session->is_silence_exact = r->o->is_silence_exact;
    session->line = xd_line_new(o->max_open * o->lanes_per_depot, r->o->silence,
                                o->patience);
    return session->line ? 0 : XD_E_NOMEM;
}

static void connected(void *user, size_t depot)
{
    xd_run_take_event(user, (struct xd_sched_event){.kind = XD_EV_CONNECTED,
                                                    .depot = (unsigned)depot});
}

/* Cuts the layout at the boundaries of objects, which no request may cross. */
static int cut_objects(const struct xd_sim_options *o, struct xd_layout *layout)
{
    uint64_t bytes = o->object_bytes;

    if (bytes == 0)
        return 0;
    layout->cuts =
        xd_alloc((size_t)(o->size / bytes) + 1, sizeof *layout->cuts);
    if (!layout->cuts)
        return XD_E_NOMEM;
    for (uint64_t at = bytes; at < o->size; at += bytes)
        layout->cuts[layout->n_cuts++] = at;
    return 0;
}

/* Passes what the scheduler learned about depots to the next one. */
static int keep_learned(struct xd_run *r)
{
    const struct xd_sched *sched = r->driver.session.sched;

    if (!sched)
        return 0;
    if (!r->guesses)
        r->guesses = xd_alloc(r->scenario->n_depots, sizeof *r->guesses);
    if (!r->guesses)
        return XD_E_NOMEM;
    for (unsigned i = 0; i < r->n_joined; i++) {
        if (r->o->guesses)
            r->guesses[i] = r->o->guesses[i];
        r->guesses[i].learned = xd_sched_learned(sched, i);
    }
    return 0;
}

int xd_run_begin(struct xd_run *r)
{
    struct xd_layout layout = {.size = r->o->size, .n_depots = r->n_joined};
    int rc = keep_learned(r);

    if (rc < 0)
        return rc;
    layout.guesses = r->guesses ? r->guesses : r->o->guesses;
    layout.depots = xd_alloc(r->scenario->n_depots, sizeof *layout.depots);
    rc = layout.depots ? cut_objects(r->o, &layout) : XD_E_NOMEM;
    for (size_t i = 0; rc == 0 && i < r->n_joined; i++)
        rc = xd_sim_holding(r->scenario, r->o, i, &layout.depots[i]);
    if (rc == 0)
        rc = xd_driver_begin(&r->driver, &layout, &r->o->sched, r->whole);
    for (size_t i = 0; layout.depots && i < r->n_joined; i++)
        xd_sim_holding_fini(&layout.depots[i]);
    xd_free(layout.depots);
    xd_free(layout.cuts);
    return rc;
}

static int start(struct xd_run *r, const struct xd_scenario *s)
{
    struct xd_tcp_user user = {r, xd_sim_request_bytes, xd_sim_request_broken,
                               connected};
    int rc;

    r->scenario = s;
    r->whole.end = r->o->size;
    while (joins_at(r) == 0)
        r->n_joined++;
    r->out->depots = xd_alloc(s->n_depots, sizeof *r->out->depots);
    r->standings = xd_alloc(s->n_depots, sizeof *r->standings);
    if (!r->out->depots || !r->standings)
        return XD_E_NOMEM;
    r->out->n_depots = s->n_depots;
    for (size_t i = 0; i < s->n_depots; i++)
        r->out->depots[i].first_byte = XD_NEVER;
    r->driver.world = r;
    r->driver.carry_out = carry_out;
    r->driver.ask_another = xd_trust_ask_another;
    r->driver.coming = xd_sim_coded_coming;
    if (r->o->has_whole_hash) {
        r->driver.check = xd_sim_repair_check;
        r->driver.begin_round = xd_sim_repair_begin_round;
    }
    r->driver.is_unchecked = r->o->is_unchecked;
    rc = xd_net_init(&r->net, s, r->o->seed);
    if (rc == 0)
        rc = xd_sim_governed_start(r);
    if (rc == 0)
        rc = xd_run_begin(r);
    if (rc == 0)
        rc = xd_trust_start(r);
    if (rc == 0)
        rc = xd_sim_coded_start(r);
    xd_sim_repair_start(r);
    if (rc == 0) {
        share_buffers(r);
        rc = start_line(r);
    }
    xd_tcp_init(&r->tcp, &r->net, &user);
    r->tcp.has_tls = r->o->has_tls;
    r->tcp.has_bbr = r->o->has_bbr;
    return rc;
}

int xd_sim_run(const struct xd_scenario *s, const struct xd_sim_options *o,
               struct xd_sim_result *out)
{
    struct xd_run r = {.o = o, .out = out};
    int rc;

    *out = (struct xd_sim_result){
        .first_byte = XD_NEVER, .first_mib = XD_NEVER, .jump = XD_NEVER};
    rc = start(&r, s);
    if (rc == 0)
        go_on(&r);
    if (rc == 0 && !r.driver.failed)
        settle(&r);
    for (unsigned i = 0; rc == 0 && i < out->n_depots; i++)
        out->depots[i].learned = xd_sched_learned(r.driver.session.sched, i);
    if (r.driver.failed)
        rc = XD_E_NOMEM;
    xd_trust_fini(&r.trust);
    xd_sim_coded_fini(&r);
    xd_sim_repair_fini(&r.repair);
    xd_free(r.guesses);
    xd_driver_fini(&r.driver);
    xd_tcp_fini(&r.tcp);
    xd_net_fini(&r.net);
    xd_free(r.requests);
    xd_free(r.standings);
    xd_sim_governed_fini(&r);
    return rc;
}

void xd_sim_result_fini(struct xd_sim_result *r)
{
    xd_free(r->depots);
    *r = (struct xd_sim_result){.n_depots = 0};
}
