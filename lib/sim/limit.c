/* SPDX-License-Identifier: MIT */
#include <math.h>

#include "base/alloc.h"
#include "sim/holdings.h"
#include "sim/net.h"
#include "sim/run.h"
#include "sim/scenario.h"

#define STEP 0.001 /* length of a time step in seconds */
#define MOST_SECONDS 3600.0

/* Shortest round-trip time in seconds.  Even on the same machine it is not
 * quite zero. */
#define LEAST_RTT 1e-4

struct flow {
    struct xd_path path;
    unsigned asked; /* connections requested */
    /* connections that the depot serves at the same time */
    unsigned connections;
    double seen; /* time at which the depot first became usable; < 0: not yet */
    bool is_steady; /* the rate is constant until a line changes */
    double rate;    /* rate in bytes per second, including packet headers */
    double got;
};

double xd_path_best_cap(const struct xd_path *p)
{
    double best = p->n_draws > 0 ? 0 : p->cap;

    for (unsigned i = 0; i < p->n_draws; i++)
        best = fmax(best, p->draws[i].cap);
    return best;
}

unsigned xd_path_connections(const struct xd_path *p, unsigned connections)
{
    if (xd_path_best_cap(p) <= 0 && p->window <= 0)
        return 1;
    return p->most > 0 && p->most < connections ? p->most : connections;
}

/* Returns the highest rate of a connection: its cap, or the rate of a series of
 * bursts, each on a new connection or in a new request. */
static double best_of_connection(const struct xd_path *p, double rtt)
{
    double waits =
               (p->caps_requests ? 1 : 2) * rtt + (double)p->think_least / 1e9,
           doublings =
               log2(1 + p->burst / (XD_FIRST_WINDOW * XD_SEGMENT_BYTES));

    return fmax(xd_path_best_cap(p), p->burst / (waits + doublings * rtt));
}

/* Returns the limit on all connections of a depot together, in bytes per
 * second, including packet headers. */
static double bound_of(const struct flow *f, double rtt)
{
    const struct xd_path *p = &f->path;
    double packets = XD_PACKET_BYTES / XD_SEGMENT_BYTES;
    double bound = p->rate > 0 ? p->rate : (double)INFINITY;

    if (xd_path_best_cap(p) > 0)
        bound =
            fmin(bound, best_of_connection(p, rtt) * f->connections * packets);
    if (p->window > 0)
        bound = fmin(bound, p->window * f->connections * packets / rtt);
    return bound;
}

static double rate_of(struct flow *f, double t)
{
    double rtt = (double)(2 * f->path.delay) / 1e9, age, window, bound;

    f->is_steady = f->path.is_down || f->path.refuses || f->path.lies;
    if (f->is_steady)
        return 0;
    if (f->seen < 0)
        f->seen = t;
    age = t - f->seen - 2 * rtt - /* time for the handshake and the request */
          (double)f->path.think_least / 1e9;
    if (age < 0)
        return 0;
    if (rtt < LEAST_RTT)
        rtt = LEAST_RTT;
    f->connections = xd_path_connections(&f->path, f->asked);
    window = XD_FIRST_WINDOW * XD_PACKET_BYTES * exp2(fmin(age / rtt, 40)) *
             f->connections;
    bound = bound_of(f, rtt);
    f->is_steady = window / rtt >= bound;
    return fmin(bound, window / rtt);
}

/* Applies the changes that are due.  Returns true if there were any. */
static bool apply_changes(const struct xd_scenario *s, struct flow *flows,
                          size_t *next, double t)
{
    const size_t first = *next;

    for (; *next < s->n_changes && (double)s->changes[*next].at <= t * 1e9 + 1;
         ++*next) {
        const struct xd_change *c = &s->changes[*next];

        xd_path_apply(&flows[c->line].path, c->key, c->value);
    }
    return *next > first;
}

/* Returns the total rate of all depots whose packets cross a line, at most the
 * rate of the line.  All packets cross the client's line. */
static double sum_of(const struct xd_scenario *s, struct flow *flows,
                     size_t line, double t)
{
    double sum = 0, rate = flows[line].path.rate;

    for (size_t i = 1; i < s->n_lines; i++) {
        const struct xd_scenario_line *l = &s->lines[i];

        if (l->depot != XD_NO_LINE && l->via == (line == 0 ? XD_NO_LINE : line))
            sum += flows[i].rate = rate_of(&flows[i], t);
        else if (l->depot == XD_NO_LINE && line == 0)
            sum += sum_of(s, flows, i, t);
    }
    return rate > 0 ? fmin(sum, rate) : sum;
}

/* State of the fluid model at a time step. */
struct fluid {
    const struct xd_scenario *scenario;
    struct flow *flows;
    size_t next; /* index of the next change */
    unsigned long step;
    double rate; /* total rate at the client */
    bool is_steady;
    double t, got;
};

static int fluid_init(struct fluid *f, const struct xd_scenario *s,
                      unsigned connections)
{
    *f = (struct fluid){.scenario = s};
    f->flows = xd_alloc(s->n_lines, sizeof *f->flows);
    if (!f->flows)
        return XD_E_NOMEM;
    for (size_t i = 0; i < s->n_lines; i++)
        f->flows[i] = (struct flow){
            .path = s->lines[i].path, .asked = connections, .seen = -1};
    return 0;
}

static bool are_all_steady(const struct fluid *f)
{
    const struct xd_scenario *s = f->scenario;

    for (size_t i = 0; i < s->n_lines; i++)
        if (s->lines[i].depot != XD_NO_LINE && !f->flows[i].is_steady)
            return false;
    return true;
}

/* Advances the model by one step.  Returns false if the transfer takes too
 * long. */
static bool flow_on(struct fluid *f)
{
    double t = (double)f->step++ * STEP;

    if (apply_changes(f->scenario, f->flows, &f->next, t) || !f->is_steady) {
        f->rate = sum_of(f->scenario, f->flows, 0, t);
        f->is_steady = are_all_steady(f);
    }
    for (size_t i = 1; i < f->scenario->n_lines; i++)
        f->flows[i].got +=
            f->flows[i].rate * STEP * XD_SEGMENT_BYTES / XD_PACKET_BYTES;
    f->got += f->rate * STEP * XD_SEGMENT_BYTES / XD_PACKET_BYTES;
    f->t = t + STEP;
    return f->t < MOST_SECONDS;
}

int xd_scenario_limit(const struct xd_scenario *s, unsigned connections,
                      uint64_t size, double *out)
{
    struct fluid f;
    bool goes_on = true;

    if (fluid_init(&f, s, connections) < 0)
        return XD_E_NOMEM;
    while (goes_on && f.got < (double)size)
        goes_on = flow_on(&f);
    *out = goes_on ? f.t : (double)INFINITY;
    xd_free(f.flows);
    return 0;
}

/* Returns how many bytes the depot can have delivered by now. */
static double got_of(const struct fluid *f, size_t depot)
{
    return f->flows[xd_scenario_depot(f->scenario, depot) - f->scenario->lines]
        .got;
}

/* Returns whether enough shards of each stripe have arrived: any k of the n. */
static bool has_shards(const struct fluid *f, const struct xd_sim_options *o)
{
    double of_use = 0;

    for (size_t i = 0; i < o->code.n; i++)
        of_use += fmin(got_of(f, i), (double)o->size / o->code.k);
    return of_use >= (double)o->size;
}

/* ---- the bytes of each depot ---- */

/* Largest number of depots that hold only a part.  Each further depot would
 * double the number of subsets. */
#define MOST_HOLDERS 16

/* For each set of depots, the bytes that no other depot holds.  A set is a bit
 * mask. */
struct needs {
    double *bytes; /* NULL: each depot has everything */
    size_t n;      /* number of sets */
    /* the first set that may not have delivered all of its bytes yet */
    size_t first_short;
};

static size_t n_objects(const struct xd_sim_options *o)
{
    return o->object_bytes == 0 ? 1
                                : (size_t)((o->size - 1) / o->object_bytes) + 1;
}

static double bytes_of(const struct xd_sim_options *o, size_t object)
{
    return object + 1 < n_objects(o)
               ? (double)o->object_bytes
               : (double)(o->size - object * o->object_bytes);
}

static bool are_all_equal(const struct xd_scenario *s,
                          const struct xd_sim_options *o)
{
    unsigned tiers = 0;

    for (size_t i = 0; i < s->n_depots; i++)
        tiers |=
            xd_scenario_depot(s, i)->tier | xd_scenario_depot(s, i)->owners;
    return (o->copies == 0 && tiers == 0) || s->n_depots > MOST_HOLDERS;
}

/* The depots that hold an object in the lowest tier with a working depot. */
struct holders {
    size_t set;
    unsigned tier;
};

static int add_holder(const struct xd_scenario *s,
                      const struct xd_sim_options *o, size_t depot,
                      struct holders *objects)
{
    const struct xd_path *path = &xd_scenario_depot(s, depot)->path;
    struct xd_holding h;
    int rc = xd_sim_holding(s, o, depot, &h);

    for (size_t i = 0; rc == 0 && i < h.n_held; i++)
        for (size_t k = 0; k < n_objects(o); k++) {
            struct holders *object = &objects[k];

            if (path->is_down || path->refuses || path->lies ||
                k * o->object_bytes < h.held[i].begin ||
                k * o->object_bytes >= h.held[i].end ||
                (object->set > 0 && object->tier < h.tiers[i]))
                continue;
            if (object->tier > h.tiers[i])
                object->set = 0;
            object->tier = h.tiers[i];
            object->set |= (size_t)1 << depot;
        }
    xd_sim_holding_fini(&h);
    return rc;
}

/* Adds to each set the needs of all its subsets. */
static void add_up(struct needs *w, size_t n_depots)
{
    for (size_t bit = 0; bit < n_depots; bit++)
        for (size_t set = 0; set < w->n; set++)
            if (set >> bit & 1)
                w->bytes[set] += w->bytes[set ^ (size_t)1 << bit];
}

static int needs_init(struct needs *w, const struct xd_scenario *s,
                      const struct xd_sim_options *o)
{
    struct holders *objects;
    int rc = 0;

    *w = (struct needs){.n = 0};
    if (are_all_equal(s, o))
        return 0;
    w->n = (size_t)1 << s->n_depots;
    w->bytes = xd_alloc(w->n, sizeof *w->bytes);
    objects = xd_alloc(n_objects(o), sizeof *objects);
    if (!w->bytes || !objects)
        rc = XD_E_NOMEM;
    for (size_t i = 0; rc == 0 && i < s->n_depots; i++)
        rc = add_holder(s, o, i, objects);
    for (size_t k = 0; rc == 0 && k < n_objects(o); k++)
        w->bytes[objects[k].set] += bytes_of(o, k);
    if (rc == 0)
        add_up(w, s->n_depots);
    xd_free(objects);
    return rc;
}

/* Returns whether every set of depots has delivered the bytes that only its
 * depots hold.  By Hall's theorem this is sufficient.  A satisfied set stays
 * satisfied, so each call continues where the last one stopped. */
static bool has_objects(const struct fluid *f, struct needs *w)
{
    for (; w->first_short < w->n; w->first_short++) {
        double got = 0;

        for (size_t i = 0; i < f->scenario->n_depots; i++)
            if (w->first_short >> i & 1)
                got += got_of(f, i);
        if (got < w->bytes[w->first_short])
            return false;
    }
    return true;
}

int xd_sim_limit(const struct xd_scenario *s, const struct xd_sim_options *o,
                 double *out)
{
    bool goes_on = true;
    struct needs needs;
    struct fluid f = {.flows = NULL};
    int rc = needs_init(&needs, s, o);

    if (rc == 0)
        rc = fluid_init(&f, s, o->sched.lanes_per_depot);
    while (rc == 0 && goes_on &&
           (f.got < (double)o->size || (o->code.k > 0 && !has_shards(&f, o)) ||
            !has_objects(&f, &needs)))
        goes_on = flow_on(&f);
    *out = goes_on ? f.t : (double)INFINITY;
    xd_free(f.flows);
    xd_free(needs.bytes);
    return rc;
}

int xd_scenario_stall(const struct xd_scenario *s, unsigned connections,
                      uint64_t size, uint64_t piece_bytes, uint64_t bytes_per_s,
                      double prebuffer_s, double *out)
{
    double rate = (double)bytes_per_s, late = 0;
    uint64_t piece = piece_bytes > 0 ? piece_bytes : 1;
    struct fluid f;
    bool goes_on = true;

    if (fluid_init(&f, s, connections) < 0)
        return XD_E_NOMEM;
    while (goes_on && f.got < (double)size) {
        uint64_t shown = (uint64_t)f.got;

        shown -= shown % piece;
        late = fmax(late, f.t - prebuffer_s - (double)shown / rate);
        goes_on = flow_on(&f);
    }
    *out = goes_on ? late : (double)INFINITY;
    xd_free(f.flows);
    return 0;
}
